r"""Put the adjusted numbers into an author's LaTeX, and write the table of any other file as LaTeX."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import polars as pl

from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import resolve
from rankadjust.manuscript.latex_source import (
    Addition,
    Edit,
    Tabular,
    alignment_of,
    edited,
    shapes_as_read,
    tabulars,
    with_columns,
    with_texts,
)
from rankadjust.manuscript.printed_scores import AS_GOOD, BEST
from rankadjust.manuscript.ranks import METRICS
from rankadjust.output.markup import escape_latex, unused
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.formats.macros import arguments
from rankadjust.tables.layout import Table

HEADERS = {"index": "adj.", "gain": "gain"}
"""The header of a new column, by its score."""

_CAPTION = re.compile(r"\\caption(?=\s*[\[{])")
_FLOAT = re.compile(r"\\(begin|end)\{((?:sideways|wrap|sc)?table\*?)\}")
_PLAIN_NUMBER = re.compile(r"-?[\d.]*")
_LONG = ("longtable", "xltabular")


class _New(NamedTuple):
    """A column of numbers to be added: its header, and the text and mark of each number by row of the grid."""

    header: str
    texts: Mapping[int, tuple[str, str]]


def adjusted_source(
    source: str, tables: Sequence[Table], rows: pl.DataFrame, *, note: str, replace: bool = False
) -> tuple[str, list[str]]:
    r"""Return an author's LaTeX source with the adjusted numbers, and a remark on each table that was set anew.

    source: the text of the file. tables: the tables that were read from it (`Reading.tables`). rows: the values with
    score, shown and mark (`printed_scores.scored`). note: the sentences of the caption about the new numbers, as LaTeX.
    replace: put each number in place of the printed number, and not into a column beside it. Only new columns, spans
    over new columns and captions change; every other character stays. A table whose rows or columns come from macros
    has no cells in the source, so it is set anew.
    """
    places = tabulars(source)
    shapes = shapes_as_read(source)
    known = len(places) == len(shapes)
    edits: list[Edit] = []
    remarks: list[str] = []
    by_place = defaultdict(list)
    for table in tables:
        by_place[table.grid.origin.table].append(table)
    for number, parts in by_place.items():
        new = {id(table): new_columns(table, rows) for table in parts}
        if not any(new.values()) or number >= len(places):
            continue
        place = places[number]
        additions = [
            addition
            for table in parts
            for addition in _additions(table, new[id(table)], place, source, replace)
        ]
        own = None
        if known and place.shape == shapes[number]:
            own = with_texts(place, additions) if replace else with_columns(place, source, additions)
        if own is None:
            stop = source.index("}", place.end) + 1
            body = "\n".join(
                table_body(columns_of(table, new[id(table)], replace=replace)) for table in parts
            )
            own = [Edit(place.begin, stop, body.strip())]
            remarks.append(
                f"table {parts[0].number}: its rows or columns come out of macros, so it was set anew"
            )
        elif not replace:
            count = sum(map(len, new.values()))
            remarks.append(
                f"table {parts[0].number} is {count} columns wider: where they do not fit, put \\small before it, "
                "or take --replace"
            )
        edits += [*own, *_explained(source, place, note)]
    return edited(source, edits), remarks


def new_columns(table: Table, rows: pl.DataFrame) -> dict[int, _New]:
    """Return the numbers that belong beside the values of each column; columns without numbers are left out."""
    own = rows.filter((pl.col("grid") == table.number) & (pl.col("shown") != ""))
    columns: dict[int, _New] = {}
    for (column,), part in own.group_by("column", maintain_order=True):
        scores = part["score"].unique(maintain_order=True).to_list()
        header = " / ".join(HEADERS[score] for score in scores)
        # A cell with several values gets a number for each value, and no mark.
        joined = part.group_by("row", maintain_order=True).agg(
            pl.col("shown").str.join(" / "),
            pl.when(pl.len() == 1).then(pl.first("mark")).otherwise(pl.lit("")),
        )
        texts = {int(row) - 1: (shown, mark) for row, shown, mark in joined.iter_rows()}
        columns[int(str(column)) - 1] = _New(header, texts)
    return dict(sorted(columns.items()))


def marked(text: str, mark: str) -> str:
    r"""Return a number as LaTeX: the best in bold, a number that may be as good with a dagger."""
    if not text:
        return ""
    # LaTeX prints a hyphen shorter than a minus sign.
    text = text.replace("-", "$-$")
    return {BEST: rf"\textbf{{{text}}}", AS_GOOD: rf"{text}$^{{\dagger}}$"}.get(mark, text)


def _additions(
    table: Table, new: Mapping[int, _New], place: Tabular, source: str, replace: bool
) -> Iterator[Addition]:
    """Yield the additions to the source of a table, with places of the grid translated to places of the source."""
    origin = table.grid.origin
    headers = [row.index for row in table.layout.rows if row.kind == "header"]
    types = alignment_of(source[slice(*place.alignment)]) or []
    for column, numbers in new.items():
        at = origin.column + column
        texts = {origin.rows[row]: marked(*number) for row, number in numbers.texts.items()}
        if replace and at < len(types) and re.search(r"(?:^|[|\s}])S", types[at]):
            # siunitx needs every text that is not a plain number in braces.
            texts = {
                row: text if _PLAIN_NUMBER.fullmatch(text) else f"{{{text}}}" for row, text in texts.items()
            }
        if headers:
            last = origin.rows[headers[-1]]
            name = _text_at(place, source, last, at)
            title = _renamed(name, numbers.header) if replace else numbers.header
            # A table over several pages repeats the header on further pages.
            same = [
                row for row in range(len(place.rows)) if name and _text_at(place, source, row, at) == name
            ]
            texts |= dict.fromkeys([last, *same], title)
        yield Addition(at, texts)


def _renamed(name: str, header: str) -> str:
    """Return the header of a column whose numbers are replaced; a header in braces keeps them, which siunitx needs."""
    is_grouped = name.startswith("{") and name.endswith("}")
    return f"{name[:-1]} ({header})}}" if is_grouped else f"{name} ({header})".strip()


def _text_at(place: Tabular, source: str, row: int, column: int) -> str:
    """Return the source of a cell, empty if a wider cell covers it."""
    cells = [cell for cell in place.rows[row] if cell.column == column and cell.columns == 1]
    return source[cells[0].start : cells[0].end] if cells else ""


def _explained(source: str, place: Tabular, note: str) -> list[Edit]:
    """Return the edits that explain the new numbers in the caption; a table without caption gets a float with one."""
    stop = source.index("}", place.end) + 1
    opened = list(_FLOAT.finditer(source, 0, place.begin))
    inside = opened[-1] if opened and opened[-1][1] == "begin" else None
    start = inside.end() if inside else place.begin
    closed = _FLOAT.search(source, stop) if inside else None
    caption = _CAPTION.search(source, start, closed.start() if closed else stop)
    if caption:
        (words,), end = arguments(source, caption.end(), 1)
        end -= 1
        sentence = "" if re.search(r"[.!?]\s*$", words) or not words.strip() else "."
        return [Edit(end, end, f"{sentence} {note}")]
    if inside:
        return [Edit(inside.end(), inside.end(), f"\n\\caption{{{note}}}")]
    if place.environment in _LONG:
        at = place.alignment[1] + 1
        return [Edit(at, at, f"\n\\caption{{{note}}}\\label{{tab:adjusted}}\\\\")]
    if place.environment == "supertabular":
        return [Edit(place.begin, place.begin, f"\\tablecaption{{{note}}}\\label{{tab:adjusted}}\n")]
    return [Edit(place.begin, place.begin, float_head(note)), Edit(stop, stop, "\n\\end{table}")]


def in_float(note: str, body: str) -> str:
    r"""Return a tabular in a float with caption and label, made narrower if it is wider than the text."""
    fitted = f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{body}\\end{{adjustbox}}\n"
    return f"{float_head(note)}{fitted}\\end{{table}}\n"


def float_head(note: str) -> str:
    """Return the beginning of a float with a caption and a label."""
    return f"\\begin{{table}}[t]\n\\centering\n\\caption{{{note}}}\n\\label{{tab:adjusted}}\n\\smallskip\n"


class Column(NamedTuple):
    """A column of a table that is set anew.

    cells: the text of each cell with its mark; the mark is None if the text is the author's.
    """

    name: str
    header: tuple[str, ...]
    cells: Sequence[tuple[str, str | None]]


def columns_of(table: Table, new: Mapping[int, _New], *, replace: bool) -> list[Column]:
    """Return the columns of a table with the new numbers beside the author's numbers or in place of them."""
    rows = [row.index for row in table.layout.rows if row.kind != "header"]
    columns = []
    for column in table.layout.columns:
        own: list[tuple[str, str | None]] = [
            (label(table.grid.rows[row][column.index]), None) for row in rows
        ]
        numbers = new.get(column.index)
        header = column.header or ("",)
        name = column.name or f"column {column.index + 1}"
        if numbers is None:
            columns.append(Column(name, header, own))
        elif replace:
            cells = [numbers.texts.get(row, cell) for row, cell in zip(rows, own, strict=True)]
            title = f"({numbers.header})"
            columns.append(Column(f"{name} {title}", (*header[:-1], f"{header[-1]} {title}"), cells))
        else:
            beside = [numbers.texts.get(row, ("", "")) for row in rows]
            columns.append(Column(name, header, own))
            columns.append(Column(f"{name} {numbers.header}", (*header[:-1], numbers.header), beside))
    return columns


