"""Printed results: reading tidy tables, mapping the sources' words, and adjusting what was printed.

A tidy table has one row per printed value; its columns are described in workflow/schemas/tidy.schema.yaml.
The words of the sources are mapped to ours (rankadjust.literature.wording), and each row is adjusted with the constants
of the database. A row that cannot be adjusted is kept and says why (docs/literature.md, "Statuses").
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import require_frame
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.database.adjustments import add_adjusted, add_coefficients
from rankadjust.database.histograms import Histograms, add_p
from rankadjust.database.limits import Limits
from rankadjust.database.store import load_database
from rankadjust.literature.wording import (
    ALL_ENTITIES,
    MAPPED,
    SAMPLED,
    Rules,
    load_rules,
    map_words,
    resolve_names,
    tidy_columns,
)

# What makes two rows two results: the same result twice in a table is a mistake.
RESULT = ("source", "table", "source_line", "model", *KEY, "candidates", "adjustment")

# What `rescore` adds, in this order.
OUTPUT = {
    "adjustment": pl.String,
    "value": pl.Float64,
    "value_low": pl.Float64,
    "value_high": pl.Float64,
    "expectation": pl.Float64,
    "ratio": pl.Float64,
    "index": pl.Float64,
    "index_low": pl.Float64,
    "index_high": pl.Float64,
    "z": pl.Float64,
    "z_random_scorer": pl.Float64,
    "scores_used": pl.String,
    "reason_random_scorer": pl.String,
    "log10_p_independent": pl.Float64,
    "reason_p": pl.String,
    "status": pl.String,
    "message": pl.String,
    "origin": pl.String,
    "entities": pl.Int64,
    "recomputed": pl.Float64,
    "difference": pl.Float64,
}

# Statuses for something wrong in a row, with the column of the message. Where several hold, the row has the
# first of them, and the messages of all.
_PROBLEMS = {
    "value_missing": "value_missing",
    "value_not_a_number": "value_not_a_number",
    "metric_unknown": "metric_problem",
    "side_unknown": "side_problem",
    "protocol_unknown": "protocol_problem",
    "unit_unknown": "unit_problem",
    "scores_unknown": "scores_problem",
    "value_impossible": "value_impossible",
    "duplicate": "duplicate",
    "dataset_unknown": "dataset_problem",
    "split_unknown": "split_problem",
}
STATUSES = ("ok", "approximate", "adjusted_as_published", *_PROBLEMS, "no_moments", "not_in_database")
# Statuses of rows that are adjusted, and take part in comparisons.
USABLE = STATUSES[:2]

# What need not be known of a row whose number of candidates is constant: its index does not depend on it.
_NOT_NEEDED_WITH_CONSTANT_CANDIDATES = ("dataset_unknown", "split_unknown")

_UNKNOWN_TASKS = "the number of tasks is not known: no z"


def read_tidy(path: str | Path) -> pl.DataFrame:
    """Read a tidy table as text, with the file's name and each row's line added.

    What separates its cells (comma, tab or semicolon) is what its first line is written with.

    Every column of the file comes as it is, after `file` and `file_line` (Int64; the header is line 1).
    Raises RankadjustError where the file cannot be read or lacks a needed column.
    """
    path = Path(path)
    separator, _ = tidy_separator(path)
    try:
        frame = pl.read_csv(path, separator=separator, infer_schema=False, raise_if_empty=False)
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RankadjustError(f"{path}: cannot be read as a table ({str(error).splitlines()[0]})") from None
    require_columns(frame, str(path))
    # A quoted cell may hold line breaks: the rows after it stand lower in the file than their number says.
    breaks = pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0)).cast(pl.Int64)
    lines = frame.select(
        file=pl.lit(path.name),
        file_line=pl.int_range(pl.len(), dtype=pl.Int64) + 2 + breaks.cum_sum().shift(1, fill_value=0),
    )
    return lines.hstack(frame.drop("file", "file_line", strict=False))


def tidy_separator(path: str | Path) -> tuple[str, int]:
    """Return what separates the cells of a file, and how many of the columns that a tidy table needs are there.

    The first line says so; where it has none of them the suffix does. A file that is not there has none.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline()
    except OSError:
        header = ""
    required = set(tidy_columns()["required"])
    found = {
        separator: len(required & {name.strip().strip('"') for name in header.split(separator)})
        for separator in ("\t,;" if path.suffix in (".tsv", ".tab") else ",\t;")
    }
    return max(found.items(), key=lambda one: one[1])


