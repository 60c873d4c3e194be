"""The check of an own table in a real browser.

It is read, adjusted and placed as by the library; each contradiction is one that the linear program finds.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from harness.chromium import scrolls_sideways, violations
from rankadjust.evaluation.one_value import adjust
from rankadjust.literature.contradictions import check

pytestmark = pytest.mark.browser

CASES = json.loads((Path(__file__).parents[1] / "data" / "own-tables.json").read_text(encoding="utf-8"))
CHOSEN = {"dataset": "FB15k-237", "protocol": "filtered", "split": "testing", "side": "both"}
CHECK = """([text, chosen]) => {
  try {
    const { results, findings, unread, ignored } = ownTable.check(text, chosen);
    return {
      values: results.map(({ model, evaluation, metric, value, low, high }) =>
        [model || null, evaluation.dataset, metric.key, value, low, high]),
      indices: results.map(({ adjusted }) => adjusted.index),
      places: results.map(({ place }) => place),
      findings, ignored, unread: [...new Set(unread.map(({ line }) => line))],
    };
  } catch (error) {
    return { refused: error.message };
  }
}"""


def ready(page):
    page.wait_for_function("!document.getElementById('own-table-text').disabled")
    return page


@pytest.fixture(scope="module")
def shared_page(shared_page_of, literature_page):
    return ready(shared_page_of(literature_page))


@pytest.fixture
def page(page_of, literature_page):
    return ready(page_of(literature_page))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_simple_table_is_read_and_any_other_is_left_to_the_command(shared_page, case):
    """The values are those of tests/unit/page/test_own_table.py, where the library reads them."""
    found = shared_page.evaluate(CHECK, [case["text"], CHOSEN])
    if "refused" in case:
        assert found["refused"].startswith(case["refused"])
        assert found["refused"].endswith("the command rankadjust check reads more kinds of tables")
        return
    assert found["values"] == case["values"]
    assert found["unread"] == case.get("unread", [])
    assert found["ignored"] == case.get("ignored", [])
    expected = [
        adjust(value, dataset=dataset, metric=metric).index
        for _, dataset, metric, value, _, _ in case["values"]
    ]
    assert found["indices"] == pytest.approx(expected, rel=1e-12)


def test_an_impossible_value_is_named_and_not_adjusted(shared_page):
    found = shared_page.evaluate(CHECK, ["model,MRR,MR\nA,0.3,0.5\nB,0.3,20000\n", CHOSEN])
    assert [row[:3] for row in found["values"]] == [
        ["A", "FB15k-237", "inverse_harmonic_mean_rank"],
        ["B", "FB15k-237", "inverse_harmonic_mean_rank"],
    ]
    assert found["unread"] == [2, 3]


def test_a_place_is_that_of_the_board(shared_page, literature_page):
    board = pl.read_csv(
        literature_page.with_name("leaderboards.csv"),
        infer_schema_length=None,
        schema_overrides={"model": pl.String},
    ).filter(**CHOSEN, metric="inverse_harmonic_mean_rank")
    texts = board["value"].to_list()
    table = "model,MRR\n" + "".join(f"m{place},{value:.6g}\n" for place, value in enumerate(texts))
    found = shared_page.evaluate(CHECK, [table, CHOSEN])
    values = [row[3] for row in found["values"]]
    assert [place["place"] for place in found["places"]] == [
        sum(other > value for other in texts) + 1 for value in values
    ]
    assert {place["models"] for place in found["places"]} == {board.height + 1}


def drawn_tables(models):
    """Yield data set and lines of tables of drawn models, most of them with one value changed."""
    draw = np.random.default_rng(35)
    names = ["MR", "MRR", "Hits@1", "Hits@3", "Hits@10"]
    for dataset, most in (("FB15k-237", 14541), ("UMLS", 135)):
        lines = []
        for number in range(models):
            ranks = np.clip(np.floor(most ** (draw.random(400) ** draw.choice([0.3, 1, 2, 4]))), 1, most)
            values = dict(zip(names, (ranks.mean(), (1 / ranks).mean()), strict=False))
            values |= {f"Hits@{k}": (ranks <= k).mean() for k in (1, 3, 10)}
            values[draw.choice(names)] *= draw.choice([0.5, 0.8, 0.9, 1, 1.1, 1.3, 2])
            cells = [
                f"{value:.{draw.integers(0, 2)}f}"
                if name == "MR"
                else f"{min(value, 1):.{draw.integers(2, 5)}f}"
                for name, value in values.items()
            ]
            lines.append([f"m{number}", *(cell if draw.random() < 0.8 else "-" for cell in cells)])
        yield dataset, ["model", *names], lines


def test_every_contradiction_is_one_that_the_linear_program_finds(shared_page):
    """Most joint contradictions of these models are found, and none is claimed that is none."""
    rows, claimed = [], set()
    for dataset, header, lines in drawn_tables(100):
        text = io.StringIO()
        csv.writer(text).writerows([header, *lines])
        found = shared_page.evaluate(CHECK, [text.getvalue(), CHOSEN | {"dataset": dataset}])
        claimed |= {(dataset, finding["model"]) for finding in found["findings"]}
        rows += [
            (dataset, line[0], name, cell)
            for line in lines
            for name, cell in zip(header[1:], line[1:], strict=True)
            if cell != "-"
        ]
    schema = ["dataset", "model", "metric", "value"]
    program = check(pl.DataFrame(rows, schema=schema, orient="row")).filter(
        pl.col("severity").is_in(["impossible", "only_if_cut"])
    )
    assert claimed <= set(program.select("dataset", "model").rows())
    joint = set(program.filter(bound="joint").select("dataset", "model").rows())
    assert len(claimed & joint) >= 0.9 * len(joint) > 20


@pytest.mark.parametrize(
    ("ranks", "hits"), [([1, 1, 2, 11, 14541], (1, 3, 10)), ([1.5, 1.5, 4, 10.5], (1, 3)), ([3] * 5, (1, 3))]
)
def test_no_ranks_are_refuted_by_their_own_values(shared_page, ranks, hits):
    """Printed with 2 to 5 digits: the extremes that the bounds are made of, and ranks of ties."""
    ranks = np.array(ranks)
    values = {"MR": ranks.mean(), "MRR": (1 / ranks).mean()} | {
        f"Hits@{k}": (ranks <= k).mean() for k in hits
    }
    lines = [[f"d{digits}", *(f"{value:.{digits}f}" for value in values.values())] for digits in range(2, 6)]
    text = "\n".join(",".join(line) for line in [["model", *values], *lines])
    assert shared_page.evaluate(CHECK, [text, CHOSEN])["findings"] == []


TABLE = "| Model | MRR | Hits@10 |\n|---|---|---|\n| <b>Ours</b> & co_1 | 0.358 | 28.0 % |\n"


def test_a_pasted_table_is_told_in_words_and_copied_as_latex_and_link(page, page_of, literature_page):
    page.locator("#own-table-text").fill(TABLE)
    told = page.locator("#own-table-result")
    told.get_by_text("1 contradiction").wait_for()
    # 0.2805 + (1 - 0.2805) / 10.5: all hits have rank 1, all others 10.5.
    assert "MRR is at most 0.349 beside the rest" in told.inner_text()
    assert "<b>Ours</b> & co_1" in told.locator("td.model").first.inner_text()
    others = page.locator("#board table.board tbody tr").count()
    assert f"of {others + 1}" in told.locator("tbody tr").first.inner_text()
    latex = told.locator("textarea").input_value()
    assert "FB15k-237 & <b>Ours</b> \\& co\\_1 & 0.358 & 0.358 & 28.0 \\% & 0.279 \\\\" in latex
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    told.get_by_text("Copy link").click()
    told.get_by_text("Copied").wait_for()
    link = page.evaluate("window.copied")
    again = ready(page_of(literature_page, 390, address=link.partition("#")[2]))
    again.locator("#own-table-result").get_by_text("1 contradiction").wait_for()
    assert again.locator("#own-table-text").input_value() == TABLE
    assert not scrolls_sideways(again)
    assert violations(again, "#table") == []


def test_a_file_is_taken_and_what_is_not_read_is_said(page, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("model,MRR\nA,0.3 / 0.4\nB,0.35\n", encoding="utf-8")
    page.locator("#own-table-file").set_input_files(file)
    told = page.locator("#own-table-result")
    told.get_by_text("1 not adjusted").wait_for()
    assert "row 2: '0.3 / 0.4' is no number" in told.inner_text()
    page.locator("#own-table-text").fill("no table")
    told.get_by_text("neither CSV nor a table of Markdown").wait_for()
