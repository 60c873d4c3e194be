"""The calculator: the constants of every evaluation that people print, packed for the script of the page."""

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.base.vocabulary import EVALUATION, KEY, PRINTED_SPLITS, SIDES
from rankadjust.base.words import folded
from rankadjust.chance.bounds import attainable_by_group
from rankadjust.chance.metrics import FAMILIES, Metric, resolve
from rankadjust.data.registry import load_registry
from rankadjust.database.arithmetic import BOUNDS, LEAST_ROOM, Z_OF_VARIANCE
from rankadjust.database.histograms import left_out_by, with_benchmarks
from rankadjust.database.store import load_database
from rankadjust.page.material import Material
from rankadjust.page.templating import Section, data_element, packed_element, render

_REASONS = ("reason", "reason_random_scorer", "reason_static_scorer")
_LIMITS = ("least", "greatest")
# Marks a value of this column that equals the variance of the random scorer, as it does for all data without times.
_SAME = -1.0


def calculator_section(material: Material) -> Section | None:
    """Return the form that adjusts a printed value as `rankadjust adjust` does, with all constants that it needs."""
    table = material.constants.table
    own = table.filter(pl.col("origin") == "computed")["dataset"].unique()
    constants = _constants(table, own)
    if constants.is_empty():
        return None
    names, numbers = _packed(constants, material.constants.histograms.table)
    names |= _data_set_names(constants, own)
    elements = data_element("calculator-names", names) + packed_element("calculator-numbers", numbers)
    return Section("calculator", "Check your number", render("calculator.html.jinja", data=elements))


def _packed(constants: pl.DataFrame, histograms: pl.DataFrame) -> tuple[dict[str, object], bytes]:
    """Return the data with which the script adjusts a value: names, for JSON, and numbers.

    constants: rows of the database, grouped by evaluation. The numbers are columns of float64, little-endian, one after
    the other: first the columns of the evaluations, then the columns of the rows. `columns` and `heights` of the names
    list them. nan marks a missing value. A word is stored as its place in the list of words of its column.
    """
    evaluations = (
        constants.with_row_index("first")
        .group_by(*EVALUATION, maintain_order=True)
        .agg(pl.col("first", "tasks").first(), rows=pl.len())
    )
    least_and_most, limits = _limits(evaluations, constants, histograms)
    words = {name: evaluations[name].unique(maintain_order=True).to_list() for name in EVALUATION}
    metrics = sorted((resolve(key) for key in constants["metric"].unique()), key=_place)
    reasons = pl.concat(constants[name].drop_nulls() for name in _REASONS).unique(maintain_order=True)
    rows = constants.select(
        _coded("metric", [metric.key for metric in metrics]),
        "expectation",
        "variance",
        "variance_random_scorer",
        pl.when(pl.col("variance_static_scorer").eq_missing(pl.col("variance_random_scorer")))
        .then(_SAME)
        .otherwise("variance_static_scorer")
        .alias("variance_static_scorer"),
        *BOUNDS,
        *(_coded(name, reasons.to_list()) for name in _REASONS),
    ).with_columns(limits)
    head = evaluations.select(
        *(_coded(name, words[name]) for name in EVALUATION), "first", "rows", "tasks"
    ).with_columns(least_and_most)
    names = words | {
        "metric": [_described(metric) for metric in metrics],
        "reason": reasons.to_list(),
        "columns": {"evaluations": head.columns, "rows": rows.columns},
        "heights": {"evaluations": head.height, "rows": rows.height},
        "least_room": LEAST_ROOM,
    }
    columns = [
        column.cast(pl.Float64).fill_null(math.nan).to_numpy().astype("<f8")
        for table in (head, rows)
        for column in table
    ]
    return names, b"".join(column.tobytes() for column in columns)


def _constants(table: pl.DataFrame, own: pl.Series) -> pl.DataFrame:
    """Return the rows of the splits that people print, except training; the run's own data sets come first."""
    return (
        table.filter(pl.col("split").is_in(PRINTED_SPLITS), pl.col("split") != "training")
        .with_columns(
            place=pl.col("side").replace_strict({side: i for i, side in enumerate(reversed(SIDES))})
        )
        .sort(
            ~pl.col("dataset").is_in(own.implode()),
            *("dataset", "protocol", "split", "place", "metric"),
            maintain_order=True,
        )
        .select(*KEY, "tasks", "expectation", *Z_OF_VARIANCE, *BOUNDS, *_REASONS)
    )


