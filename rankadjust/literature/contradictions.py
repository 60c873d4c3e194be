"""Contradictions: printed values of one model that no ranks have, and rows that repeat each other wrongly.

There are five checks. All values that a source prints for a model in one evaluation, for each side and for both, must
be possible together (rankadjust.consistency). Each value must be possible with its numbers of candidates and tasks. A
printed adjusted value must follow from the metric beside it. A raw value must not be better than the filtered one. Rows
must not repeat other rows with a slip (rankadjust.literature.copies). docs/statuses.md explains each finding.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from rankadjust.base.frames import filled, require_frame
from rankadjust.base.vocabulary import SAMPLED
from rankadjust.chance.metrics import resolve
from rankadjust.consistency.statements import TOLERANCE
from rankadjust.database.constants import Constants, Database
from rankadjust.literature.copies import changed_copies, copies
from rankadjust.literature.joint import joint_findings
from rankadjust.literature.rescore import rescore
from rankadjust.literature.single_values import (
    Finding,
    PrintedValue,
    TaskLists,
    read_value,
    single_findings,
    unusual,
)
from rankadjust.literature.tidy import RESULT, run_of

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
    """Return a row for each contradiction between printed values, first within a model, then between table rows.

    docs/statuses.md explains the findings.

    Parameters
    ----------
    frame : polars.DataFrame, or a frame of pandas or pyarrow
        A tidy table, or the result of `rescore`. Pass all tables of a source together, since the metrics of a model
        may be printed in several tables.
    database : Constants, str or Path, optional
        The constants to adjust with, or the path of a database file; None means the released constants. The
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
    findings += [*_raw_beside_filtered(rows), *copies(rows)]
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
    sampled = pl.col("protocol").str.extract(SAMPLED, 1).cast(pl.Int64) + 1
    return (
        rows.with_row_index("_row")
        .filter(pl.col("value").is_not_null(), ~pl.col("status").is_in(["metric_unknown", "duplicate"]))
        .with_columns(group=run_of(["source", "model", "dataset", "protocol", "split", "candidates"], "side"))
        .with_columns(most=pl.coalesce(sampled, "entities").max().over("group").cast(pl.Float64))
    )


def _groups(rows: pl.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """Return the rows of each model, as dictionaries, in the order of the models' first rows."""
    together = rows.sort(pl.col("_row").min().over("group"), maintain_order=True)
    # A frame for each model would take most of the memory.
    for _, group in groupby(together.iter_rows(named=True), key=itemgetter("group")):
        yield list(group)


def findings_of_model(rows: Sequence[Mapping[str, Any]], lists: TaskLists) -> Iterator[Finding]:
    """Return the contradictions within the values of one model; rows: of `rescore`, with _row and most."""
    *evaluation, most = (rows[0][name] for name in ("dataset", "protocol", "split", "most"))
    sides = {row["side"] for row in rows}
    if len(sides) > 1:
        sides |= {"head", "tail", "both"}
    tasks = {side: lists.tasks((*evaluation, side), most) for side in sides}

    possible: list[PrintedValue] = []
    for value in filter(None, map(read_value, rows)):
        attainable = lists.attainable((*evaluation, value.side), most, value.metric)
        alone = single_findings(value, tasks[value.side], attainable)
        yield from alone
        # A value that is impossible by itself says nothing about other values.
        is_refuted = any(finding.severity in ("impossible", "only_if_cut") for finding in alone)
        if not is_refuted and value.status != "value_impossible":
            possible.append(value)
    base: dict[tuple[str, str], PrintedValue] = {}
    for value in possible:
        if value.adjustment is None:
            base.setdefault((value.side, value.metric.key), value)
    for value in possible:
        own = base.get((value.side, value.metric.key))
        if value.adjustment is not None and own is not None:
            yield from _against_base(own, value, lists.expectation((*evaluation, value.side), value.metric))
    used = list(base.values())
    together = list(joint_findings(used, tasks))
    yield from together or unusual(used, tasks)


def _raw_beside_filtered(rows: pl.DataFrame) -> Iterator[Finding]:
    """Return the raw values of a model that are better than its filtered ones, which no ranks have."""
    about = ["source", "model", "dataset", "split", "side", "metric"]
    plain = rows.filter(pl.col("adjustment").is_null(), pl.col("status") != "value_impossible")
    raw, filtered = (plain.filter(protocol=protocol) for protocol in ("raw", "filtered"))
    pairs = raw.join(filtered, on=about, nulls_equal=True, maintain_order="left", suffix="_filtered")
    for row in pairs.iter_rows(named=True):
        metric = resolve(row["metric"])
        low, high = (
            ("value_low", "value_high_filtered")
            if metric.increasing
            else ("value_low_filtered", "value_high")
        )
        if None in (row[low], row[high]) or row[low] <= row[high] + TOLERANCE * max(abs(row[high]), 1.0):
            continue
        texts = [f"{metric.label} {row[f'value_as_printed{end}']}" for end in ("", "_filtered")]
        yield Finding(
            row=row["_row"],
            severity="impossible",
            bound="filter",
            limit=row[high] if metric.increasing else row[low],
            excess=row[low] - row[high],
            values="; ".join(texts),
            message=(
                f"{texts[0]} raw is better than {texts[1]} filtered, but filtering known answers out makes no rank "
                "worse, so the two are swapped or belong to different evaluations."
            ),
        )


def _against_base(own: PrintedValue, value: PrintedValue, chance: float | None) -> Iterator[Finding]:
    """Return the finding for an adjusted value that does not follow from the printed metric.

    chance: the expectation of the metric, None if it is not known.
    """
    if chance is None or not math.isfinite(chance) or chance in (0.0, own.metric.optimum):
        return
    scale, offset = 1 / chance, 0.0
    if value.adjustment == "index":
        scale, offset = (part / (own.metric.optimum - chance) for part in (1.0, -chance))
    margin = 2 * TOLERANCE * max(abs(own.low), abs(own.high), 1.0) * abs(scale)
    low, high = sorted(scale * end + offset for end in (own.low, own.high))
    if low - margin <= value.high and value.low <= high + margin:
        return
    limit = low if value.high < low else high
    follows = f"{scale * ((own.low + own.high) / 2) + offset:.4g}"
    yield Finding(
        row=value.row,
        severity="suspicious",
        bound="adjusted",
        limit=limit,
        excess=max(limit - value.high, value.low - limit),
        values=f"{value.text}; {own.text}",
        mended=f"{value.name} {follows}",
        message=(
            f"{value.text} does not follow from {own.text}, which under this protocol gives {follows}, so one of "
            "the two is wrong, or the source adjusts with another expectation."
        ),
    )
