"""Build the site into site/ (`make site`) without network: docs/, a page for each data set and source, the report.

This module writes the pages as Markdown into a temporary folder. MkDocs then makes the site by mkdocs.yml.
"""

import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

# MkDocs takes the date of its compressed list of pages from this variable, so the same commit makes the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "0"
os.environ["NO_MKDOCS_2_WARNING"] = "1"

import polars as pl
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from harness.notebooks import as_markdown, load
from harness.site.datasets import dataset_pages
from harness.site.links import broken_links
from harness.site.literature import PROJECT, Literature, literature, with_figures
from harness.site.pages import ADDRESS, REPOSITORY, Page
from harness.site.picture import Line, Picture
from harness.site.policy import add_policies
from harness.site.sources import source_pages
from rankadjust import adjust
from rankadjust.base.io import write_text
from rankadjust.output import adjusted_text
from rankadjust.output.terminal import cell as number
from rankadjust.page.boards import benchmark_rows
from rankadjust.page.literature_sections import counting_headline, headline
from rankadjust.page.report import check_page, report_page
from rankadjust.page.templating import shipped_text

# The number of data sets on the first page.
_BENCHMARKS = 12
HERE = Path(__file__).parent
_OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]*)")


def main(collection: Literature | None = None, target: Path = PROJECT / "site") -> None:
    """Build the site, and report its broken links."""
    with TemporaryDirectory() as folder:
        write_pages(collection or literature(), Path(folder))
        shutil.rmtree(target, ignore_errors=True)
        try:
            build(
                load_config(str(PROJECT / "mkdocs.yml"), docs_dir=folder, site_dir=str(target), strict=True)
            )
        except Abort as error:
            sys.exit(f"error: {error}")
    add_policies(target)
    broken = broken_links(target, urlsplit(ADDRESS).path)
    if broken:
        sys.exit("\n".join(["error: links that lead nowhere:", *broken]))
    pages = sum(1 for _ in target.rglob("index.html"))
    sys.stdout.write(f"{pages:,} pages in site/; every link within them leads somewhere\n")


def write_pages(collection: Literature, root: Path) -> None:
    """Write the input of MkDocs: pages as Markdown, and files that it copies unchanged."""
    copy_docs(root / "docs")
    for page in (*dataset_pages(collection), *source_pages(collection), index_page(collection)):
        page.write(root)
    write_text(report_page(with_figures(collection.material)), root / "report.html")
    write_check(collection, root)
    write_text(
        str(shipped_text("board.css")) + (HERE / "site.css").read_text(encoding="utf-8"), root / "site.css"
    )
    for name in ("favicon.svg", "site.js"):
        shutil.copy(HERE / name, root)


def write_check(collection: Literature, root: Path) -> None:
    """Write the page that checks a reader's own numbers; it is a page of the report, so MkDocs copies it unchanged."""
    printed, metric = 0.338, "mrr"
    adjusted = adjust(printed, dataset="FB15k-237", metric=metric, database=collection.material.constants)
    lines = [
        Line("the printed MRR", str(printed), [printed]),
        Line(
            f"{adjusted.baseline} (counting)",
            number(adjusted.baseline_value),
            list(filter(None, [adjusted.baseline_value])),
        ),
        Line("chance", number(adjusted.expectation), [adjusted.expectation]),
    ]
    page = Page(
        "check",
        "Check your numbers",
        "Adjusts a printed MRR, Hits@k or mean rank for chance: in the browser, and nothing leaves it.",
        Picture(
            "Check your numbers",
            f"An MRR of {printed} on FB15k-237: how much of it is more than counting?",
            lines,
        ),
        ("check", "Check your numbers: a calculator of chance-adjusted metrics"),
    )
    page.write(root)
    said = {name: getattr(page, name) for name in ("address", "description", "preview", "bibtex")}
    write_text(check_page(collection.material, said), root / page.folder / "index.html")


def index_page(collection: Literature) -> Page:
    """Return the first page."""
    material, boards = collection.material, [board for of in collection.boards.values() for board in of]
    # Show the data sets with most models.
    rows = sorted(benchmark_rows(boards), key=lambda row: (-row["results"], row["key"]))[:_BENCHMARKS]
    adjusted = adjust(0.338, dataset="FB15k-237", metric="mrr", database=material.constants)
    sentences = [
        headline(material.comparison["chance-share"]),
        counting_headline(collection.values, material.comparison["below-baselines"]),
    ]
    return Page(
        "",
        "rankadjust: how much of a link-prediction result is chance?",
        "Says how much of a printed MRR, Hits@k or mean rank is chance and how much counting, on "
        f"{len(collection.datasets)} benchmark data sets.",
        template="index.md.jinja",
        values={
            "known": material.constants.table["dataset"].n_unique(),
            "headline": sentences,
            "rows": rows,
            "sentences": [adjusted_text.meaning(vars(adjusted)), *adjusted_text.counting(vars(adjusted))],
        },
        data={"findings": sentences, "benchmarks": rows},
        head={"hide": ["navigation"]},
        picture=_shares(material.comparison["chance-share"]),
        cited=("site", "rankadjust: chance-adjusted link-prediction metrics"),
    )


def _shares(share: pl.DataFrame) -> Picture:
    """Return the median share of a printed value that chance explains, by the number of candidates."""
    lines = [
        Line(_candidates(row["candidates"]), f"{100 * row['share']:.2g} %", [row["share"]], is_bar=True)
        for row in share.iter_rows(named=True)
    ]
    return Picture(
        "How good is that number?",
        "The share of a printed MRR or Hits@k that chance explains, in the median",
        lines,
        middle="50 %",
        end="100 %",
    )


def _candidates(name: str) -> str:
    kind, _, count = name.partition("-")
    if kind == "sampled":
        return f"among {count} sampled negatives"
    return f"among all of {name}" if "entities" in name else f"among all of {name} entities"


def copy_docs(folder: Path) -> None:
    """Copy docs/ to a folder, notebooks as pages; links to files outside of docs/ become links into the repository."""
    shutil.copytree(PROJECT / "docs", folder)
    for path in folder.glob("notebooks/*.ipynb"):
        write_text(as_markdown(load(path)), path.with_suffix(".md"))
        path.unlink()
    for path in folder.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for name in _OUTSIDE.findall(text):
            if not (PROJECT / name).exists():
                sys.exit(f"error: docs/{path.name} links to {name}, which does not exist")
        write_text(_OUTSIDE.sub(rf"]({REPOSITORY}\1", text).replace(".ipynb)", ".md)"), path)


if __name__ == "__main__":
    main()
