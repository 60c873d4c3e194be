r"""Read LaTeX: its tables with the places of their cells, the macros that it defines itself, and fragments as text."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.entities import html5
from itertools import chain
from typing import NamedTuple

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_SPAN, Grid, Span, make_grid, spread_spans

# A group in braces with groups in it, ten deep. Repeats are possessive (*+), so that no text is tried twice.
_GROUP = r"\{(?:[^{}\\]|\\.)*+\}"
for _ in range(10):
    _GROUP = rf"\{{(?:[^{{}}\\]|\\.|{_GROUP})*+\}}"
_ARGUMENT = re.compile(rf"(?:\s*+\[[^\]\n]{{0,200}}\])*+\s*+({_GROUP}|\\[A-Za-z]++|\\?.)", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")

# The environments of tables, and how many arguments precede their rows; the last argument declares the columns.
_TABULARS = dict.fromkeys(("tabular", "longtable", "supertabular", "array", "NiceTabular", "tblr"), 1)
_TABULARS |= dict.fromkeys(("tabular*", "tabularx", "tabulary", "xltabular"), 2)
_OUTSIDE = re.compile(
    r"\\(?:begin\{(?P<begin>\w+\*?)\}|(?P<end>end)\{|(?P<caption>caption)\b\*?|(?:(?:sub)?section|paragraph)\b\*?)"
)
# A row ends behind the blanks that end its line.
_INSIDE = re.compile(
    r"(?P<row>(?:\\\\\*?(?:[ \t]*+\[[^\]\n]{0,99}\])?|\\(?:tabularnewline|cr)\b)(?:[ \t]++(?=\n))?)|(?P<cell>&)"
    r"|(?P<open>\{)|(?P<close>\})|(?P<begin>\\begin\{)|(?P<end>\\end\{|\Z)|\\."
)
# Options of a rule. Before the text of a cell, there may be rules and other commands between two rows.
_OPTIONS = r"(?:[ \t]*+\[[^\]\n]{0,99}\])?(?:\([^)\n]{0,99}\))?"
_BEFORE_TEXT = re.compile(
    rf"(?:\s|\\(?:toprule|midrule|bottomrule|addlinespace|hline|hdashline|end(?:first|last)?(?:head|foot))\b{_OPTIONS}"
    rf"|\\(?:cmidrule|cline|hhline|Xhline|cdashline|noalign|rowcolor|caption|label)\b\*?{_OPTIONS}\s*+{_GROUP}"
    rf"|\\specialrule(?:\s*+{_GROUP}){{3}})*+",
    re.DOTALL,
)
_RULE = re.compile(r"\\(toprule|midrule|bottomrule|hline|Xhline)\b")
_CAPTION = re.compile(rf"\\caption\b\*?{_ARGUMENT.pattern}", re.DOTALL)
_MULTIROW, _MULTICOLUMN = (
    re.compile(rf"\\{name}\b\*?{_OPTIONS}\s*+\{{\s*(-?\d{{1,4}})\s*\}}")
    for name in ("multirow", "multicolumn")
)


class Cell(NamedTuple):
    """A cell: where its text begins and ends, and how many columns it covers."""

    start: int
    end: int
    columns: int


@dataclass(frozen=True)
class Tabular:
    r"""A table of a LaTeX source.

    begin, end: the places of its \begin and its \end. declared: where the declaration of its columns ends. rows: the
    cells of each row. ends: the place behind each row. rules: how many rows are above each rule, and its name.
    captions: the section titles, then the captions of each environment around the table, the innermost last.
    is_broken: whether a brace or the table itself has no end.
    """

    begin: int
    declared: int
    end: int
    rows: Sequence[Sequence[Cell]]
    ends: Sequence[int]
    rules: Sequence[tuple[int, str]]
    captions: Sequence[Sequence[str]]
    is_broken: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of columns that each row covers."""
        return tuple(sum(cell.columns for cell in row) for row in self.rows)


