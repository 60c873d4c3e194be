"""The constants of printed values: rows of the database, or constants from a known number of candidates."""

from collections.abc import Mapping
from functools import cache

import polars as pl

from rankadjust.base.vocabulary import KEY, SAMPLED
from rankadjust.chance.moments import metric_moments
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.database.arithmetic import add_coefficients
from rankadjust.literature.mapping import ALL_ENTITIES

_UNKNOWN_TASKS = "there is no z, because the number of tasks is not known"


def add_benchmark_notes(rows: pl.DataFrame) -> pl.DataFrame:
    """Add benchmark_note to rows of benchmarks whose ranks under chance are not quite uniform."""
    return rows.join(_benchmark_notes(), on=["dataset", "protocol"], how="left", maintain_order="left")


@cache
def _benchmark_notes() -> pl.DataFrame:
    return pl.DataFrame(
        [
            (benchmark.dataset, benchmark.protocol.name, benchmark.note)
            for benchmark in load_benchmarks()
            if benchmark.approximate
        ],
        schema=dict.fromkeys(("dataset", "protocol", "benchmark_note"), pl.String),
        orient="row",
    )


def add_constants(rows: pl.DataFrame, database: pl.DataFrame, entities: Mapping[str, int]) -> pl.DataFrame:
    """Add to each row the constants of its evaluation and metric."""
    constants = _constants_of(database, rows, entities)
    return rows.join(constants, on=KEY, how="left", maintain_order="left", validate="m:1")


def _constants_of(database: pl.DataFrame, rows: pl.DataFrame, entities: Mapping[str, int]) -> pl.DataFrame:
    """Return the database, with added rows for evaluations that it lacks but whose number of candidates is known.

    N is q + 1 for q sampled negatives, or all entities if a raw table states their number (origin constant), or about
    the documented number of entities (origin entities). The number of tasks is not known then, so the added rows have
    only the expectation, and only of additive metrics.
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
    """Return the keys whose tasks all have the same known number of candidates, with that number and its origin."""
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
    """Add the expectation for the constant number of candidates, and empty columns for the unknown constants."""
    unknown = dict.fromkeys(("variance", "variance_random_scorer"), pl.lit(None, dtype=pl.Float64))
    distinct = keys.select("metric", "num_candidates").unique(maintain_order=True)
    expectations = [metric_moments(metric, [size]).expectation for metric, size in distinct.iter_rows()]
    known = distinct.with_columns(pl.Series("expectation", expectations, dtype=pl.Float64))
    return keys.join(known, on=distinct.columns, how="left", maintain_order="left").with_columns(
        entities=pl.col("num_candidates"),
        tasks=pl.lit(None, dtype=pl.Int64),
        **unknown,
        method=pl.col("origin"),
        reason=pl.lit(_UNKNOWN_TASKS),
        reason_random_scorer=pl.lit(_UNKNOWN_TASKS),
    )
