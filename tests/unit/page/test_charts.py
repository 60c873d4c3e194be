"""The figures: what is drawn is what the frames hold, and a figure without data is not there."""

import json
import re

import polars as pl
import pytest

from rankadjust.page.charts import AUDIT, RESULTS, audited_runs, figures_of
from rankadjust.page.figures import write_figures
from rankadjust.page.look import ACCENT, CATEGORIES, FAINT, INK, SHAPES
from tests.unit.literature.results import MR, MRR, results

NAMES = ["adjustment", "case-study"]
FRAME_OF = {"adjustment": RESULTS, "case-study": AUDIT}


@pytest.fixture(scope="module")
def printed():
    """Return results that have something for every figure of printed values."""
    sets = (("small", 0.6, 0.4, 14), ("middle", 0.5, 0.49, 3000), ("large", 0.4, 0.4, 50_000))
    rows = [
        results(*[(name, model, value - less, index - less, n) for name, value, index, n in sets])
        for model, less in (("A", 0.0), ("B", 0.1))
    ]
    models = pl.concat(rows).with_columns(model=pl.Series(["A"] * 3 + ["B"] * 3))
    raw = models.with_columns(protocol=pl.lit("raw"), value=pl.col("value") / 2, index=pl.col("index") / 2)
    sampled = models.with_columns(protocol=pl.lit("sampled-20"), expectation=pl.col("value") / 4)
    mean_ranks = models.with_columns(metric=pl.lit(MR), value=10 / pl.col("value"))
    return pl.concat([models, raw, sampled, mean_ranks]).with_columns(file=pl.lit("hoyt2022-case-study.csv"))


@pytest.fixture(scope="module")
def audit():
    rows = {"dataset": ["D", "D"], "model": ["M", "M"], "adjustment": ["index", "z"]}
    numbers = {"printed": [0.15, -2.8], "corrected": [0.03, 1.4], "value": [0.4, 0.4]}
    return pl.DataFrame(rows | numbers).with_columns(metric=pl.lit(MRR))


@pytest.fixture(scope="module")
def frames(printed, audit):
    return {RESULTS: printed, AUDIT: audit}


@pytest.fixture(scope="module")
def figures(frames):
    return {figure.name: figure for figure in figures_of(frames)}


def rows_with(figure, *columns):
    """Return the rows of a figure's data that have all these columns."""
    return [
        row for rows in figure.specification["datasets"].values() for row in rows if set(columns) <= set(row)
    ]


def test_a_run_that_has_everything_has_every_figure(figures):
    assert list(figures) == NAMES


@pytest.mark.parametrize("frame", [RESULTS, AUDIT])
def test_a_figure_whose_frame_is_absent_or_holds_nothing_for_it_is_absent(frames, frame):
    others = [name for name in NAMES if FRAME_OF[name] != frame]
    without = {name: rows for name, rows in frames.items() if name != frame}
    assert [figure.name for figure in figures_of(without)] == others
    assert [figure.name for figure in figures_of(frames | {frame: frames[frame].clear()})] == others


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_figure_is_complete_names_n_and_no_colour(figures, name):
    figure = figures[name]
    for text in (figure.title, figure.caption, figure.description):
        assert text
        assert not re.search(r"[{}]|None|nan", text), text
    # How many, with the number beside it.
    assert re.search(r"n = \d|\(n = \d", figure.caption), figure.caption
    # The look of all charts is in one place.
    assert re.findall(r"#[0-9a-f]{6}\b", json.dumps(figure.specification)) == []


def test_titles_and_captions_count_what_is_drawn(figures):
    # Two models on three sets; of the small set 0.6 becomes 0.4.
    assert "MRR of 2 models on 3 data sets (n = 6 results" in figures["adjustment"].caption
    assert figures["adjustment"].title.endswith("by at most 0.2 on small and less than 0.001 on large")
    assert "n = 1 runs" in figures["case-study"].caption
    assert figures["case-study"].title.endswith("off by up to 0.12")


def test_the_case_study_shows_both_values_of_every_run(audit, figures):
    shown = {(row["which"], row["number"]) for row in rows_with(figures["case-study"], "which", "number")}
    assert shown == {("as printed", 0.15), ("correct", 0.03), ("as printed", -2.8), ("correct", 1.4)}
    assert audited_runs(audit)["run"].to_list() == ["D · M", "D · M"]
    assert "1 runs have a printed z below 0 and a correct one above it" in figures["case-study"].description


def test_figure_1_is_of_the_case_study_alone(printed):
    others = printed.with_columns(file=pl.lit("mine.csv"), model=pl.lit("C"))
    figure = next(
        figure
        for figure in figures_of({RESULTS: pl.concat([others, printed])})
        if figure.name == "adjustment"
    )
    assert {row["model"] for row in rows_with(figure, "model")} == {"A", "B"}


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_from_white():
    """AA: 3 for marks, 4.5 for text (success criteria 1.4.11 and 1.4.3)."""
    assert all(contrast(colour, "#ffffff") >= 3 for colour in (ACCENT, *CATEGORIES))
    assert all(contrast(colour, "#ffffff") >= 4.5 for colour in (INK, FAINT))
    assert len(CATEGORIES) >= len(SHAPES) == len(set(SHAPES))


def test_files_are_described(figures, tmp_path):
    chosen = [figures["case-study"], figures["adjustment"]]
    write_figures(chosen, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["SHA256SUMS"] + [f"{figure.name}.{ending}" for figure in chosen for ending in ("svg", "png", "json")]
    )
    for figure in chosen:
        svg = (tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
        assert 'role="img"' in svg.partition(">")[0]
        assert f"<title>{figure.title}</title>" in svg
        assert INK in svg
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        # What other tools of Vega-Lite read.
        specification = json.loads((tmp_path / f"{figure.name}.json").read_text())
        assert specification["usermeta"]["caption"] == figure.caption
        assert specification["$schema"].startswith("https://vega.github.io")
