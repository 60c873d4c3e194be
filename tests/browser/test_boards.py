"""The boards in a real browser: chosen, shared, printed, kept, with hostile names."""

import csv
import io
import json

import polars as pl
import pytest

from harness.chromium import drawn, scrolls_sideways, violations
from rankadjust.base.vocabulary import EVALUATION, KEY
from tests.browser.reports import FORMULA, HOSTILE

USUAL = ("FB15k-237", "filtered", "testing", "both")
MRR = "inverse_harmonic_mean_rank"
# Walks through every choice of the three lists as a reader would, and returns what stands there each time.
WALK = """() => {
  const form = document.getElementById("board-switches");
  const values = (name) => [...form.elements[name].options].map(({ value }) => value);
  const choose = (name, value) => {
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
  };
  const found = [];
  const replace = history.pushState;
  history.pushState = () => {};
  for (const dataset of values("dataset")) {
    choose("dataset", dataset);
    const usual = form.elements.evaluation.value;
    for (const evaluation of values("evaluation")) {
      choose("evaluation", evaluation);
      for (const metric of values("metric")) {
        choose("metric", metric);
        const rows = [...document.querySelectorAll("#board table.board tbody tr")];
        found.push({
          key: [dataset, ...JSON.parse(evaluation), metric],
          usual: evaluation === usual,
          results: document.querySelectorAll("#board tbody tr").length,
          title: document.querySelector("#board .board-title").textContent,
          rows: rows.map((row) => [
            row.querySelector(".place").firstChild.textContent.trim(),
            row.querySelector(".model bdi").textContent,
          ]),
          tables: document.querySelectorAll("#board table.board").length,
        });
      }
    }
  }
  history.pushState = replace;
  return found;
}"""


def ready(page):
    page.wait_for_function("performance.getEntriesByName('tables-shown').length > 0")
    return page


def choose(page, name, value):
    page.locator(f"#board-switches [name={name}]").select_option(value)


def title(page):
    return page.locator("#board .board-title").inner_text()


def models(page):
    return page.locator("#board table.board td.model bdi").all_inner_texts()


def downloaded(page, button):
    """Return the lines of the file that a button gives."""
    with page.expect_download() as waiting:
        button.click()
    text = waiting.value.path().read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def page(page_of, literature_page):
    return ready(page_of(literature_page))


@pytest.fixture(scope="module")
def board(shared_page_of, literature_page):
    """Return a page for tests that leave it as they find it: it takes seconds to open."""
    return ready(shared_page_of(literature_page))


@pytest.fixture(scope="module")
def walked(shared_page_of, literature_page):
    """Return what stands there at each choice of the three lists."""
    return ready(shared_page_of(literature_page)).evaluate(WALK)


def test_every_board_holds_one_evaluation_with_the_best_model_first(walked):
    """All choices of the lists are walked: each shows one evaluation, which the title names."""
    assert len({tuple(board["key"]) for board in walked}) == len(walked) > 400
    for board in walked:
        *of, side, _ = board["key"]
        said = "both sides" if side == "both" else f"side {side}"
        assert board["title"].startswith(f"{', '.join(of)}, {said}, by ")
        assert board["tables"] <= 1
        places = [int(place) for place, _ in board["rows"]]
        assert places == sorted(places)
        assert places[:1] in ([], [1])


def test_no_board_holds_a_result_with_a_caveat_or_that_no_ranks_have(walked, literature_page):
    rescored = pl.concat(
        [pl.read_parquet(path) for path in sorted(literature_page.with_name("rescored").glob("*.parquet"))],
        how="diagonal",
    )
    clean = rescored.filter(pl.col("caveat").is_null(), pl.col("index").is_not_null()).select(*KEY, "model")
    impossible = pl.read_csv(
        literature_page.with_name("contradictions.csv"), infer_schema_length=None
    ).filter(severity="impossible")
    doubtful = set(impossible.select(*EVALUATION, "model").rows())
    known = set(clean.rows())
    rows = [(*board["key"], model) for board in walked for _, model in board["rows"]]
    assert len(rows) > 2000
    assert set(rows) <= known
    # A model may have a possible value from another source; those that have none are not there.
    alone = {
        row for row in doubtful if rescored.filter(model=row[-1], dataset=row[0])["source"].n_unique() == 1
    }
    assert alone
    assert not {(*row[:4], row[-1]) for row in rows} & alone


@pytest.mark.parametrize("width", [390, 1600])
def test_it_opens_with_the_usual_board_that_fits_and_is_accessible(page_of, literature_page, width):
    page = ready(page_of(literature_page, width))
    assert title(page) == "FB15k-237, filtered, testing, both sides, by MRR"
    assert models(page)[0] == "AdaProp"
    assert not scrolls_sideways(page)
    for details in page.locator("#board details").all():
        details.locator("summary").first.click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page, "#leaderboard") == []
    if width == 390:
        value = page.locator("#board table.board tbody tr td.n").nth(1).bounding_box()
        assert value["x"] + value["width"] < width


