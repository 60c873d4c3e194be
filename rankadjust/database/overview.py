"""What is known of a data set: its counts, and how many candidates its ranking tasks have."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.files import shipped
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.database.evaluation_sets import (
    CANDIDATES,
    DATASETS,
    beside_database,
    known_name,
    load_candidates,
    load_datasets,
)
from rankadjust.database.store import RELEASED, load_database


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


def overview(
    dataset: str, protocol: str, split: str, database: Path | None = None, candidates: Path | None = None
) -> Overview:
    """Return what is known of a data set, from the histograms and the table released with the database.

    database, candidates: files in place of the released ones; the table datasets.tsv stands beside the database.
    Raises RankadjustError where a file is missing or does not have what is asked for.
    """
    file = candidates or beside_database(database, CANDIDATES)
    rows = load_candidates(file)
    name = known_name(dataset, rows["dataset"].unique().to_list(), "data set", file.name)
    rows = rows.filter(pl.col("dataset") == name)
    protocol = known_name(
        protocol, rows["protocol"].unique().to_list(), "protocol", f"{file.name} for {name}"
    )
    rows = rows.filter(pl.col("protocol") == protocol)
    split = known_name(
        split, rows["split"].unique().to_list(), "split", f"{file.name} for {name} ({protocol})"
    )
    rows = rows.filter(pl.col("split") == split).sort("side", "num_candidates")
    sides = (_side(str(key[0]), part) for key, part in rows.group_by("side", maintain_order=True))
    return Overview(name, protocol, split, _counts(name, database), tuple(sides))


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


def _counts(dataset: str, database: Path | None) -> Mapping[str, str]:
    table = load_datasets(beside_database(database, DATASETS))
    column = table.columns[0]
    chosen = table.filter(pl.col(column) == dataset)
    if chosen.is_empty():
        return {}
    return {name: text for name, text in chosen.drop(column).row(0, named=True).items() if text}


def registry_with(database: Path | None) -> dict[str, Dataset]:
    """Return the shipped registry with the data sets of a database that it lacks, by name.

    The table datasets.tsv beside the database names them; without the table they are not known. What a run read them
    from is not known here: they have neither aliases nor sources.
    """
    registry = load_registry()
    if database is None or not beside_database(database, DATASETS).is_file():
        return registry
    table = load_datasets(beside_database(database, DATASETS))
    if not {"dataset", "role"} <= set(table.columns):
        return registry
    own = table.filter(~pl.col("dataset").is_in(list(registry)))
    return registry | {
        name: Dataset(name=name, role=role, sources=(), splits=(), origin=database)
        for name, role in own.select("dataset", "role").iter_rows()
    }


def known_datasets(database: Path | None = None) -> list[tuple[str, str, str, str]]:
    """Return name, kind, protocols in the database and aliases of every data set, sorted by name.

    Without a released database the registry alone is listed; one that was asked for must be there, and each must be
    whole.
    """
    registry = registry_with(database)
    if database is None and not shipped(RELEASED).exists():
        rows = pl.DataFrame(schema={"dataset": pl.String, "protocol": pl.String})
    else:
        rows = load_database(database).select("dataset", "protocol").unique()
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
