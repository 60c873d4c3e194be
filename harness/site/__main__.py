"""Build the site into site/ (`make site`) without network: docs/, a page for each data set and source, the report.

This module writes the pages as Markdown into a temporary folder. MkDocs then makes the site by mkdocs.yml.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

# MkDocs takes the date of its compressed list of pages from this variable, so the same commit makes the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "0"
os.environ["NO_MKDOCS_2_WARNING"] = "1"

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from harness.site.datasets import dataset_pages
from harness.site.links import broken_links
from harness.site.literature import PROJECT, Literature, literature, with_figures
from harness.site.pages import ADDRESS, REPOSITORY, Page
from harness.site.sources import source_pages
from rankadjust import adjust
from rankadjust.base.files import write_text
from rankadjust.output import terminal
from rankadjust.output.terminal import meaning
from rankadjust.page.charts.figure import Figure
from rankadjust.page.figure_section import HEADLINE
from rankadjust.page.findings import counting, headline
from rankadjust.page.page import check_page, report_page
from rankadjust.page.strip import benchmark_rows
from rankadjust.page.templating import shipped_text

# The number of data sets on the first page.
_BENCHMARKS = 12
HERE = Path(__file__).parent
_OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]*)")


def main(found: Literature | None = None, target: Path = PROJECT / "site") -> None:
    """Build the site, and report its broken links."""
    with TemporaryDirectory() as folder:
        write_pages(found or literature(), Path(folder))
        shutil.rmtree(target, ignore_errors=True)
        try:
            build(
                load_config(str(PROJECT / "mkdocs.yml"), docs_dir=folder, site_dir=str(target), strict=True)
            )
        except Abort as error:
            sys.exit(f"error: {error}")
    broken = broken_links(target, urlsplit(ADDRESS).path)
    if broken:
        sys.exit("\n".join(["error: links that lead nowhere:", *broken]))
    pages = sum(1 for _ in target.rglob("index.html"))
    sys.stdout.write(f"{pages:,} pages in site/; every link within them leads somewhere\n")


def write_pages(found: Literature, root: Path) -> None:
    """Write the input of MkDocs: pages as Markdown, and files that it copies unchanged."""
    copy_docs(root / "docs")
    material = with_figures(found.material)
    for page in (*dataset_pages(found), *source_pages(found), index_page(found, material.charts)):
        page.write(root)
    write_text(report_page(material), root / "report.html")
    (root / "check").mkdir()
    write_text(check_page(found.material, f"{ADDRESS}check/"), root / "check" / "index.html")
    write_text(shipped_text("board.css") + (HERE / "site.css").read_text(encoding="utf-8"), root / "site.css")
    shutil.copy(HERE / "favicon.svg", root)


def index_page(found: Literature, charts: Sequence[Figure]) -> Page:
    """Return the first page."""
    material, boards = found.material, [board for of in found.boards.values() for board in of]
    # Show the data sets with most models.
    rows = sorted(benchmark_rows(boards), key=lambda row: (-row["results"], row["key"]))[:_BENCHMARKS]
    adjusted = adjust(0.338, dataset="FB15k-237", metric="mrr", database=material.constants)
    sentences = [
        headline(material.comparison["chance-share"]),
        counting(found.values, material.comparison["below-baselines"]),
    ]
    return Page(
        "",
        "rankadjust: how much of a link-prediction result is chance?",
        "Says how much of a printed MRR, Hits@k or mean rank is chance and how much counting, on "
        f"{len(found.datasets)} benchmark data sets.",
        "index.md.jinja",
        {
            "known": material.constants.table["dataset"].n_unique(),
            "headline": sentences,
            "rows": rows,
            "sentences": [meaning(adjusted), *terminal.counting(adjusted)],
        },
        data={"findings": sentences, "benchmarks": rows},
        head={"hide": ["navigation"]},
        picture=next((chart.specification for chart in charts if chart.name == HEADLINE), None),
        cited=("site", "rankadjust: chance-adjusted link-prediction metrics"),
    )


def copy_docs(folder: Path) -> None:
    """Copy docs/ to a folder; links to files outside of docs/ become links into the repository."""
    shutil.copytree(PROJECT / "docs", folder)
    for path in folder.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for name in _OUTSIDE.findall(text):
            if not (PROJECT / name).exists():
                sys.exit(f"error: docs/{path.name} links to {name}, which does not exist")
        write_text(_OUTSIDE.sub(rf"]({REPOSITORY}\1", text), path)


if __name__ == "__main__":
    main()
