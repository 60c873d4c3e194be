r"""Put what counting and chance reach into an author's LaTeX, and write the table of any other file as LaTeX."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import polars as pl

from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import resolve
from rankadjust.manuscript.latex_source import (
    Edit,
    edited,
    with_columns,
    with_rows,
)
from rankadjust.manuscript.reference_rows import AddedColumn, Foot, additions, in_format_of, score_columns
from rankadjust.output.markup import escape_latex, unused
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.formats.latex import Tabular, arguments, expand_macros, tabulars
from rankadjust.tables.layout import Table

_CAPTION = re.compile(r"\\caption(?:of\s*\{table\})?\*?(?=\s*[\[{])")
_LABEL_AT_END = re.compile(r"(?:\s*\\label\s*\{[^{}]*\})?\s*\Z")
_LONGEST = 8
_USUAL = ("inverse_harmonic_mean_rank", "arithmetic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")
_FLOAT = re.compile(r"\\(begin|end)\{((?:sideways|wrap|sc)?table\*?)\}")
_NOT_PLACED = {
    "macros": "its rows or columns come out of macros, so it was left as it is",
    "form": "nothing can be added to a table of this form, so it was left as it is",
}


class Additions(NamedTuple):
    """What is added to a table, in places of its grid: rows, and columns on the right with their texts by row."""

    feet: Sequence[Foot]
    columns: Sequence[Mapping[int, str]]


def additions_to(table: Table, rows: pl.DataFrame, score: str | None) -> Additions:
    """Return what is added to a table.

    rows: the values of all tables, with chance_matters (`reference_rows.with_chance_matters`).
    """
    cells = rows.filter(pl.col("grid") == table.number, pl.col("index").is_not_null())
    roles = [column.role for column in table.columns]
    others = (place for place, role in enumerate(roles) if role != "value")
    names = roles.index("model") if "model" in roles else next(others, 0)
    feet, columns = additions(cells.with_columns(pl.col("row", "column") - 1), names, score)
    alone = cells["dataset"].n_unique() == 1
    return Additions(feet, [_with_header(column, table, alone=alone) for column in columns])


def _with_header(column: AddedColumn, table: Table, *, alone: bool) -> dict[int, str]:
    """Return the texts of a column by row, with its title in the last row of the header and its data set above it."""
    headers = [row.index for row in table.rows if row.kind == "header"]
    if not headers:
        return column.texts
    if alone or not column.dataset:
        return column.texts | {headers[-1]: column.title}
    if len(headers) == 1:
        return column.texts | {headers[0]: f"{column.dataset} {column.title}"}
    return column.texts | {headers[0]: column.dataset, headers[-1]: column.title}


def adjusted_source(
    source: str, tables: Sequence[Table], added: Mapping[int, Additions], notes: Mapping[int, str]
) -> tuple[str, list[str]]:
    r"""Return an author's LaTeX source with the additions, and a remark on each addition or note without a place.

    source: the text of the file. tables: the tables that were read from it (`Reading.tables`). added: the additions,
    and notes: the sentences of the caption about it, as LaTeX; both by the number of the table. Every other character
    stays.
    """
    places = tabulars(source)
    # The shapes of the tables as they are read: with the macros of the source written out.
    shapes = [table.shape for table in tabulars(expand_macros(source))]
    known = len(places) == len(shapes)
    edits: list[Edit] = []
    remarks: list[str] = []
    for table in tables:
        number = table.grid.place
        if number >= len(places):
            continue
        place, its = places[number], added[table.number]
        is_plain = known and place.shape == shapes[number]
        new: list[Edit] = []
        if is_plain:
            below: dict[int, list[dict[int, str]]] = defaultdict(list)
            for foot in its.feet:
                below[foot.after].append({column: escape_latex(text) for column, text in foot.texts.items()})
            beside = [
                {
                    row: (negative if is_numeric(text) else str)(escape_latex(text))
                    for row, text in texts.items()
                }
                for texts in its.columns
            ]
            new = with_rows(place, source, below) + (with_columns(place, source, beside) if beside else [])
        if new:
            note = notes[table.number]
            explained = _explained(source, place, note)
            # Tables in one float share its caption.
            edits += [*new, *(edit for edit in explained if edit not in edits)]
            if beside and "resizebox" not in source:
                remarks.append(
                    f"table {table.number} is wider by {len(beside)} columns: if they do not fit, put it into "
                    r"\resizebox{\linewidth}{!}{…} of the package graphicx"
                )
            if not explained:
                remarks.append(f"table {table.number} has no caption: write into its text: {note}")
        else:
            remarks.append(f"table {table.number}: {_NOT_PLACED['form' if is_plain else 'macros']}")
    return edited(source, edits), remarks


def negative(text: str) -> str:
    """Return a number as LaTeX, which prints a hyphen shorter than a minus sign."""
    return text.replace("-", "$-$")


def _explained(source: str, place: Tabular, note: str) -> list[Edit]:
    """Return the edit that explains the new numbers in the caption; nothing if the table has none."""
    opened = list(_FLOAT.finditer(source, 0, place.begin))
    inside = opened[-1] if opened and opened[-1][1] == "begin" else None
    closed = _FLOAT.search(source, place.end) if inside else None
    caption = _CAPTION.search(
        source, inside.end() if inside else place.begin, closed.start() if closed else place.end
    )
    if caption is None:
        return []
    (words,), end = arguments(source, caption.end(), 1)
    said = _LABEL_AT_END.sub("", words)
    at = end - 1 - len(words) + len(said)
    sentence = "" if re.search(r"[.!?]$", said) or not said else "."
    return [Edit(at, at, f"{sentence} {note}")]


def in_float(note: str, body: str) -> str:
    r"""Return a tabular in a float with caption and label, made narrower if it is wider than the text."""
    return (
        f"\\begin{{table}}[t]\n\\centering\n\\caption{{{note}}}\n\\label{{tab:adjusted}}\n\\smallskip\n"
        f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{body}\\end{{adjustbox}}\n\\end{{table}}\n"
    )


class Column(NamedTuple):
    """A column of a table that is set anew."""

    name: str
    header: tuple[str, ...]
    cells: Sequence[str]


class Whole(NamedTuple):
    """A table that is set anew: its columns, and the places of the rows that were added."""

    columns: Sequence[Column]
    added: Collection[int] = ()


def whole_table(table: Table, new: Additions) -> Whole:
    """Return a table as its author has it, with the rows and columns that are added."""
    lines: list[Mapping[int, str]] = []
    added = []
    headers = [row.index for row in table.rows if row.kind == "header"]
    beside: list[list[str]] = [[] for _ in new.columns]
    for row in (row for row in table.rows if row.kind != "header"):
        cells = list(map(label, table.grid.rows[row.index]))
        # A section spans all columns, and its text is repeated in each of them.
        lines.append({0: cells[0]} if row.kind == "section" else dict(enumerate(cells)))
        for cells_of, texts in zip(beside, new.columns, strict=True):
            cells_of.append(texts.get(row.index, ""))
        for foot in new.feet:
            if foot.after == row.index:
                added.append(len(lines))
                lines.append(foot.texts)
    columns = [
        Column(
            column.name or f"column {column.index + 1}",
            column.header or ("",),
            [line.get(column.index, "") for line in lines],
        )
        for column in table.columns
    ]
    for texts, cells_of in zip(new.columns, beside, strict=True):
        header = tuple(texts.get(index, "") for index in headers)
        columns.append(Column(" / ".join(filter(None, header)), header, cells_of))
    return Whole(columns, added)


def as_text(whole: Whole) -> pl.DataFrame:
    """Return a table as text."""
    texts: dict[str, Sequence[str]] = {}
    for column in whole.columns:
        texts[unused(column.name, texts)] = column.cells
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


def table_body(whole: Whole) -> str:
    """Return a LaTeX tabular for booktabs, its header in as many rows as it has levels."""
    columns = whole.columns
    texts = [
        [negative(escape_latex(text)) if is_numeric(text) else escape_latex(text) for text in column.cells]
        for column in columns
    ]
    body = []
    for place, cells in enumerate(zip(*texts, strict=True)):
        if place and (place in whole.added) != (place - 1 in whole.added):
            body.append(r"\midrule")
        body.append(" & ".join(cells) + r" \\")
    headers = header_lines([column.header for column in columns])
    lines = [r"\toprule", *headers, r"\midrule", *body, r"\bottomrule"]
    alignment = "".join(map(_side, columns))
    return (
        f"\\begin{{tabular}}{{{alignment}}}\n" + "".join(f"  {line}\n" for line in lines) + "\\end{tabular}\n"
    )


def _side(column: Column) -> str:
    """Return 'r' for a column of numbers, else 'l'."""
    texts = [text for text in column.cells if text and not is_missing(text)]
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


def for_a_page(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that fit on a page: adjusted values, of both sides and the usual metrics if there are any."""
    rows = rows.filter(pl.col("index").is_not_null())
    for usual in (pl.col("side") == "both", pl.col("metric").is_in(_USUAL)):
        rows = kept if (kept := rows.filter(usual)).height else rows
    return rows


