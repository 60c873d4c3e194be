"""Contradictions: printed values of one model that no ranks have, and rows that repeat each other wrongly.

There are four checks. All values that a source prints for a model in one evaluation, for each side and for both, must
be possible together (rankadjust.consistency). Each value must be possible with its numbers of candidates and tasks. A
printed adjusted value must follow from the metric beside it. Rows must not repeat other rows with a slip
(rankadjust.literature.copies). docs/literature.md, "Consistency", explains each finding.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from rankadjust.base.frames import filled, require_frame
from rankadjust.base.vocabulary import SAMPLED
from rankadjust.database.constants import Constants, Database
from rankadjust.literature.copies import changed_copies, copies
from rankadjust.literature.findings import Finding
from rankadjust.literature.one_model import findings_of_model
from rankadjust.literature.rescore import rescore
from rankadjust.literature.runs import RESULT
from rankadjust.literature.single import TaskLists

_FINDING = {
    "_row": pl.UInt32,
    **dict.fromkeys(("severity", "bound"), pl.String),
    **dict.fromkeys(("limit", "excess"), pl.Float64),
    **dict.fromkeys(("values", "mended", "message"), pl.String),
}
_SHOWN = (
    *("file", "file_line", "source", "table", "source_line", "model", "dataset", "split", "side"),
    "protocol",
)


def check(frame: pl.DataFrame, database: Database = None) -> pl.DataFrame:
    """Return the contradictions between printed values, one row each; contradictions between table rows come last.

    docs/literature.md, "Consistency", explains the findings.

    Parameters
    ----------
    frame : polars.DataFrame, or a frame of pandas or pyarrow
        A tidy table, or the result of `rescore`. Pass all tables of a source together, since the metrics of a model
        may be printed in several tables.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released constants. The
        histograms of the candidates come with the constants; with them, more contradictions are found.

    Returns
    -------
    polars.DataFrame
        The first columns name the line, the model and the evaluation. severity is impossible or suspicious, and bound
        is the kind of contradiction. metric and value are a value that clashes, value_low to value_high its rounding
        interval. limit is the nearest value that the other values allow, null if no number says it. excess is the
        distance of the interval from limit. values is a minimal set of values that clash, and mended the least change
        of a single value that removes the contradiction. message says all this; status is the status in `rescore`.

    Raises
    ------
    RankadjustError
        For a column that is missing.

    Examples
    --------
    >>> printed = pl.DataFrame(
    ...     {"dataset": ["WN18RR"] * 2, "metric": ["MRR", "Hits@10"], "value": ["0.48", "0.25"]}
    ... )
    >>> check(printed).select("severity", "values", "mended").rows()
    [('impossible', 'Hits@10 0.25; MRR 0.48', 'MRR 0.33 instead of 0.48')]

    """
    frame = require_frame(frame, "the table")
    constants = Constants.given(database)
    rescored = frame if "status" in frame.columns else rescore(frame, constants)
    rows = _checkable(rescored)
    lists = TaskLists(constants.histograms.candidate_counts)
    findings = [finding for group in _groups(rows) for finding in findings_of_model(group, lists)]
    findings.sort(key=lambda finding: finding.row)
    findings += copies(rows)
    return _as_table(findings, rows, rescored.columns)


def check_against(rescored: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that repeat a row of other tables except for one value, in the columns of `check`.

    Both frames are results of `rescore`. Your own table may repeat published results. If a single value of a model
    differs and its other values in the evaluation are equal, that value was changed or mistyped in either table.
    """
    before = _checkable(others).with_columns(group=filled("\t{}", "group"))
    after = _checkable(rescored).with_columns(pl.col("_row") + others.height)
    return _as_table(changed_copies(after, before), after, rescored.columns)


def _as_table(reported: Sequence[Finding], rows: pl.DataFrame, columns: Collection[str]) -> pl.DataFrame:
    """Return findings as a frame, with the available columns that identify the line and the model."""
    shown = [name for name in _SHOWN if name in columns]
    findings = pl.DataFrame([astuple(finding) for finding in reported], schema=_FINDING, orient="row")
    return findings.join(
        rows.select("_row", *shown, "metric", "value", "value_low", "value_high", "status"),
        on="_row",
        how="left",
        maintain_order="left",
    ).select(
        *shown,
        *("severity", "bound", "metric", "value", "value_low", "value_high", "limit", "excess", "values"),
        *("mended", "message", "status"),
    )


def _checkable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a value of a known metric; the values of a model share `group` and the largest N, `most`."""
    absent = [name for name in (*RESULT, "spread", "unit") if name not in rescored.columns]
    rows = rescored.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    evaluation = ["source", "model", "dataset", "protocol", "split", "candidates"]
    side = [*evaluation, "side"]
    # As in `runs.add_run`: if a source prints a metric twice under one name, table and line separate the runs.
    repeated = pl.struct(*side, "metric", "adjustment").is_duplicated().any().over(evaluation)
    printed_in = pl.concat_str("table", "source_line", separator=":", ignore_nulls=True)
    sampled = pl.col("protocol").str.extract(SAMPLED, 1).cast(pl.Int64) + 1
    return (
        rows.with_row_index("_row")
        .filter(pl.col("value").is_not_null(), ~pl.col("status").is_in(["metric_unknown", "duplicate"]))
        .with_columns(
            group=pl.concat_str(
                *(pl.col(name).fill_null("") for name in evaluation),
                pl.when(repeated).then(printed_in).otherwise(pl.lit("")).fill_null(""),
                separator="\t",
            )
        )
        .with_columns(most=pl.coalesce(sampled, "entities").max().over("group").cast(pl.Float64))
    )


def _groups(rows: pl.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """Return the rows of each model, as dictionaries, in the order of the models' first rows."""
    together = rows.sort(pl.col("_row").min().over("group"), maintain_order=True)
    # A frame for each model would take most of the memory.
    for _, group in groupby(together.iter_rows(named=True), key=itemgetter("group")):
        yield list(group)