def _data_set_names(constants: pl.DataFrame, own: pl.Series) -> dict[str, object]:
    """Return the folded names and aliases of the data sets."""
    registry = load_registry()
    aliases: dict[str, str] = {}
    ambiguous: dict[str, list[str]] = {}
    for dataset in registry.values():
        for word in (dataset.name, *dataset.aliases):
            aliases.setdefault(folded(word), dataset.name)
        for word in dataset.ambiguous_aliases:
            ambiguous.setdefault(folded(word), []).append(dataset.name)
    return {
        "own": [name for name in constants["dataset"].unique(maintain_order=True) if name in own],
        "local": _local(constants, own),
        "aliases": aliases,
        "ambiguous": ambiguous,
    }


def _local(constants: pl.DataFrame, own: pl.Series) -> list[str]:
    """Return the data sets of the run whose constants the release lacks: for them the command needs --results."""
    of_run = constants.filter(pl.col("dataset").is_in(own.implode()))
    same = [*KEY, "expectation"]
    unknown = of_run.join(load_database().select(same), on=same, how="anti", nulls_equal=True)
    return unknown["dataset"].unique().sort().to_list()


def _limits(
    evaluations: pl.DataFrame, constants: pl.DataFrame, histograms: pl.DataFrame
) -> tuple[list[pl.Series], list[pl.Series]]:
    """Return the numbers of candidates of each evaluation, and the values that each row's metric can have.

    As in rankadjust.database.histograms, a protocol that leaves the true answer out counts it as a further candidate.
    The limits of an evaluation are unknown if a number of tasks is.
    """
    known_counts = with_benchmarks(histograms.select(*EVALUATION, "num_candidates", "tasks"))
    together = known_counts.with_columns(side=pl.lit("both"))
    known = (
        evaluations.with_row_index("place")
        .join(pl.concat([known_counts, together]), on=EVALUATION, suffix="_here")
        .with_columns(unknown=pl.col("tasks_here").null_count().over("place") > 0)
        .filter(~pl.col("unknown"), pl.col("tasks_here") > 0)
    )
    left_out = {name: left_out_by(name) for name in evaluations["protocol"].unique()}
    known = known.with_columns(
        counts=(pl.col("num_candidates") + pl.col("protocol").replace_strict(left_out)).clip(1)
    )
    place, counts, tasks = (known[name].to_numpy() for name in ("place", "counts", "tasks_here"))
    ends: dict[str, FloatArray] = {end: np.full(constants.height, math.nan) for end in _LIMITS}
    of_row = np.repeat(np.arange(evaluations.height), evaluations["rows"].to_numpy())
    for (key,), part in constants.with_row_index("row").group_by("metric"):
        attainable = attainable_by_group(resolve(str(key)), counts, tasks, place, evaluations.height)
        rows = part["row"].to_numpy()
        for end, values in zip(_LIMITS, attainable, strict=True):
            ends[end][rows] = values[of_row[rows]]
    extremes = known.group_by("place").agg(
        least_candidates=pl.col("counts").min(), most_candidates=pl.col("counts").max()
    )
    of_evaluation = (
        evaluations.with_row_index("place")
        .select("place")
        .join(extremes, on="place", how="left", maintain_order="left")
    )
    return (
        of_evaluation.drop("place").get_columns(),
        [pl.Series(end, values) for end, values in ends.items()],
    )


def _place(metric: Metric) -> tuple[int, int]:
    return list(FAMILIES).index(metric.family), metric.k or 0


def _described(metric: Metric) -> Mapping[str, object]:
    """Return a metric for the script; name: the shortest that the command understands."""
    family = FAMILIES[metric.family]
    alias = min((family.key, *family.names), key=len)
    return {
        "key": metric.key,
        "name": alias.removesuffix("k") + str(metric.k) if alias.endswith("@k") else alias,
        "label": metric.label,
        "optimum": metric.optimum,
        "lower": metric.lower,
        "upper": metric.upper if math.isfinite(metric.upper) else None,
        "increasing": metric.increasing,
        "ratio": metric.ratio,
    }


def _coded(name: str, words: list[str]) -> pl.Expr:
    places = {word: place for place, word in enumerate(words)}
    return pl.col(name).replace_strict(places, default=None, return_dtype=pl.Float64)