def as_text(columns: Sequence[Column]) -> pl.DataFrame:
    """Return columns as a table of text."""
    texts: dict[str, list[str]] = {}
    for column in columns:
        texts[unused(column.name, texts)] = [text for text, _ in column.cells]
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


def table_body(columns: Sequence[Column]) -> str:
    """Return a LaTeX tabular for booktabs, its header in as many rows as it has levels."""
    texts = [
        [escape_latex(text) if mark is None else marked(text, mark) for text, mark in column.cells]
        for column in columns
    ]
    body = [" & ".join(cells) + r" \\" for cells in zip(*texts, strict=True)]
    lines = [
        r"\toprule",
        *header_lines([column.header for column in columns]),
        r"\midrule",
        *body,
        r"\bottomrule",
    ]
    alignment = "".join(map(_side, columns))
    return (
        f"\\begin{{tabular}}{{{alignment}}}\n" + "".join(f"  {line}\n" for line in lines) + "\\end{tabular}\n"
    )


def _side(column: Column) -> str:
    """Return 'r' for a column of numbers, else 'l'."""
    texts = [text for text, _ in column.cells if text and not is_missing(text)]
    return "r" if texts and all(map(is_numeric, texts)) else "l"


def header_lines(headers: Sequence[tuple[str, ...]]) -> list[str]:
    r"""Return the rows of a header; a title that several columns share is above them, with a rule below."""
    depth = max(map(len, headers))
    levels = [[("",) * (depth - len(header)) + header for header in headers]]
    lines = []
    for level in range(depth - 1):
        cells, rules, at = [], [], 1
        for key, group in groupby(levels[0], key=lambda header: header[: level + 1]):
            width = len(list(group))
            text = escape_latex(key[-1])
            if text and width > 1:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{text}}}")
                rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            else:
                cells.append(text + " &" * (width - 1))
            at += width
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    lines.append(" & ".join(escape_latex(header[-1]) for header in headers) + r" \\")
    return [line for line in lines if line]


