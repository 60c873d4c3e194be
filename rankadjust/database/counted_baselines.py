"""What counting baselines reach on every evaluation set: the best one, and the gain over it.

Counting is in `rankadjust.baselines`, and `rankadjust.database.store` reads what it gave.
gain = (M - B) / (optimum - B) is 0 at the baseline's value B and 1 for a perfect ranking.
"""

from collections.abc import Iterable

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.vocabulary import KEY, SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import add_gains

# Baselines that know no more than a model that was trained on the training split, and on validation for testing.
FAIR = ("popularity", "redundancy", "rules", "recurrency-multi-step")
BEST = "best"
# The split on which the best baseline of a split is chosen, and the replacement where a data set lacks it.
_TESTS_OF_INFERENCE = [split for split in SPLITS if split.startswith("inference_testing")]
CHOSEN_ON = {
    "testing": ("validation",),
    **dict.fromkeys(_TESTS_OF_INFERENCE, ("inference_validation", "validation")),
}
GAIN = {
    "baseline": pl.String,
    **dict.fromkeys(("baseline_value", "gain", "gain_low", "gain_high"), pl.Float64),
}
"""Columns that `add_gain` adds."""


def chosen(baselines: pl.DataFrame, against: str | None = None) -> pl.DataFrame:
    """Return one baseline for each evaluation set and metric: columns KEY, baseline and baseline_value.

    against: its name; None means the best of FAIR, chosen for each metric on the validation split and never on the
    split that is judged. Without another split to choose on the result has no row.
    """
    known = baselines.drop_nulls("value")
    values = known.select(*KEY, "baseline", baseline_value="value")
    if against is not None:
        return values.filter(pl.col("baseline") == against)
    return pl.concat(_best_on(known, values, split) for split in CHOSEN_ON)


def _best_on(known: pl.DataFrame, values: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the rows of the baselines that are the best for a split, by the split before it."""
    key = [name for name in KEY if name != "split"]
    rising = [metric for metric in known["metric"].unique() if resolve(metric).increasing]
    best = (
        known.filter(pl.col("split").is_in(CHOSEN_ON[split]), pl.col("baseline").is_in(FAIR))
        .sort(
            pl.col("split").cast(pl.Enum(CHOSEN_ON[split])),
            pl.when(pl.col("metric").is_in(rising)).then(-pl.col("value")).otherwise("value"),
            pl.col("baseline").cast(pl.Enum(FAIR)),
        )
        .unique(key, keep="first", maintain_order=True)
    )
    of_split = values.filter(pl.col("split") == split)
    return of_split.join(best, on=[*key, "baseline"], how="semi")


def add_gain(rows: pl.DataFrame, baselines: pl.DataFrame, against: str | None = None) -> pl.DataFrame:
    """Add the columns of GAIN to rows with KEY, value, value_low, value_high and optimum.

    baseline: the one of `chosen`; gain: (value - baseline_value) / (optimum - baseline_value), null where the baseline
    is at the optimum; gain_low and gain_high: the same for the ends of the rounding interval.
    """
    wanted = rows.select(KEY).unique()
    # The best is chosen on another split than the judged split.
    near = baselines.join(wanted, on=[name for name in KEY if name != "split"], how="semi")
    return add_gains(rows.join(chosen(near, against), on=KEY, how="left", maintain_order="left"))


def known_baseline(name: str, known: Iterable[str], where: str) -> str | None:
    """Return the name of a baseline in whatever spelling, None for 'best'. Raises RankadjustError for no such one."""
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    if folded == BEST:
        return None
    known = sorted(set(known))
    if folded in known:
        return folded
    has = f"it has {', '.join(known)}" if known else "it has none"
    raise RankadjustError(f"{where} has no baseline {name!r}{did_you_mean(folded, known) or f'; {has}'}")


def why_no_gain(baselines: pl.DataFrame, split: str, metric: str) -> str:
    """Return in words why a value of a metric on a split has no gain; baselines: of its evaluation set."""
    if baselines.is_empty():
        return "no counting baseline is known for this evaluation set"
    of_metric = baselines.filter(pl.col("metric") == metric)
    if of_metric.drop_nulls("value").is_empty():
        reasons = of_metric["reason"].drop_nulls()
        return (
            f"no counting baseline: {reasons[0] if reasons.len() else f'{metric} was not computed for them'}"
        )
    if split not in CHOSEN_ON:
        return f"the best counting baseline is chosen on validation, which cannot judge {split}; name one (against)"
    return "the best counting baseline is chosen on validation, which these data lack; name one (against)"
