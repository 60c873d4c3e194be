"""The report as a whole: no error and no request, at every width, light and dark, on paper, whatever the names hold."""

import itertools
import re
import tomllib
from statistics import median

import polars as pl
import pytest

from harness.chromium import Pages, drawn, runs_foreign_script, scrolls_sideways, violations
from rankadjust.base.version import REGISTRY_DATE, VERSION
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from tests.browser.reports import HOSTILE

pytestmark = pytest.mark.browser

WIDTHS = (360, 400, 768, 1600, 1920)
MOST_BYTES = 4_000_000


def settled(page):
    """Wait until the tables and the calculator are there."""
    page.wait_for_function("performance.getEntriesByName('tables-shown').length > 0")
    page.wait_for_function("!document.getElementById('calculator-fields').disabled")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_fits_every_width_and_is_accessible(page_of, literature_page, scheme):
    page = settled(page_of(literature_page, WIDTHS[0], scheme))
    assert page.locator("h1").count() == 1
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert not scrolls_sideways(page), width
        # What axe-core looks at depends on the layout: a phone and a desk.
        if width in (400, 1600):
            assert violations(page) == []


def test_the_contents_lead_to_every_section(page_of, small_page):
    page = settled(page_of(small_page))
    links = page.locator("nav[aria-label=Contents] a")
    sections = page.locator("main > section").evaluate_all("found => found.map(one => one.id)")
    assert len(sections) >= 3
    assert [link.get_attribute("href") for link in links.all()] == [f"#{section}" for section in sections]
    for link, section in zip(links.all(), sections, strict=True):
        link.click()
        # The end of the page may be reached before the section is at the top.
        page.wait_for_function(
            """id => {
              const { top } = document.getElementById(id).getBoundingClientRect();
              const { scrollTop, scrollHeight, clientHeight } = document.scrollingElement;
              return Math.abs(top) < 60 || scrollTop + clientHeight >= scrollHeight - 2;
            }""",
            arg=section,
        )
        assert page.evaluate("location.hash").lstrip("#").removeprefix("view=").startswith(section)
    headings = page.locator("h1, h2, h3, h4").evaluate_all(
        "found => found.map(one => Number(one.tagName[1]))"
    )
    assert headings[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))


def test_the_report_prints(page_of, small_page):
    page = settled(page_of(small_page, 800, "dark"))
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator("h1").is_visible()
    assert page.locator("section").first.is_visible()
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 1 <= pages < 60


def test_a_run_without_tables_has_a_page(page_of, page_without_tables):
    page = settled(page_of(page_without_tables, 400))
    assert page.locator("#leaderboard").count() == 0
    assert page.locator("#calculator").is_visible()
    assert not scrolls_sideways(page)
    assert violations(page) == []


def test_hostile_names_do_nothing(page_of, hostile_page):
    """Each section is opened with one of the names in its address, and then follows addresses with the others."""
    for opened, section in enumerate(["leaderboard", "problems", "calculator"]):
        page = settled(page_of(hostile_page, address=hostile_address(section, HOSTILE[opened])))
        for name in HOSTILE:
            page.evaluate("address => { location.hash = address }", hostile_address(section, name))
            drawn(page)
        assert page.evaluate("typeof pwned + typeof attacked") == "undefinedundefined"
        assert page.locator("img:not(figure img)").count() == 0
        assert page.locator("[onmouseover], [onerror]").count() == 0
        # No script that runs came from a name; the names are in scripts of data, which do not.
        running = page.evaluate(
            "[...document.scripts].filter(one => ['', 'module'].includes(one.type)).map(one => one.textContent)"
        )
        assert running
        assert not [text for text in running if "pwned" in text or "attacked" in text]
        assert page.evaluate("document.title").startswith("rankadjust")
    text = hostile_page.read_text(encoding="utf-8")
    assert HOSTILE[0] not in text
    assert HOSTILE[2] not in text


def hostile_address(section, name):
    """Return an address with a name in each of its parts, encoded byte by byte."""
    encoded = "".join(f"%{byte:02x}" for byte in name.encode())
    return f"view={section}&dataset={encoded}&search={encoded}&model={encoded}&value={encoded}"


