"""Pairs of models whose order differs between two evaluations on the same data.

Adjustment never changes the order of two models within an evaluation. Another protocol, the other side or another
number of negatives may, since the models then answer a different question.
"""

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import KEY, TASK_SIDES
from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import usable

KEPT, REVERSED, OPEN = "kept", "reversed", "open"

# Versions of a data set that differ in the number of negatives alone.
_VERSIONS = "^(tgbl-wiki|tgbl-review)-v[12]$"
_LEVEL = 0.05
_RESAMPLES = 2_000
_SEED = 20261123

# For each comparison: the columns that both evaluations share, and the column that differs.
_KINDS = {
    "protocol": (["source", "dataset", "split", "side", "metric"], "protocol"),
    "side": (["source", "dataset", "split", "protocol", "metric"], "side"),
    "negatives": (["dataset", "split", "side", "metric"], "protocol"),
}
_GROUP = ["comparison", "source", "dataset", "split", "metric", "first", "second", "under"]


def pair_orders(rescored: pl.DataFrame, database: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return every pair of models that a source evaluates in two ways on the same data, and whether its order changes.

    comparison says what differs: the protocol, the side (head or tail), or the number of negatives (first and later
    version of tgbl-wiki and tgbl-review). first and second name the two evaluations; under is the side or protocol that
    they share. value and other_value belong to model and other_model in the first evaluation, value_second and
    other_value_second in the second. order is kept or reversed, or open if the rounding and the printed spread exceed
    the difference in either evaluation.

    Each evaluation has an upper bound of the p of a sign-flip test: the probability that the models differ as much if a
    coin decides on each triple which model does better. The bound (Hoeffding) holds for all ranks with these values. p
    is the larger bound of the two evaluations. Triples that share a query are treated as independent, so the true p may
    be larger. p is null for metrics that are not shares, and if `database` (as in `rankadjust.database.store`) does not
    have the number of tasks.
    """
    rows = _with_triples(usable(rescored).filter(pl.col("model").is_not_null()), database)
    # A mean over seeds is known only up to its spread.
    spread = pl.col("spread").cast(pl.Float64, strict=False).fill_null(0)
    slack = pl.max_horizontal((pl.col("value_high") - pl.col("value_low")) / 2, spread)
    rows = rows.with_columns(slack=slack)
    versions = rows.filter(pl.col("dataset").str.contains(_VERSIONS)).with_columns(
        pl.col("dataset").str.replace("-v[12]$", "")
    )
    parts = {"protocol": rows, "side": rows.filter(pl.col("side").is_in(TASK_SIDES)), "negatives": versions}
    return pl.concat(_of_kind(part, name, *_KINDS[name]) for name, part in parts.items())


def _with_triples(rows: pl.DataFrame, database: pl.DataFrame | None) -> pl.DataFrame:
    """Add the number of triples of a share; null if it is not known or the metric is not a share."""
    unknown = pl.lit(None, pl.Int64)
    if database is None:
        return rows.with_columns(triples=unknown)
    metrics = map(resolve, rows["metric"].unique())
    shares = [metric.key for metric in metrics if metric.additive and metric.increasing and metric.upper == 1]
    number = pl.col("tasks") // pl.when(side="both").then(2).otherwise(1)
    tasks = database.select(*KEY, triples=pl.when(pl.col("metric").is_in(shares)).then(number))
    return rows.join(tasks, on=KEY, how="left", maintain_order="left")


def _p_of_tasks() -> pl.Expr:
    """Return the largest p of the sign-flip test over all ranks that have both values.

    Of n differences d in [-1, 1] with mean D the flips reach n D in size with probability at most
    2 exp(-(n D)^2 / (2 sum d^2)), and sum d^2 <= sum |d| <= n min(a + b, 2 - a - b).
    """
    slack, total = pl.col("slack") + pl.col("slack_other"), pl.col("value") + pl.col("value_other")
    apart = ((pl.col("value") - pl.col("value_other")).abs() - slack).clip(0)
    room = (pl.min_horizontal(total, 2 - total) + slack).clip(1e-12, 1)
    return (2 * (-pl.col("triples") * apart**2 / (2 * room)).exp()).clip(0, 1)


def _of_kind(rows: pl.DataFrame, name: str, key: list[str], varied: str) -> pl.DataFrame:
    """Return the pairs of one comparison; the line identifies a model if a source repeats its name."""
    is_repeated = pl.struct(*key, varied, "model").is_duplicated().any().over([*key, "model"])
    model = (
        pl.when(is_repeated)
        .then(pl.concat_str("model", "source_line", separator=", line "))
        .otherwise("model")
    )
    wanted = ["model", "value", "merit", "slack", "triples"]
    named = rows.with_columns(model=model).drop_nulls("model")
    # Lines of the same name are matched across protocols only if the protocols share these lines.
    each = named.unique([*key, varied, "model"], keep="none").select(*key, varied, *wanted)
    pairs = each.join(each, on=[*key, varied], suffix="_other").filter(
        pl.col("model") < pl.col("model_other")
    )
    difference = pl.col("merit") - pl.col("merit_other")
    is_sure = difference.abs() > pl.col("slack") + pl.col("slack_other")
    signed = pairs.select(
        *key,
        varied,
        "model",
        other_model="model_other",
        value="value",
        other_value="value_other",
        sign=pl.when(is_sure).then(difference.sign()).otherwise(0.0),
        p=_p_of_tasks(),
    )
    # The protocol filtered comes first, then fewer negatives, then the alphabet: 20 before 100, head before tail.
    size = pl.col(varied).str.extract("([0-9]+)$").cast(pl.Int64).fill_null(0)
    is_other = (pl.col(varied) != "filtered").cast(pl.String)
    signed = signed.with_columns(place=pl.concat_str(is_other, size.cast(pl.String).str.zfill(9), varied))
    both = signed.join(signed, on=[*key, "model", "other_model"], suffix="_second")
    product = pl.col("sign") * pl.col("sign_second")
    source = pl.col("source") if "source" in key else pl.lit("TGB")
    return (
        both.filter(pl.col("place") < pl.col("place_second"))
        .select(
            comparison=pl.lit(name),
            source=source,
            dataset="dataset",
            split="split",
            metric="metric",
            first=varied,
            second=f"{varied}_second",
            under=pl.col("side") if "side" in key else pl.col("protocol"),
            model="model",
            other_model="other_model",
            value="value",
            other_value="other_value",
            value_second="value_second",
            other_value_second="other_value_second",
            order=pl.when(product > 0)
            .then(pl.lit(KEPT))
            .when(product < 0)
            .then(pl.lit(REVERSED))
            .otherwise(pl.lit(OPEN)),
            p=pl.when(pl.col("p").is_not_null() & pl.col("p_second").is_not_null()).then(
                pl.max_horizontal("p", "p_second")
            ),
        )
        .sort(pl.all())
    )


def reversals(pairs: pl.DataFrame) -> pl.DataFrame:
    """Count the pairs of models that change places between two evaluations.

    pairs: result of `pair_orders`. Returns a row per comparison, source, dataset, split, metric, first, second and
    under: models, pairs (of models), known (pairs whose order is known in both evaluations), reversed (known pairs that
    change places), and share (reversed / known). sure and sure_reversed count the known and the reversed pairs with a p
    of at most 0.05; they are null if no p is known. share_low and share_high enclose the middle 95 % of _RESAMPLES
    resamples of the models, with a fixed seed. They are null with fewer than four models, and if no pair or every pair
    is reversed, since resamples say nothing then.
    """
    rows = []
    for key, part in pairs.group_by(_GROUP, maintain_order=True):
        known = part.filter(pl.col("order") != OPEN)
        changed = known.filter(order=REVERSED).height
        sure = known.filter(pl.col("p") <= _LEVEL)
        counts = (sure.height, sure.filter(order=REVERSED).height) if part["p"].count() else (None, None)
        rows.append(
            (
                *key,
                pl.concat([part["model"], part["other_model"]]).n_unique(),
                part.height,
                known.height,
                changed,
                *counts,
                changed / known.height if known.height else None,
                *_interval(known),
            )
        )
    numbers = ("models", "pairs", "known", "reversed", "sure", "sure_reversed")
    shares = dict.fromkeys(("share", "share_low", "share_high"), pl.Float64)
    schema = {**dict.fromkeys(_GROUP, pl.String), **dict.fromkeys(numbers, pl.Int64), **shares}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _interval(known: pl.DataFrame) -> tuple[float | None, float | None]:
    """Return the 2.5th and the 97.5th percentile of the share of reversed pairs over resamples of the models."""
    names = sorted({*known["model"], *known["other_model"]})
    is_changed = (known["order"] == REVERSED).to_numpy()
    if len(names) < 4 or is_changed.all() or not is_changed.any():
        return None, None
    places = {name: place for place, name in enumerate(names)}
    first, second = (
        known[column].replace_strict(places, return_dtype=pl.Int64).to_numpy()
        for column in ("model", "other_model")
    )
    generator = np.random.default_rng(_SEED)
    times = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_RESAMPLES)
    weights = times[:, first] * times[:, second]
    total = weights.sum(axis=1)
    shares = (weights @ is_changed)[total > 0] / total[total > 0]
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(low), float(high)