def tidy_table(rows: pl.DataFrame, score: str | None) -> Whole:
    """Return values as papers print them: a row for each model, a column for each metric, and the additions.

    rows: values with chance_matters. A model with several values of one evaluation gets a row for each value.
    """
    known = rows.filter(pl.col("value").is_not_null(), pl.col("status") != "metric_unknown")
    known = known.with_columns(pl.col("model").fill_null("not named"))
    known = known.with_columns(nth=pl.int_range(pl.len()).over("model", *KEY))
    results = known.select("model", "nth").unique(maintain_order=True).with_row_index("row")
    keys = known.select(KEY).unique(maintain_order=True).with_row_index("column", offset=1)
    cells = known.drop("row", "column", strict=False).join(
        results, on=["model", "nth"], maintain_order="left"
    )
    cells = cells.join(keys, on=KEY, maintain_order="left").with_columns(
        pl.col("row", "column").cast(pl.Int64)
    )
    adjusted = cells.filter(pl.col("index").is_not_null())
    below = [] if score or adjusted.is_empty() else additions(adjusted, 0, None)[0]
    beside = score_columns(adjusted, score) if score else []
    same = [name for name in ("protocol", "split", "side") if known[name].n_unique() == 1]
    columns = [Column("Model", ("Model",), [*results["model"], *(foot.texts[0] for foot in below)])]
    for (place,), part in cells.group_by("column", maintain_order=True):
        about = part.row(0, named=True)
        others = [about[name] for name in ("protocol", "split", "side") if name not in same]
        top, metric = " ".join([about["dataset"] or "", *others]), resolve(about["metric"]).label
        column = int(str(place))
        texts = dict(zip(part["row"], (in_format_of(part, value) for value in part["value"]), strict=True))
        printed = dict(zip(part["row"], part["value_as_printed"].cast(pl.String), strict=True))
        kept = {row: text if len(text) <= _LONGEST else texts[row] for row, text in printed.items()}
        shown = [kept.get(row, "") for row in range(results.height)]
        columns.append(
            Column(
                f"{top} / {metric}",
                (top, metric),
                [*shown, *(foot.texts.get(column, "") for foot in below)],
            )
        )
    for new in beside:
        cells_of = [new.texts.get(row, "") for row in range(results.height)]
        columns.append(Column(f"{new.dataset} / {new.title}", (new.dataset, new.title), cells_of))
    return Whole(columns, range(results.height, results.height + len(below)))
