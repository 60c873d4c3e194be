"""What is known of every data set under its usual evaluation."""

from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.store import APPROXIMATE, BASELINES_SCHEMA, DATABASE, SCHEMA, beside_database

_MRR = resolve("mrr")


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
    baselines = constants.baselines if there else pl.DataFrame(schema=BASELINES_SCHEMA)
    of_mrr = Constants(
        table.filter(metric=_MRR.key),
        constants.histograms,
        file=constants.file,
        baselines=baselines.filter(metric=_MRR.key),
    )
    names = sorted({*table["dataset"], *(() if is_run else registry)}, key=str.casefold)
    protocols = dict(table.group_by("dataset").agg(pl.col("protocol").unique().sort()).iter_rows())
    return [
        {
            "name": name,
            "kind": registry[name].role if name in registry else "benchmark",
            **_known(of_mrr, name),
            "protocols": protocols.get(name, []),
            "aliases": list(registry[name].aliases) if name in registry else [],
        }
        for name in names
    ]


def _known(constants: Constants, name: str) -> dict[str, Any]:
    columns = ("protocol", "split", "side", "tasks")
    try:
        found = EvaluationSet.of(constants, name)
    except RankadjustError:
        absent = (*columns, "chance", "chance_low", "chance_high", "baseline", "counting")
        return dict.fromkeys(absent) | {"known": "no data"}
    row = found.row(_MRR) or {}
    if found.protocol.startswith("sampled"):
        kind = "sampled"
    elif row["method"] == APPROXIMATE:
        kind = "approximate"
    else:
        kind = "bounds" if row["expectation"] is None else "counted"
    baseline, counting, _ = found.compared(_MRR, None)
    ends = {f"chance{end}": row[f"expectation{end}"] for end in ("", "_low", "_high")}
    return {
        **{name: row[name] for name in columns},
        **ends,
        "baseline": baseline,
        "counting": counting,
        "known": kind,
    }
