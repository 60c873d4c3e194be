"""The documentation: what its examples print, what is generated, and the words that it promises to explain."""

import doctest
import re
from fractions import Fraction

import pytest

from harness.columns_page import columns_tables
from harness.commands_page import commands_tables
from harness.datasets_page import datasets_tables
from harness.metrics_table import metrics_tables
from harness.notebooks import FOLDER, executed, load
from harness.tables import with_tables
from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import load_registry
from rankadjust.literature.single_values import SEVERITIES
from rankadjust.literature.statuses import STATUSES


@pytest.mark.parametrize("page", ["worked-example.md", "evaluate.md", "own-data.md"])
def test_examples_print_what_they_show(project, page):
    tried = doctest.testfile(str(project / "docs" / page), module_relative=False)
    assert tried.attempted
    assert not tried.failed


def test_the_worked_example_by_hand(project):
    """Every decimal of the page follows from the ranks 1..N with exact fractions; the covariances by enumeration."""
    page = (project / "docs" / "worked-example.md").read_text(encoding="utf-8")

    def mean(values):
        values = list(values)
        return sum(values, Fraction(0)) / len(values)

    def moments(number):
        first = mean(Fraction(1, rank) for rank in range(1, number + 1))
        return first, mean(Fraction(1, rank**2) for rank in range(1, number + 1)) - first**2

    def covariance(number):
        """Both ranks are 1 + the number of others above the truth; every order is equally likely."""
        others = number - 1
        total = 2 * others + 1
        joint = Fraction(0)
        # With j of all the others above the truth, each choice of which they are is equally likely.
        for above in range(2 * others + 1):
            for heads in range(max(0, above - others), min(above, others) + 1):
                ways = Fraction(
                    binomial(others, heads) * binomial(others, above - heads), binomial(2 * others, above)
                )
                joint += Fraction(1, total) * ways * Fraction(1, (1 + heads) * (1 + above - heads))
        return joint - moments(number)[0] ** 2

    (small, small_variance), (large, large_variance) = moments(3), moments(5)
    expectation = (2 * small + 2 * large) / 4
    variance = (2 * small_variance + 2 * large_variance) / 16
    value = Fraction(17, 24)
    shared = variance + 2 * (covariance(3) + covariance(5)) / 16
    for number, digits in [
        (small, 4),
        (large, 4),
        (small_variance, 4),
        (large_variance, 4),
        (value, 4),
        (expectation, 4),
        (variance, 5),
        ((value - expectation) / (1 - expectation), 4),
        (covariance(3), 4),
        (covariance(5), 4),
        (shared, 5),
    ]:
        assert f"{float(number):.{digits}f}" in page
    assert f"{float(value - expectation) / float(variance) ** 0.5:.3f}" in page
    assert f"{float(value - expectation) / float(shared) ** 0.5:.3f}" in page


def binomial(n, k):
    product = Fraction(1)
    for i in range(k):
        product = product * (n - i) / (i + 1)
    return int(product)


@pytest.mark.parametrize(
    ("page", "tables"),
    [
        ("commands.md", commands_tables),
        ("columns.md", columns_tables),
        ("metrics.md", metrics_tables),
        ("datasets.md", lambda: datasets_tables(load_registry())),
    ],
)
def test_the_tables_of_a_page_are_what_their_source_gives(project, page, tables):
    text = (project / "docs" / page).read_text(encoding="utf-8")
    assert with_tables(text, tables()) == text, "make it again: make api"
    with pytest.raises(RankadjustError, match="lacks the lines"):
        with_tables("no marks", tables())


@pytest.mark.parametrize("name", ["pykeen-to-table.ipynb", "table-to-board.ipynb"])
def test_a_notebook_prints_what_it_shows(project, monkeypatch, name):
    monkeypatch.chdir(project)
    notebook = load(FOLDER / name)
    assert executed(notebook) == notebook, "run it again: make api"


def test_every_status_and_severity_is_explained(project):
    page = (project / "docs" / "statuses.md").read_text(encoding="utf-8")
    cells = "".join(line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`([a-z_]+)`", cells))
    assert {*STATUSES, *SEVERITIES} <= named


@pytest.mark.parametrize(
    "word",
    [
        *(
            "task",
            "candidate",
            "pool",
            "side",
            "split",
            "protocol",
            "N",
            "null",
            "index",
            "z",
            "query",
            "gain",
        ),
        *("static scorer", "random scorer", "assumed", "population", "sidecar"),
    ],
)
def test_the_glossary_explains_the_words(project, word):
    page = (project / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| \*\*{word}\*\*", page, flags=re.MULTILINE)


def test_links_between_documents_lead_somewhere(project):
    pages = [
        project / "README.md",
        *sorted(project.glob("docs/**/*.md")),
        *sorted(project.glob("docs/**/*.ipynb")),
        *sorted(project.glob("config/**/*.md")),
    ]
    broken = [
        f"{page.relative_to(project)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_documentation_stays_short(project):
    """A reader who wants to know everything needs some three hours. A how-to page takes four minutes."""
    words = {
        path.name: len(path.read_text(encoding="utf-8").split())
        for path in [project / "README.md", *project.glob("docs/**/*.md")]
    }
    assert sum(words.values()) <= 40_000
    assert sum(number for name, number in words.items() if name.startswith("methods")) <= 6_000
    nav = (
        (project / "mkdocs.yml")
        .read_text(encoding="utf-8")
        .partition("- How to:")[2]
        .partition("- Reference:")[0]
    )
    guides = re.findall(r"docs/([\w-]+\.md)", nav)
    assert len(guides) > 5
    assert {name: words[name] for name in ["README.md", *guides] if words[name] > 900} == {}
