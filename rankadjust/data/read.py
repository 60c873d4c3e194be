"""Reading triples: text files in any declared format, as columns of text; and the ranges of relations."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import read_csv, read_parquet, readable
from rankadjust.base.vocabulary import LABEL_COLUMNS, TASK_SIDES, TIME_COLUMNS
from rankadjust.data.registry import FACT_COLUMNS, REST, Format

# The format of OpenKE's triples.
OPENKE = Format(delimiter="whitespace", columns=("head", "tail", "relation"), header_lines=1)

_BOM = b"\xef\xbb\xbf"
# Stands for a delimiter of several bytes: no text has it.
_STAND_IN = b"\x1f"


def read_triples(path: str | Path, form: Format, name: str | None = None) -> pl.DataFrame:
    r"""Return the text of a file as columns head, relation, tail and, where declared, times (all String).

    A line ends with \n or \r\n and nothing else; the last line needs no end. A byte order mark is skipped.
    Labels are kept unchanged: quotes, '#', 'NA' and leading zeros mean nothing here. Of facts with any number of
    entities the columns are relation and entities (a list); a last line that is cut off after its relation is left out.
    name: what the user calls the file, for errors; its path where it is not given.

    Raises RankadjustError with file and line for a wrong number of fields, an empty field, and bytes that are not
    UTF-8; with the file for one without triples.
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
    if form.columns == FACT_COLUMNS:
        return _facts(data, form, name)
    separator, data = _with_single_byte(data, form)
    declared, form = form, replace(form, columns=tuple(name for name in form.columns if name != REST))
    if declared != form:
        width = len(form.columns)
        data = b"\n".join(separator.join(line.split(separator, width)[:width]) for line in data.split(b"\n"))
    start = 0
    for _ in range(form.header_lines):
        start = data.index(b"\n", start) + 1
    regular = data.count(separator, start) == rows * (len(form.columns) - 1)
    try:
        frame = _parse(data, separator, form)
        problem = f"{frame.height} of {rows} lines could be read"
        empty = pl.any_horizontal((pl.all().is_null() | (pl.all() == "")).any())
        regular = regular and frame.height == rows and not frame.select(empty).item()
    except pl.exceptions.PolarsError as error:
        problem, regular = f"cannot be read ({error})", False
    if not regular:
        place = _first_problem(path.read_bytes().removeprefix(_BOM), declared)
        raise RankadjustError(f"{name}{place or f': {problem}'}")
    return frame


def read_own_triples(path: str | Path, columns: tuple[str, ...] = ()) -> pl.DataFrame:
    """Return the triples of a file whose format nobody declares, as `read_triples` does.

    A file .parquet, or text: between tabs, between commas (.csv), or else between blanks. A first line that names head,
    relation and tail is a header; a number is one of OpenKE's. columns: as in Format, in place of the header's names.
    """
    path = Path(path)
    if columns and not set(LABEL_COLUMNS) <= set(columns):
        raise RankadjustError(
            f"the columns are {', '.join(columns)}; they have to be head, relation and tail"
        )
    if path.suffix == ".parquet":
        with readable(path):
            frame = read_parquet(path)
        return frame.rename(dict(zip(frame.columns, columns, strict=False)))
    with readable(path, "cannot be read as triples"), path.open("rb") as file:
        line = file.readline().removeprefix(_BOM).decode(errors="replace").strip()
    if line.isdigit():
        return read_triples(path, replace(OPENKE, columns=columns or OPENKE.columns))
    form = Format("tab" if "\t" in line else "comma" if path.suffix == ".csv" else "whitespace")
    fields = [field.strip().casefold() for field in line.split(form.separator)]
    is_header = set(LABEL_COLUMNS) <= set(fields)
    named = [field if field in (*LABEL_COLUMNS, *TIME_COLUMNS) else "ignore" for field in fields]
    known = columns or (named if is_header else form.columns)
    return read_triples(path, replace(form, columns=tuple(known), header_lines=int(is_header)))


def _facts(data: bytes, form: Format, name: str) -> pl.DataFrame:
    """Return relation and entities of the lines of a file; raise RankadjustError with the line of a wrong one."""
    lines = data.decode().split("\n")
    # A last line without its end may be one that was cut off.
    if not lines[-1] or (form.separator or " ") not in lines[-1]:
        lines.pop()
    rows = [line.removesuffix("\r").split(form.separator) for line in lines]
    rows = rows[form.header_lines :]
    for number, fields in enumerate(rows, form.header_lines + 1):
        if len(fields) < 3 or not all(fields):
            raise RankadjustError(
                f"{name}:{number}: not a relation and two or more entities, none of them empty"
            )
    entities = pl.Series([fields[1:] for fields in rows], dtype=pl.List(pl.String))
    return pl.DataFrame({"relation": [fields[0] for fields in rows], "entities": entities})


