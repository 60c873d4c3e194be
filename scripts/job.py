"""What every job of the workflow does around its function: threads, log, and errors in one line."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from inspect import signature
from pathlib import Path
from typing import IO, Any

# Polars reads its number of threads once, at import; Snakemake passes a job's share in OMP_NUM_THREADS only.
if "OMP_NUM_THREADS" in os.environ and "polars" not in sys.modules:
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"]

from rankadjust.base import failures
from rankadjust.base.errors import RankadjustError, in_words, unwritable, visible
from rankadjust.base.faults import is_panic
from rankadjust.base.listening import job_name
from rankadjust.base.processes import end_without_run


def name_of(snakemake: Any) -> str:  # noqa: ANN401 - the object that Snakemake injects
    return job_name(snakemake.rule, dict(snakemake.wildcards.items()))


# Scripts import this module first: a job that is killed while it imports the others is known all the same, and until
# there is anything to clean up, Ctrl-C ends it without a traceback.
if hasattr(sys.modules["__main__"], "snakemake"):
    _injected = sys.modules["__main__"].snakemake
    failures.begun(name_of(_injected), _injected.log[0])
    try:
        end_without_run()
    except SystemExit:
        failures.ended(_injected.log[0])
        raise
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], None]]:  # noqa: ANN401
    """Send standard error to the job's log; end with one line when the job fails, and none when it is interrupted.

    The log holds the line, and for an error that is not the user's the traceback.
    Yields a function that writes a line to the terminal as well, for messages that people should see while it runs.
    """
    path = Path(snakemake.log[0])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _opened(path, snakemake) as log, _all_errors_to(log) as terminal:

        def tell(line: str) -> None:
            print(visible(line), file=log)
            print(visible(line), file=terminal, flush=True)

        try:
            yield tell
        except KeyboardInterrupt:
            print("interrupted", file=log)
            sys.exit(128 + signal.SIGINT)
        except BaseException as error:
            if not is_failure(error):
                raise
            note(error, name_of(snakemake), path)
            sys.exit(1)
        finally:
            failures.ended(path)


def run(snakemake: Any, function: Callable[..., None], **others: object) -> None:  # noqa: ANN401
    """Call the function of a job with inputs, outputs and parameters of its rule, by the names of its arguments.

    A parameter of the rule comes before a wildcard of the same name, an output before an input, and `others` before
    all. The argument `output` is the first output. Functions that write to the terminal get what `job` yields.
    """
    known = {"output": snakemake.output[0]}
    for named in (snakemake.wildcards, snakemake.input, snakemake.output, snakemake.params):
        known |= dict(named.items())
    with job(snakemake) as tell:
        known |= {"tell": tell, **others}
        function(**{name: known[name] for name in signature(function).parameters if name in known})


@contextmanager
def _opened(path: Path, snakemake: Any) -> Iterator[IO[str]]:  # noqa: ANN401
    """Open a log; if that fails, note the failure in place of the log."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        failures.failed(name_of(snakemake), unwritable(path, error), path, mistake=True)
        failures.ended(path)
        sys.exit(1)
    try:
        yield log
    finally:
        # On a disk that is full there may be no room for its last lines; the reason is noted elsewhere, too.
        with suppress(OSError):
            log.close()


@contextmanager
def _all_errors_to(log: IO[str]) -> Iterator[IO[str]]:
    """Send standard error to the log, also what libraries write that know nothing of Python; yield the terminal."""
    earlier = sys.stderr
    earlier.flush()
    with os.fdopen(os.dup(2), "w", encoding="utf-8") as terminal:
        os.dup2(log.fileno(), 2)
        sys.stderr = log
        try:
            # Where standard error was sent elsewhere, that is where people look.
            yield terminal if earlier is sys.__stderr__ else earlier
        finally:
            sys.stderr = earlier
            os.dup2(terminal.fileno(), 2)


def is_failure(error: BaseException) -> bool:
    """Say whether an error makes a job fail; others, such as an interrupt, end it."""
    return isinstance(error, Exception) or is_panic(error)


def note(error: BaseException, job: str, log: str | Path) -> None:
    """Write an error to the log, which is standard error, and keep the reason of the failure for the end of the run."""
    said = str(error) if isinstance(error, RankadjustError) else in_words(error, Path.cwd())
    if said is None:
        said = f"unexpected {''.join(traceback.format_exception_only(error)).strip().splitlines()[0]}"
    # Of memory there may be more in another attempt.
    mistake = isinstance(error, RankadjustError | OSError) and not said.startswith("unexpected ")
    failures.failed(job, said, log, mistake=mistake)
    with suppress(OSError):
        if not isinstance(error, RankadjustError):
            traceback.print_exception(error)
        if not said.startswith("unexpected "):
            print(f"error: {said}", file=sys.stderr)  # noqa: T201
