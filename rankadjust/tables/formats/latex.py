"""Read LaTeX into grids in a single pass over the marks that begin, divide and end a table."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_SPAN, Grid, Span, make_grid, require_size
from rankadjust.tables.formats.macros import arguments, expand_macros, latex_to_text, without_comments

# The environments of tables, and how many arguments precede their rows; the last argument declares the columns.
TABULARS = dict.fromkeys(("tabular", "longtable", "supertabular", "array", "NiceTabular", "tblr"), 1)
TABULARS |= dict.fromkeys(("tabular*", "tabularx", "tabulary", "xltabular"), 2)
_OUTSIDE = re.compile(
    r"\\(?:begin\{(?P<begin>\w+\*?)\}|(?P<end>end)\{|(?P<caption>caption)\b\*?|(?:(?:sub)?section|paragraph)\b\*?)"
)
_INSIDE = re.compile(
    r"(?P<row>\\\\\*?(?:[ \t]*+\[[^\]\n]{0,99}\])?|\\(?:tabularnewline|cr)\b)|(?P<cell>&)|(?P<open>\{)|(?P<close>\})"
    r"|\\(?P<macro>[A-Za-z]++)\*?|\\.|(?P<last>\Z)"
)
# Macros between the rows with their number of arguments, which are not text of a cell, and options before these.
_BETWEEN = dict.fromkeys(("hline", "centering", "arraybackslash", "caption", "end"), 0)
_BETWEEN |= dict.fromkeys(("endhead", "endfirsthead", "endfoot", "endlastfoot"), 0)
_BETWEEN |= dict.fromkeys(("toprule", "midrule", "bottomrule", "addlinespace", "hdashline"), 0)
_BETWEEN |= dict.fromkeys(("cline", "hhline", "Xhline", "cdashline", "cmidrule"), 1) | {"specialrule": 3}
_OPTIONS = re.compile(r"(?:\s*+\[[^\]\n]{0,99}\])?(?:\s*+\([^)\n]{0,99}\))?")
_RULES = ("toprule", "midrule", "bottomrule", "hline", "Xhline")
_SPANNING = re.compile(r"\\(multicolumn|multirow)\b\*?")
_DEEPEST = 1000


@dataclass
class _Body:
    """The content of a table: its rows, their starts, and the rows below rules."""

    rows: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    rules: list[tuple[int, str]] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def latex_grids(text: str) -> list[Grid]:
    """Return the tabulars of a LaTeX source, with multicolumn, multirow and the macros that the source defines."""
    text = expand_macros(without_comments(text))
    newlines = [match.start() for match in re.finditer("\n", text)]
    # Captions of each open environment, kept until its end because they may follow its tables.
    captions: list[list[str]] = [[]]
    sections: list[str] = []
    grids: list[tuple[Grid, list[list[str]], list[str]]] = []
    at = 0
    while match := _OUTSIDE.search(text, at):
        at = match.end()
        if match["begin"] in TABULARS:
            _, at = arguments(text, at, TABULARS[match["begin"]])
            body, at = _body(text, match.start(), at)
            lines = [bisect_right(newlines, start - 1) + 1 for start in body.starts]
            grids.append((_grid(body, lines), captions[-10:], sections[:]))
        elif match["begin"]:
            captions.append([])
        elif match["end"]:
            del captions[max(1, len(captions) - 1) :]
        else:
            (words,), at = arguments(text, at, 1)
            texts = captions[-1] if match["caption"] else sections
            texts.append(latex_to_text(words))
            del texts[:-CONTEXT_LENGTH]
    return [
        replace(grid, context=(*grid.context, *chain(*reversed(above)), *reversed(titles)))
        for grid, above, titles in grids
    ]


def _body(text: str, begin: int, at: int) -> tuple[_Body, int]:
    r"""Return the content of the table that begins at `begin`, with rows from `at` on, and the position of its \end."""
    body = _Body()
    row: list[str] = []
    cell, start = "", -1
    for match, groups in table_marks(text, at):
        kind, macro = match.lastgroup, match["macro"]
        is_end = macro == "end" or kind == "last"
        if kind == "macro" and macro not in _BETWEEN:
            continue
        piece = text[at : match.start()]
        if start < 0 and piece.strip():
            start = match.start() - len(piece.lstrip())
        cell, at = cell + piece, match.end()
        if kind != "macro" or is_end:
            row.append(cell)
            cell = ""
        if kind == "row" or (is_end and (len(row) > 1 or row[0].strip())):
            body.rows.append(row)
            body.starts.append(begin if start < 0 else start)
            row, start = [], -1
        if macro == "caption":
            (words,), at = arguments(text, at, 1)
            body.captions.append(latex_to_text(words))
        elif macro:
            if macro.endswith("rule") or macro == "addlinespace":
                at = _OPTIONS.match(text, at).end()  # type: ignore[union-attr]
            _, at = arguments(text, at, _BETWEEN[macro])
            body.rules += [(len(body.rows), macro)] if macro in _RULES else []
        if groups or kind == "last":
            body.remarks.append("a group in braces or the table itself has no end")
    return body, at


def table_marks(text: str, at: int) -> Iterator[tuple[re.Match[str], int]]:
    r"""Yield the marks of a table outside of groups and environments, up to its \end, each with the open groups."""
    groups = environments = 0
    for match in _INSIDE.finditer(text, at):
        kind, macro = match.lastgroup, match["macro"]
        if kind in ("open", "close"):
            groups = max(0, groups + (1 if kind == "open" else -1))
        elif macro == "begin":
            environments += 1
        elif macro == "end" and environments:
            environments -= 1
        elif kind == "last" or macro == "end":
            yield match, groups
            return
        elif kind and not groups and not environments:
            yield match, 0
        if groups > _DEEPEST:
            raise RankadjustError(
                f"cannot be read as LaTeX: groups in one another, more than {_DEEPEST:,} deep"
            )


def _grid(body: _Body, lines: list[int]) -> Grid:
    # The header is above the first \midrule, or between the first two groups of \hline.
    inner = [row for row, name in body.rules if name == "midrule"] or [row for row, _ in body.rules]
    return make_grid(
        _spread([[_span(cell) for cell in row] for row in body.rows]),
        header_rows=next((row for row in inner if 0 < row < len(lines)), 0),
        lines=lines,
        context=body.captions,
        remarks=body.remarks,
    )


def _span(cell: str) -> Span:
    match = _SPANNING.search(cell)
    if match is None:
        return Span(latex_to_text(cell))
    (number, _, inside), end = arguments(cell, match.end(), 3)
    inner = _span(inside)
    text = f"{latex_to_text(cell[: match.start()])}{inner.text}{latex_to_text(cell[end:])}"
    size = int(number) if re.fullmatch(r"\s*-?\d{1,4}\s*", number) else 1
    if match[1] == "multicolumn":
        return Span(text, inner.rows, max(1, min(size, MAX_SPAN)))
    return Span(text, size, inner.columns)


def _spread(rows: Sequence[Sequence[Span]]) -> list[list[str]]:
    """Repeat spanning cells in every column they cover; the cells under a multirow, empty in LaTeX, get its text."""
    width = max((sum(cell.columns for cell in row) for row in rows), default=1)
    covered_cells = sum(min(abs(cell.rows), len(rows)) * cell.columns for row in rows for cell in row)
    require_size(width, max(len(rows), covered_cells // width))
    texts = [[text for cell in row for text in [cell.text] * cell.columns] for row in rows]
    for index, row in enumerate(rows):
        column = 0
        for cell in row:
            # A negative number of rows reaches upwards.
            first, last = sorted((index, index + cell.rows + (1 if cell.rows < 0 else -1)))
            for covered in texts[max(0, first) : last + 1] if cell.rows not in (0, 1) else []:
                for under in range(column, min(column + cell.columns, len(covered))):
                    covered[under] = covered[under].strip() or cell.text
            column += cell.columns
    return texts
