"""Tables that docs/ has of registries and help texts, each between two marks in its page (`make api`)."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_text


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    header = tuple(header)
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a page with each table between the marks of its name; RankadjustError where the marks are missing."""
    for name, content in tables.items():
        begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
        before, is_begun, rest = text.partition(begin)
        _, is_ended, after = rest.partition(end)
        if not (is_begun and is_ended):
            raise RankadjustError(f"the page lacks the lines {begin} and {end}, between which the table goes")
        text = f"{before}{begin}\n\n{content}\n{end}{after}"
    return text


def write_tables(page: str, tables: Mapping[str, str]) -> None:
    """Write the tables of a page of docs/ anew."""
    path = Path("docs", page)
    write_text(with_tables(path.read_text(encoding="utf-8"), tables), path)
