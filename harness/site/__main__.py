"""Build the site into site/ (`make site`) without network: docs/, a page for each data set and source.

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

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from harness.notebooks import as_markdown, load
from harness.site.datasets import by_kind, dataset_facts, dataset_pages
from harness.site.links import broken_links
from harness.site.literature import PROJECT, Literature, literature
from harness.site.pages import ADDRESS, REPOSITORY, Page
from harness.site.policy import add_policies
from harness.site.sources import source_pages
from rankadjust.base.io import write_text
from rankadjust.page.answers import metrics_of
from rankadjust.page.templating import shipped_text

# The data sets that the first page shows with their standing.
_TILES = ("FB15k-237", "WN18RR", "YAGO3-10", "ogbl-wikikg2", "tgbl-wiki-v2", "GraIL-NELL995-v1")
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
    shared = str(shipped_text("page.css")).partition("/* --- shared with the site --- */")[2]
    write_text(shared + (HERE / "site.css").read_text(encoding="utf-8"), root / "site.css")
    write_text(str(shipped_text("page.js")), root / "page.js")
    for name in ("favicon.svg", "site.js"):
        shutil.copy(HERE / name, root)


def index_page(collection: Literature) -> Page:
    """Return the first page."""
    rows = {name: dataset_facts(name, collection) for name in collection.datasets}
    tiles = [rows[name] for name in _TILES if name in rows and rows[name]["standing"]]
    return Page(
        "",
        "Is this link-prediction result good?",
        "What an MRR, Hits@k or mean rank is worth beside chance, counting and the published models, on "
        f"{len(rows)} benchmark data sets.",
        template="index.md.jinja",
        values={
            "names": list(rows),
            "aliases": {name: known.aliases for name, known in collection.registry.items()},
            "metrics": metrics_of(collection.answers),
            "values": collection.values.height,
            "tiles": tiles,
            "kinds": by_kind(list(rows.values())),
        },
        data={"datasets": list(rows)},
        cited=("site", "rankadjust: chance-adjusted link-prediction metrics"),
    )


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
