"""What every job of the workflow does around its function: threads, log, and errors in one line."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Polars reads its number of threads once, at import; Snakemake tells a job's share in OMP_NUM_THREADS only.
if "OMP_NUM_THREADS" in os.environ and "polars" not in sys.modules:
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"]

from rankadjust.base import failures
from rankadjust.base.errors import RankadjustError
from rankadjust.base.listening import job_name


def name_of(snakemake: Any) -> str:  # noqa: ANN401 - the object that Snakemake injects
    return job_name(snakemake.rule, dict(snakemake.wildcards.items()))


# Scripts import this module first: a job that is killed while it imports the others is known all the same, and until
# there is anything to clean up, Ctrl-C ends it without a traceback.
if hasattr(sys.modules["__main__"], "snakemake"):
    _injected = sys.modules["__main__"].snakemake
    failures.begun(name_of(_injected), _injected.log[0])
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], None]]:  # noqa: ANN401
    """Send standard error to the job's log; end with one line when the job fails, and none when it is interrupted.

    The log holds the line, and for an error that is not the user's the traceback.
    Yields a function that writes a line to the terminal as well, for what people should see while it runs.
    """
    path = Path(snakemake.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with path.open("w", encoding="utf-8", buffering=1) as log:
        terminal, sys.stderr = sys.stderr, log

        def tell(line: str) -> None:
            print(line, file=log)
            print(line, file=terminal, flush=True)

        try:
            yield tell
        except KeyboardInterrupt:
            print("interrupted", file=log)
            sys.exit(128 + signal.SIGINT)
        except Exception as error:
            note(error, name_of(snakemake), path)
            sys.exit(1)
        finally:
            sys.stderr = terminal
            failures.ended(path)


def note(error: Exception, job: str, log: str | Path) -> None:
    """Write an error to the log, which is standard error, and note for the end of the run of what the job failed."""
    if isinstance(error, RankadjustError):
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        failures.failed(job, str(error), log, mistake=True)
    else:
        traceback.print_exception(error)
        reason = "".join(traceback.format_exception_only(error)).strip().splitlines()[0]
        failures.failed(job, f"unexpected {reason}", log)
