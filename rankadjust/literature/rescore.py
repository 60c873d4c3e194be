"""Adjust printed results.

A tidy table has one row per printed value (rankadjust.literature.tidy). The words of the sources are mapped to the
words of this project (wording), values are read (printed_values), and each row is adjusted with the constants of the
database (constants). A row that cannot be adjusted is kept, with the reason (statuses).
"""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from rankadjust.base.frames import filled, require_frame
from rankadjust.data.registry import Dataset
from rankadjust.database.arithmetic import add_adjusted
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import GAIN, add_gain
from rankadjust.literature.certainty import add_certainty
from rankadjust.literature.constants import add_benchmark_notes, add_constants, documented_entities
from rankadjust.literature.printed_values import add_limits, read_values
from rankadjust.literature.runs import add_duplicate, add_run
from rankadjust.literature.statuses import USABLE, add_status
from rankadjust.literature.tidy import long_table, require_columns
from rankadjust.literature.wording import MAPPED, Rules, load_rules, map_words, resolve_names, tidy_columns

# The columns that `rescore` adds, in this order.
OUTPUT = {
    "adjustment": pl.String,
    **dict.fromkeys(("value", "value_low", "value_high", "expectation", "ratio", "index"), pl.Float64),
    **dict.fromkeys(("index_low", "index_high", "z", "z_random_scorer"), pl.Float64),
    "scores_used": pl.String,
    "reason_random_scorer": pl.String,
    **dict.fromkeys(("status", "message", "caveat", "origin"), pl.String),
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
    """Adjust printed values: return the rows of a table in their order, with columns added.

    No row is lost: a row with a problem has a status and a message. docs/literature.md explains every status.

    Parameters
    ----------
    frame : polars.DataFrame, or a frame of pandas or pyarrow
        A tidy table with the columns dataset, metric and value; or a table with a column for each metric in place of
        metric and value. Other columns of workflow/schemas/tidy.schema.yaml are optional.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released constants. The
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
        The given columns. The column value becomes value_as_printed; another given column becomes <name>_given if an
        added column has its name. Added are value in fractions or ranks with its rounding interval, expectation, ratio,
        index, z, status and message, among others.

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
    rows = add_limits(read_values(rows), constants.histograms)
    rows = add_benchmark_notes(add_constants(rows, near, entities))
    rows = add_status(add_duplicate(rows).with_columns(chance="expectation"))
    # Keep the expectation beside a value that the candidates rule out: the mean N follows from it.
    is_ruled_out = (pl.col("status") == "value_impossible") & pl.col("limit").is_not_null()
    rows = add_certainty(add_adjusted(rows), near)
    adjusted = rows.with_columns(expectation=pl.when(is_ruled_out).then("chance").otherwise("expectation"))
    adjusted = _where_adjusted(add_gain(adjusted, baselines), GAIN)
    rescored = recompute(adjusted.with_columns(message=pl.coalesce("message", "reason_random_scorer")))
    printed = [f"{name}_as_printed" for name in MAPPED]
    return given.rename({"value": "value_as_printed"}).with_columns(
        rescored.select(
            *MAPPED, "spread", *printed, *(pl.col(name).cast(kind) for name, kind in OUTPUT.items())
        )
    )


def of_datasets(frame: pl.DataFrame, datasets: Sequence[str], constants: Constants) -> pl.DataFrame:
    """Return the rows of a tidy table that `rescore` would adjust as values of some data sets."""
    rules, registry = load_rules(), constants.registry
    entities = {**documented_entities(registry), **rules.entities}
    rows = _in_our_words(_as_text(frame), constants, rules, registry, entities)
    return frame.filter(rows["dataset"].is_in(datasets))


def summary(rescored: pl.DataFrame) -> str:
    """Return the numbers of rows that were adjusted and not adjusted: '10 rows: 5 adjusted, 5 not'."""
    adjusted = rescored["index"].count()
    rows = f"{rescored.height:,} row{'s' if rescored.height != 1 else ''}"
    taken = rescored["status"].eq("assumed").sum()
    assumed = f" ({taken:,} on facts assumed: status assumed)" if taken else ""
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


def _where_adjusted(rows: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Clear columns of values that were not adjusted here; a value printed as adjusted is on another scale."""
    is_adjusted = pl.col("status").is_in([*USABLE, "assumed"]) & pl.col("adjustment").is_null()
    return rows.with_columns(pl.when(is_adjusted).then(name).alias(name) for name in columns)


def recompute(rows: pl.DataFrame) -> pl.DataFrame:
    """Recompute printed adjusted values from the base metric of the same model, if that was printed too."""
    rows = add_run(rows)
    kinds = ("ratio", "index", "z")
    base = (
        rows.filter(pl.col("adjustment").is_null(), pl.col("status").is_in([*USABLE, "assumed"]))
        .select("run", "metric", *(pl.col(name).alias(f"base_{name}") for name in kinds))
        .unique(subset=["run", "metric"], keep="first", maintain_order=True)
    )
    is_printed = pl.col("status") == "adjusted_as_published"
    of_kind = pl.coalesce(pl.when(pl.col("adjustment") == name).then(f"base_{name}") for name in kinds)
    # Some sources do not turn the sign of z for a mean rank, so that low is good; here high is always good.
    is_inverted = (
        (pl.col("adjustment") == "z")
        & ~pl.col("increasing")
        & (pl.col("value").sign() == -pl.col("recomputed").sign())
    )
    oriented = pl.when(is_inverted).then(-pl.col("value")).otherwise("value")
    comparison = filled(
        "; from the model's {} it is {}: the printed value{} differs by {}",
        "metric",
        pl.col("recomputed").round_sig_figs(6),
        pl.when(is_inverted).then(pl.lit(", turned round since low is good there,")).otherwise(pl.lit("")),
        pl.col("difference").round_sig_figs(3),
    )
    nothing = pl.lit("; the model's metric before adjustment is not printed or not adjusted here")
    return (
        rows.join(base, on=["run", "metric"], how="left", maintain_order="left")
        .with_columns(recomputed=pl.when(is_printed).then(of_kind))
        .with_columns(difference=oriented - pl.col("recomputed"))
        .with_columns(
            message=pl.when(is_printed)
            .then(pl.concat_str("message", pl.coalesce(comparison, nothing)))
            .otherwise("message")
        )
    )
