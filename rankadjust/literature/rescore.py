"""Adjust printed results.

A tidy table has one row per printed value (rankadjust.literature.tidy). The words of the sources are mapped to the
words of this project (mapping), values are read, and each row is adjusted with the constants of the database
(row_constants). A row that cannot be adjusted is kept, with the reason (statuses).
"""

import math
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from rankadjust.base.frames import filled, require_frame
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import stands_for
from rankadjust.data.registry import Dataset
from rankadjust.database.arithmetic import add_adjusted
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import GAIN, add_gain
from rankadjust.database.documented import documented_entities
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import SCHEMA
from rankadjust.literature.mapping import MAPPED, Rules, load_rules, map_words, resolve_names
from rankadjust.literature.row_constants import add_benchmark_notes, add_constants
from rankadjust.literature.statuses import USABLE, add_certainty, add_status
from rankadjust.literature.tidy import add_duplicate, add_run, long_table, require_columns, tidy_columns

# The columns that `rescore` adds, in this order.
OUTPUT = {
    "adjustment": pl.String,
    **dict.fromkeys(("value", "value_low", "value_high", "expectation", "ratio", "index"), pl.Float64),
    **dict.fromkeys(("index_low", "index_high", "z", "z_random_scorer"), pl.Float64),
    **dict.fromkeys(
        ("scores_used", "reason_random_scorer", "status", "message", "caveat", "tags", "origin"), pl.String
    ),
    "entities": pl.Int64,
    "recomputed": pl.Float64,
    "difference": pl.Float64,
    # Only in rows with the status bounded.
    **dict.fromkeys(("expectation_low", "expectation_high", "z_low", "z_high"), pl.Float64),
    # Compared with the best counting baseline.
    **GAIN,
}


