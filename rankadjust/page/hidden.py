"""The orders that sampling hides: bounds of the full ranking from values among sampled negatives, per leaderboard."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import polars as pl
from markupsafe import Markup

from rankadjust.chance.metrics import resolve
from rankadjust.literature.full_ranking import FULL_METRICS
from rankadjust.page.material import Material
from rankadjust.page.templating import Section, render

_NAMES = {resolve(name).key: name for name in FULL_METRICS}


def hidden_section(material: Material) -> Section | None:
    """Return the section with the bounds of the full ranking for each sampled leaderboard, None if there is none."""
    content = hidden_bounds(material, _board_on_page, "#leaderboard")
    return None if content is None else Section("sampling", "What sampling hides", content)


def hidden_bounds(
    material: Material, board_of: Callable[[Mapping[str, Any]], str], boards: str
) -> Markup | None:
    """Return the bounds of the full ranking for each sampled leaderboard as HTML, None if there is none.

    board_of: the address of the board of a row; boards: the address of all boards.
    """
    hidden = _hidden_table(material)
    if hidden is None:
        return None
    by_metric = {key[0]: part for key, part in hidden.group_by("metric", maintain_order=True)}
    groups = [
        {
            "label": resolve(key).label,
            "sentence": known(part),
            "rows": [row | {"address": board_of(row)} for row in part.iter_rows(named=True)],
        }
        for name in FULL_METRICS
        if (part := by_metric.get(key := resolve(name).key)) is not None
    ]
    return render("hidden.html.jinja", groups=groups, boards=boards)


def _board_on_page(row: Mapping[str, Any]) -> str:
    key = {name: row[name] for name in ("dataset", "protocol", "split")}
    return f"#{urlencode({'view': 'leaderboard', **key, 'side': 'both', 'metric': row['metric']})}"


def known(rows: pl.DataFrame) -> str:
    """Return a sentence on the number of pairs of models that the printed values of a metric put in an order.

    rows: rows of `rankadjust.literature.full_ranking.what_sampling_hides`.
    """
    pairs, decided = rows["pairs"].sum(), rows["known"].sum()
    which = "pair of models is" if pairs == 1 else "pairs of models are"
    return (
        f"Among sampled negatives {pairs:,} {which} compared by {resolve(rows['metric'][0]).label}. Which model of a "
        f"pair is better in the full ranking is known for {f'{decided:,}' if decided else 'none'} of them."
    )


def first_known(material: Material) -> str | None:
    """Return the sentence of `known` for MRR, or else for Hits@10, None if no pair is compared."""
    hidden = _hidden_table(material)
    if hidden is None or not hidden["pairs"].sum():
        return None
    parts = (hidden.filter(pl.col("metric") == key, pl.col("pairs") > 0) for key in _NAMES)
    return next((known(part) for part in parts if part.height), None)


def full_ends(value: Mapping[str, Any]) -> list[float] | None:
    """Return the bounds in the full ranking for the metric of a printed value, None if there are none.

    value: a row of `rankadjust.literature.full_ranking.add_full_bounds`, or one that never had such bounds.
    """
    name = _NAMES.get(value["metric"])
    ends = [value.get(f"full_{name}_{end}") for end in ("low", "high")]
    return None if None in ends else [float(end) for end in ends if end is not None]


def _hidden_table(material: Material) -> pl.DataFrame | None:
    hidden = material.comparison.get("what-sampling-hides")
    return None if hidden is None or hidden.is_empty() else hidden
