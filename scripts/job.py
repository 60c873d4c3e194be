"""What every job of the workflow does around its function: threads, log, and errors in one line."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Polars reads its number of threads once, at import; Snakemake tells a job's share in OMP_NUM_THREADS only.
if "OMP_NUM_THREADS" in os.environ and "polars" not in sys.modules:
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"]

from rankadjust.base.errors import RankadjustError

# Errors of the run so far: the Snakefile repeats them as the last thing on the screen.
ERRORS = Path(".snakemake") / "rankadjust-errors.txt"


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], None]]:  # noqa: ANN401 - the object that Snakemake injects
    """Send standard error to the job's log; end with one line when the user's input was at fault.

    Yields a function that writes a line to the terminal as well, for what people should see while it runs.
    """
    path = Path(snakemake.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", buffering=1) as log:
        terminal, sys.stderr = sys.stderr, log

        def tell(line: str) -> None:
            print(line, file=log)
            print(line, file=terminal, flush=True)

        try:
            yield tell
        except RankadjustError as error:
            print(f"error: {error}", file=log)
            with ERRORS.open("a", encoding="utf-8") as errors:
                errors.write(f"error: {error}\n")
            sys.exit(1)
        finally:
            sys.stderr = terminal
