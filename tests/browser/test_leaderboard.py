"""The leaderboard in a real browser: opened, sorted, filtered, searched, shared, downloaded, with hostile names."""

import csv
import io
import json
import re

import polars as pl
import pytest

from harness.chromium import scrolls_sideways, violations
from rankadjust.literature.comparison import ranked_results
from rankadjust.literature.rescore import rescore
from rankadjust.literature.runs import add_run
from rankadjust.literature.tidy import read_tidy
from tests.browser.reports import write_report

OPENED = {"dataset": "FB15k-237", "protocol": "filtered", "split": "testing", "side": "both"}
# Each would do something if it came into the page as anything but text.
HOSTILE = (
    "<script>window.attacked = 1</script>",
    "</script><script>window.attacked = 2</script>",
    '<img src=x onerror="window.attacked = 3">',
    '" autofocus onfocus="window.attacked = 4',
    "<!-- ]]> &lt;b&gt; \u2028\u202eesrever",
    "{{ 7 * 7 }}${7 * 7}",
    'A &amp; B <img src=x onerror="window.attacked = 6">',
)
FORMULA = '=HYPERLINK("http://example.org","x")'


def ready(page):
    page.wait_for_function("performance.getEntriesByName('leaderboard-shown').length > 0")
    return page


def rows(page):
    return page.locator("#leaderboard-table tbody tr")


def models(page):
    return page.locator("#leaderboard-table tbody td.model").all_inner_texts()


def count(page):
    """Return how many results are shown, on all pages of the table."""
    text = page.locator(".dt-info").first.inner_text()
    return 0 if text == "no results" else int(re.search(r"of ([\d,]+)", text)[1].replace(",", ""))


def ranked(page):
    """Return of each row whether it takes a place among the others."""
    notes = page.locator("#leaderboard-table tbody td.notes").all_inner_texts()
    return ["not ranked: " not in text for text in notes]


def column(page, title):
    """Return the large numbers of a column, in the order of the rows; None where it is empty."""
    titles = [text.strip() for text in page.locator(".dt-scroll-head th .dt-column-title").all_inner_texts()]
    cells = page.locator(
        f"#leaderboard-table tbody tr td:nth-child({titles.index(title) + 1})"
    ).all_inner_texts()
    return [float(cell.split("\n")[0]) if cell.strip() else None for cell in cells]


def choose(page, name, value):
    page.locator(f"#leaderboard-switches [name={name}]").select_option(value)


def chosen(page, name):
    return page.locator(f"#leaderboard-switches [name={name}]").input_value()


def downloaded(page):
    """Return the lines of the file that the button gives."""
    with page.expect_download() as waiting:
        page.get_by_text("Download CSV").click()
    text = waiting.value.path().read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def page(page_of, literature_page):
    return ready(page_of(literature_page))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 400, 1600, 1920])
def test_it_opens_with_the_usual_evaluation_and_the_best_first(page_of, literature_page, width, scheme):
    page = ready(page_of(literature_page, width, scheme))
    assert {name: chosen(page, name) for name in OPENED} == OPENED
    assert rows(page).count() == 25
    values = column(page, "MRR")
    assert values == sorted(values, reverse=True)
    assert not scrolls_sideways(page)


def test_a_click_on_a_head_sorts_with_what_is_missing_last(page):
    page.locator(".dt-scroll-head th", has_text="MR").first.click()
    page.locator("[name=shown][value=index]").check()
    choose(page, "dataset", "WN18RR")
    page.locator(".dt-scroll-head th", has_text="Hits@3").first.click()
    values = column(page, "Hits@3")
    assert values == sorted(values, reverse=True)
    page.locator(".dt-scroll-head th", has_text="Hits@3").first.click()
    page.locator("select.dt-input").first.select_option("-1")
    # Those that nothing is said against come first, and both groups are sorted.
    values, is_ranked = column(page, "Hits@3"), ranked(page)
    for wanted in (True, False):
        group = [value for value, ranks in zip(values, is_ranked, strict=True) if ranks == wanted]
        given = [value for value in group if value is not None]
        assert given == sorted(given)
        assert None in group
        assert group[: len(given)] == given


