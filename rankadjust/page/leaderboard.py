"""The leaderboard: one row per model and evaluation, metrics as columns."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.page.material import Material
from rankadjust.page.results import all_values, evaluations, place_of
from rankadjust.page.templating import Section, data_element, render

# The contradictions of a result, by where its values are printed.
Messages = dict[tuple[Any, ...], list[dict[str, str]]]
# The severity of a contradiction that refutes a result.
IMPOSSIBLE = "impossible"
# The view that the page opens with, where the results have it.
OPENED = {"dataset": "FB15k-237", "protocol": "filtered", "split": "testing", "side": "both"}
# Metrics in the order of their columns; others follow by name.
_FIRST_METRICS = (
    "arithmetic_mean_rank",
    "inverse_harmonic_mean_rank",
    "hits_at_1",
    "hits_at_3",
    "hits_at_5",
    "hits_at_10",
)
# Eight digits of a number are more than any source prints and than anyone reads here; the files have all.
_DIGITS = 8


def leaderboard_section(material: Material) -> Section | None:
    """Return the published results of a run, None where it has none."""
    values = all_values(material)
    if values.is_empty():
        return None
    data = leaderboard_data(values, material.comparison.get("contradictions"))
    content = render(
        "leaderboard.html.jinja",
        results=values["result"].n_unique(),
        values=values.height,
        data=data_element("leaderboard-data", data),
    )
    return Section("leaderboard", "Leaderboard", content)


def leaderboard_data(values: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> dict[str, Any]:
    """Return what page.js makes the leaderboard of.

    values: rows of `all_values`. contradictions: rows of `rankadjust.literature.contradictions.check`, None for none.

    metrics: key, label, increasing and title of each column. open: the view that the page opens with. rows: a
    dictionary per result, with its evaluation and source, its kinds, notes (texts with their kind), unranked (why it
    takes no place among the others, empty where it does) and values: for each metric, by its key, the printed text, the
    interval of what was rounded, expectation, index and z with intervals, and the reason where there is no index.
    """
    messages = _messages(contradictions)
    rows = [_row(part.to_dicts(), messages) for part in values.partition_by("result", maintain_order=True)]
    known = values.filter(pl.col("status") != "metric_unknown")
    metrics = sorted(set(known["metric"].drop_nulls()), key=_order)
    return {"metrics": [_metric(key) for key in metrics], "open": opened(values), "rows": rows}


def opened(values: pl.DataFrame) -> dict[str, str]:
    """Return the evaluation to open with: OPENED, or that with most results; of the user's own results if there are."""
    own = values.filter("own")
    of_tests = (own if own.height else values).filter(pl.col("split").is_in(TEST_SPLITS))
    present = evaluations(of_tests if of_tests.height else values)
    wanted = tuple(OPENED[name] for name in EVALUATION)
    return dict(zip(EVALUATION, wanted if wanted in present else present[0], strict=True))


def _order(metric: str) -> tuple[int, str]:
    return (_FIRST_METRICS.index(metric) if metric in _FIRST_METRICS else len(_FIRST_METRICS), metric)


def _metric(key: str) -> dict[str, Any]:
    metric = resolve(key)
    return {"key": key, "label": metric.label, "increasing": metric.increasing}


def _messages(contradictions: pl.DataFrame | None) -> Messages:
    """Return the contradictions of each result; one line of a wide table holds results on several data sets."""
    messages: Messages = {}
    if contradictions is None or not {"file", "file_line"} <= set(contradictions.columns):
        return messages
    for row in contradictions.iter_rows(named=True):
        text = f"{row['severity']}: {row['message']}"
        messages.setdefault(_place(row), []).append({"kind": "contradiction", "text": text})
    return messages


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return where a value is printed, and of which result; an empty text in a file is null elsewhere."""
    return tuple(row.get(name) or None for name in ("file", "file_line", "model", *EVALUATION))


def _row(values: Sequence[dict[str, Any]], messages: Messages) -> dict[str, Any]:
    first = values[0]
    columns: dict[str, dict[str, Any]] = {}
    notes = _notes(values, messages)
    # The metric itself comes before an adjusted one that is printed beside it.
    for value in sorted(values, key=lambda value: value["adjustment"] is not None):
        if value["status"] != "metric_unknown" and value["metric"] is not None:
            columns.setdefault(value["metric"], _cell(value))
    return {
        "model": first["model"] or "(no name)",
        **{name: first[name] or "(unknown)" for name in EVALUATION},
        "source": first["source"] or first["file"] or first["table_name"],
        "url": place_of(first),
        "line": first.get("file_line"),
        "year": first["year"] or "",
        "own": first["own"],
        "kinds": list(dict.fromkeys(value["kind"] for value in values)),
        "notes": notes,
        "unranked": _unranked(notes),
        "values": columns,
    }


def _unranked(notes: Sequence[Mapping[str, str]]) -> str:
    """Return why a result comes after those that nothing is said against, empty where nothing is.

    As in results/comparison/leaderboards.csv a caveat takes a result its place; so do values that no ranks have.
    """
    impossible = [
        note["text"].partition(". ")[0] for note in notes if note["text"].startswith(f"{IMPOSSIBLE}: ")
    ]
    caveats = [note["text"] for note in notes if note["kind"] == "caveat"]
    return "; ".join([*impossible, *caveats])


def _notes(values: Sequence[dict[str, Any]], messages: Messages) -> list[dict[str, str]]:
    """Return what a reader has to know of a result, each text once, with the metrics that it is about."""
    places = dict.fromkeys(map(_place, values))
    notes = [note for place in places for note in messages.get(place, [])]
    caveats = [text for value in values if value["caveat"] for text in value["caveat"].split("; ")]
    notes += [{"kind": "caveat", "text": text} for text in dict.fromkeys(caveats)]
    about: dict[tuple[str, str], list[str]] = {}
    for value in values:
        if value["status"] != "ok" and value["message"]:
            about.setdefault((value["kind"], value["message"]), []).append(_name(value))
    notes += [
        {"kind": kind, "text": f"{listed(dict.fromkeys(names))}: {message}"}
        for (kind, message), names in about.items()
    ]
    return notes


def _name(value: dict[str, Any]) -> str:
    """Return the name of a value's metric, as people write it."""
    if value["status"] == "metric_unknown" or value["metric"] is None:
        return str(value["metric_as_printed"] or value["metric"])
    return resolve(value["metric"]).label


def _cell(value: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a value; what is null is left out."""
    adjustment = value["adjustment"]
    numbers = {
        "value": None if adjustment else value["value"],
        "low": None if adjustment else value["value_low"],
        "high": None if adjustment else value["value_high"],
        "expectation": value["expectation"],
        "index": value["value"] if adjustment == "index" else value["index"],
        "index_low": value["index_low"],
        "index_high": value["index_high"],
        "z": value["value"] if adjustment == "z" else value["z"],
    }
    shown = {
        name: float(f"{number:.{_DIGITS}g}")
        for name, number in numbers.items()
        if number is not None and isfinite(number)
    }
    printed = value["value_as_printed"]
    return {"printed": f"{adjustment} {printed}" if adjustment else printed, **shown}