def _parse(data: bytes, separator: bytes, form: Format) -> pl.DataFrame:
    """Read separated text with polars; missing and empty fields are null.

    polars drops a carriage return at the end of every field, so a carriage return before a separator is doubled. It
    unpacks text that begins like a zlib stream, as 'x^2' does; after a byte order mark it does not look.
    """
    names = [f"{name}{number}" if name == "ignore" else name for number, name in enumerate(form.columns)]
    if b"\r" in data:
        data = data.replace(b"\r" + separator, b"\r\r" + separator)
    return read_csv(
        _BOM + data if data.startswith(b"x") else data,
        separator=separator.decode(),
        columns=[names.index(name) for name in form.kept],
        schema=dict.fromkeys(names, pl.String),
        skip_lines=form.header_lines,
        has_header=False,
        quote_char=None,
    ).select(form.kept)


def _with_single_byte(data: bytes, form: Format) -> tuple[bytes, bytes]:
    """Return a separator of one byte, and the data with it in place of the declared delimiter."""
    if form.separator is None:
        return b"\t", b"\n".join(b"\t".join(line.split()) for line in data.split(b"\n"))
    separator = form.separator.encode()
    if len(separator) == 1:
        return separator, data
    return _STAND_IN, data.replace(separator, _STAND_IN)


def _first_problem(data: bytes, form: Format) -> str | None:
    """Return ':2: what is wrong' of the first bad line, one line after the other: slow, but for refused files only."""
    columns = [name for name in form.columns if name != REST]
    between = f"between {form.delimiter!r}" if form.separator else "between blanks"
    for number, line in enumerate(data.split(b"\n")[: data.count(b"\n") + (data[-1:] != b"\n")], 1):
        if number <= form.header_lines:
            continue
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1} of the line (0x{line[error.start]:02x})"
            return f":{number}: {place} is not UTF-8; convert the file to UTF-8"
        # Only blanks of ASCII separate fields.
        words = text.split(form.separator) if form.separator else [word.decode() for word in line.split()]
        fields = words[: len(columns)] if REST in form.columns else words
        if len(fields) != len(columns):
            remedy = "check format.delimiter, format.columns and format.header_lines, or mend the line"
            if line.strip().isdigit():
                remedy = "if the line counts the others, as in OpenKE's files, declare format.header_lines: 1"
            elif any(word.startswith('"') for word in words):
                remedy = "quotes do not keep a field together (config/datasets.d/README.md): use tabs"
            return f":{number}: {len(fields)} fields {between}, but format.columns names {len(columns)}; {remedy}"
        for name, field in zip(columns, fields, strict=True):
            if not field and name != "ignore":
                return f":{number}: the {name} is empty; every label needs at least one character"
    return None


# Ranges: which entities each relation has on its sides, in OpenKE's layout (type_constrain.txt)


def read_ranges(path: str | Path) -> pl.DataFrame:
    """Return the columns relation, side (head, tail) and entity (all String): a row per entity of a range.

    The first line of the file is the number of relations. Of each relation follow two lines, first the heads, then the
    tails: its id, how many entities, and the entities, between tabs.

    Raises RankadjustError with the file where a number does not agree with the lines after it.
    """
    rows = []
    try:
        first, *lines = Path(path).read_text(encoding="utf-8").splitlines()
        regular = len(lines) == 2 * int(first)
        for number, line in enumerate(lines):
            relation, size, *entities = line.split("\t")
            regular &= int(size) == len(entities) and relation == lines[number - number % 2].split("\t")[0]
            rows.append((relation, TASK_SIDES[number % 2], entities))
    except (OSError, ValueError):
        regular = False
    if not regular:
        raise RankadjustError(
            f"{path}: not a file of ranges; its first line is the number of relations, and each relation has a line of "
            "heads and a line of tails, with relation, number of entities and entities between tabs"
        )
    schema = pl.Schema([("relation", pl.String), ("side", pl.String), ("entity", pl.List(pl.String))])
    return pl.DataFrame(rows, schema, orient="row").explode("entity").unique(maintain_order=True)
