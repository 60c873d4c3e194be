"""Check the links within the site: each link must lead to a file of the site, and to an id in that file.

MkDocs checks links in Markdown, but most of these pages are HTML. linkchecker does not resolve a folder to its
index.html without a server. So this module checks the files.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

_ATTRIBUTES = {"a": "href", "link": "href", "img": "src", "script": "src"}


def broken_links(site: Path, base: str = "/") -> list[str]:
    """Return a line for each link between pages of a folder that leads nowhere: the page, and the link.

    base: the path that the folder will have on its server.
    """
    return [
        f"{page.relative_to(site)}: {link}"
        for page in sorted(site.rglob("*.html"))
        for link in dict.fromkeys(_links(page))
        if not _leads(link, page, site, base)
    ]


def _links(page: Path) -> Iterator[str]:
    html = LexborHTMLParser(page.read_text(encoding="utf-8"))
    for name, attribute in _ATTRIBUTES.items():
        for node in html.css(f"{name}[{attribute}]"):
            if node.attributes.get("rel") != "canonical":
                yield node.attributes[attribute] or ""


def _leads(link: str, page: Path, site: Path, base: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    if parts.path.startswith("/"):
        path = site / unquote(parts.path).removeprefix(base)
    else:
        path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if path.is_dir():
        path /= "index.html"
    # A fragment with = is a state of the report, which the script of the report reads.
    return path.is_file() and (
        not parts.fragment
        or "=" in parts.fragment
        or path.suffix != ".html"
        or unquote(parts.fragment) in _ids(path)
    )


@cache
def _ids(page: Path) -> frozenset[str]:
    html = LexborHTMLParser(page.read_text(encoding="utf-8"))
    return frozenset(node.attributes["id"] or "" for node in html.css("[id]")) | {"__top"}