def latex_grids(text: str) -> list[Grid]:
    """Return the tabulars of a LaTeX source, with multicolumn, multirow and the macros that the source defines."""
    text = expand_macros(text)
    newlines = [match.start() for match in re.finditer("\n", text)]
    grids = []
    for table in tabulars(text):
        rows = []
        for row in table.rows:
            said = [text[cell.start : cell.end] for cell in row]
            heights = [int(match[1]) if (match := _MULTIROW.search(cell)) else 1 for cell in said]
            rows.append(list(map(Span, map(latex_to_text, said), heights, (cell.columns for cell in row))))
        # The header is above the first \midrule, or between the first two groups of \hline.
        inner = [row for row, name in table.rules if name == "midrule"] or [row for row, _ in table.rules]
        grid = make_grid(
            spread_spans(rows, is_latex=True),
            header_rows=next((row for row in inner if 0 < row < len(rows)), 0),
            lines=[bisect_right(newlines, row[0].start - 1) + 1 for row in table.rows],
            context=list(map(latex_to_text, chain(*map(reversed, reversed(table.captions))))),
            remarks=["a group in braces or the table itself has no end"] * table.is_broken,
        )
        grids.append(grid)
    return grids


def tabulars(source: str) -> list[Tabular]:
    """Return the tables of a LaTeX source, with places in the source as it is."""
    text = _without_comments(source)
    # Section titles, and the captions of each open environment, kept until its end: they may follow its tables.
    captions: list[list[str]] = [[]]
    tables, at = [], 0
    while match := _OUTSIDE.search(text, at):
        at = match.end()
        if match["begin"]:
            captions.append([])
            if match["begin"] in _TABULARS:
                _, declared = arguments(text, at, _TABULARS[match["begin"]])
                tables.append(_tabular(text, match.start(), declared, [captions[0][:], *captions[1:][-10:]]))
                at = tables[-1].end
        elif match["end"]:
            del captions[max(1, len(captions) - 1) :]
        else:
            (words,), at = arguments(text, at, 1)
            texts = captions[-1 if match["caption"] else 0]
            texts.append(words)
            del texts[:-CONTEXT_LENGTH]
    return tables


def _tabular(text: str, begin: int, at: int, captions: Sequence[list[str]]) -> Tabular:
    declared = at
    rows, row = list[list[Cell]](), list[Cell]()
    ends, rules = [], []
    groups = environments = 0
    for match in _INSIDE.finditer(text, at):
        kind = match.lastgroup
        if kind in ("open", "close"):
            groups = max(0, groups + (1 if kind == "open" else -1))
        elif kind == "begin" or (kind == "end" and environments and match[0]):
            environments += 1 if kind == "begin" else -1
        elif kind == "end" or (kind and not groups and not environments):
            start = match.start() - len(_BEFORE_TEXT.sub("", text[at : match.start()], count=1))
            if not row:
                rules += [(len(rows), name) for name in _RULE.findall(text, at, start)]
                captions[-1].extend(_CAPTION.findall(text, at, start))
            spanning = _MULTICOLUMN.search(text, start, match.start())
            columns = max(1, min(int(spanning[1]), MAX_SPAN)) if spanning else 1
            row.append(Cell(start, start + len(text[start : match.start()].rstrip()), columns))
            at = match.end()
            if kind == "row" or (kind == "end" and (len(row) > 1 or row[0].start < row[0].end)):
                rows.append(row)
                ends.append(at if kind == "row" else row[-1].end)
                row = []
            if kind == "end":
                break
    return Tabular(
        begin, declared - 1, match.start(), rows, ends, rules, captions, bool(groups or not match[0])
    )


def arguments(text: str, at: int, count: int) -> tuple[list[str], int]:
    """Return the next `count` arguments (groups in braces, macros or single characters), and where they end.

    Optional arguments in brackets before them are skipped.
    """
    texts = []
    for _ in range(count):
        match = _ARGUMENT.match(text, at)
        texts.append(match[1].removeprefix("{").removesuffix("}") if match else "")
        at = match.end() if match else at
    return texts, at