def rescore(
    frame: pl.DataFrame,
    database: Database = None,
    *,
    rules: Rules | None = None,
    registry: Mapping[str, Dataset] | None = None,
    entities: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Adjust printed values, and return the rows of the table in their order with columns added.

    No row is lost: a row with a problem has a status and a message. docs/statuses.md explains every status.

    Parameters
    ----------
    frame : polars.DataFrame, or a frame of pandas or pyarrow
        A tidy table with the columns dataset, metric and value; or a table with a column for each metric in place of
        metric and value. Other columns of workflow/schemas/tidy.schema.yaml are optional.
    database : Constants, str or Path, optional
        The constants to adjust with, or the path of a database file; None means the released constants. The
        histograms of the candidates come with the constants. They decide which values are possible.
    rules : Rules, optional
        The mapping from printed words to the words of this project; None means the shipped mapping.
    registry : mapping of str to Dataset, optional
        The data sets and their aliases; None means the data sets of the database, whose names are always known.
    entities : mapping of str to int, optional
        Documented numbers of entities, used if the database lacks the data set: the index is approximate then, and z is
        missing. None means the numbers in the registry, the benchmarks and the rules.

    Returns
    -------
    polars.DataFrame
        The given columns. The column value becomes value_as_printed, and another given column becomes <name>_given if
        an added column has its name. Added are value in fractions or ranks with its rounding interval, expectation,
        ratio, index, z, status and message, among others.

    Raises
    ------
    RankadjustError
        For a column that is missing.

    Examples
    --------
    >>> printed = pl.DataFrame({"dataset": ["Nations"] * 2, "metric": ["MRR", "MR"], "value": ["0.430", "25"]})
    >>> rescore(printed).select("status", pl.col("index").round(3)).rows()
    [('ok', 0.074), ('value_impossible', None)]

    """
    frame = long_table(require_frame(frame, "the table"))
    require_columns(frame, "the table")
    constants = Constants.given(database)
    rules = load_rules() if rules is None else rules
    registry = constants.registry if registry is None else registry
    entities = {**documented_entities(registry), **rules.entities} if entities is None else entities
    given = _as_text(frame)
    rows = _in_our_words(given, constants, rules, registry, entities)
    # Joins with the rows of other data sets take most of the time.
    is_near = pl.col("dataset").is_in(rows["dataset"].unique().to_list())
    near, baselines = (known.filter(is_near) for known in (constants.table, constants.baselines))
    near = pl.concat([near, _estimated_hits(rows, near, constants)], how="diagonal")
    rows = add_limits(read_values(rows), constants.histograms)
    rows = add_benchmark_notes(add_constants(rows, near, entities))
    rows = add_status(add_duplicate(rows).with_columns(chance="expectation"))
    # Keep the expectation beside a value that the candidates rule out: the mean N follows from it.
    is_ruled_out = (pl.col("status") == "value_impossible") & pl.col("limit").is_not_null()
    rows = add_certainty(add_adjusted(rows), near)
    adjusted = rows.with_columns(expectation=pl.when(is_ruled_out).then("chance").otherwise("expectation"))
    # A value printed as adjusted is on another scale than the gain.
    gained = add_gain(adjusted, baselines).with_columns(pl.when(_is_adjusted()).then(pl.col(*GAIN)))
    rescored = recompute(gained.with_columns(message=pl.coalesce("message", "reason_random_scorer")))
    printed = [f"{name}_as_printed" for name in MAPPED]
    return given.rename({"value": "value_as_printed"}).with_columns(
        rescored.select(
            *MAPPED, "spread", *printed, *(pl.col(name).cast(kind) for name, kind in OUTPUT.items())
        )
    )


def summary(rescored: pl.DataFrame) -> str:
    """Return the numbers of rows that were adjusted and not adjusted: '10 rows: 5 adjusted, 5 not'."""
    adjusted = rescored["index"].count()
    rows = f"{rescored.height:,} row{'s' if rescored.height != 1 else ''}"
    taken = rescored["status"].eq("assumed").sum()
    assumed = f" ({taken:,} with the status assumed)" if taken else ""
    return f"{rows}: {adjusted:,} adjusted{assumed}, {rescored.height - adjusted:,} not"


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return trimmed text, null for empty cells; a column becomes <name>_given if `rescore` adds its name."""
    taken = {*OUTPUT, "value_as_printed"} - {"value"}
    text = pl.all().exclude("file_line").cast(pl.String).str.strip_chars().replace("", None)
    return frame.with_columns(text).rename({name: f"{name}_given" for name in frame.columns if name in taken})


def _in_our_words(
    given: pl.DataFrame,
    constants: Constants,
    rules: Rules,
    registry: Mapping[str, Dataset],
    entities: Mapping[str, int],
) -> pl.DataFrame:
    """Return the columns of a tidy table with the words and the names of this project."""
    known = [name for name in ("file_line", *tidy_columns()["properties"]) if name in given.columns]
    rows = map_words(given.select(known), rules)
    return resolve_names(rows, constants.table, rules, registry, entities)


def _estimated_hits(rows: pl.DataFrame, near: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Return constants of Hits@10 as it is estimated from full ranks (hits@10_50), which no release has."""
    asked = rows.select(KEY).filter(pl.col("metric").str.contains("^hits_at_10_5[01]$")).unique()
    held = asked.join(near, on=KEY, how="anti").join(near, on=KEY[:-1], how="semi")
    found = [
        EvaluationSet.of(constants, *evaluation).moments([metric]) for *evaluation, metric in held.iter_rows()
    ]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *found])


def _is_adjusted() -> pl.Expr:
    """Return whether a value was adjusted here."""
    return pl.col("status").is_in([*USABLE, "assumed"]) & pl.col("adjustment").is_null()


def read_values(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the value, its rounding interval (0.338 stands for [0.3375, 0.3385]), and messages on its problems."""
    rows = rows.rename({"value": "value_as_printed"})
    written = {"has_percent_sign": pl.Boolean, "spread_beside": pl.String}
    rows = _with_facts(rows, ["value_as_printed"], written, _as_written)
    rows = rows.with_columns(
        unit=pl.coalesce("unit", _usual_unit()), spread=pl.coalesce("spread", "spread_beside")
    )
    interval = dict.fromkeys(("value", "value_low", "value_high"), pl.Float64)
    rows = _with_facts(rows, ["value_as_printed", "unit", "lower", "upper"], interval, _interval)
    is_absent = pl.col("value_as_printed").is_null()
    not_a_number = "value '{}' is not a number; write it like 0.338, 33.8 or .797 ± .001"
    return rows.with_columns(
        value_missing=pl.when(is_absent).then(pl.lit("the value is empty; give a number such as 0.338")),
        value_not_a_number=pl.when(~is_absent & pl.col("value").is_null()).then(
            filled(not_a_number, "value_as_printed")
        ),
        value_impossible=_impossible_value(),
    )


def _with_facts(
    rows: pl.DataFrame,
    given: list[str],
    facts: Mapping[str, pl.DataType | type[pl.DataType]],
    find: Callable[..., Sequence[object]],
) -> pl.DataFrame:
    """Add the columns `facts`, which `find` returns for the columns `given`; it is called once for equal rows."""
    distinct = rows.select(given).unique(maintain_order=True)
    found = pl.DataFrame([find(*row) for row in distinct.iter_rows()], schema=dict(facts), orient="row")
    return rows.join(distinct.hstack(found), on=given, how="left", maintain_order="left", nulls_equal=True)


def _as_written(text: str | None) -> tuple[bool, str | None]:
    """Return whether a printed value has a percent sign, and its printed spread."""
    number = read_number(text or "")
    return (number.percent, number.spread) if number else (False, None)


def _interval(
    text: str | None, unit: str, lower: float | None, upper: float | None
) -> Sequence[float | None]:
    """Return the value of a printed number and its rounding interval, or None for text that is not a number."""
    number = read_number(text or "")
    if number is None:
        return (None, None, None)
    # The range of an unknown metric is not known.
    ends = (-math.inf if lower is None else lower, math.inf if upper is None else upper)
    return stands_for(number, *ends, percent=unit == "percent")


def _usual_unit() -> pl.Expr:
    """Return the unit of a value that is printed without a unit: percent only if a % sign says so."""
    has_percent_sign = pl.col("has_percent_sign") | pl.col("metric_as_printed").str.contains("%")
    return (
        pl.when(pl.col("adjustment").is_not_null())
        .then(pl.col("adjustment").replace({"ratio": "index"}))
        .when(pl.col("upper").is_infinite())
        .then(pl.lit("rank"))
        .when(has_percent_sign)
        .then(pl.lit("percent"))
        .otherwise(pl.lit("fraction"))
    )


def _impossible_value() -> pl.Expr:
    """Return why a value does not suit its metric, null if it does."""
    is_unbounded, is_base = pl.col("upper").is_infinite(), pl.col("adjustment").is_null()
    unit_differs = is_base & (is_unbounded != (pl.col("unit") == "rank"))
    allowed = pl.when(is_unbounded).then(pl.lit("rank")).otherwise(pl.lit("fraction or percent"))
    value, metric = "value_as_printed", "metric_as_printed"
    return (
        pl.when(unit_differs & pl.col("unit_problem").is_null())
        .then(filled("unit '{}' does not suit {}; allowed: {}", "unit", metric, allowed))
        .when(is_unbounded & pl.col("has_percent_sign") & is_base)
        .then(filled("{} is not a share, so '{}' cannot be its value", metric, value))
        .when(~pl.col("value").is_between("lower", "upper"))
        .then(
            filled(
                "value '{}' in the unit {} is impossible for {}, which runs from {} to {}; check value and unit",
                *(value, "unit", metric, "lower", "upper"),
            )
        )
    )


def add_limits(rows: pl.DataFrame, histograms: Histograms) -> pl.DataFrame:
    """Add the column limit: why the numbers of candidates rule a value out; the reason also joins value_impossible."""
    # Adjusted values, and values with a problem, are not compared with the numbers of candidates.
    is_value = pl.all_horizontal(
        pl.col(name).is_null()
        for name in ("adjustment", "metric_problem", "unit_problem", "value_impossible")
    )
    given = [*KEY, "value_low", "value_high"]
    distinct = rows.filter(is_value).select(given).drop_nulls().unique(maintain_order=True)
    limits_of_rows = [
        histograms.why_impossible(evaluation, resolve(metric), low, high)
        for *evaluation, metric, low, high in distinct.iter_rows()
    ]
    found = distinct.with_columns(limit=pl.Series(limits_of_rows, dtype=pl.String))
    joined = rows.join(found, on=given, how="left", maintain_order="left").with_columns(
        limit=pl.when(is_value).then("limit")
    )
    said = filled("value '{}' is impossible: {}", "value_as_printed", "limit")
    return joined.with_columns(value_impossible=pl.coalesce("value_impossible", said))


def recompute(rows: pl.DataFrame) -> pl.DataFrame:
    """Recompute printed adjusted values from the base metric of the same model, if that was printed too."""
    rows, key, kinds = add_run(rows), ["run", "metric"], ("ratio", "index", "z")
    base = (
        rows.filter(_is_adjusted())
        .select(*key, pl.col(kinds).name.prefix("base_"))
        .unique(key, keep="first", maintain_order=True)
    )
    is_printed = pl.col("status") == "adjusted_as_published"
    of_kind = pl.coalesce(pl.when(adjustment=name).then(f"base_{name}") for name in kinds)
    # Some sources do not turn the sign of z for a mean rank, so that low is good; here high is always good.
    is_inverted = (
        (pl.col("adjustment") == "z")
        & ~pl.col("increasing")
        & (pl.col("value").sign() == -pl.col("recomputed").sign())
    )
    oriented = pl.when(is_inverted).then(-pl.col("value")).otherwise("value")
    comparison = filled(
        "; the model's {} gives {}, and the printed value{} differs by {}",
        "metric",
        pl.col("recomputed").round_sig_figs(6),
        pl.when(is_inverted).then(pl.lit(" with its sign changed")).otherwise(pl.lit("")),
        pl.col("difference").round_sig_figs(3),
    )
    nothing = pl.lit("; the model's metric before adjustment is not printed or not adjusted here")
    compared = pl.concat_str("message", pl.coalesce(comparison, nothing))
    return (
        rows.join(base, on=key, how="left", maintain_order="left")
        .with_columns(recomputed=pl.when(is_printed).then(of_kind))
        .with_columns(difference=oriented - pl.col("recomputed"))
        .with_columns(message=pl.when(is_printed).then(compared).otherwise("message"))
    )