# --- a tidy table as papers print it: a row for each model, a column for each metric

_MOST_DIGITS = 6


def for_a_page(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that fit on a page: adjusted values, of both sides and the usual metrics if there are any."""
    rows = rows.filter(pl.col("index").is_not_null())
    for usual in (pl.col("side") == "both", pl.col("metric").is_in(METRICS)):
        rows = kept if (kept := rows.filter(usual)).height else rows
    return rows


def tidy_columns(rows: pl.DataFrame) -> list[Column]:
    """Return a column for each metric, and beside it a column for its score, if it has a score.

    rows: values with score, shown and mark. A model with several values of one evaluation gets a row for each value.
    """
    known = rows.filter(pl.col("value").is_not_null()).with_columns(pl.col("model").fill_null("not named"))
    known = known.with_columns(nth=pl.int_range(pl.len()).over("model", *KEY))
    results = known.select("model", "nth").unique(maintain_order=True).rows()
    same = [name for name in ("protocol", "split", "side") if known[name].n_unique() == 1]
    columns = [Column("Model", ("Model",), [(model, None) for model, _ in results])]
    for _, part in known.group_by(KEY, maintain_order=True):
        about = part.row(0, named=True)
        others = [about[name] for name in ("protocol", "split", "side") if name not in same]
        top, label = " ".join([about["dataset"] or "", *others]), resolve(about["metric"]).label
        cells = {(row["model"], row["nth"]): row for row in part.iter_rows(named=True)}
        printed = [(_printed(cells[key]) if key in cells else "", None) for key in results]
        columns.append(Column(f"{top} / {label}", (top, label), printed))
        scores = part["score"].drop_nulls().unique(maintain_order=True).to_list()
        if scores:
            title = f"{label} {HEADERS[scores[0]]}"
            shown = [
                (cells[key]["shown"], cells[key]["mark"]) if key in cells else ("", "") for key in results
            ]
            columns.append(Column(f"{top} / {title}", (top, title), shown))
    return columns


def _printed(row: dict[str, Any]) -> str:
    """Return a value as it was printed; a value with too many digits, written by a tool, is rounded."""
    text = str(row["value_as_printed"])
    if sum(map(str.isdigit, text)) <= _MOST_DIGITS:
        return text
    if row["unit"] == "percent":
        return f"{row['value'] * 100:.1f}"
    return f"{row['value']:.{3 if resolve(row['metric']).increasing else 1}f}"
