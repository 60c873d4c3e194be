"""Reading triples: text files in any declared format, as columns of text; and the ranges of relations."""

import re
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import read_csv
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.data.registry import Format

# The format of OpenKE's triples.
OPENKE = Format(delimiter="whitespace", columns=("head", "tail", "relation"), header_lines=1)

_BOM = b"\xef\xbb\xbf"
_BLANKS = " \t"
# More digits than Python reads would be an error of its own.
_LONGEST_COUNT = 18
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_A_COUNT = (
    "the first line is one number, as in the files of OpenKE, where it counts the lines that follow; declare "
    "format.header_lines: 1 (the columns there are head, tail, relation)"
)
_QUOTES = (
    "quotes do not keep a field together here, they belong to the label: write the file without quotes, with tabs "
    "between the fields (config/datasets.d/README.md says how)"
)
# Bytes that may stand for a delimiter of several bytes, as long as the labels do not hold them.
_STAND_INS = [bytes([code]) for code in range(1, 128) if chr(code) not in "\r\n"]


def read_triples(path: str | Path, form: Format, name: str | None = None) -> pl.DataFrame:
    r"""Return the text of a file as columns head, relation, tail and, where declared, times (all String).

    A line ends with \n or \r\n and nothing else; the last line needs no end. A byte order mark is skipped.
    Labels are kept unchanged: quotes, '#', 'NA' and leading zeros mean nothing here.
    name: what the user calls the file, for errors; its path where it is not given.

    Raises RankadjustError with file and line for a wrong number of fields, an empty field, bytes that are not
    UTF-8, a label that should be an integer and is not; with the file for one without triples.
    """
    path = Path(path)
    name = name or str(path)
    try:
        data = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise RankadjustError(f"{name}: the file cannot be read ({error.strerror})") from None
    rows = data.count(b"\n") + (data[-1:] not in (b"", b"\n")) - form.header_lines
    if rows <= 0:
        what = "has no line after its header" if data else "is empty"
        raise RankadjustError(f"{name}: the file {what}; a split needs at least one triple")
    separator, data = _with_single_byte(data, form)
    start = 0
    for _ in range(form.header_lines):
        start = data.index(b"\n", start) + 1
    regular = data.count(separator, start) == rows * (len(form.columns) - 1)
    try:
        frame = _parse(data, separator, form)
    except pl.exceptions.PolarsError as error:
        raise _first_problem(path, form, name) or RankadjustError(
            f"{name}: cannot be read ({error})"
        ) from None
    if frame.height != rows or not regular or not _valid(frame, form):
        problem = f"{name}: {frame.height} of {rows} lines could be read"
        raise _first_problem(path, form, name) or RankadjustError(problem)
    return frame


def read_entities(path: str | Path, form: Format, name: str | None = None) -> pl.Series:
    """Return the labels in a list of entities, each once, in no particular order.

    Like read_triples; the column `entity` of the format is read.
    """
    return read_triples(path, form, name)["entity"].unique()


def _parse(data: bytes, separator: bytes, form: Format) -> pl.DataFrame:
    """Read separated text with polars; missing and empty fields are null.

    polars drops a carriage return at the end of every field, so a carriage return before a separator is doubled. It
    unpacks text that begins like a zlib stream, as 'x^2' does; after a byte order mark it does not look.
    """
    names = [f"{name}{number}" if name == "ignore" else name for number, name in enumerate(form.columns)]
    frame = read_csv(
        _BOM + data.replace(b"\r" + separator, b"\r\r" + separator),
        separator=separator.decode(),
        columns=[names.index(name) for name in form.kept],
        schema=dict.fromkeys(names, pl.String),
        skip_lines=form.header_lines,
        has_header=False,
        quote_char=None,
    ).select(form.kept)
    return frame.with_columns(pl.all().str.strip_chars(_BLANKS)) if form.strip else frame


def _with_single_byte(data: bytes, form: Format) -> tuple[bytes, bytes]:
    """Return a separator of one byte, and the data with it in place of the declared delimiter."""
    if form.separator is None:
        return b"\t", b"\n".join(b"\t".join(line.split()) for line in data.split(b"\n"))
    separator = form.separator.encode()
    if len(separator) == 1:
        return separator, data
    labels = data.replace(separator, b"")
    stand_in = next((byte for byte in _STAND_INS if byte not in labels), None)
    if stand_in is None:
        problem = f"every character that could replace the delimiter {form.separator!r} occurs in the text"
        raise RankadjustError(f"{problem}; write the file with tabs")
    return stand_in, data.replace(separator, stand_in)


