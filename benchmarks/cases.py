"""Put public bug reports and files to the product: what is right, and whether it is said, or refused in one clear line.

Usage: python -m benchmarks.cases CASES (some minutes of one core)

CASES is a folder with a folder for each case: its input, and case.md, which says what is right and why. cases.yaml has,
for each case, the commands that a person would type there, and what must and must not be in their output. A case
is right if all holds; the line that is printed last counts them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
READ_TRIPLES = """
from rankadjust.base.errors import RankadjustError
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format
try:
    print(read_triples({!r}, Format(delimiter={!r}, columns=tuple({!r}))).rows())
except RankadjustError as error:
    print("refused:", error)
"""


def failures(case: str, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the output of the commands of a case, run in a copy of its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch) / "a case"
        shutil.copytree(folder / case, here)
        for check in CASES[case]:
            words = words_of(check, here)
            # Commands are those of this Python's environment.
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                words, cwd=here, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
            )
            output = done.stdout + done.stderr
            for key, is_wanted in (("says", True), ("not_says", False)):
                for pattern in check.get(key, ()):
                    if bool(re.search(pattern, output, re.MULTILINE)) is not is_wanted:
                        yield f"{words[-1]}: {'no ' * is_wanted}{pattern!r} in\n{output}"


def words_of(check: dict[str, Any], here: Path) -> list[str]:
    """Return the command line of a check."""
    if "command" in check:
        return ["sh", "-c", check["command"].format(root=ROOT, here=f"'{here}'")]
    script = check["script"] if "script" in check else READ_TRIPLES.format(*check["read_triples"])
    return [sys.executable, "-c", script]


def main() -> None:
    """Print a line for each case that is wrong, and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", help="the beginning of the names of the cases to try")
    options = parser.parse_args()
    names = sorted(path.name for path in options.cases.iterdir() if path.is_dir())
    names = [name for name in names if name.startswith(options.only or "")]
    wrong = 0
    for name in names:
        found = (
            list(failures(name, options.cases.resolve())) if name in CASES else ["nobody says what is right"]
        )
        wrong += bool(found)
        print(f"{name}: {'; '.join(found) or 'right, or refused in one line'}", flush=True)
    print(f"{len(names) - wrong} of {len(names)} right, or refused in one line")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