def test_switches_filter_and_say_how_many_are_left(page):
    everything = count(page)
    choose(page, "status", "contradiction")
    assert 0 < count(page) < everything
    assert all(
        "contradiction" in text
        for text in page.locator("#leaderboard-table tbody td.notes").all_inner_texts()
    )
    choose(page, "status", "")
    choose(page, "protocol", "raw")
    label = page.locator("#leaderboard-switches [name=protocol] option:checked").inner_text()
    assert count(page) == int(re.search(r"\((\d+)\)", label)[1])


@pytest.mark.parametrize("width", [400, 1600])
def test_a_switch_takes_several_values(page_of, literature_page, width):
    page = ready(page_of(literature_page, width))
    alone = count(page)
    assert "Data set" not in page.locator("#leaderboard .dt-scroll-head").inner_text()
    another = page.get_by_role("button", name="or another data set")
    another.focus()
    page.keyboard.press("Enter")
    # An empty field waits for the keyboard and takes nothing by itself.
    assert page.locator(":focus").get_attribute("aria-label") == "or another data set"
    assert another.is_hidden()
    assert count(page) == alone
    page.keyboard.type("WN18RR")
    fields = page.locator("#leaderboard-switches [name=dataset]")
    assert [field.input_value() for field in fields.all()] == ["FB15k-237", "WN18RR"]
    labels = [field.locator("option:checked").inner_text() for field in fields.all()]
    counts = [int(re.search(r"\((\d+)\)", label)[1]) for label in labels]
    assert counts[0] == alone
    assert count(page) == sum(counts)
    assert "Data set" in page.locator("#leaderboard .dt-scroll-head").inner_text()
    # No value can be taken twice.
    for field, other in ((0, "WN18RR"), (1, "FB15k-237")):
        assert other not in fields.nth(field).locator("option").evaluate_all("all => all.map(o => o.value)")
    assert {line["dataset"] for line in downloaded(page)} == {"FB15k-237", "WN18RR"}
    assert not scrolls_sideways(page)
    assert violations(page, "#leaderboard-switches") == []
    again = ready(page_of(literature_page, width, address=page.url.partition("#")[2]))
    assert (count(again), again.url) == (sum(counts), page.url)
    # Without the second the first is left, and the keyboard is there.
    fields.nth(1).focus()
    fields.nth(1).select_option("")
    assert fields.count() == 1
    assert page.locator(":focus").get_attribute("name") == "dataset"
    assert count(page) == alone


def test_values_that_are_not_there_take_no_field(page_of, literature_page):
    words = "&".join(f"dataset={word}" for word in ("nowhere", "WN18RR", "", "WN18RR", "else", "FB15k-237"))
    page = ready(page_of(literature_page, address=f"view=leaderboard&{words}"))
    fields = page.locator("#leaderboard-switches [name=dataset]")
    assert [field.input_value() for field in fields.all()] == ["WN18RR", "FB15k-237"]
    choose(page, "year", "2022")
    page.get_by_role("button", name="or another year").click()
    page.locator("#leaderboard-switches [name=year]").nth(1).select_option("2021")
    fields.first.select_option("")
    assert fields.count() == 1
    assert {line["year"] for line in downloaded(page)} == {"2021", "2022"}
    page.locator("button[type=reset]").click()
    assert page.locator("#leaderboard-switches [name=year]").count() == 1
    assert page.locator("#leaderboard-switches button[data-more]:visible").count() == 0


def test_another_data_set_opens_with_its_usual_test_evaluation_and_back(page, adjusted):
    """Without it, the 220 results of FB15k-237 under several protocols stood in one list after the way back."""
    for dataset in ("ogbl-biokg", "tgbl-wiki-v2", "FB15k-237", "UMLS", "FB15k-237"):
        choose(page, "dataset", dataset)
        usual, number = most_common(adjusted, dataset)
        assert {name: chosen(page, name) for name in OPENED} == usual
        assert count(page) == number


def test_a_protocol_that_a_data_set_lacks_opens_where_it_is_usual(page):
    choose(page, "protocol", "sampled-500")
    evaluation = {name: chosen(page, name) for name in OPENED}
    assert evaluation["protocol"] == "sampled-500"
    assert all(evaluation.values())
    assert count(page) > 0


def test_what_was_chosen_besides_stays_where_another_data_set_has_it(page):
    choose(page, "year", "2022")
    choose(page, "dataset", "WN18RR")
    assert (chosen(page, "year"), chosen(page, "protocol")) == ("2022", "filtered")
    choose(page, "dataset", "tgbl-wiki-v2")
    assert chosen(page, "dataset") == "tgbl-wiki-v2"
    assert count(page) > 0


