"""What is known of a data set: its counts, and how many candidates its ranking tasks have."""

from typing import Any

import polars as pl

from rankadjust.database.constants import Constants
from rankadjust.database.known_names import narrowed
from rankadjust.database.store import CANDIDATES, DATABASE, beside_database


def overview(dataset: str, protocol: str, split: str, constants: Constants) -> dict[str, Any]:
    """Return the sizes and counts of a data set, from the histograms and the table beside a database.

    dataset, protocol, split; counts: its row of datasets.tsv, empty for mere benchmarks; sides: of each its name, the
    size of the pool (entities), tasks, the least, mean and most candidates of a task, and how many tasks have each
    number of candidates. Raises RankadjustError where a file is missing or does not have what is asked for.
    """
    names = {"dataset": dataset, "protocol": protocol, "split": split}
    rows = narrowed(constants.candidates, CANDIDATES, lambda: constants.registry, **names)
    chosen = rows.select(*names).row(0, named=True)
    counts = constants.datasets.filter(dataset=chosen["dataset"]).drop("dataset").rows(named=True)
    known = {name: text for name, text in counts[0].items() if text} if counts else {}
    sides = [
        _side(part) for part in rows.sort("side", "num_candidates").partition_by("side", maintain_order=True)
    ]
    return {**chosen, "counts": known, "sides": sides}


def _side(rows: pl.DataFrame) -> dict[str, Any]:
    candidates = dict(rows.select("num_candidates", "tasks").iter_rows())
    # A benchmark may not say how many tasks it has.
    tasks = None if rows["tasks"].null_count() else sum(candidates.values())
    return {
        "side": rows["side"][0],
        "entities": rows["entities"].max() if "entities" in rows.columns else None,
        "tasks": tasks,
        "least": min(candidates),
        "mean": None if tasks is None else sum(n * times for n, times in candidates.items()) / tasks,
        "most": max(candidates),
        "candidates": candidates,
    }


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
