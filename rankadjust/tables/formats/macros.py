r"""Expand the macros that a LaTeX text defines itself (\newcommand, \def), and turn LaTeX into plain text."""

import re
from collections.abc import Mapping
from html.entities import html5

from rankadjust.base.errors import RankadjustError

# Blanks are matched possessively (*+), so that a run of blanks is tried once.
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?"
    r"\s*+\{?\s*+\\(?P<command>[A-Za-z]++)\s*+\}?\s*+(?:\[(?P<count>\d)\])?\s*+(?=\{)"
    r"|\\def\s*+\\(?P<plain>[A-Za-z]++)(?P<parameters>(?:\s*+#\d)*+)\s*+(?=\{)"
)
_USE = re.compile(r"\\([A-Za-z]++)")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_OPTIONALS = re.compile(r"(?:\s*+\[[^\]\n]{0,200}\])*+")
_BLANK = re.compile(r"\s*+")
# Limits for macros that call each other without end, or that double their arguments.
_DEPTH = 10
_MOST = 20_000_000
_LONGEST_GROUP = 10_000
_DEEPEST_GROUP = 20


# The number of arguments, and the body of a macro.
_Macro = tuple[int, str]


def without_comments(text: str) -> str:
    """Return a LaTeX text without its comments; the numbers of its lines do not change."""
    return _COMMENT.sub("", text)


def expand_macros(text: str) -> str:
    """Return a LaTeX text with its own macros expanded and their definitions removed; line numbers do not change.

    Raises RankadjustError where the macros expand to more than 20 MB.
    """
    macros: dict[str, _Macro] = {}
    kept, at = [], 0
    for match in _DEFINITION.finditer(text):
        end = _end_of_group(text, match.end())
        if match.start() < at or end is None:
            continue
        name = match["command"] or match["plain"]
        count = int(match["count"] or 0) if match["command"] else (match["parameters"] or "").count("#")
        macros[name] = count, text[match.end() + 1 : end - 1].replace("\n", " ")
        kept += [text[at : match.start()], "\n" * text.count("\n", match.start(), end)]
        at = end
    return _expanded("".join([*kept, text[at:]]), macros, _DEPTH) if macros else text


def _expanded(text: str, macros: Mapping[str, _Macro], depth: int) -> str:
    parts, at, length = [], 0, 0
    for match in _USE.finditer(text):
        if match[1] not in macros or match.start() < at:
            continue
        count, body = macros[match[1]]
        kept = text[at : match.start()]
        own, at = arguments(text, match.end(), count)
        for number, argument in enumerate(own, start=1):
            body = body.replace(f"#{number}", argument)
        # A letter after the macro must not become part of the last word of its body.
        parts += [kept, _expanded(body, macros, depth - 1) if depth else body, "{}"]
        length += len(parts[-2])
        if length > _MOST:
            raise RankadjustError("its macros expand to more than 20 MB; write them out")
    return "".join([*parts, text[at:]])


def arguments(text: str, at: int, count: int) -> tuple[list[str], int]:
    """Return the next `count` arguments (groups in braces or single characters), and the position of their end.

    Optional arguments in brackets before them are skipped.
    """
    texts = []
    for _ in range(count):
        at = _BLANK.match(text, _OPTIONALS.match(text, at).end()).end()  # type: ignore[union-attr]
        end = _end_of_group(text, at)
        texts.append(text[at : at + 1] if end is None else text[at + 1 : end - 1])
        at = at + 1 if end is None else end
    return texts, at


def _end_of_group(text: str, start: int) -> int | None:
    """Return the end of the group in braces that begins here; None if none begins here or its end is too far away."""
    if not text.startswith("{", start):
        return None
    depth = 0
    for match in _BRACE.finditer(text, start, start + _LONGEST_GROUP):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth in (0, _DEEPEST_GROUP):
            return match.end() if depth == 0 else None
    return None


# The treatment of each argument of a macro: left out (-, or [ for optional arguments), kept (+), kept after a stroke
# (/), or raised (^). Macros that are not listed keep their argument and nothing else.
_ARGUMENTS = {
    name: actions
    for actions, names in {
        "": "xspace bf it rm sc sf tt em bfseries itshape scshape ttfamily tiny scriptsize footnotesize small "
        "normalsize large Large boldmath bm centering raggedright raggedleft arraybackslash hfill noindent strut "
        "protect left right big Big displaystyle par newline relax",
        "-": "label ref phantom hphantom vphantom hspace vspace end",
        "^": "textsuperscript tnote",
        "[": "footnotemark",
        "[-": "footnote tablefootnote cellcolor rowcolor columncolor color cite citep citet citealp",
        "[+": "makecell thead shortstack num",
        "[-+": "textcolor colorbox rotatebox",
        "[--": "rule",
        "[+/": "diagbox",
        "+/": "frac",
        "-+": "adjustbox href",
        "-[+": "scalebox",
        "-[-": "begin",
        "--+": "resizebox",
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
_SYMBOLS |= {"quad": " ", "qquad": " "}
_ACTIONS = {"-": "", "/": " / {}", "^": "^{{{}}}"}
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "$": ""}
# Accents are left out.
_SPACES = dict.fromkeys(",;: \n", " ") | dict.fromkeys("!/-@()[]`'^\"~=.", "")
_MARKED = re.compile(r"[\\{}$~]|--|``|''")
_TOKEN = re.compile(
    r"\\(?P<macro>[A-Za-z]++)\*?"
    r"|(?P<line>\\\\\*?(?:\[[^\]\n]{0,200}\])?)"
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\{)|(?P<close>\})"
    r"|(?P<sign>---?|``|''|[~$])"
    r"|(?P<text>[^\\{}$~`'-]++|.)",
    re.DOTALL,
)
_GROUP = re.compile(r"\s*+\{(?!\})")


def latex_to_text(text: str) -> str:
    r"""Return a LaTeX fragment as plain text: '$\uparrow$' as an arrow, '\textbf{x}' as x.

    An unknown macro without an argument stays as it is written (\ours).
    """
    if not _MARKED.search(text):
        return text
    # actions: the treatment of the next groups. texts, opened: of each open group, its texts, and its treatment.
    actions = ""
    texts: list[list[str]] = [[]]
    opened: list[str] = []
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        match match.lastgroup:
            case "open":
                texts.append([])
                opened.append(actions)
                actions = ""
            case "close" if opened:
                inner = "".join(texts.pop())
                texts[-1].append(_ACTIONS.get(opened[-1][:1], "{}").format(inner))
                actions = opened.pop()[1:]
            case "macro":
                name = match["macro"]
                actions = _ARGUMENTS.get(name, "")
                is_known = name in _ARGUMENTS or _GROUP.match(text, at)
                texts[-1].append("" if is_known else _symbol(name))
            case kind:
                sign = match["escaped"] if kind == "escaped" else match[0]
                said = {"line": {sign: "\n"}, "sign": _SIGNS, "escaped": _SPACES, "close": {sign: ""}}
                texts[-1].append(said.get(kind or "", {}).get(sign, sign))
                actions = actions if match[0].isspace() else ""
        if actions.startswith("["):
            actions = actions[1:]
            at = _OPTIONALS.match(text, at).end()  # type: ignore[union-attr]
    return "".join(map("".join, texts))


def _symbol(name: str) -> str:
    known = _SYMBOLS.get(name) or html5.get(f"{name};") or html5.get(f"{name.removeprefix('text')};")
    return known or f"\\{name}"
