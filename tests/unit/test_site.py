"""The site: what its pages say, its links, and the same bytes every time."""

import json
import re
import shlex
from base64 import b64encode
from hashlib import sha256
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from rankadjust import adjust
from rankadjust.cli.commands import commands
from rankadjust.counting.evaluators import in_words

# The oldest packages are tested without what only the site needs.
markdown = pytest.importorskip("markdown", reason="what the site needs is not installed")
pytest.importorskip("material", reason="what the site needs is not installed")

main = pytest.importorskip("harness.site.__main__").main
index_page = pytest.importorskip("harness.site.__main__").index_page
datasets = pytest.importorskip("harness.site.datasets")
broken_links = pytest.importorskip("harness.site.links").broken_links
literature = pytest.importorskip("harness.site.literature").literature
pages = pytest.importorskip("harness.site.pages")
rendered = pytest.importorskip("harness.site.rendering").rendered
with_policy = pytest.importorskip("harness.site.policy").with_policy
source_pages = pytest.importorskip("harness.site.sources").source_pages


@pytest.fixture(scope="module")
def found():
    """Three sources with few values, most of WN18RR."""
    return literature("hake", "kgemb", "rotate")


def test_docs_have_the_same_lists_tables_and_code_on_the_site_as_on_github(project):
    """Python-Markdown wants four spaces where CommonMark takes two, and a blank line before a list."""
    on_github = MarkdownIt("commonmark").enable("table")
    counted = ("li", "table", "tr", "td", "pre", "h2", "h3", "a", "code", "img")
    for path in sorted((project / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        extensions = ["tables", "sane_lists", "attr_list", "md_in_html", "pymdownx.superfences"]
        pages = [
            LexborHTMLParser(html)
            for html in (markdown.markdown(text, extensions=extensions), on_github.render(text))
        ]
        here, there = ({name: len(page.css(name)) for name in counted} for page in pages)
        assert here == there, path.name


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/index.html").write_text('<h2 id="here">x</h2><a href="../">up</a><img src="none.png">')
    (tmp_path / "index.html").write_text(
        '<a href="d/#here">a</a><a href="d/#gone">b</a><a href="e/">c</a><a href="https://example.org/x">d</a>'
        '<a href="d/#view=leaderboard&amp;dataset=x">e</a>'
    )
    assert broken_links(tmp_path) == [
        "d/index.html: none.png",
        "index.html: d/#gone",
        "index.html: e/",
    ]


def test_the_page_of_a_data_set_says_what_the_library_says(found):
    facts = datasets.dataset_facts("WN18RR", found)
    adjusted = adjust(0.4, dataset="WN18RR", metric="mrr")
    assert facts["standing"]["chance"] == adjusted.expectation
    assert facts["standing"]["counting"] == adjusted.baseline_value
    # Of the counts that the registry expects of its files.
    assert facts["sizes"]["test triples"] == 3134
    assert any(
        text.startswith("384 of 40,943 entities are in no training triple") for text in facts["caveats"]
    )
    assert len(facts["caveats"]) <= 3


def test_the_strip_and_the_badge_of_a_data_set_are_svg_with_its_numbers(found):
    (page,) = [page for page in datasets.dataset_pages(found) if page.folder == "d/WN18RR"]
    strip, badge = (ElementTree.fromstring(page.files[name]) for name in ("strip.svg", "badge.svg"))
    adjusted = adjust(0.4, dataset="WN18RR", metric="mrr")
    assert f"counting {adjusted.baseline_value:.4g}" in strip.get("aria-label")
    assert badge.get("aria-label") == f"best MRR on WN18RR: {page.data['standing']['best']:.4g}"


def test_every_printed_command_runs(found):
    """A sample in `make test`; all of them is slow."""
    for name in found.datasets[::8]:
        _runs(found, name)


@pytest.mark.slow
def test_all_printed_commands_run(found):
    for name in found.datasets:
        _runs(found, name)


def _runs(found, name):
    evaluation = found.answers[name][0]
    program, *line = shlex.split(datasets.command(name, evaluation))
    done = CliRunner().invoke(commands, line)
    assert (program, done.exit_code) == ("rankadjust", 0), done.output
    # It is the evaluation that the page opens with.
    of = in_words(name, *(evaluation[part] for part in ("protocol", "split", "side")))
    assert done.stdout.startswith(f"{of}: "), done.output


def test_pages_say_evaluations_in_words(found):
    """Names of protocols, splits and sides stand in commands only."""
    shown = [*datasets.dataset_pages(found), *source_pages(found), index_page(found)]
    for page in shown:
        text = LexborHTMLParser(rendered(page.template, page=page, **page.values)).body.text()
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        words = re.findall(r"side both|inference_testing|sampled-\d+|\bclean\b", prose)
        assert words == [], page.folder


@pytest.mark.slow
def test_every_printed_value_stands_once_on_the_page_of_its_source_with_its_verdict():
    found = literature("hake", "irokin")
    pages = {page.folder: page.data for page in source_pages(found) if page.folder != "p"}
    # Rows of the files.
    assert {folder: len(data["values"]) for folder, data in pages.items()} == {"p/hake": 24, "p/irokin": 371}
    assert pages["p/hake"]["contradictions"] == []
    key = ("model", "dataset", "protocol", "split", "side")
    impossible = {
        tuple(row[name] for name in key)
        for row in pages["p/irokin"]["contradictions"]
        if row["severity"] == "impossible"
    }
    assert impossible
    advice = {row["advice"] for row in pages["p/irokin"]["contradictions"]}
    assert "Nothing has to change; compare the digits with the source." in advice
    assert all(advice)
    for row in pages["p/irokin"]["values"]:
        assert (row["verdict"] == "impossible") == (tuple(row[name] for name in key) in impossible)


@pytest.mark.slow
def test_the_site_is_the_same_bytes_every_time_and_takes_nothing_from_elsewhere(found, tmp_path):
    for name in ("one", "two"):
        main(found, tmp_path / name)
    files = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()}
    assert {
        path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*") if path.is_file()
    } == files
    different = [
        str(path)
        for path in files
        if (tmp_path / "one" / path).read_bytes() != (tmp_path / "two" / path).read_bytes()
    ]
    assert different == []
    for path in (tmp_path / "one").rglob("*.html"):
        html = LexborHTMLParser(path.read_text(encoding="utf-8"))
        loaded = [node.attributes.get("src") or "" for node in html.css("script[src], img[src], iframe[src]")]
        loaded += [node.attributes["href"] or "" for node in html.css("link[rel=stylesheet], link[rel=icon]")]
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == [], path
    _every_page_can_be_shared_and_cited(tmp_path / "one")
    page = (tmp_path / "one/d/WN18RR/index.html").read_text(encoding="utf-8")
    head = LexborHTMLParser(page)
    assert head.css_first("title").text() == "WN18RR - rankadjust"
    assert head.css_first("link[rel=canonical]").attributes["href"].endswith("/d/WN18RR/")
    assert (
        "chance has 0.00027, counting training triples 0.372"
        in head.css_first("meta[name=description]").attributes["content"]
    )
    assert json.loads((tmp_path / "one/d/WN18RR/data.json").read_text())["dataset"] == "WN18RR"
    sizes = {path: path.stat().st_size for path in (tmp_path / "one").rglob("index.html")}
    assert sizes.pop(tmp_path / "one/index.html") <= 200_000
    docs = tmp_path / "one/docs"
    assert [path for path, size in sizes.items() if size > 300_000 and docs not in path.parents] == []


def _every_page_can_be_shared_and_cited(site):
    """Each page but the documentation has its own title, description, canonical address and BibTeX."""
    seen = set()
    made = [path for path in site.rglob("index.html") if path.relative_to(site).parts[0] != "docs"]
    assert len(made) > 80
    for path in made:
        folder = path.parent.relative_to(site).as_posix()
        document = LexborHTMLParser(path.read_text(encoding="utf-8"))
        head = {
            node.attributes.get("property") or node.attributes.get("name"): node.attributes.get("content")
            for node in document.css("meta")
        }
        address = document.css_first("link[rel=canonical]").attributes["href"]
        assert address == head["og:url"] == pages.ADDRESS + ("" if folder == "." else f"{folder}/")
        assert f"url = {{{address}}}" in document.body.text(), folder
        seen.add((head["og:title"], head["description"]))
        assert (path.parent / "data.json").exists(), folder
    assert len(seen) == len(made)


def test_the_policy_has_the_digest_of_every_script_of_a_page():
    page = '<meta charset="utf-8"><script>a()</script><script src="x.js"></script><script>b()</script>'
    policy = with_policy(page)
    for script in ("a()", "b()"):
        digest = b64encode(sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.index("Content-Security-Policy") < policy.index("<script")
    with pytest.raises(ValueError, match="not found"):
        with_policy("<script>a()</script>")
