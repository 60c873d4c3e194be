"""Snakemake, started many times and imported once: a process that has imported it forks for each start.

To import it takes half of a dry run. Each start has a process of its own, with its folder and arguments; it reads the
Snakefile and imports what that names, as `python -m snakemake` does. Polars is not imported before: it has threads,
and these are lost in a fork.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

# No start takes so many seconds.
LONGEST = 900


def start(*arguments, cwd, environment=(), within=()):
    """Run Snakemake with these arguments in a folder, with more variables; return what subprocess.run does.

    within: a command that runs the command after it in other circumstances, such as setpriv.
    """
    server = _server(tuple(within))
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder, name) for name in ("stdout", "stderr")]
        request = {"arguments": arguments, "cwd": os.fspath(cwd), "texts": [str(text) for text in texts]}
        request["environment"] = dict(environment)
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, *(text.read_text("utf-8") for text in texts))


@cache
def _server(within):
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }
    server = subprocess.Popen(
        [*within, sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=inherited,
    )
    atexit.register(server.communicate)
    return server


def _serve():
    cli, *_ = map(import_module, ("snakemake.cli", "jsonschema", "nbformat", "smart_open"))
    # It looks for plugins, and keeps what it finds.
    cli.parse_args(["--dry-run"])
    # Not by iteration, which reads ahead.
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(**request)
            cli.main(request["arguments"])
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(arguments, cwd, texts, environment):
    """Turn this process into one that was started in a folder, with nothing to read."""
    signal.alarm(LONGEST)
    os.environ.update(environment)
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, text in enumerate(texts, start=1):
        os.dup2(os.open(text, os.O_WRONLY | os.O_CREAT), number)
    sys.path[0] = cwd
    sys.argv = [sys.modules["snakemake"].__path__[0] + "/__main__.py", *arguments]


if __name__ == "__main__":
    _serve()
