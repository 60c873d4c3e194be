"""What every job does around its function: its share of the cores, its log, and a mistake of the user's in one line."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Polars reads its number of threads once, at import; Snakemake passes a job's share in OMP_NUM_THREADS only.
if "OMP_NUM_THREADS" in os.environ and "polars" not in sys.modules:
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"]

from rankadjust.base.errors import exit_with_message, visible

# Until there is anything to clean up, Ctrl-C ends a job at once.
if hasattr(sys.modules["__main__"], "snakemake"):
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def logged(snakemake: Any) -> Iterator[None]:  # noqa: ANN401 - the object that Snakemake injects
    """Send standard error to the log of a job, also what libraries write that know nothing of Python.

    A mistake of the user's, and a fault of the system such as a full disk, is one line there and on the terminal; of
    any other error the log has the traceback.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    path = Path(snakemake.log[0])
    with exit_with_message(), os.fdopen(os.dup(2), "w") as terminal, path.open("w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 2)
        try:
            with exit_with_message():
                yield
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGINT)
        except SystemExit as end:
            terminal.write(f"{end.code} (log: {path})\n")
            raise
        except BaseException as error:
            terminal.write(f"error: unexpected {type(error).__name__} (log: {path})\n")
            raise


def tell(line: str) -> None:
    """Print a line to the log, and to the terminal for people to see while the job runs."""
    for stream in (sys.stderr, sys.stdout):
        print(visible(line), file=stream, flush=True)