def test_nothing_leaves_the_browser_and_no_other_script_runs(browser, page_without_tables):
    """The page's own Content-Security-Policy forbids both, whatever else were in it; what is its own works under it."""
    pages = Pages(browser, keep_policy=True)
    page = pages(page_without_tables, address="view=calculator&dataset=Nations&value=0.43")
    page.locator("#calculator-result table").wait_for()
    assert not runs_foreign_script(page)
    assert page.evaluate("fetch('data:,x').then(() => 'left', () => 'kept')") == "kept"
    pages.close()
    assert all("Content Security Policy" in problem for problem in pages.problems)


def test_the_first_screen_says_version_date_licence_paper_and_address(page_of, small_page, project):
    header = page_of(small_page).locator("header")
    text = " ".join(header.inner_text().split())
    assert f"version {VERSION}, data sets and benchmarks of {REGISTRY_DATE}." in text
    assert "MIT licence, constants under CC0" in text
    links = [link.get_attribute("href") for link in header.locator("p a").all()]
    urls = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert links == [urls["Homepage"], "https://arxiv.org/abs/2203.07544"]
    assert all(link.bounding_box()["y"] < 900 for link in header.locator("p a").all())


@pytest.fixture(scope="module")
def printed_values(literature_page):
    """Return every re-scored value of the run as a dictionary, if it has an index."""
    paths = sorted(literature_page.with_name("rescored").glob("*.parquet"))
    rows = [row for path in paths for row in pl.read_parquet(path).iter_rows(named=True)]
    assert len(rows) > 6000
    return [
        row for row in rows if row["status"] in ("ok", "bounded", "approximate") and row["index"] is not None
    ]


def once_each(rows, *names):
    """Return the first of the rows that agree in these columns."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), row)
    return list(found.values())


def is_mrr_or_hits(row):
    return re.fullmatch(r"inverse_harmonic_mean_rank(_at_\d+)?|hits_at_([1-9]|10)", row["metric"]) is not None


def test_the_counts_of_the_first_screen_are_those_of_a_plain_count(literature_page, printed_values):
    text = literature_page.read_text(encoding="utf-8")
    with_gain = [
        row
        for row in printed_values
        if row["side"] == "both" and row["split"] in TEST_SPLITS and row["gain"] is not None
    ]
    counted = once_each(with_gain, "dataset", "protocol", "split", "metric", "model", "value")
    below = sum(row["gain_high"] < 0 for row in counted)
    assert f"{below:,} of {len(counted):,} published values lie below it" in text
    shares = [
        row["baseline_value"] / row["value"]
        for row in counted
        if is_mrr_or_hits(row) and row["entities"] >= 200 and row["value"]
    ]
    assert f"reaches {100 * median(shares):.0f} % of the median value" in text


def test_the_values_at_chance_are_those_of_a_plain_count(literature_page, printed_values):
    """z goes with the value, so the ends of the rounding interval have z (end - E) / (value - E)."""
    text = literature_page.read_text(encoding="utf-8")
    key = ("file", "source", "model", *EVALUATION)
    contradictions = pl.read_csv(literature_page.with_name("contradictions.csv"), infer_schema_length=None)
    impossible = set(contradictions.filter(severity="impossible").select(key).rows())
    at = worse = 0
    for row in printed_values:
        z = row["z"] if row["z_random_scorer"] is None else row["z_random_scorer"]
        distance = row["value"] - (row["expectation"] or 0)
        if tuple(row[name] for name in key) in impossible or row["expectation"] is None or not distance:
            continue
        if z is None:
            worse += row["index_high"] < 0
            continue
        ends = [z * (row[f"value_{end}"] - row["expectation"]) / distance for end in ("low", "high")]
        worse += max(ends) <= -2
        at += -2 < max(ends) < 2
    assert at > 10
    assert f"{at} printed values could be those of a random scorer; {worse} are worse than chance" in text


def test_an_error_and_a_request_are_noticed(browser, tmp_path):
    """Without this test the fixture that fails on those could be deaf."""
    file = tmp_path / "bad.html"
    file.write_text(
        "<!doctype html><title>bad</title><img src='http://127.0.0.1:9/a.png'>"
        "<script>console.error('said'); setTimeout(() => { window.thrown = true; throw new Error('thrown') })</script>",
        encoding="utf-8",
    )
    pages = Pages(browser)
    page = pages(file)
    page.wait_for_function("window.thrown")
    drawn(page)
    pages.close()
    assert {problem.split(":")[0] for problem in pages.problems} == {"console", "error", "request"}