def require_columns(frame: pl.DataFrame, name: str) -> None:
    """Raise a RankadjustError where a tidy table lacks a needed column."""
    for column in tidy_columns()["required"]:
        if column not in frame.columns:
            hint = (
                did_you_mean(column, frame.columns) or f"; it has {', '.join(frame.columns) or 'no columns'}"
            )
            raise RankadjustError(f"{name}: the table lacks the column '{column}'{hint}")


def rescore(
    frame: pl.DataFrame,
    database: pl.DataFrame | str | Path | None = None,
    *,
    candidates: pl.DataFrame | str | Path | Histograms | None = None,
    rules: Rules | None = None,
    registry: Mapping[str, Dataset] | None = None,
    entities: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Adjust printed values: the rows of a tidy table in their order, with the columns of OUTPUT added.

    frame: columns dataset, metric, value and optionally those of workflow/schemas/tidy.schema.yaml.
    database: a frame or a file as `load_database` takes it, optionally with the column `origin` (computed,
        released); None means the released one.
    candidates: histograms of the candidates, a frame or a file; None means the file candidates.parquet beside the
        database, if there is one. p needs them, and what is possible: no rank is above the number of candidates.
    rules: the mapping of words (None: the shipped one).
    registry: the data sets and their aliases (None: the shipped ones); names in the database are known anyway.
    entities: data set -> documented number of entities (None: those of the registry), used where the database lacks
        the data set; the index is approximate then, and there is no z.

    The column `value` of the input becomes value_as_printed, another whose name is needed <name>_given.
    Raises RankadjustError for a missing column; all else that is wrong is a row's status and message: no row
    is lost.

    >>> from rankadjust.database.store import assemble
    >>> constants = {
    ...     "dataset": "Nations", "protocol": "filtered", "split": "testing", "side": "both",
    ...     "metric": "inverse_harmonic_mean_rank", "entities": 14, "tasks": 402,
    ...     "expectation": 0.3844414082699486, "variance": 1.8117984421965722e-04,
    ...     "variance_random_scorer": None, "method": "closed form", "reason": None,
    ... }
    >>> schema = {"variance_random_scorer": pl.Float64, "reason": pl.String}
    >>> nations = assemble([pl.DataFrame(constants, schema_overrides=schema)])
    >>> printed = pl.DataFrame({"dataset": ["Nations"], "metric": ["MRR"], "value": ["0.430"]})
    >>> rescore(printed, nations).select("status", pl.col("index").round(3)).rows()
    [('ok', 0.074)]
    """
    require_columns(require_frame(frame, "the table"), "the table")
    histograms = candidates if isinstance(candidates, Histograms) else Histograms.beside(database, candidates)
    database = database if isinstance(database, pl.DataFrame) else load_database(database)
    rules = load_rules() if rules is None else rules
    registry = _shipped_registry() if registry is None else registry
    entities = documented_entities(registry) if entities is None else entities
    given = _as_text(frame)
    known = [name for name in ("file_line", *tidy_columns()["properties"]) if name in given.columns]
    rows = map_words(given.select(known), rules)
    rows = resolve_names(rows, database, rules, registry, entities)
    rows = _add_limits(_read_values(rows), histograms)
    constants = _add_constants(database, rows, entities)
    rows = rows.join(constants, on=KEY, how="left", maintain_order="left", validate="m:1")
    rows = rows.join(_approximate_benchmarks(), on=["dataset", "protocol"], how="left", maintain_order="left")
    rows = _add_status(rows.with_columns(chance="expectation"))
    # What chance gives is kept beside a value that the candidates rule out: the mean N follows from it.
    is_ruled_out = (pl.col("status") == "value_impossible") & pl.col("limit").is_not_null()
    adjusted = add_p(add_adjusted(rows), histograms).with_columns(
        expectation=pl.when(is_ruled_out).then("chance").otherwise("expectation")
    )
    rescored = _recompute(adjusted.with_columns(message=pl.coalesce("message", "reason_random_scorer")))
    printed = [f"{name}_as_printed" for name in MAPPED]
    return given.rename({"value": "value_as_printed"}).with_columns(
        rescored.select(
            *MAPPED, "spread", *printed, *(pl.col(name).cast(kind) for name, kind in OUTPUT.items())
        )
    )


def documented_entities(registry: Mapping[str, Dataset]) -> dict[str, int]:
    """Return the number of entities of the data sets whose registry entry has it, or else that of training.

    Inductive sets are left out: their candidates are the entities of one of two graphs.
    """
    counts = {
        name: expected.get("entities", expected.get("entities_in_training"))
        for name, dataset in registry.items()
        if dataset.role != "inductive" and (expected := dataset.expected or {})
    }
    return {name: count for name, count in counts.items() if count is not None}


def summary(rescored: pl.DataFrame) -> str:
    """Return how many rows were adjusted: '10 rows: 5 adjusted, 5 not'."""
    adjusted = rescored["index"].count()
    rows = f"{rescored.height:,} row{'s' if rescored.height != 1 else ''}"
    return f"{rows}: {adjusted:,} adjusted, {rescored.height - adjusted:,} not"


def problems(rescored: pl.DataFrame) -> list[str]:
    """Return a line for each row that says something wrong: where, what was read, what is allowed."""
    wrong = rescored.filter(pl.col("status").is_in(list(_PROBLEMS)))
    return wrong.select(pl.format("{}: {}", where_of(wrong), "message")).to_series().to_list()


def where_of(rows: pl.DataFrame) -> pl.Expr:
    """Return file and line of each row, as far as the rows have them: 'mine.csv:3', 'mine.csv', 'the table'."""
    known = [name for name in ("file", "file_line") if "file" in rows.columns and name in rows.columns]
    found = pl.concat_str(known, separator=":", ignore_nulls=True) if known else pl.lit(None, dtype=pl.String)
    return pl.coalesce(found.replace("", None), pl.lit("the table"))


def add_run(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column `run`: the metrics of one model in one evaluation have the same.

    A model is known by its name within the source. Only where a source prints a metric of a name twice do
    table and line tell its runs apart: else tables of one metric each, or a metric a line, would fall to
    pieces.
    """
    absent = [name for name in RESULT if name not in rows.columns]
    evaluation = ["source", "model", *EVALUATION, "candidates"]
    repeated = pl.struct(*evaluation, "metric", "adjustment").is_duplicated().any().over(evaluation)
    printed_in = pl.concat_str("table", "source_line", separator=":", ignore_nulls=True)
    whole = rows.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    return rows.with_columns(
        whole.select(
            run=pl.concat_str(
                *(pl.col(name).fill_null("") for name in evaluation),
                pl.when(repeated).then(printed_in).otherwise(pl.lit("")),
                separator="\t",
            )
        )
    )


@cache
def _approximate_benchmarks() -> pl.DataFrame:
    """Return data set, protocol and benchmark_note of benchmarks whose ranks under chance are not quite uniform."""
    return pl.DataFrame(
        [
            (benchmark.dataset, benchmark.protocol.name, benchmark.note)
            for benchmark in load_benchmarks()
            if benchmark.approximate
        ],
        schema=dict.fromkeys(("dataset", "protocol", "benchmark_note"), pl.String),
        orient="row",
    )


@cache
def _shipped_registry() -> Mapping[str, Dataset]:
    return load_registry()


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return trimmed text, null for empty cells; a column whose name is needed becomes <name>_given."""
    taken = {*OUTPUT, "value_as_printed"} - {"value"}
    text = pl.all().exclude("file_line").cast(pl.String).str.strip_chars().replace("", None)
    return frame.with_columns(text).rename({name: f"{name}_given" for name in frame.columns if name in taken})


def _read_values(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the value, its rounding interval (0.338 stands for [0.3375, 0.3385]), and what is wrong with it."""
    rows = rows.rename({"value": "value_as_printed"})
    rows = _with_facts(rows, ("value_as_printed",), _WRITTEN, _as_written)
    rows = rows.with_columns(
        unit=pl.coalesce("unit", _usual_unit()), spread=pl.coalesce("spread", "spread_beside")
    )
    rows = _with_facts(rows, ("value_as_printed", "unit", "upper"), _INTERVAL, _interval)
    is_absent = pl.col("value_as_printed").is_null()
    return rows.with_columns(
        value_missing=pl.when(is_absent).then(pl.lit("the value is empty; give a number such as 0.338")),
        value_not_a_number=pl.when(~is_absent & pl.col("value").is_null()).then(
            pl.format(
                "value '{}' is not a number; allowed are such as 0.338, 33.8 or .797 ± .001",
                "value_as_printed",
            )
        ),
        value_impossible=_impossible_value(),
    ).with_columns(
        # A printed 1.00 does not stand for values above the metric's range.
        value_low=pl.col("value_low").clip(lower_bound="lower"),
        value_high=pl.col("value_high").clip(upper_bound="upper"),
    )


_WRITTEN = {"has_percent_sign": pl.Boolean, "spread_beside": pl.String}
_INTERVAL = dict.fromkeys(("value", "value_low", "value_high"), pl.Float64)
_Facts = Callable[..., tuple[object, ...]]


def _with_facts(
    rows: pl.DataFrame, given: Sequence[str], facts: Mapping[str, type[pl.DataType]], find: _Facts
) -> pl.DataFrame:
    """Add the columns `facts`, which `find` returns for the columns `given`; it is asked once for equal ones."""
    distinct = rows.select(given).unique(maintain_order=True)
    found = pl.DataFrame([find(*row) for row in distinct.iter_rows()], schema=dict(facts), orient="row")
    return rows.join(
        distinct.hstack(found), on=list(given), how="left", maintain_order="left", nulls_equal=True
    )


def _as_written(text: str | None) -> tuple[bool, str | None]:
    """Return whether a printed value has a percent sign, and its spread."""
    number = read_number(text or "")
    return (number.percent, number.spread) if number else (False, None)


def _interval(text: str | None, unit: str, upper: float | None) -> tuple[float | None, ...]:
    """Return the value of a printed number and its rounding interval, nothing where it is no number."""
    number = read_number(text or "")
    return number.within(upper).interval(percent=unit == "percent") if number else (None, None, None)


def _usual_unit() -> pl.Expr:
    """Return the unit of a value that is printed without one: percent only where a % sign says so."""
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
    is_unbounded = pl.col("upper").is_infinite()
    unit_differs = pl.col("adjustment").is_null() & (is_unbounded != (pl.col("unit") == "rank"))
    allowed = pl.when(is_unbounded).then(pl.lit("rank")).otherwise(pl.lit("fraction or percent"))
    return (
        pl.when(unit_differs & pl.col("unit_problem").is_null())
        .then(pl.format("unit '{}' does not suit {}; allowed: {}", "unit", "metric", allowed))
        .when(~pl.col("value").is_between("lower", "upper"))
        .then(
            pl.format(
                "value '{}' in the unit {} is impossible for {}, which runs from {} to {}",
                "value_as_printed",
                "unit",
                "metric",
                "lower",
                "upper",
            )
        )
    )


def _add_limits(rows: pl.DataFrame, histograms: Histograms) -> pl.DataFrame:
    """Add the column limit, what the numbers of candidates allow where a value is beyond it, and say so."""
    # What is not a value of the metric itself, or wrong already, is not held against them.
    is_value = pl.all_horizontal(
        pl.col(name).is_null()
        for name in ("adjustment", "metric_problem", "unit_problem", "value_impossible")
    )
    given = [*KEY, "value_low", "value_high"]
    distinct = rows.filter(is_value).select(given).drop_nulls().unique(maintain_order=True)
    limits = Limits(histograms)
    found = [
        limits.why_impossible(evaluation, resolve(metric), low, high)
        for *evaluation, metric, low, high in distinct.iter_rows()
    ]
    joined = rows.join(
        distinct.with_columns(limit=pl.Series(found, dtype=pl.String)),
        on=given,
        how="left",
        maintain_order="left",
    ).with_columns(limit=pl.when(is_value).then("limit"))
    said = pl.format("value '{}' is impossible: {}", "value_as_printed", "limit")
    return joined.with_columns(value_impossible=pl.coalesce("value_impossible", said))


def _add_constants(database: pl.DataFrame, rows: pl.DataFrame, entities: Mapping[str, int]) -> pl.DataFrame:
    """Return the database with rows for what it lacks, where the number of candidates is known all the same.

    That is q + 1 for q sampled negatives, or all entities where a raw table states their number (origin
    constant), or about the documented number of entities (origin entities). The number of tasks is not known
    then, so that only the expectation of additive metrics is.
    """
    origin = pl.col("origin") if "origin" in database.columns else pl.lit("computed").alias("origin")
    known = database.with_columns(origin)
    lacking = (
        rows.filter(pl.col("additive"), pl.col("has_moments"))
        .select(*KEY, "candidates")
        .drop_nulls(KEY)
        .unique(subset=KEY, keep="first", maintain_order=True)
        .join(known, on=KEY, how="anti", maintain_order="left")
    )
    estimated = add_coefficients(_with_expectation(_with_num_candidates(lacking, entities)))
    return pl.concat(
        [known, estimated.select(pl.col(name).cast(kind) for name, kind in known.schema.items())]
    )


def _with_num_candidates(keys: pl.DataFrame, entities: Mapping[str, int]) -> pl.DataFrame:
    """Return the keys whose tasks all have a number of candidates that is known, with it and its origin."""
    documented = pl.DataFrame(
        {"dataset": list(entities), "documented": list(entities.values())},
        schema={"dataset": pl.String, "documented": pl.Int64},
    )
    sampled = pl.col("protocol").str.extract(SAMPLED, 1).cast(pl.Int64) + 1
    stated = pl.when(pl.col("protocol") == "raw").then(pl.col("candidates").cast(pl.Int64, strict=False))
    near = pl.when(pl.col("protocol").is_in(ALL_ENTITIES)).then("documented")
    constant = pl.coalesce(sampled, stated)
    return (
        keys.join(documented, on="dataset", how="left", maintain_order="left")
        .with_columns(
            num_candidates=pl.coalesce(constant, near),
            origin=pl.when(constant.is_null()).then(pl.lit("entities")).otherwise(pl.lit("constant")),
        )
        .filter(pl.col("num_candidates").is_not_null())
    )


def _with_expectation(keys: pl.DataFrame) -> pl.DataFrame:
    """Add the expectation for the constant number of candidates, and empty columns for what is not known then."""
    distinct = keys.select("metric", "num_candidates").unique(maintain_order=True)
    expectations = [metric_moments(metric, [size]).expectation for metric, size in distinct.iter_rows()]
    return keys.join(
        distinct.with_columns(expectation=pl.Series(expectations, dtype=pl.Float64)),
        on=["metric", "num_candidates"],
        how="left",
        maintain_order="left",
    ).with_columns(
        entities=pl.col("num_candidates"),
        tasks=pl.lit(None, dtype=pl.Int64),
        variance=pl.lit(None, dtype=pl.Float64),
        variance_random_scorer=pl.lit(None, dtype=pl.Float64),
        method=pl.col("origin"),
        reason=pl.lit(_UNKNOWN_TASKS),
        reason_random_scorer=pl.lit(_UNKNOWN_TASKS),
    )


def _add_status(rows: pl.DataFrame) -> pl.DataFrame:
    """Add status and message, and set the constants to null in rows that must not be adjusted."""
    rows = _with_duplicates(rows)
    wrong = pl.concat_list(_PROBLEMS.values()).list.drop_nulls().list.join("; ").replace("", None)
    first_wrong = _first((status, pl.col(message).is_not_null()) for status, message in _PROBLEMS.items())
    is_ruled = pl.col("rule_status").is_not_null() & (pl.col("rule_status") != "approximate")
    others = _other_messages()
    first_other = _first((status, message.is_not_null()) for status, message in others.items())
    return _without_constants(
        rows.with_columns(
            status=pl.coalesce(pl.when(is_ruled).then("rule_status"), first_wrong, first_other, pl.lit("ok")),
            message=pl.coalesce(pl.when(is_ruled).then("rule_message"), wrong, *others.values(), "reason"),
        )
    )


def _with_duplicates(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column duplicate: a message for each row whose result stands in the table already, else null."""
    whole = rows.with_row_index("row_number", offset=1)
    line = pl.coalesce("file_line", "row_number") if "file_line" in rows.columns else pl.col("row_number")
    repeated = pl.format(
        "the same model, evaluation and metric stand on line {} already; leave one of them out",
        line.first().over(RESULT),
    )
    return whole.with_columns(duplicate=pl.when(~pl.struct(RESULT).is_first_distinct()).then(repeated))


def _without_constants(rows: pl.DataFrame) -> pl.DataFrame:
    """Set the constants to null where the status allows no index."""
    # With a constant number of candidates the index needs neither data set nor split; only z does.
    is_known = pl.col("status").is_in(_NOT_NEEDED_WITH_CONSTANT_CANDIDATES) & (pl.col("origin") == "constant")
    has_index = pl.col("status").is_in(USABLE) | is_known
    constants = [name for name in rows.columns if name.endswith(("_scale", "_offset"))]
    reasons = ["reason_random_scorer", "reason_static_scorer"]
    blank = [*constants, *reasons, "expectation", "origin"]
    return rows.with_columns(pl.when(has_index).then(pl.col(name)).alias(name) for name in blank)


def _first(statuses: Iterable[tuple[str, pl.Expr]]) -> pl.Expr:
    return pl.coalesce(pl.when(holds).then(pl.lit(status)) for status, holds in statuses)


def _other_messages() -> dict[str, pl.Expr]:
    """Return the message of each status of rows with nothing wrong in them, null where it does not hold."""
    in_database = pl.col("origin").is_not_null()
    return {
        "adjusted_as_published": pl.when(pl.col("adjustment").is_not_null()).then(
            pl.lit("printed already adjusted")
        ),
        "no_moments": pl.when(~pl.col("has_moments"))
        .then(pl.format("{} has no known expectation under chance", "metric"))
        .when(in_database & pl.col("index_scale").is_null())
        .then(pl.coalesce("reason", pl.lit("the expectation is not known"))),
        "not_in_database": pl.when(~in_database).then(
            pl.format("the database has no row for {}", pl.concat_str(KEY, separator=", "))
        ),
        "approximate": pl.when(pl.col("rule_status") == "approximate")
        .then("rule_message")
        .when(pl.col("benchmark_note").is_not_null())
        .then("benchmark_note")
        .when(pl.col("origin") == "entities")
        .then(
            pl.format(
                "every N is taken as {}, the documented number of entities: index and ratio are near, no z",
                "entities",
            )
        ),
    }


def _recompute(rows: pl.DataFrame) -> pl.DataFrame:
    """Recompute printed adjusted values from the same model's base metric, where that was printed too."""
    rows = add_run(rows)
    kinds = ("ratio", "index", "z")
    base = (
        rows.filter(pl.col("adjustment").is_null(), pl.col("status").is_in(USABLE))
        .select("run", "metric", *(pl.col(name).alias(f"base_{name}") for name in kinds))
        .unique(subset=["run", "metric"], keep="first", maintain_order=True)
    )
    is_printed = pl.col("status") == "adjusted_as_published"
    of_kind = pl.coalesce(pl.when(pl.col("adjustment") == name).then(f"base_{name}") for name in kinds)
    comparison = pl.format(
        "; from the model's {} it is {}: the printed value differs by {}",
        "metric",
        pl.col("recomputed").round_sig_figs(6),
        pl.col("difference").round_sig_figs(3),
    )
    nothing = pl.lit("; the model's metric before adjustment is not printed or not adjusted here")
    return (
        rows.join(base, on=["run", "metric"], how="left", maintain_order="left")
        .with_columns(recomputed=pl.when(is_printed).then(of_kind))
        .with_columns(difference=pl.col("value") - pl.col("recomputed"))
        .with_columns(
            message=pl.when(is_printed)
            .then(pl.concat_str("message", pl.coalesce(comparison, nothing)))
            .otherwise("message")
        )
    )
