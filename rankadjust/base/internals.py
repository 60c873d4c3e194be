"""The two internals of Snakemake that a run replaces, and whether they are still what they were.

Nothing public claims a folder for a run before its files are locked, or says that a job is not to be tried again. An
upgrade may rename either, or stop using it, and then a run would lose what they were replaced for, without a word.
"""

import inspect
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.base.failures import is_mistake

_TRIES = 3


def persistence_and_job() -> tuple[Any, Any]:
    """Return the classes of Snakemake whose `lock` and `restart_times` a run replaces.

    Raises RankadjustError: where one of them is missing, or is not used as it was.
    """
    try:
        persistence = import_module("snakemake.persistence").PersistenceBase
        job = import_module("snakemake.jobs").Job
        fits = {
            "PersistenceBase.lock": _locks_a_run(persistence.lock),
            "Job.restart_times": _says_how_often_to_try(job.restart_times),
        }
    except (ImportError, AttributeError) as error:
        raise _changed(str(error)) from None
    for name, does in fits.items():
        if not does:
            raise _changed(f"{name} is not used as before")
    return persistence, job


def try_no_mistake_again(job: Any) -> None:  # noqa: ANN401 - whatever Snakemake has
    """Let jobs of a class that failed of a user's mistake not be tried again: they would fail the same way."""
    job.restart_times = property(
        lambda failed: 0 if any(map(is_mistake, failed.log)) else failed.rule.restart_times
    )


def _locks_a_run(lock: Any) -> bool:  # noqa: ANN401 - whatever Snakemake has
    execute = import_module("snakemake.workflow").Workflow.execute
    return callable(lock) and list(inspect.signature(lock).parameters) == ["self"] and _reads(execute, "lock")


def _says_how_often_to_try(restart_times: Any) -> bool:  # noqa: ANN401 - whatever Snakemake has
    failed = import_module("snakemake.scheduling.job_scheduler").JobScheduler._handle_error
    job = SimpleNamespace(rule=SimpleNamespace(restart_times=_TRIES), log=[])
    return (
        isinstance(restart_times, property)
        and restart_times.__get__(job) == _TRIES
        and _reads(failed, "restart_times")
    )


def _reads(function: Any, name: str) -> bool:  # noqa: ANN401 - whatever Snakemake has
    return name in inspect.unwrap(function).__code__.co_names


def _changed(what: str) -> RankadjustError:
    version = import_module("snakemake").__version__
    return RankadjustError(
        f"Snakemake {version} differs in a part of it that this workflow replaces ({what}); "
        "install the versions it was tested with: make install"
    )
