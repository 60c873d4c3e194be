"""What the rules of the workflow are written with: functions of wildcards, and of names."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rankadjust.base.contents import read_json
from rankadjust.base.errors import exit_with_message
from rankadjust.counting.protocols import load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.release import require_complete

_T = TypeVar("_T")


class OfDataset(Protocol):
    """The wildcards of a rule for one data set."""

    dataset: str


def by_dataset(function: Callable[[str], _T]) -> Callable[[OfDataset], _T]:
    """Return a function of a rule's wildcards, made of one of the name of a data set."""
    return lambda wildcards: function(wildcards.dataset)


def uncompared(function: Callable[[str], _T]) -> Callable[[OfDataset, object], _T]:
    """Return what `by_dataset` does, as a function whose value Snakemake does not compare with that of the last run.

    It does so where a function asks for `input`.
    """
    return lambda wildcards, input: function(wildcards.dataset)  # noqa: A006, ARG005 - Snakemake goes by the name


def grown(amount: int | Callable[[str], int]) -> Callable[[OfDataset, int], int]:
    """Return a resource that is twice as much in every attempt: a number, or a function of a rule's data set."""
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
    """Return the path of a database; where it will not hold all that a release does, end the program with a message.

    evaluations: data sets and protocols that a run computes. Benchmarks are always computed.
    """
    with exit_with_message():
        require_complete(evaluations, load_registry(), load_protocols(), [])
    return database


def filled_in(outputs: Iterable[str], wildcards: Any) -> list[str]:  # noqa: ANN401 - those of Snakemake
    """Return the outputs of a job: patterns in which each name stands for its wildcard."""
    return [output.format(**dict(wildcards.items())) for output in outputs]


def schemas_of(project: Path) -> Callable[..., list[Path]]:
    """Return a function that gives the paths of schemas by name, for a digest of what a job reads."""
    return lambda *names: [project / "workflow" / "schemas" / f"{name}.schema.yaml" for name in names]


def warnings_about(datasets: Iterable[str], folder: Path = Path("results/triples")) -> str:
    """Return what looks wrong about data sets, a line each, as rule encode has found it."""
    summaries = [file for name in datasets if (file := folder / f"{name}.json").exists()]
    found = (warning for summary in summaries for warning in read_json(summary).get("warnings", []))
    return "".join(f"warning: {warning}\n" for warning in found)