@pytest.fixture(scope="module")
def adjusted(project):
    """Return the rows that the page shows, without the page."""
    tables = sorted((project / "resources" / "published").glob("*.csv"))
    return rescore(pl.concat([read_tidy(path) for path in tables], how="diagonal"))


def most_common(rows, dataset):
    """Return the test evaluation of a data set that most results have, and how many; a result is a run."""
    runs = add_run(rows.filter(dataset=dataset)).filter(pl.col("split").str.ends_with("testing"))
    found = runs.group_by(list(OPENED)).agg(pl.struct("file", "run").n_unique().alias("results"))
    best = found.sort("results", descending=True).row(0, named=True)
    number = best.pop("results")
    return best, number


def test_refuted_results_come_after_all_others_with_the_reason(page):
    """Which these are by the tables: the values of FB15k-237 with a caveat, or that no ranks have."""
    page.locator("select.dt-input").first.select_option("-1")
    texts = page.locator("#leaderboard-table tbody td.notes").all_inner_texts()
    is_ranked = ranked(page)
    assert is_ranked == sorted(is_ranked, reverse=True)
    assert 25 < sum(is_ranked) < len(is_ranked)
    assert any("refuted: the evaluation placed the true triple before all" in text for text in texts)
    assert any(
        "impossible: Hits@1 0.198, Hits@3 0.324, Hits@10 0.517 and MRR 0.396 contradict" in text
        for text in texts
    )
    # However the table is sorted.
    page.locator(".dt-scroll-head th", has_text="Hits@1").first.click()
    assert ranked(page) == is_ranked


def test_the_opening_board_has_the_order_of_the_leaderboards_of_the_literature(page, adjusted):
    """results/comparison/leaderboards.csv takes the best value of each model, and no value with a caveat."""
    page.locator("select.dt-input").first.select_option("-1")
    notes = dict(
        zip(models(page), page.locator("#leaderboard-table tbody td.notes").all_inner_texts(), strict=True)
    )
    placed = [model for model, takes_a_place in zip(models(page), ranked(page), strict=True) if takes_a_place]
    ranked_models = ranked_results(adjusted).filter(**OPENED, metric="inverse_harmonic_mean_rank")
    best = dict(ranked_models.select("model", "value").iter_rows())
    shown = [model for model in dict.fromkeys(placed) if model in best]
    assert len(shown) > 25
    assert [best[model] for model in shown] == sorted((best[model] for model in shown), reverse=True)
    # Whoever has a place there and none here has values that no ranks have.
    assert all("impossible: " in notes[model] for model in best.keys() - set(shown))


def test_a_model_is_found(page):
    page.locator("[name=search]").fill("rotate")
    assert models(page)
    assert all("rotate" in model.lower() for model in models(page))


def test_printed_index_and_z_are_told_apart(page):
    page.locator("[name=search]").fill("NBFNet")
    texts = {}
    for shown in ("printed", "index", "z"):
        page.locator(f"[name=shown][value={shown}]").check()
        texts[shown] = rows(page).first.inner_text()
    assert len(set(texts.values())) == 3
    # As the README of NBFNet prints it (resources/published/nbfnet.csv).
    assert "0.415" in texts["printed"]


def test_a_head_takes_a_threshold(page):
    page.locator(".dt-scroll-head th", has_text="MRR").locator(".dtcc-button").click()
    page.locator(".dtcc-dropdown select").select_option("greater")
    page.locator(".dtcc-dropdown input").fill("0.4")
    page.wait_for_function("location.hash.includes('where=')")
    values = column(page, "MRR")
    assert values
    assert min(values) > 0.4
    assert "where=" in page.url


def test_notes_open_and_close_with_the_keyboard(page):
    choose(page, "status", "contradiction")
    button = page.locator("#leaderboard-table button.badge").first
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert "contradict" in page.locator(".details").inner_text()
    page.keyboard.press("Enter")
    assert page.locator(".details").count() == 0


def test_a_source_is_linked(page):
    links = page.locator("#leaderboard-table td.source a")
    assert links.count() == 25
    assert all(link.get_attribute("href").startswith("https://") for link in links.all())


