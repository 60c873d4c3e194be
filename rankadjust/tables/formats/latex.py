"""LaTeX into grids, with pylatexenc."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_SPAN, Grid, Span, make_grid
from rankadjust.tables.formats.macros import expand_macros, without_comments
from rankadjust.tables.formats.parsers import load_parser

_TABULARS = {
    "tabular": "[{",
    "tabular*": "{[{",
    "tabularx": "{[{",
    "tabulary": "{[{",
    "xltabular": "[{{",
    "longtable": "[{",
    "supertabular": "[{",
    "array": "[{",
    "NiceTabular": "[{[",
    "tblr": "[{",
}
_TABLE_MACROS = {
    "\\": "*[",
    "multicolumn": "{{{",
    "multirow": "[{[{[{",
    "makecell": "*[{",
    "thead": "*[{",
    "shortstack": "[{",
    "cellcolor": "[{",
    "rowcolor": "[{",
    "color": "[{",
    "textcolor": "[{{",
    "colorbox": "[{{",
    "textsuperscript": "{",
    "footnote": "[{",
    "footnotemark": "[",
    "tablefootnote": "[{",
    "tnote": "{",
    "caption": "*[{",
    "label": "{",
    "num": "[{",
    "scalebox": "{[{",
    "rotatebox": "[{{",
    "resizebox": "*{{{",
    "adjustbox": "{{",
    "phantom": "{",
    "hphantom": "{",
    "vphantom": "{",
    "diagbox": "[{{",
}
# Characters that pylatexenc writes as their typographic relatives.
_PLAIN = {
    "textasciicircum": "^",
    "textasciitilde": "~",
    "textasciigrave": "`",
    "textquotesingle": "'",
    "textquotedbl": '"',
    "textbackslash": "\\",
}
_RAISED = ("textsuperscript", "tnote")
_SILENT = (
    *("footnote", "footnotemark", "tablefootnote", "cellcolor", "rowcolor", "color", "label", "ref"),
    *("phantom", "hphantom", "vphantom", "cite", "citep", "citet", "citealp"),
    *("xspace", "bf", "it", "rm", "sc", "sf", "tt", "em", "bfseries", "itshape", "scshape", "ttfamily"),
    *("tiny", "scriptsize", "footnotesize", "small", "normalsize", "large", "Large", "boldmath", "bm"),
    *("centering", "raggedright", "raggedleft", "arraybackslash", "hfill", "noindent", "strut", "protect"),
    *("left", "right", "big", "Big", "displaystyle", "rule", "par", "newline", "relax", "columncolor"),
)
_LAST_ARGUMENT = ("makecell", "thead", "shortstack", "textcolor", "colorbox", "num", "scalebox", "rotatebox")
_RULES = re.compile(
    r"\\(?:cmidrule|cline|hhline|cdashline)\s*(?:\[[^\]]*\])?(?:\([^)]*\))?\s*\{[^{}]*\}(?:\[[^\]]*\])?"
    r"|\\(?:addlinespace|hdashline)\s*(?:\[[^\]]*\])?"
    r"|\\specialrule\s*(?:\{[^{}]*\}){3}"
)
_RULE_ARGUMENT = re.compile(r"(\\(?:toprule|midrule|bottomrule)\b)\s*\[[^\]]*\]|(\\Xhline\b)\s*\{[^{}]*\}")


_UNCERTAINTY = re.compile(r"([-+]?\d*\.?\d+)\s*\((\d+(?:\.\d+)?)\)")


class Source(NamedTuple):
    """What tables need of the file they stand in: where its lines end, and whether 33.70(12) means ± 0.12 in it."""

    newlines: tuple[int, ...]
    has_uncertainties: bool


def latex_grids(text: str) -> list[Grid]:
    """Return the tabulars of a LaTeX source, with multicolumn, multirow and the macros that it defines."""
    text = expand_macros(without_comments(text))
    text = _RULES.sub(lambda match: "\n" * match.group().count("\n"), text)
    text = _RULE_ARGUMENT.sub(r"\1\2", text)
    grids: list[Grid] = []
    newlines = tuple(match.start() for match in re.finditer("\n", text))
    source = Source(newlines, re.search(r"siunitx|\\num\b|\{[^{}]*\bS\b[^{}]*\}", text) is not None)
    _collect_tabulars(_nodes(text), [], source, grids)
    return grids


def latex_to_text(text: str) -> str:
    r"""Return a LaTeX fragment as plain text: '$\uparrow$' as an arrow, '\textbf{x}' as x."""
    return _text(_nodes(text))


def _nodes(text: str) -> list[Any]:
    walker = load_parser("pylatexenc.latexwalker", "LaTeX")
    return list(walker.LatexWalker(text, latex_context=_macros()).get_latex_nodes()[0])


@cache
def _macros() -> Any:  # noqa: ANN401 - a database of pylatexenc
    spec = load_parser("pylatexenc.macrospec", "LaTeX")
    database = load_parser("pylatexenc.latexwalker", "LaTeX").get_default_latex_context_db()
    database.add_context_category(
        "tables",
        macros=[spec.MacroSpec(name, arguments) for name, arguments in _TABLE_MACROS.items()],
        environments=[spec.EnvironmentSpec(name, arguments) for name, arguments in _TABULARS.items()],
        prepend=True,
    )
    return database


def _text(nodes: Sequence[Any]) -> str:
    if all(type(node).__name__ == "LatexCharsNode" for node in nodes):
        return "".join(node.chars for node in nodes)
    return str(_converter().nodelist_to_text(list(nodes)))


@cache
def _converter() -> Any:  # noqa: ANN401 - a converter of pylatexenc
    module = load_parser("pylatexenc.latex2text", "LaTeX")
    database = module.get_default_latex_context_db()
    database.set_unknown_macro_spec(module.MacroTextSpec("", _unknown))
    replacements = [
        *(module.MacroTextSpec(name, "^{%s}") for name in _RAISED),
        *(module.MacroTextSpec(name, "") for name in _SILENT),
        *(module.MacroTextSpec(name, text) for name, text in _PLAIN.items()),
        *(module.MacroTextSpec(name, _last_argument) for name in _LAST_ARGUMENT),
        module.MacroTextSpec("diagbox", "%(2)s / %(3)s"),
    ]
    database.add_context_category("tables", macros=replacements, prepend=True)
    return module.LatexNodes2Text(latex_context=database, math_mode="text", keep_comments=False)


def _unknown(node: Any) -> str:  # noqa: ANN401 - a node
    r"""Return a macro that no one defined: a name (\ours) as it is written, nothing of a format (\best{0.5})."""
    end = node.pos + node.len
    argument = node.parsing_state.s[end : end + 2]
    return "" if argument[:1] == "{" and argument != "{}" else f"\\{node.macroname}"


def _last_argument(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - the names pylatexenc calls it with
    arguments = [argument for argument in node.nodeargd.argnlist if argument is not None]
    return str(l2tobj.nodelist_to_text([arguments[-1]])) if arguments else ""


def _collect_tabulars(nodes: Iterable[Any], context: list[str], source: Source, grids: list[Grid]) -> None:
    nodes = list(nodes)
    context = [*(_text(_arguments(node)[-1:]) for node in nodes if _is(node, "caption")), *context]
    for node in nodes:
        name = getattr(node, "environmentname", None)
        if name in _TABULARS:
            grids.append(_latex_table(node, context, source))
        elif getattr(node, "nodelist", None):
            _collect_tabulars(node.nodelist, context, source, grids)
        elif _is(node, "section", "subsection", "paragraph"):
            context = [_text(_arguments(node)[-1:]), *context][:CONTEXT_LENGTH]
        else:
            # \resizebox{\textwidth}{!}{\begin{tabular}…} and its like.
            for argument in _arguments(node):
                _collect_tabulars([argument], context, source, grids)


def _is(node: Any, *macros: str) -> bool:  # noqa: ANN401 - a node
    return getattr(node, "macroname", None) in macros


def _arguments(node: Any) -> list[Any]:  # noqa: ANN401 - a node
    parsed = getattr(node, "nodeargd", None)
    return [argument for argument in (parsed.argnlist if parsed else None) or [] if argument is not None]


def _latex_table(environment: Any, context: list[str], source: Source) -> Grid:  # noqa: ANN401 - a node
    rows: list[list[list[Any]]] = [[[]]]
    rules: list[tuple[int, str]] = []
    heads: list[int] = []
    captions: list[str] = []
    for node in environment.nodelist:
        if _is(node, "\\", "tabularnewline", "cr"):
            rows.append([[]])
        elif getattr(node, "specials_chars", None) == "&":
            rows[-1].append([])
        elif _is(node, "toprule", "midrule", "bottomrule", "hline", "Xhline"):
            rules.append((len(rows) - 1, node.macroname))
        elif _is(node, "endhead", "endfirsthead", "endfoot", "endlastfoot"):
            heads.append(len(rows) - 1)
        elif _is(node, "caption"):
            captions.append(_text(_arguments(node)[-1:]))
        elif not _is(node, "centering", "arraybackslash"):
            rows[-1][-1].append(node)
    spans = [[_latex_cell(cell) for cell in row] for row in rows]
    if source.has_uncertainties:
        spans = [
            [span._replace(text=_UNCERTAINTY.sub(_with_spread, span.text)) for span in row] for row in spans
        ]
    lines = [_line_of_row(row, environment.pos, source.newlines) for row in rows]
    if len(spans[-1]) == 1 and not spans[-1][0].text.strip():
        spans.pop()
    remarks = []
    if len(heads) > 1:
        # longtable: the head of the first page, then that of the other pages and the feet, which repeat it.
        remarks.append(f"{heads[-1] - heads[0]} rows of the heads and feet of further pages left out")
        del spans[heads[0] : heads[-1]], lines[heads[0] : heads[-1]]
        rules = [(row, name) for row, name in rules if row <= heads[0]] + [(heads[0], "midrule")]
    return make_grid(
        _spread_latex(spans),
        header_rows=_header_rows(rules, len(spans)),
        lines=lines[: len(spans)],
        context=[*captions, *context],
        remarks=remarks,
    )


def _with_spread(match: re.Match[str]) -> str:
    """Return 33.70(12), where the digits in brackets are those of the last places, as 33.70 ± 0.12."""
    number, digits = match[1], match[2]
    decimals = len(number.partition(".")[2])
    spread = digits if "." in digits else f"{Decimal(digits).scaleb(-decimals):f}"
    return f"{number} ± {spread}"


def _line_of_row(row: Sequence[Sequence[Any]], start: int, newlines: Sequence[int]) -> int:
    """Return the line of the first node of a row that is neither blank nor a comment."""
    for node in (node for cell in row for node in cell):
        printed = node.latex_verbatim()
        if printed.strip() and not printed.startswith("%"):
            start = node.pos + len(printed) - len(printed.lstrip())
            break
    return bisect_right(newlines, start - 1) + 1


def _header_rows(rules: list[tuple[int, str]], rows: int) -> int:
    r"""Return the rows above the first \midrule, or between the first two groups of \hline."""
    inner = [row for row, name in rules if name == "midrule"] or [row for row, _ in rules]
    inner = [row for row in inner if 0 < row < rows]
    return inner[0] if inner else 0


def _latex_cell(nodes: Sequence[Any]) -> Span:
    spanning = next((index for index, node in enumerate(nodes) if _is(node, "multicolumn", "multirow")), None)
    if spanning is None:
        return Span(_text(nodes))
    arguments = _arguments(nodes[spanning])
    inner = _latex_cell(_group(arguments[-1])) if arguments else Span("")
    text = f"{_text(nodes[:spanning])}{inner.text}{_text(nodes[spanning + 1 :])}"
    count = re.fullmatch(r"\s*(-?\d{1,4})\s*", _text(arguments[:1]))
    size = int(count[1]) if count else 1
    if _is(nodes[spanning], "multicolumn"):
        return Span(text, inner.rows, max(1, min(size, MAX_SPAN)))
    return Span(text, size, inner.columns)


def _group(node: Any) -> Sequence[Any]:  # noqa: ANN401 - a node
    return getattr(node, "nodelist", None) or [node]


def _spread_latex(rows: list[list[Span]]) -> list[list[str]]:
    """Put spanning cells into every column they cover: LaTeX leaves empty cells under a multirow."""
    texts = [[text for cell in row for text in [cell.text] * cell.columns] for row in rows]
    for index, row in enumerate(rows):
        column = 0
        for cell in row:
            # A negative number of rows reaches upwards.
            height = max(-len(rows), min(cell.rows, len(rows)))
            first, last = sorted((index, index + height + (1 if height < 0 else -1)))
            for covered in texts[max(0, first) : last + 1]:
                for under in range(column, min(column + cell.columns, len(covered))):
                    covered[under] = covered[under].strip() or cell.text
            column += cell.columns
    return texts
