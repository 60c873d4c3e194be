"""The figures: what is drawn is what the frames hold, and a figure without data is not there."""

import json
import os
import re
import subprocess
import sys

import polars as pl
import pytest

from benchmarks.sampled import draw_widths
from rankadjust.chance.moments import metric_moments
from rankadjust.page.charts import (
    case_study,
    chance_by_protocol,
    chance_share,
    expectation,
    mean_rank_index,
    null_ratio,
    printed_index,
)
from rankadjust.page.charts.catalogue import AUDIT, CATALOGUE, CONSTANTS, FRAMES, RESULTS, figures_of
from rankadjust.page.charts.drawing import decades
from rankadjust.page.charts.figure import read_figures, svg_of, write_figures
from rankadjust.page.charts.theme import SCHEMES, SHAPES, configuration
from tests.unit.literature.results import MR, MRR, results

NAMES = [entry.name for entry in CATALOGUE]


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
    return pl.concat([models, raw, sampled, mean_ranks]).with_columns(file=pl.lit("mine.csv"))


@pytest.fixture(scope="module")
def audit():
    rows = {"dataset": ["D", "D"], "model": ["M", "M"], "adjustment": ["index", "z"]}
    numbers = {"printed": [0.15, -2.8], "corrected": [0.03, 1.4], "value": [0.4, 0.4]}
    return pl.DataFrame(rows | numbers).with_columns(metric=pl.lit(MRR))


@pytest.fixture(scope="module")
def constants():
    rows = [("Small", 8.0, "computed", 14), ("Large", 4000.0, "released", 5000)]
    made = [
        {"dataset": name, "origin": origin, "entities": entities, "metric": metric, "side": side}
        | {
            "expectation": (size + 1) / 2 if metric == MR else 1 / size,
            "variance": 1.0,
            "variance_random_scorer": 2.25,
        }
        for name, size, origin, entities in rows
        for metric in (MR, MRR)
        for side in ("head", "tail", "both")
    ]
    filtered = pl.DataFrame(made).with_columns(protocol=pl.lit("filtered"), split=pl.lit("testing"))
    sampled = filtered.filter(metric=MRR, dataset="Large").with_columns(
        protocol=pl.lit("sampled-2000"), expectation=pl.lit(0.125)
    )
    return pl.concat([filtered, sampled])


@pytest.fixture(scope="module")
def frames(printed, audit, constants):
    return {RESULTS: printed, AUDIT: audit, CONSTANTS: constants}


@pytest.fixture(scope="module")
def figures(frames):
    return list(figures_of(frames))


def drawn(figure):
    """Return all rows that a specification holds, by the name of their data."""
    return figure.specification["datasets"]


def rows_with(figure, *columns):
    """Return the rows of a figure's data that have all these columns."""
    return [row for rows in drawn(figure).values() for row in rows if set(columns) <= set(row)]


def test_a_run_that_has_everything_has_every_figure(figures):
    assert [figure.name for figure in figures] == NAMES
    assert {entry.frame for entry in CATALOGUE} == set(FRAMES)


@pytest.mark.slow
@pytest.mark.parametrize("frame", FRAMES)
def test_a_figure_whose_frame_is_absent_or_holds_nothing_for_it_is_absent(frames, frame):
    others = [entry.name for entry in CATALOGUE if entry.frame != frame]
    without = {name: rows for name, rows in frames.items() if name != frame}
    assert [figure.name for figure in figures_of(without)] == others
    assert [figure.name for figure in figures_of(frames | {frame: frames[frame].clear()})] == others


def test_bars_of_sampled_widths_run_between_the_stored_bounds(project):
    widths = pl.read_csv(project / "benchmarks" / "sampled.csv")
    panels = draw_widths(widths).to_dict()["datasets"].values()
    ends = [[(row["low"], row["high"]) for row in rows] for rows in panels]
    assert sorted(ends) == sorted(
        widths.select(f"{name}_low", f"{name}_high").rows() for name in ("mrr", "hits@10", "auc")
    )