@pytest.mark.parametrize("width", [400, 1600])
def test_a_shared_address_gives_the_same_view(page_of, literature_page, width):
    page = ready(page_of(literature_page, width))
    choose(page, "dataset", "WN18RR")
    page.locator("[name=search]").fill("TransE")
    page.locator("[name=shown][value=printed]").check()
    page.locator("[name=rounding]").uncheck()
    address = page.url.partition("#")[2]
    assert "dataset=WN18RR" in address
    again = ready(page_of(literature_page, width, address=address))
    assert (
        again.locator("#leaderboard-table tbody").inner_text()
        == page.locator("#leaderboard-table tbody").inner_text()
    )
    assert (chosen(again, "dataset"), chosen(again, "search")) == ("WN18RR", "TransE")
    assert again.locator("[name=shown]:checked").input_value() == "printed"
    assert again.url == page.url


def test_a_threshold_is_shared_too(page_of, literature_page):
    page = ready(
        page_of(
            literature_page,
            address="view=leaderboard&dataset=WN18RR&where=inverse_harmonic_mean_rank+greater+0.45",
        )
    )
    values = column(page, "MRR")
    assert values
    assert min(values) >= 0.45


def test_a_link_of_the_page_changes_the_view(page):
    page.locator("#findings a", has_text="Show").first.click()
    page.wait_for_function("document.querySelector('[name=search]').value !== ''")
    assert count(page) >= 1
    assert page.locator("#leaderboard").bounding_box()["y"] < 900


@pytest.mark.parametrize(
    "address", ["view=leaderboard&dataset=nowhere&page=x&sort=a+b&where=c+d+e", "%E0%A4%A", "&&=&=="]
)
def test_an_address_that_says_nothing_does_no_harm(page_of, literature_page, address):
    page = ready(page_of(literature_page, address=address))
    assert page.locator("#leaderboard-table").is_visible()


def test_what_is_shown_can_be_downloaded(page):
    page.locator("[name=search]").fill("RotatE")
    number = count(page)
    lines = downloaded(page)
    assert len(lines) == number
    assert {line["dataset"] for line in lines} == {"FB15k-237"}
    assert [line["model"] for line in lines][: rows(page).count()] == models(page)
    assert all(
        float(line["MRR low"]) <= float(line["MRR (index)"]) <= float(line["MRR high"])
        for line in lines
        if line["MRR (index)"]
    )


@pytest.fixture(scope="module")
def hostile_page(small_database, tmp_path_factory, project):
    folder = tmp_path_factory.mktemp("hostile")
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(["dataset", "model", "metric", "value", "source", "source_url", "year", "notes"])
    for name in (*HOSTILE, FORMULA):
        lines.writerow(["Nations", name, "MRR", "0.5", name, "javascript:window.attacked=5", name, name])
        lines.writerow(["Nations", name, name, "0.5", name, "", name, name])
        lines.writerow([name, name, "MRR", "0.5", name, "", name, name])
    table = folder / "mine.csv"
    table.write_text(text.getvalue(), encoding="utf-8")
    released = project / "resources" / "database" / "adjustments.parquet"
    return write_report(folder / "made", small_database, released, [table], ["mine"])


def test_hostile_names_are_text(page_of, hostile_page):
    page = ready(page_of(hostile_page))
    page.locator("select.dt-input").first.select_option("-1")
    # The line separator is shown as a space.
    shown = {model.replace("\u2028", " ") for model in models(page)}
    assert {name.replace("\u2028", " ") for name in (*HOSTILE, FORMULA)} <= shown
    for button in page.locator("#leaderboard-table button.badge").all():
        button.click()
    page.locator("button[type=reset]").click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.attacked") is None
    assert page.locator("main script:not([type])").count() == 0
    assert page.locator("main img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_downloaded_name_is_no_formula(page_of, hostile_page):
    page = ready(page_of(hostile_page))
    lines = downloaded(page)
    assert HOSTILE[0] in {line["model"] for line in lines}
    assert f"'{FORMULA}" in {line["model"] for line in lines}
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


def test_own_results_come_first_beside_the_literature(page_of, small_page):
    page = ready(page_of(small_page))
    assert chosen(page, "dataset") in ("Nations", "FB15k-237")
    choose(page, "dataset", "FB15k-237")
    assert models(page)[0] == "Our model"
    assert count(page) > 25
    assert "among" in page.locator("#own").inner_text()
