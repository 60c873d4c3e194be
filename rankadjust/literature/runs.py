"""Group printed values: the metrics of one model in one evaluation, and results that a table repeats."""

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import EVALUATION, KEY

# Two rows that agree in these columns are the same result: a result that is printed twice in a table is a mistake.
RESULT = ("source", "table", "source_line", "model", *KEY, "ties", "candidates", "adjustment")


def add_run(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column `run`, which is equal for the metrics of one model in one evaluation.

    The name identifies a model within its source. Table and line separate runs only if the source prints a metric of
    that name twice. Otherwise tables of one metric each, or tables with a metric per line, would fall to pieces.
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
    """Add the column duplicate: a message for each row that repeats the result of an earlier row, else null."""
    whole = rows.with_row_index("row_number", offset=1)
    line = pl.coalesce("file_line", "row_number") if "file_line" in rows.columns else pl.col("row_number")
    repeated = filled(
        "line {} already has the same model, evaluation and metric; leave one of the two out",
        line.first().over(RESULT),
    )
    return whole.with_columns(duplicate=pl.when(~pl.struct(RESULT).is_first_distinct()).then(repeated))
