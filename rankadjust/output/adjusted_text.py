"""Adjusted values as text for the terminal: a short table and a sentence that says how good they are; or every number.

A row is a mapping with the names of `rankadjust.evaluation.one_value.Adjusted`, as `vars` of one, or a row of
`rankadjust.evaluation.evaluate`.
"""

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

import polars as pl

from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.drawn_scorer import DRAWS
from rankadjust.chance.metrics import resolve, usual_name
from rankadjust.counting.evaluators import in_words
from rankadjust.output.terminal import filled_table, if_known, interval, number, sentences

# The metrics that are shown first, in this order.
FIRST_METRICS = (
    *("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10", "arithmetic_mean_rank"),
)
# By luck, a random scorer has a z between these 19 times out of 20.
_LUCK = 2.0
# With a larger z nobody doubts that a value is above chance.
_LARGE_Z = 100.0
# The width of re-scored tables, and the widest names of models and printed values that they have room for.
_OF_TABLES, _MODEL, _VALUE = 120, 30, 16
# What a status means, where it means the same in every row.
_MEANINGS = {
    "bounded": "adjusted, but chance is known only within bounds, and so is the index",
    "approximate": "adjusted, but the number of candidates is known only roughly, so there is no z",
    "adjusted_as_published": "the source printed an adjusted value, so it is not adjusted again",
}
# Chance is visible in a value from this share on.
_VISIBLE = 0.01

Row = Mapping[str, Any]


def short_table(
    rows: Sequence[Row],
    names: Sequence[str | tuple[str, ...]],
    header: Sequence[str] = ("",),
    *,
    everything: bool = False,
) -> str:
    """Return value, chance, counting, index, gain and z of rows as aligned columns, without the empty ones.

    names: the first cell of each row, or its first cells, one for each of `header`. The index is left out where chance
    is less than 1 % of the value, and z where it is 100 or more, unless everything is to be shown.
    """
    scorers = {row["baseline"] for row in rows if row.get("baseline") is not None}
    counting = f"counting ({next(iter(scorers))})" if len(scorers) == 1 else "counting"
    columns = (*header, "value", "chance", counting, "index", "gain", "z")
    cells = [
        (*((name,) if isinstance(name, str) else name), *_cells(row, len(scorers) > 1, everything))
        for name, row in zip(names, rows, strict=True)
    ]
    return filled_table(columns, cells, left=len(header))


def _cells(row: Row, several: bool, everything: bool) -> tuple[str, ...]:
    z = row["z"] if row["z_random_scorer"] is None else row["z_random_scorer"]
    chance, baseline = row["expectation"], row.get("baseline")
    is_visible = everything or (
        chance is not None and row["value"] is not None and abs(chance) >= _VISIBLE * abs(row["value"])
    )
    return (
        row.get("text") or number(row["value"]),
        "" if chance is None else _chance(row),
        "" if baseline is None else number(row["baseline_value"]) + (f" ({baseline})" if several else ""),
        number(row["index"]) if is_visible and row["index"] is not None else "",
        "" if row.get("gain") is None else number(_rounded(row["gain"])),
        "" if z is None or (abs(z) >= _LARGE_Z and not everything) else number(z, 3),
    )


def _chance(row: Row) -> str:
    ends = row.get("expectation_low"), row.get("expectation_high")
    return number(row["expectation"]) if None in ends else " to ".join(number(end) for end in ends)


def adjusted_values(rows: Sequence[Row], *, everything: bool = False, against: str | None = None) -> str:
    """Return values of one evaluation as a table and a sentence on the first of them, or with every number.

    rows: `vars` of Adjusted with the value as it was given (text). against: the baseline that was asked for, if any;
    then a note says why there is no gain.
    """
    first = rows[0]
    tasks = "unknown number of" if first["tasks"] is None else number(first["tasks"])
    evaluation = in_words(*(first[name] for name in EVALUATION))
    title = f"{evaluation}: {tasks} tasks"
    shown = (
        [_every_number(row) for row in rows]
        if everything
        else [short_table(rows, [resolve(row["metric"]).label for row in rows])]
    )
    notes = [note for row in rows for note in _notes(row, against, everything=everything)]
    return "\n".join([title, *shown, sentences(*dict.fromkeys(notes), meaning(first), *counting(first))])


def _notes(row: Row, against: str | None, *, everything: bool) -> list[str]:
    # If there is no z, the first reason says why.
    notes = [row["reason"], row["reason_random_scorer"] if everything and row["z"] is not None else None]
    # A perfect baseline has a sentence of its own.
    if against is not None and row["baseline"] is None:
        notes.append(row["reason_gain"])
    return [f"Note: {note}." for note in notes if note is not None]