def test_a_table_of_mean_ranks_alone_has_no_figure_of_mrr(printed):
    made = figures_of({RESULTS: printed.filter(metric=MR)})
    assert [figure.name for figure in made] == ["mean-rank-index"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_figure_is_complete_and_names_n(figures, name):
    figure = next(figure for figure in figures if figure.name == name)
    for text in (figure.title, figure.caption, figure.description):
        assert text
        assert not re.search(r"[{}]|None|nan", text), text
    # How many, with the number beside it.
    assert re.search(r"n = \d|\(n = \d", figure.caption), figure.caption


def test_captions_count_what_is_drawn(figures):
    said = {figure.name: figure.caption for figure in figures}
    # Six filtered, six raw and six sampled MRR; two models on three sets; two sets in the database, one of this run.
    assert "n = 18 results" in said["chance-share"]
    assert "n = 18 results" in said["printed-index"]
    assert "n = 6 mean ranks on the test splits of 3 data sets" in said["mean-rank-index"]
    assert "n = 6 results on 3 data sets" in said["size"]
    assert "n = 1 runs" in said["case-study"]
    assert "n = 2 data sets (test split, filtered, both sides; 1 counted by this run)" in said["expectation"]
    assert "n = 2 data sets" in said["chance-by-protocol"]


def test_the_share_is_expectation_by_value(printed, figures):
    # Of the sampled rows the expectation is a quarter of the value in each.
    of_sampled = [row for row in rows_with(figures[0], "share") if row["ranked"] == "20 negatives"]
    assert [(row["share"], row["label"]) for row in of_sampled] == [(0.25, "25 % (n = 6)")]
    assert chance_share.rows(printed)["results"].sum() == 18


@pytest.mark.parametrize(
    ("share", "text"), [(0.3075, "31 %"), (0.0206, "2 %"), (0.0131, "1.3 %"), (0.00026, "0.026 %")]
)
def test_shares_are_printed_with_two_digits(share, text):
    assert chance_share.percent(share) == text


def test_every_result_is_drawn_once_and_equal_ones_are_counted(printed):
    found = printed_index.rows(pl.concat([printed, printed.with_columns(model=pl.lit("C"))]))
    assert found["results"].sum() == 36
    assert set(found["results"]) == {2}
    assert dict(found.group_by("kind").agg(pl.col("results").sum()).iter_rows()) == {
        "up to 100 negatives": 12,
        "fewer than 200 entities": 8,
        "200 entities or more": 16,
    }


def test_visible_differences_are_counted_before_the_drawing_rounds_them():
    """0.5004 - 0.4903 is 0.0101 and visible, and 0.5004 - 0.4905 is 0.0099; both are drawn at 0.5 and 0.49."""
    rows = results(
        ("d", "A", 0.5004, 0.4903, 100), ("d", "B", 0.5004, 0.4904, 100), ("d", "C", 0.5, 0.4905, 100)
    )
    [drawn_at] = printed_index.rows(rows).select("value", "index", "results", "visible", "gap").rows()
    assert drawn_at[:4] == (0.5, 0.49, 3, 1)
    assert drawn_at[4] == pytest.approx(0.0101, abs=1e-12)
    [figure] = [
        made
        for made in figures_of({RESULTS: rows.with_columns(file=pl.lit("mine.csv"))})
        if made.name == "printed-index"
    ]
    assert "1 results lie more than 0.01 away from it, the farthest 0.0101." in figure.caption


def test_amri_is_drawn_as_the_logarithm_of_the_distance_from_1():
    rows = results(
        ("d", "A", 2.0, 0.97, 100), ("d", "B", 1.5, 0.99, 100), ("d", "C", 1.0, 1.0, 100), metric=MR
    )
    found = mean_rank_index.rows(rows)
    # -ln 0.03 and -ln 0.01; a perfect one would be infinite.
    assert found["stretched"].to_list() == pytest.approx([3.506558, 4.605170], abs=1e-6)
    axis = mean_rank_index.draw(found).to_dict()["layer"][1]["encoding"]["x"]["axis"]
    assert axis["values"][0] == 0
    assert any(tick == pytest.approx(4.605170, abs=1e-6) for tick in axis["values"])


def test_the_curve_is_exact_and_the_sets_lie_where_the_database_says(constants):
    curve = expectation.curve(1, 100)
    assert curve["candidates"].is_sorted()
    # H_1 / 1, H_2 / 2, H_100 / 100.
    known = {1: 1.0, 2: 0.75, 100: 5.187377517639621 / 100}
    for size, value in curve.filter(pl.col("candidates").is_in(list(known))).iter_rows():
        assert value == pytest.approx(known[size], rel=1e-14)
    assert curve["expectation"][-1] == metric_moments("mrr", [100]).expectation
    sets = expectation.rows(constants)
    assert sets.select("dataset", "candidates", "expectation", "place").rows() == [
        ("Small", 8.0, 1 / 8, "this run"),
        ("Large", 4000.0, 1 / 4000, "released database"),
    ]


def test_the_ratio_is_that_of_standard_deviations(constants):
    assert set(null_ratio.rows(constants)["ratio"]) == {1.5}


def test_the_case_study_shows_both_values_of_every_run(audit, figures):
    figure = next(figure for figure in figures if figure.name == "case-study")
    shown = {(row["which"], row["number"]) for row in rows_with(figure, "which", "number")}
    assert shown == {("as printed", 0.15), ("correct", 0.03), ("as printed", -2.8), ("correct", 1.4)}
    assert case_study.rows(audit)["run"].to_list() == ["D · M", "D · M"]
    assert "1 runs have a printed z below 0 and a correct one above it" in figure.description


def test_figure_1_is_of_one_table_the_case_study_before_others(printed):
    study = printed.with_columns(file=pl.lit("hoyt2022-case-study.csv"), model=pl.lit("S") + pl.col("model"))
    both = {RESULTS: pl.concat([printed, printed.with_columns(model=pl.lit("C")), study])}
    figure = next(figure for figure in figures_of(both) if figure.name == "adjustment")
    assert {row["model"] for row in rows_with(figure, "model")} == {"SA", "SB"}


def test_results_by_size_are_of_mrr_and_hits_as_printed_and_adjusted(figures):
    figure = next(figure for figure in figures if figure.name == "size")
    titles = [panel["title"] for panel in figure.specification["concat"]]
    assert titles == ["MRR, as printed (3 data sets)", "MRR, adjusted index (3 data sets)"]
    medians = [row for row in rows_with(figure, "kind", "value") if row["kind"] == "median of the models"]
    # Of the small set 0.6 and 0.5.
    assert [row["value"] for row in medians if row["dataset"] == "small"] == [pytest.approx(0.55)]


def test_chance_by_protocol_names_the_data_set_where_it_matters_most(constants, figures):
    found = chance_by_protocol.rows(constants)
    # The median of filtered is (1 / 8 + 1 / 4000) / 2.
    assert found.select("label", "dataset", "expectation", "median").rows() == [
        ("filtered", "Large", 1 / 4000, 0.062625),
        ("filtered", "Small", 1 / 8, 0.062625),
        ("2,000 negatives", "Large", 1 / 8, 1 / 8),
    ]
    [title] = [figure.title for figure in figures if figure.name == "chance-by-protocol"]
    assert title.endswith("on Large an MRR of 0.00025 (filtered) or 0.12 (2,000 negatives)")
    assert chance_by_protocol.rows(constants.filter(protocol="filtered")).is_empty()


def test_titles_say_what_adjustment_changes(figures):
    titles = {figure.name: figure.title for figure in figures}
    # Of the small set 0.6 becomes 0.4 (of raw rows, not drawn by size, half of both); of the large one nothing changes.
    assert titles["size"].endswith("by at most 0.2 on small and less than 0.001 on large")
    assert titles["case-study"].endswith("off by up to 0.12")
    assert (
        titles["expectation"]
        == "Chance gives an MRR of 0.12 on Small (N = 8), and of 0.00025 on Large (N = 4,000)"
    )
    # sqrt(2.25).
    assert "by a factor of 1.50" in titles["null-ratio"]


def test_ticks_of_a_logarithmic_axis():
    assert decades(0.5, 200) == [1, 10, 100]
    assert decades(0.003, 0.1, (1, 3)) == [0.003, 0.01, 0.03, 0.1]


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_colours_stand_out_from_their_background(scheme):
    """AA: 3 for marks, 4.5 for text (success criteria 1.4.11 and 1.4.3)."""
    assert all(contrast(colour, scheme.background) >= 3 for colour in scheme.category)
    assert all(contrast(colour, scheme.background) >= 4.5 for colour in (scheme.ink, scheme.faint))
    assert len(scheme.category) >= len(SHAPES) == len(set(SHAPES))


@pytest.mark.parametrize("name", NAMES)
def test_a_specification_names_no_colour(figures, name):
    """Else it could not be drawn on white and on a dark page."""
    figure = next(figure for figure in figures if figure.name == name)
    assert re.findall(r"#[0-9a-f]{6}\b", json.dumps(figure.specification)) == []


def test_files_are_described_and_are_read_back(figures, tmp_path):
    chosen = [
        figure for figure in figures if figure.name in ("chance-by-protocol", "case-study", "expectation")
    ]
    write_figures(chosen, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["SHA256SUMS"] + [f"{figure.name}.{ending}" for figure in chosen for ending in ("svg", "png", "json")]
    )
    assert read_figures(tmp_path) == chosen
    for figure in chosen:
        svg = (tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
        assert 'role="img"' in svg.partition(">")[0]
        assert f"<title>{figure.title}</title>" in svg
        assert figure.description.partition("{")[0][:20] in svg
        assert SCHEMES["light"].ink in svg
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        # What other tools of Vega-Lite read.
        assert json.loads((tmp_path / f"{figure.name}.json").read_text())["$schema"].startswith(
            "https://vega.github.io"
        )


DRAW = """\
import sys, polars as pl
from rankadjust.page.charts.catalogue import CONSTANTS, figures_of
from rankadjust.page.charts.figure import pictures_of
import hashlib
for figure in figures_of({CONSTANTS: pl.read_parquet(sys.argv[1])}):
    svg, png = pictures_of(figure)
    print(figure.name, hashlib.sha256(svg.encode() + png).hexdigest())
"""


@pytest.mark.slow
def test_the_bytes_are_the_same_with_another_seed_and_other_threads(constants, tmp_path):
    constants.write_parquet(tmp_path / "constants.parquet")
    said = []
    for seed, threads in (("1", "1"), ("2", "4")):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                DRAW,
                tmp_path / "constants.parquet",
            ],
            env=os.environ | {"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout)
    assert said[0].count("\n") == 3
    assert said[0] == said[1]


def test_hostile_names_stay_text(printed, tmp_path):
    name = '</script><script>alert(1)</script>"\u202e&'
    (figure,) = (
        figure
        for figure in figures_of({RESULTS: printed.with_columns(dataset=pl.lit(name))})
        if figure.name == "mean-rank-index"
    )
    svg = svg_of(figure)
    assert "<script" not in svg
    write_figures([figure], tmp_path)
    assert read_figures(tmp_path) == [figure]


def test_the_themes_differ_in_colours_alone():
    def without_colours(value):
        if isinstance(value, dict):
            return {key: without_colours(part) for key, part in value.items()}
        if isinstance(value, list):
            return [without_colours(part) for part in value]
        return "colour" if isinstance(value, str) and value.startswith("#") else value

    light, dark = (without_colours(configuration(SCHEMES[name])) for name in ("light", "dark"))
    assert light == dark


def test_the_report_of_snakemake_has_a_caption_for_every_figure(project):
    text = (project / "workflow" / "report" / "figure.rst").read_text(encoding="utf-8")
    assert re.findall(r'^"([a-z-]+)": ".+"', text, flags=re.MULTILINE) == NAMES
