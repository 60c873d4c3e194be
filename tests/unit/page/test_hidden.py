"""What values among sampled negatives leave open, on the page: a line for each leaderboard, a bar for each model."""

import re

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.literature.full_ranking import COLUMNS, what_sampling_hides
from rankadjust.literature.rescore import rescore
from rankadjust.page.boards import board_section, boards
from rankadjust.page.findings import findings
from rankadjust.page.hidden import hidden_section
from rankadjust.page.material import Material
from rankadjust.page.results import all_values

BOUNDS = {"<b>A</b>": (0.25, 0.75), "B": (0.125, 0.2)}


def material(bounds):
    """Return two models of which the first is known to be better where the given bounds do not overlap."""
    printed = pl.DataFrame(
        {
            "dataset": "GraIL-WN18RR-v2",
            "model": list(bounds),
            "metric": "MRR",
            "value": ["0.78", "0.5"],
            "protocol": "sampled-50",
            "split": "inference_testing",
        }
    )
    rows = rescore(printed).with_columns(
        **{name: pl.lit(None, dtype=pl.Float64) for name in COLUMNS[2:]},
        full_mrr_low=pl.Series([low for low, _ in bounds.values()], dtype=pl.Float64),
        full_mrr_high=pl.Series([high for _, high in bounds.values()], dtype=pl.Float64),
    )
    nothing = pl.DataFrame()
    comparison = {"what-sampling-hides": what_sampling_hides(rows)}
    return Material({"mine": rows}, Constants(nothing), nothing, comparison)


def bars(content):
    """Return the ends of the bars and the places of the ticks, from 0 to 1: the line of a bar is from 2 to 98."""
    found = re.findall(
        r'aria-label="from[^>]*>.*?rect x="([\d.]+)" y="3" width="([\d.]+)".*?"counting" d="M([\d.]+)',
        content,
    )
    return [
        [round((float(place) - 2) / 96, 3) for place in (x, float(x) + float(width), tick)]
        for x, width, tick in found
    ]


def test_a_leaderboard_has_a_line_with_the_bounds_of_its_best_value():
    content = hidden_section(material(BOUNDS)).content
    (bar,) = bars(content)
    # A bar is 0.4 of the 96 wider at each end, so that one of no width can be seen.
    assert bar == pytest.approx([0.25, 0.75, 0.78], abs=0.006)
    assert "<b>A</b>" not in content
    assert "1 of 1" in content
    assert "is known for 1 of them" in content


def test_overlapping_bounds_are_a_finding_that_the_order_is_not_known():
    given = material(BOUNDS | {"B": (0.125, 0.3)})
    (told,) = [one for one in findings(all_values(given), given) if one.address == "#sampling"]
    assert "1 pair of models is compared by MRR" in told.text
    assert "is known for none of them" in told.text


def test_a_board_among_sampled_negatives_has_a_bar_for_each_model():
    values = all_values(material(BOUNDS))
    (board,) = boards(values, {})
    shown = bars(board.html())
    assert [row["full"] for row in board.ranked] == [list(ends) for ends in BOUNDS.values()]
    assert shown[0] == pytest.approx([0.25, 0.75, 0.78], abs=0.006)
    assert shown[1] == pytest.approx([0.125, 0.2, 0.5], abs=0.006)
    assert board_section([board], values) is not None


def test_a_run_without_sampled_values_has_no_such_section_and_no_such_bars():
    given = material({"A": (None, None), "B": (None, None)})
    (board,) = boards(all_values(given), {})
    assert hidden_section(given) is None
    assert "full MRR" not in board.html()
