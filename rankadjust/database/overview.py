"""What is known of a data set: its counts, and how many candidates its ranking tasks have."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from rankadjust.database.constants import Constants
from rankadjust.database.known_names import narrowed
from rankadjust.database.store import CANDIDATES, DATABASE, beside_database


@dataclass(frozen=True)
class Side:
    """The tasks of one side. entities: size of the pool; candidates: how many tasks have each number of them."""

    side: str
    entities: int | None
    tasks: int | None
    least: int
    mean: float | None
    most: int
    candidates: Mapping[int, int]


@dataclass(frozen=True)
class Overview:
    """A data set under one protocol and split. counts: its row of datasets.tsv; empty for mere benchmarks."""

    dataset: str
    protocol: str
    split: str
    counts: Mapping[str, str]
    sides: tuple[Side, ...]


def overview(dataset: str, protocol: str, split: str, constants: Constants) -> Overview:
    """Return the sizes and counts of a data set, from the histograms and the table beside a database.

    Raises RankadjustError where a file is missing or does not have what is asked for.
    """
    names = {"dataset": dataset, "protocol": protocol, "split": split}
    rows, chosen = narrowed(constants.candidates, CANDIDATES, lambda: constants.registry, **names)
    rows = rows.sort("side", "num_candidates")
    sides = (_side(str(key[0]), part) for key, part in rows.group_by("side", maintain_order=True))
    return Overview(**chosen, counts=_counts(chosen["dataset"], constants.datasets), sides=tuple(sides))


def _side(side: str, rows: pl.DataFrame) -> Side:
    candidates = dict(rows.select("num_candidates", "tasks").iter_rows())
    # A benchmark may not say how many tasks it has.
    tasks = None if rows["tasks"].null_count() else sum(candidates.values())
    mean = None if tasks is None else sum(count * number for count, number in candidates.items()) / tasks
    pool = rows["entities"].drop_nulls().to_list() if "entities" in rows.columns else []
    return Side(
        side,
        entities=max(pool, default=None),
        tasks=tasks,
        least=min(candidates),
        mean=mean,
        most=max(candidates),
        candidates=candidates,
    )


def _counts(dataset: str, table: pl.DataFrame) -> Mapping[str, str]:
    column = table.columns[0]
    chosen = table.filter(pl.col(column) == dataset)
    if chosen.is_empty():
        return {}
    return {name: text for name, text in chosen.drop(column).row(0, named=True).items() if text}


def known_datasets(constants: Constants) -> list[tuple[str, str, str, str]]:
    """Return name, kind, protocols in the database and aliases of every data set, sorted by name.

    Without a released database the registry alone is listed; one that was asked for must be there, and each must be
    whole.
    """
    registry = constants.registry
    if constants.file is None and not beside_database(None, DATABASE).exists():
        rows = pl.DataFrame(schema={"dataset": pl.String, "protocol": pl.String})
    else:
        rows = constants.table.select("dataset", "protocol").unique()
    protocols = dict(rows.group_by("dataset").agg(pl.col("protocol").sort().str.join(", ")).iter_rows())
    return [
        (
            name,
            registry[name].role if name in registry else "benchmark",
            protocols.get(name, ""),
            ", ".join(registry[name].aliases) if name in registry else "",
        )
        for name in sorted({*registry, *protocols}, key=str.casefold)
    ]