def test_refuted_results_are_folded_with_their_reason(board):
    folded = board.locator("#board details.apart")
    texts = folded.first.text_content()
    assert "refuted: the evaluation placed the true triple before all" in texts
    assert [name for name in folded.first.locator("td.model").all_text_contents() if name == "QLogicE"] == [
        "QLogicE"
    ]
    assert "QLogicE" not in models(board)
    assert "second-hand" in folded.nth(1).locator("summary").inner_text()


def test_back_restores_the_board_and_an_address_is_shared(page_of, literature_page, page):
    choose(page, "dataset", "WN18RR")
    choose(page, "metric", "hits_at_10")
    address = page.url.partition("#")[2]
    assert title(ready(page_of(literature_page, address=address))) == title(page)
    page.go_back()
    page.wait_for_function("document.querySelector('#board .board-title').textContent.endsWith('by MRR')")
    assert title(page).startswith("WN18RR")
    page.go_back()
    page.wait_for_function(
        "document.querySelector('#board .board-title').textContent.startsWith('FB15k-237')"
    )


@pytest.mark.parametrize(
    "address",
    ["view=leaderboard&dataset=nowhere&metric=x", "view=leaderboard&dataset=FB15k-237", "%E0%A4%A", "&&=&=="],
)
def test_an_address_that_says_nothing_does_no_harm(page_of, literature_page, address):
    assert title(ready(page_of(literature_page, address=address))).startswith("FB15k-237, filtered, testing")


def test_all_results_finds_a_data_set_and_sorts_by_no_number(board):
    board.locator("#results input[type=search]").fill("WN18RR")
    info = board.locator("#results .dt-info")
    board.wait_for_function("document.querySelector('#results .dt-info').textContent.match(/of [0-9,]+/)")
    assert int(info.inner_text().rpartition(" ")[2].replace(",", "")) > 300
    rows = board.locator("#results-table tbody tr").all_inner_texts()
    assert len(rows) == 10
    assert all("WN18RR" in row for row in rows)
    sorted_by = board.locator("#results .dt-scroll-head th[class*=dt-orderable-asc]").all_inner_texts()
    assert len(sorted_by) >= 7
    assert not {"Printed", "Index"} & {text.strip() for text in sorted_by}
    board.locator("#results input[type=search]").fill("")


def test_a_board_and_results_can_be_kept(page):
    lines = downloaded(page, page.locator("#board-switches [name=csv]"))
    assert [line["Model"] for line in lines] == models(page)
    assert {tuple(line[name] for name in EVALUATION) for line in lines} == {USUAL}
    page.locator("#results input[type=search]").fill("RotatE UMLS")
    lines = downloaded(page, page.locator("#results").get_by_text("Download CSV"))
    assert {line["dataset"] for line in lines} == {"UMLS"}


def test_own_results_have_their_place_among_the_literature(page_of, small_page):
    page = ready(page_of(small_page))
    choose(page, "dataset", "FB15k-237")
    own = page.locator("#board table.board tr.own")
    assert own.count() == 1
    assert "Our model" in own.inner_text()
    # Between NBFNet (0.415) and the models below 0.358.
    assert (
        1
        < int(own.locator(".place").inner_text().split()[0])
        < page.locator("#board table.board tbody tr").count()
    )
    assert "among" in page.locator("#own").inner_text()


def test_hostile_names_are_text_and_no_formula(page_of, hostile_page):
    page = ready(page_of(hostile_page, address="view=leaderboard&dataset=Nations"))
    # Separators of lines and paragraphs are shown as a space, and the left-to-right marks of a name as nothing.
    assert {" ".join(name.split()) for name in (*HOSTILE, FORMULA)} <= {
        " ".join(model.split()) for model in models(page)
    }
    drawn(page)
    assert page.evaluate("window.attacked ?? window.pwned") is None
    assert page.locator("main img:not(figure img)").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    lines = downloaded(page, page.locator("#board-switches [name=csv]"))
    assert f"'{FORMULA}" in {line["Model"] for line in lines}
    assert not [value for line in lines for value in line.values() if value.startswith(("=", "@", "+"))]


def test_a_download_guards_the_cells_that_the_files_guard(page_of, page_without_tables, project):
    """The cells of tests/unit/base/test_spreadsheets.py."""
    cells = json.loads((project / "tests/data/spreadsheets.json").read_text(encoding="utf-8"))
    page = page_of(page_without_tables)
    guarded, unchanged = (
        page.evaluate("texts => texts.map(exportedText)", cells[kind]) for kind in ("guarded", "unchanged")
    )
    assert guarded == ["'" + text for text in cells["guarded"]]
    assert unchanged == cells["unchanged"]
