"""Begin a run of the workflow, and provide the functions of wildcards and names that its rules use."""

import atexit
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rankadjust.base.claims import exclusively, is_claimed, require_writable
from rankadjust.base.clock import require_dated
from rankadjust.base.contents import Digests, read_json
from rankadjust.base.errors import exit_with_message
from rankadjust.base.internals import persistence_and_job, try_no_mistake_again
from rankadjust.base.listening import Listener
from rankadjust.base.mending import Products
from rankadjust.configuration import Configuration, load_configuration, share_with_jobs
from rankadjust.counting.protocols import load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.verification import require_complete
from rankadjust.plan import Plan

_T = TypeVar("_T")
_SNAKEMAKE = Path(".snakemake")
_STATE = _SNAKEMAKE / "rankadjust"


@dataclass(frozen=True)
class Start:
    """Everything that a run knows before its first job.

    digests: checksums of files. looks: whether this process looks for damage in the files of earlier runs; a job uses
    the findings of the run instead. batches: the data sets that are computed together, by the name of their rule.
    """

    run: Configuration
    plan: Plan
    digests: Digests
    products: Products
    looks: bool
    batches: Mapping[str, Sequence[str]]
    listener: Listener

    def damage_to(self, *outputs: str) -> Callable[[Any], str]:
        """Return a parameter that changes when the outputs of a job are damaged, so that Snakemake runs it again."""
        return lambda wildcards: self.products.damage(*filled_in(outputs, wildcards))


def begin(workflow: Any, config: Mapping[str, Any], project: Path) -> Start:  # noqa: ANN401 - Snakemake's
    """Read the configuration of a run and plan the run; the main process also checks and locks, and listens to jobs.

    project: the folder with the Snakefile. A user's mistake ends the program with a message of one line.
    """
    with exit_with_message():
        if workflow.is_main_process:
            require_writable(_SNAKEMAKE)
        run = configured(workflow, config, project)
        plan = Plan.of(run)
        if workflow.is_main_process:
            require_dated(plan.tables.values())
        persistence, job = persistence_and_job()
    share_with_jobs(run.values, project)
    # Snakemake tries a failed job again for any reason. A mistake that the user has to mend fails every time.
    try_no_mistake_again(job)
    # Do not look while another run works here: its files may be half written.
    looks = workflow.is_main_process and not is_claimed(_SNAKEMAKE)
    digests = Digests(_STATE / "digests.json")
    products = Products(_STATE, digests, look=looks, dry=lambda: bool(workflow.dryrun))
    # On another machine (`--jobs`) a job costs more than a small data set takes. Jobs read this file, too.
    elsewhere = workflow.remote_exec or workflow.resource_settings.nodes is not None
    if elsewhere:
        # Snakemake keeps a cache in the home of the user, which other machines may not let it write to.
        os.environ.setdefault("XDG_CACHE_HOME", str((_SNAKEMAKE / "cache").resolve()))
    batches = plan.together(elsewhere=elsewhere)
    # `quiet` hides which job failed, and a job that is killed cannot say so.
    listener = Listener({batch: f"data sets {', '.join(members)}" for batch, members in batches.items()})
    if workflow.is_main_process:
        # If a log cannot be written, Python would print a traceback for every line.
        logging.raiseExceptions = False
        import_module("snakemake.logging").logger.addHandler(listener)
        # The locks of a killed run are removed. If the other run is still at work, this run stops and says so.
        persistence.lock = exclusively(persistence.lock)
        atexit.register(products.save)
    return Start(run, plan, digests, products, looks, batches, listener)


def configured(workflow: Any, config: Mapping[str, Any], project: Path) -> Configuration:  # noqa: ANN401 - Snakemake's
    """Return the configuration of a run: the defaults, --configfile and --config; for a module only its `config:`.

    The Snakefile does not use the directive `configfile`, because here a path in a file is relative to that file, and
    a mistake is reported in one line.
    """
    defaults = project / "config" / "config.yaml"
    if not workflow.modifier.is_main_snakefile():
        return load_configuration([defaults], config, Path.cwd(), "the module's config")
    files = [defaults, *workflow.overwrite_configfiles]
    return load_configuration(files, workflow.config_settings.config, Path.cwd())


class OfDataset(Protocol):
    """The wildcards of a rule for one data set."""

    dataset: str


def by_dataset(function: Callable[[str], _T]) -> Callable[[OfDataset], _T]:
    """Return a function of a rule's wildcards, made from a function of the name of a data set."""
    return lambda wildcards: function(wildcards.dataset)


def uncompared(function: Callable[[str], _T]) -> Callable[[OfDataset, object], _T]:
    """Return the function of `by_dataset` in a form whose value Snakemake does not compare with the last run.

    Snakemake skips this comparison if a function has an argument `input`.
    """
    return lambda wildcards, input: function(wildcards.dataset)  # noqa: A006, ARG005 - Snakemake goes by the name


def grown(amount: int | Callable[[str], int]) -> Callable[[OfDataset, int], int]:
    """Return a resource that doubles with every attempt. amount: a number, or a function of a rule's data set."""
    return lambda wildcards, attempt: (
        (amount(wildcards.dataset) if callable(amount) else amount) * 2 ** (attempt - 1)
    )


def one_of(names: Iterable[str]) -> str:
    """Return a pattern that matches these names and nothing else.

    >>> one_of(["Nations", "UMLS"]), one_of([])
    ('Nations|UMLS', '(?!)')
    """
    return "|".join(map(re.escape, names)) or "(?!)"


def once_complete(database: str, evaluations: Iterable[tuple[str, str]]) -> str:
    """Return the path of a database; if it will lack a part of a release, end the program with a message.

    evaluations: data sets and protocols that a run computes. Benchmarks are always computed.
    """
    with exit_with_message():
        require_complete(evaluations, load_registry(), load_protocols(), [])
    return database


def filled_in(outputs: Iterable[str], wildcards: Any) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Return the paths of a job's outputs: every pattern with the values of its wildcards filled in."""
    return [output.format(**dict(wildcards.items())) for output in outputs]


def schemas_of(project: Path) -> Callable[..., list[Path]]:
    """Return a function from names of schemas to their paths; a job's digest of its inputs uses it."""
    return lambda *names: [project / "workflow" / "schemas" / f"{name}.schema.yaml" for name in names]


def warnings_about(datasets: Iterable[str], folder: Path = Path("results/triples")) -> str:
    """Return the warnings that rule encode has found about data sets, one per line."""
    summaries = [file for name in datasets if (file := folder / f"{name}.json").exists()]
    warnings = (warning for summary in summaries for warning in read_json(summary).get("warnings", []))
    return "".join(f"warning: {warning}\n" for warning in warnings)
