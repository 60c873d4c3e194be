"""Which printed values belong together: the metrics of one model in one evaluation, and results that stand twice."""

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import EVALUATION, KEY

# What makes two rows two results: the same result twice in a table is a mistake.
RESULT = ("source", "table", "source_line", "model", *KEY, "ties", "candidates", "adjustment")


def add_run(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column `run`: the metrics of one model in one evaluation have the same.

    A model is known by its name within the source. Only where a source prints a metric of a name twice do
    table and line tell its runs apart: else tables of one metric each, or a metric a line, would fall to
    pieces.
    """
    absent = [name for name in RESULT if name not in rows.columns]
    evaluation = ["source", "model", *EVALUATION, "ties", "candidates"]
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


def add_duplicate(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column duplicate: a message for each row whose result stands in the table already, else null."""
    whole = rows.with_row_index("row_number", offset=1)
    line = pl.coalesce("file_line", "row_number") if "file_line" in rows.columns else pl.col("row_number")
    repeated = filled(
        "the same model, evaluation and metric stand on line {} already; leave one of them out",
        line.first().over(RESULT),
    )
    return whole.with_columns(duplicate=pl.when(~pl.struct(RESULT).is_first_distinct()).then(repeated))
