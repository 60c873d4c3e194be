"""What printed values among sampled negatives say about the full ranking, for the rows of re-scored tables."""

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import find
from rankadjust.database.constants import Constants
from rankadjust.literature.runs import add_run
from rankadjust.literature.statuses import USABLE
from rankadjust.sampling.bounds import Value, bounds_in, is_function_of_mean
from rankadjust.sampling.protocols import Asked, setting

FULL_METRICS = ("mrr", "hits@10")
COLUMNS = tuple(f"full_{name}_{end}" for name in FULL_METRICS for end in ("low", "high"))

_SAMPLED = r"^sampled-(\d+)$"
_SCHEMA = {"run": pl.String} | dict.fromkeys(COLUMNS, pl.Float64) | {"full_reason": pl.String}


def add_full_bounds(rescored: pl.DataFrame, constants: Constants, level: float = 0.95) -> pl.DataFrame:
    """Add bounds of MRR and Hits@10 in the full ranking to rows among sampled negatives, from all values of a model.

    rescored: as of `rankadjust.rescore`; values that rest on facts that were taken for granted are used, too. Adds
    full_mrr_low, full_mrr_high, full_hits@10_low and full_hits@10_high, and full_reason, which says why a row among
    sampled negatives has no bounds. Rows of other protocols have nulls.
    level: the probability that the bounds of one model hold.
    """
    rows = add_run(rescored)
    sampled = rows.filter(
        pl.col("protocol").str.contains(_SAMPLED),
        pl.col("status").is_in([*USABLE, "assumed"]),
        pl.col("adjustment").is_null(),
        pl.col("value").is_not_null(),
        pl.col("metric").is_in(_bounding(rows["metric"])),
    )
    runs = sampled.sort("dataset", "protocol", "split", "side", "run", maintain_order=True)
    found = [
        {"run": run[0], **_of_run(part, constants, level)}
        for run, part in runs.group_by("run", maintain_order=True)
    ]
    bounds = pl.DataFrame(found, schema=_SCHEMA)
    return rows.join(bounds, on="run", how="left", maintain_order="left").drop("run")


def _bounding(names: pl.Series) -> list[str]:
    """Return the metrics whose values say something."""
    metrics = {name: find(name) for name in names.unique().drop_nulls()}
    return sorted(
        name for name, metric in metrics.items() if metric is not None and is_function_of_mean(metric)
    )


def _of_run(part: pl.DataFrame, constants: Constants, level: float) -> dict[str, float | str | None]:
    first = part.row(0, named=True)
    values: dict[str, Value] = {
        row["metric"]: _interval(row) for row in part.select(*_NEEDED).iter_rows(named=True)
    }
    try:
        known = setting(
            Asked(
                sampled=int(first["protocol"].removeprefix("sampled-")),
                dataset=first["dataset"],
                split=first["split"],
                side=first["side"],
                database=constants,
            )
        )
        found = bounds_in(known, values, level=level, metrics=FULL_METRICS, limit=False)
    except RankadjustError as error:
        return {"full_reason": str(error)}
    return {
        f"full_{name}_{end}": getattr(bounds, end)
        for name, bounds in found.full.items()
        for end in ("low", "high")
    }


_NEEDED = ("metric", "value", "value_low", "value_high")


def _interval(row: dict[str, float | None]) -> tuple[float, float]:
    low, high = row["value_low"], row["value_high"]
    value = row["value"]
    assert value is not None
    return (value if low is None else low, value if high is None else high)