def _without_comments(text: str) -> str:
    """Return a LaTeX text with spaces in place of its comments, so that places stay the same."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text)


# The number of arguments, and the body of a macro.
_Macro = tuple[int, str]
_DEFINITION = re.compile(
    r"\\(?:def|(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*+\{?\s*+"
    rf"\\(?P<name>[A-Za-z]++)\s*+\}}?\s*+(?P<parameters>(?:\[\d\]|#\d|\s)*+)(?P<body>{_GROUP})",
    re.DOTALL,
)
_USE = re.compile(rf"\\([A-Za-z]++)(?:\*|(?<=rule|mark|pace){_OPTIONS})?")
# Limits for macros that call each other without end, or that double their arguments.
_DEPTH = 10
_MOST = 2_000_000


def expand_macros(text: str) -> str:
    """Return a LaTeX text without comments, its own macros expanded and their definitions removed; lines stay.

    Raises RankadjustError where the macros expand to more than 2 MB.
    """
    macros: dict[str, _Macro] = {}

    def define(match: re.Match[str]) -> str:
        count = max(map(int, re.findall(r"\d", match["parameters"])), default=0)
        macros[match["name"]] = count, match["body"][1:-1].replace("\n", " ")
        return "\n" * match[0].count("\n")

    return _expanded(_DEFINITION.sub(define, _without_comments(text)), macros)


def _expanded(text: str, macros: Mapping[str, _Macro]) -> str:
    for _ in range(_DEPTH):
        parts, at, length = [], 0, 0
        for match in _USE.finditer(text):
            if match[1] in macros and match.start() >= at:
                count, body = macros[match[1]]
                before = text[at : match.start()]
                own, at = arguments(text, match.end(), count)
                for number, argument in enumerate(own, start=1):
                    body = body.replace(f"#{number}", argument)
                # A letter after the macro must not become part of the last word of its body.
                parts += [before, body, "{}"]
                length += len(body)
                if length > _MOST:
                    raise RankadjustError("its macros expand to more than 2 MB; write them out")
        text = "".join([*parts, text[at:]])
        if not parts:
            break
    return text


# The known macros, by the number of their arguments and the text that they stand for.
_KNOWN = {
    name: (int(said[0]), said[1:])
    for said, names in {
        "0": "xspace bf it rm sc sf tt em bfseries itshape scshape ttfamily tiny scriptsize footnotesize small "
        "normalsize large Large boldmath bm centering raggedright raggedleft arraybackslash hfill noindent strut "
        "protect left right big Big displaystyle par newline relax footnotemark hline hdashline addlinespace toprule "
        "midrule bottomrule",
        "0 ": "quad qquad",
        "1": "label ref phantom hphantom vphantom hspace vspace end footnote tablefootnote cellcolor rowcolor "
        "columncolor color cite citep citet citealp cmidrule cline",
        "0±": "pm",
        "1#1": "makecell thead shortstack num",
        "2": "rule begin",
        "2#2": "textcolor colorbox rotatebox adjustbox href scalebox",
        "2#1 / #2": "diagbox frac",
        "3#3": "resizebox multicolumn multirow",
    }.items()
    for name in names.split()
}
# HTML and LaTeX mostly share the names of symbols; these are the exceptions.
_NAMES = (
    "textasciicircum ^ textasciitilde ~ textasciigrave ` textquotesingle ' textquotedbl \" textbackslash \\ textless < "
    "textgreater > textbar | textunderscore _ textendash – textemdash — dag † ddag ‡ star ⋆ circ ∘ cdot · to → neq ≠ "
    "infty ∞ dots … ldots … cdots … ss ß o ø O Ø l ł L Ł ae æ aa å i i"
)
_SYMBOLS = dict(zip(_NAMES.split()[::2], _NAMES.split()[1::2], strict=True))
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "$": "", "{": "", "}": ""}
# Accents are left out.
_SIGNS |= {f"\\{sign}": " " for sign in ",;: \n"} | {f"\\{sign}": "" for sign in "!/-@()[]`'^\"~=."}
_MARKED = re.compile(r"[\\{}$~]|--|``|''")
_TOKEN = re.compile(
    rf"\\(?:textsuperscript|tnote)\b\s*+(?P<raised>{_GROUP})|\\(?P<macro>[A-Za-z]++)\*?(?P<group>\s*+\{{(?!\}}))?"
    r"|(?P<line>\\\\\*?(?:\[[^\]\n]{0,200}\])?)|(?P<between>(?<!\{)\}\s*+\{(?!\}))|\\.|---?|``|''|[~${}]",
    re.DOTALL,
)


def latex_to_text(text: str) -> str:
    r"""Return a LaTeX fragment as plain text: '$\uparrow$' as an arrow, '\textbf{x}' as x.

    An unknown macro without an argument stays as it is written (\ours).
    """
    return _TOKEN.sub(_said, _expanded(text, _KNOWN)) if _MARKED.search(text) else text


def _said(match: re.Match[str]) -> str:
    name = match["macro"]
    if name:
        known = _SYMBOLS.get(name) or html5.get(f"{name};") or html5.get(f"{name.removeprefix('text')};")
        return "" if match["group"] else known or f"\\{name}"
    if match["raised"]:
        return f"^{{{latex_to_text(match['raised'][1:-1])}}}"
    kinds = {"line": "\n", "between": " "}
    return kinds.get(match.lastgroup or "") or _SIGNS.get(match[0], match[0].removeprefix("\\"))
