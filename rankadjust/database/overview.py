"""What is known of a data set: its counts, and how many candidates its ranking tasks have."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.counting.evaluators import usual_evaluation
from rankadjust.database.constants import Constants
from rankadjust.database.counted_baselines import chosen
from rankadjust.database.documented import documented_entities
from rankadjust.database.known_names import narrowed
from rankadjust.database.store import BASELINES_SCHEMA, CANDIDATES, DATABASE, SCHEMA, beside_database

_MRR = resolve("mrr").key


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


def known_datasets(constants: Constants) -> list[dict[str, Any]]:
    """Return what is known of every data set under its usual evaluation, sorted by name.

    Of a run its data sets, of the release the registered ones too, also where there is no released database. Each has
    name, kind, protocol, split, side, tasks, chance (the expectation of MRR; or chance_low and chance_high), baseline,
    counting (its MRR), known (counted, bounds, sampled, approximate or no data), protocols and aliases; None where
    that is not known.
    """
    registry = constants.registry
    is_run = constants.file is not None
    there = is_run or beside_database(None, DATABASE).exists()
    table = constants.table if there else pl.DataFrame(schema=SCHEMA)
    names = sorted({*table["dataset"], *(() if is_run else registry)}, key=str.casefold)
    protocols = dict(table.group_by("dataset").agg(pl.col("protocol").unique().sort()).iter_rows())
    usual = _usual_rows(table.filter(metric=_MRR))
    baselines = constants.baselines if there else pl.DataFrame(schema=BASELINES_SCHEMA)
    best = chosen(baselines.filter(metric=_MRR))
    rows = usual.join(best, on=list(KEY), how="left").rows_by_key("dataset", named=True, unique=True)
    entities = documented_entities(registry)
    return [
        {
            "name": name,
            "kind": registry[name].role if name in registry else "benchmark",
            **_known(rows.get(name, {}), entities.get(name)),
            "protocols": protocols.get(name, []),
            "aliases": list(registry[name].aliases) if name in registry else [],
        }
        for name in names
    ]


def _usual_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each data set: the usual protocol, or else filtered; the usual split and side."""
    found = {name: usual_evaluation(name) for name in table["dataset"].unique()}
    usual = [
        (name, each.protocol, each.split or "testing", each.side or "both") for name, each in found.items()
    ]
    wanted = pl.DataFrame(usual, list(EVALUATION), orient="row")
    differ = [pl.col(name) != pl.col(f"{name}_usual") for name in EVALUATION[1:]]
    others = [pl.col("protocol") != "filtered", *map(pl.col, EVALUATION[1:])]
    return (
        table.join(wanted, on="dataset", suffix="_usual")
        .sort("dataset", differ[0], others[0], others[1], *differ[1:], *others[2:])
        .unique("dataset", keep="first")
    )


def _known(row: Mapping[str, Any], entities: int | None) -> dict[str, Any]:
    """Return what a data set's row has; without a row, chance by the documented number of entities."""
    known = {name: row.get(name) for name in ("protocol", "split", "side", "tasks", "baseline")}
    ends = {f"chance_{end}": row.get(f"expectation_{end}") for end in ("low", "high")}
    chance = row.get("expectation")
    if not row:
        kind = "no data" if entities is None else "approximate"
        chance = None if entities is None else metric_moments(resolve(_MRR), [entities]).expectation
    elif row["protocol"].startswith("sampled"):
        kind = "sampled"
    else:
        kind = "counted" if chance is not None else "bounds"
    return {**known, "chance": chance, **ends, "counting": row.get("baseline_value"), "known": kind}