def _valid(frame: pl.DataFrame, form: Format) -> bool:
    """Return whether no field is missing or empty, and labels are integers where they have to be."""
    problems = [pl.col(form.kept).is_null() | (pl.col(form.kept) == "")]
    if form.labels == "integer":
        problems.append(~pl.col(form.labelled).str.contains(f"^(?:{_INTEGER.pattern})$"))
    return not frame.select(pl.any_horizontal(problem.any() for problem in problems)).item()


def _first_problem(path: Path, form: Format, name: str) -> RankadjustError | None:
    """Find the first bad line, one line after the other: slow, but only for files that were refused."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number > form.header_lines:
                data = line.removeprefix(_BOM) if number == 1 else line
                problem = _line_problem(data.removesuffix(b"\n").removesuffix(b"\r"), form)
                if problem:
                    is_count = number == 1 and data.strip().isdigit()
                    return RankadjustError(f"{name}:{number}: {_A_COUNT if is_count else problem}")
    return None


def _line_problem(line: bytes, form: Format) -> str | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return f"byte {error.start + 1} of the line (0x{byte:02x}) is not UTF-8; convert the file to UTF-8"
    fields = [word.decode() for word in line.split()]
    if form.separator is not None:
        fields = text.split(form.separator)
    if len(fields) != len(form.columns):
        between = f"between {form.delimiter!r}" if form.separator else "between blanks"
        problem = f"{len(fields)} fields {between} where format.columns names {len(form.columns)}"
        if any(field.startswith('"') for field in fields):
            return f"{problem}; {_QUOTES}"
        return f"{problem}; check format.delimiter, format.columns and format.header_lines, or mend the line"
    for name, field in zip(form.columns, fields, strict=True):
        label = field.strip(_BLANKS) if form.strip else field
        if not label and name != "ignore":
            return f"the {name} is empty; every label needs at least one character"
        if form.labels == "integer" and name in form.labelled and not _INTEGER.fullmatch(label):
            problem = f"the {name} {label!r} is not a plain integer"
            return f"{problem}; declare format.labels: text, or check format.columns"
    return None


# Ranges: which entities each relation has on its sides, in OpenKE's layout (type_constrain.txt)


def read_ranges(path: str | Path, name: str | None = None) -> pl.DataFrame:
    """Return the columns relation, side (head, tail) and entity (all String): a row per entity of a range.

    The first line of the file is the number of relations. Of each relation follow two lines, first the heads, then the
    tails: its id, how many entities, and the entities, between tabs. name: what the user calls the file, for errors.

    Raises RankadjustError with file and line where a number does not agree with the lines after it, or is not a number.
    """
    path = Path(path)
    name = name or str(path)
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        raise RankadjustError(f"{name}: the file cannot be read, or is empty") from None
    if not _is_count(first) or len(lines) != 2 * int(first):
        problem = f"the first line is {first[:20]!r}, and {len(lines)} lines follow"
        raise RankadjustError(
            f"{name}:1: {problem}; write the number of relations, each with two lines below"
        )
    parts = [_part(line, f"{name}:{number}") for number, line in enumerate(lines, 2)]
    for number, ((heads, _), (tails, _)) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if heads != tails:
            problem = f"the heads belong to relation {heads}, the tails to {tails}"
            raise RankadjustError(
                f"{name}:{2 * number + 3}: {problem}; put the two lines of a relation together"
            )
    return (
        pl.DataFrame(
            {
                "relation": [relation for relation, _ in parts],
                "side": [*TASK_SIDES] * (len(parts) // 2),
                "entity": [entities for _, entities in parts],
            },
            schema={"relation": pl.String, "side": pl.String, "entity": pl.List(pl.String)},
        )
        .explode("entity")
        .unique(maintain_order=True)
    )


def _part(line: str, place: str) -> tuple[str, list[str]]:
    """Return the relation and the entities of a line."""
    relation, _, rest = line.partition("\t")
    size, *entities = rest.split("\t")
    if not _is_count(size) or int(size) != len(entities) or not entities:
        raise RankadjustError(
            f"{place}: {len(entities)} entities follow the number {size!r}; write how many there are"
        )
    return relation, entities


def _is_count(text: str) -> bool:
    # A superscript is a digit to Python, and thousands of digits are more than it reads.
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_COUNT