def _every_number(row: Row) -> str:
    """Return a line for each number that is known of a value."""
    scorer = "z, static scorer" if row["scores_used"] == "static" else "z, random scorer"
    lines = [
        (resolve(row["metric"]).label, row["text"], interval(row["value_low"], row["value_high"])),
        (
            "expectation",
            number(row["expectation"]),
            interval(row["expectation_low"], row["expectation_high"]),
        ),
        ("ratio", if_known(row["ratio"]), ""),
        ("index", number(row["index"]), interval(row["index_low"], row["index_high"])),
        ("z, independent ranks", number(row["z"]), interval(row["z_low"], row["z_high"])),
        (scorer, number(row["z_random_scorer"]), ""),
        ("p, random scorer", if_known(row["p_random_scorer"], 2), ""),
        (row["baseline"], if_known(row["baseline_value"]), ""),
        ("gain over it", if_known(row["gain"]), interval(row["gain_low"], row["gain_high"])),
    ]
    return "\n".join(f"{name:22}{text:>10}  {ends}".rstrip() for name, text, ends in lines if text)


def counting(row: Row) -> list[str]:
    """Return a sentence that says how the value compares with counting training triples, none where nobody counted."""
    if row.get("baseline") is None:
        return []
    metric = resolve(row["metric"])
    value = _value(row)
    known = f"Counting training triples alone reaches {number(row['baseline_value'])} ({row['baseline']})"
    if row["gain"] is None:
        return [f"{known}, which is perfect already."]
    low, high = (_rounded(row["gain"] if row[end] is None else row[end]) for end in ("gain_low", "gain_high"))
    ends = interval(_rounded(row.get("difference_low")), _rounded(row.get("difference_high")), digits=4)
    is_fixed = ends and row["difference_low"] == row["value_low"] - row["baseline_value"]
    fixed = " with the value of counting held fixed" if is_fixed else ""
    difference = f" The difference is {number(_rounded(row['difference']))} {ends}{fixed}." if ends else ""
    if high < 0:
        verdict = f"{value} is below that" if metric.increasing else f"{value} is worse"
    elif low <= 0:
        seen = "interval shows" if ends else "printed digits show"
        verdict = f"the gain of {value} is 0, as far as its {seen}"
    else:
        verdict = f"{value} takes {100 * row['gain']:.1f} % of the headroom"
    return [f"{known}: {verdict}.{difference}"]


def _rounded(number_or_none: Any) -> Any:  # noqa: ANN401 - a number, or None
    """Return a number, and 0 for one that only rounding makes different from 0."""
    return None if number_or_none is None else round(number_or_none, 12) + 0.0


def meaning(row: Row) -> str:
    """Return one sentence that says what the adjusted value means."""
    metric = resolve(row["metric"])
    if row["index"] is None:
        return "There is no index, because chance already gives a perfect value."
    value, chance = _value(row), f"chance ({number(row['expectation'])})"
    perfect = f"perfect ({row.get('optimum', metric.optimum):g})"
    if row["index"] < 0:
        comparison = f"{value} is worse than {chance}"
    elif row.get("status") == "bounded":
        low, high = (100 * (end or 0.0) for end in (row["index_low"], row["index_high"]))
        comparison = f"{value} is {low:.1f} to {high:.1f} % of the way from chance to {perfect}"
    else:
        way = f"{100 * row['index']:.1f} % of the way"
        comparison = f"{value} is {way} from {chance} to {perfect}"
    return f"{comparison}{_evidence(row)}."


def _value(row: Row) -> str:
    """Return the metric and a value: one that was typed with its digits, one that was computed with four."""
    digits = f"{row['value']:.6g}" if "text" in row else number(row["value"])
    return f"{resolve(row['metric']).label} {digits}"


def _evidence(row: Row) -> str:
    """Return how far a value is from chance where that can be doubted."""
    if row.get("draws_reaching") is not None:
        return f"; a random scorer is at least as good in {row['draws_reaching']:,} of {DRAWS:,} draws"
    known = row["z_random_scorer"] is not None
    z, null = (row["z_random_scorer"], "a random scorer") if known else (row["z"], "independent random ranks")
    if z is None or abs(z) >= _LARGE_Z:
        return ""
    if abs(z) < _LUCK:
        return f", which luck alone may explain (z = {number(z, 2)} for {null})"
    return f", {number(abs(z), 3)} standard deviations {'above' if z > 0 else 'below'} {null}"


def rescored_text(rescored: pl.DataFrame) -> str:
    """Return re-scored rows as a table of at most 120 columns, and below it what each status but ok means here.

    rescored: rows of `rankadjust.literature.rescore.rescore`.
    """
    rows = [
        (
            shorten(row.get("model") or "", _MODEL, placeholder=" …"),
            row["dataset"] or "",
            usual_name(row["metric"] or ""),
            shorten(row["value_as_printed"] or "", _VALUE, placeholder=" …"),
            if_known(row["expectation"]),
            if_known(row["baseline_value"]),
            if_known(row["gain"]),
            row["status"],
        )
        for row in rescored.iter_rows(named=True)
    ]
    header = ("model", "data set", "metric", "value", "chance", "counting", "gain", "status")
    by_status = rescored.filter(pl.col("status") != "ok").group_by("status", maintain_order=True)
    lines = [
        f"{status} ({count:,}): {_MEANINGS.get(status, message)}"
        for status, count, message in by_status.agg(
            pl.len(), pl.col("message").drop_nulls().first()
        ).iter_rows()
    ]
    return f"{filled_table(header, rows, left=3)}\n{sentences(*lines, width=_OF_TABLES)}".rstrip("\n")
