"""Triples: reading text files in any declared format, and encoding labels as integers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from rankadjust.errors import RankadjustError
from rankadjust.registry import LABEL_COLUMNS, SPLITS, TIME_COLUMNS, Format

__all__ = [
    "SPLITS",
    "Encoded",
    "Format",
    "encode",
    "read_triples",
]

_BOM = b"\xef\xbb\xbf"
_BLANKS = " \t"
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_CHUNK = 1 << 22
# Bytes that may stand for a delimiter of several bytes, as long as the file does not hold them.
_STAND_INS = (b"\t", b"\x1f", b"\x1e", b"\x1d", b"\x1c", b"\x01", b"\x02", b"\x03", b"|", b";", b",", b" ")


@dataclass(frozen=True)
class Encoded:
    """Triples of integers and the labels they stand for.

    triples: one row per line of the files, split by split: split (Enum of SPLITS), head, relation, tail
        (UInt32), and time, or time_start and time_end (String, as printed) where the data set has them.
    labels: kind ('entity' or 'relation'), id (UInt32), label (String). The id of a label is its place among
        all labels of the kind, sorted by their bytes in UTF-8: '10' comes before '9', integers or not.
    """

    triples: pl.DataFrame
    labels: pl.DataFrame


# Reading


def read_triples(path: str | Path, form: Format) -> pl.DataFrame:
    r"""Return the text of a file as columns head, relation, tail and, where declared, times (all String).

    A line ends with \n or \r\n and nothing else; the last one needs no end. A byte order mark is skipped.
    Labels are kept as they stand: quotes, '#', 'NA' and leading zeros mean nothing here.

    Raises RankadjustError with file and line for a wrong number of fields, an empty field, bytes that are not
    UTF-8, a label that should be an integer and is not; with the file for one without triples.
    """
    path = Path(path)
    count = _count_bytes(path, form)
    if count.lines <= form.header_lines:
        what = "is empty" if count.lines == 0 else "has no line after its header"
        raise RankadjustError(f"{path}: the file {what}; a split needs at least one triple")
    try:
        frame = _parse(path, form)
    except pl.exceptions.PolarsError as error:
        raise _first_problem(path, form) or RankadjustError(f"{path}: cannot be read ({error})") from None
    fields = len(form.columns)
    rows = count.lines - form.header_lines
    regular = count.separators is None or count.separators == rows * (fields - 1)
    if frame.height != rows or not regular or not _valid(frame, form):
        raise _first_problem(path, form) or RankadjustError(
            f"{path}: {frame.height} of {rows} lines were read"
        )
    return frame


class _Count(NamedTuple):
    """Lines of a file, and separators after the header where one byte separates (else None)."""

    lines: int
    separators: int | None


def _count_bytes(path: Path, form: Format) -> _Count:
    separator = _single_byte(form)
    lines = separators = 0
    last = b"\n"
    with path.open("rb") as file:
        for _ in range(form.header_lines):
            lines += bool(file.readline())
        while chunk := file.read(_CHUNK):
            lines += chunk.count(b"\n")
            separators += chunk.count(separator) if separator else 0
            last = chunk[-1:]
    return _Count(lines + (last != b"\n"), separators if separator else None)


def _single_byte(form: Format) -> bytes | None:
    encoded = (form.separator or "").encode()
    return encoded if len(encoded) == 1 else None


def _parse(path: Path, form: Format) -> pl.DataFrame:
    """Read with polars what it can read as separated text; missing and empty fields are null."""
    separator = _single_byte(form)
    source: Path | bytes = path
    if separator is None:
        separator, source = _with_single_byte(path.read_bytes(), form)
    names = [f"{name}{number}" if name == "ignore" else name for number, name in enumerate(form.columns)]
    frame = pl.read_csv(
        source,
        separator=separator.decode(),
        columns=[names.index(name) for name in form.kept],
        schema=dict.fromkeys(names, pl.String),
        skip_lines=form.header_lines,
        has_header=False,
        quote_char=None,
    ).select(form.kept)
    return frame.with_columns(pl.all().str.strip_chars(_BLANKS)) if form.strip else frame


def _with_single_byte(data: bytes, form: Format) -> tuple[bytes, bytes]:
    """Return a byte that separates and the data with it in place of the declared delimiter."""
    data = data.removeprefix(_BOM)
    if form.separator is None:
        return b"\t", b"\n".join(b"\t".join(line.split()) for line in data.split(b"\n"))
    separator = form.separator.encode()
    labels = data.replace(separator, b"")
    stand_in = next((byte for byte in _STAND_INS if byte not in labels), None)
    if stand_in is None:
        problem = (
            f"the delimiter {form.separator!r} has several bytes, and the labels hold every control character"
        )
        raise RankadjustError(f"{problem} that could stand in for it; write the file with tabs")
    return stand_in, data.replace(separator, stand_in)


def _valid(frame: pl.DataFrame, form: Format) -> bool:
    """Return whether no field is missing or empty, and labels are integers where they have to be."""
    problems = [pl.col(form.kept).is_null() | (pl.col(form.kept) == "")]
    if form.labels == "integer":
        problems.append(~pl.col(LABEL_COLUMNS).str.contains(f"^(?:{_INTEGER.pattern})$"))
    return not frame.select(pl.any_horizontal(problem.any() for problem in problems)).item()


def _first_problem(path: Path, form: Format) -> RankadjustError | None:
    """Find the first bad line, one line after the other: slow, but only for files that were refused."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number > form.header_lines:
                data = line.removeprefix(_BOM) if number == 1 else line
                problem = _line_problem(data.removesuffix(b"\n").removesuffix(b"\r"), form)
                if problem:
                    return RankadjustError(f"{path}:{number}: {problem}")
    return None


def _line_problem(line: bytes, form: Format) -> str | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return f"byte {error.start + 1} of the line (0x{byte:02x}) is not UTF-8; convert the file to UTF-8"
    fields = (
        [field.decode() for field in line.split()] if form.separator is None else text.split(form.separator)
    )
    if len(fields) != len(form.columns):
        between = f"between {form.delimiter!r}" if form.separator else "between blanks"
        problem = f"{len(fields)} fields {between} where format.columns names {len(form.columns)}"
        return f"{problem}; check format.delimiter, format.columns and format.header_lines, or mend the line"
    for name, field in zip(form.columns, fields, strict=True):
        label = field.strip(_BLANKS) if form.strip else field
        if not label and name != "ignore":
            return f"the {name} is empty; every label needs at least one character"
        if form.labels == "integer" and name in LABEL_COLUMNS and not _INTEGER.fullmatch(label):
            problem = f"the {name} {label!r} is not a plain integer"
            return f"{problem}; declare format.labels: text, or check format.columns"
    return None


# Encoding


def encode(splits: Mapping[str, pl.DataFrame]) -> Encoded:
    """Replace the labels of all splits by integers that depend on nothing but the labels.

    splits: frames of String columns head, relation, tail and, in all of them or none, times.
    Raises RankadjustError for an unknown name of a split and for frames with different columns.
    """
    unknown = [name for name in splits if name not in SPLITS]
    if unknown:
        raise RankadjustError(f"unknown split '{unknown[0]}'; the splits are {', '.join(SPLITS)}")
    present = [name for name in SPLITS if name in splits]
    columns = [name for name in (*LABEL_COLUMNS, *TIME_COLUMNS) if name in splits[present[0]].columns]
    for name in present:
        if set(columns) != set(splits[name].columns):
            raise RankadjustError(f"the split {name} has other columns than {present[0]}; declare one format")
    entities = _ranked([splits[name][column] for name in present for column in ("head", "tail")])
    relations = _ranked([splits[name]["relation"] for name in present])
    ids = {"head": entities.ids[0::2], "relation": relations.ids, "tail": entities.ids[1::2]}
    frames = [
        pl.DataFrame({column: ids[column][number] for column in LABEL_COLUMNS})
        .with_columns(splits[name].select(columns[len(LABEL_COLUMNS) :]))
        .select(pl.lit(name, pl.Enum(SPLITS)).alias("split"), *columns)
        for number, name in enumerate(present)
    ]
    return Encoded(pl.concat(frames), pl.concat([entities.table("entity"), relations.table("relation")]))


@dataclass(frozen=True)
class _Ranked:
    """Labels in order, and for each column the ids of its rows."""

    labels: pl.Series
    ids: list[npt.NDArray[np.uint32]]

    def table(self, kind: str) -> pl.DataFrame:
        return pl.DataFrame({"label": self.labels}).select(
            kind=pl.lit(kind), id=pl.int_range(pl.len(), dtype=pl.UInt32), label="label"
        )


def _ranked(columns: Sequence[pl.Series]) -> _Ranked:
    """Replace labels by their ranks among the labels of all columns.

    Categories give each label a number as it comes, which differs from run to run; only its rank leaves this
    function. Columns are cast one after the other: threads that fill the same categories wait for each other.
    """
    categorical = pl.Categorical(pl.Categories.random())
    coded = [column.cast(categorical) for column in columns]
    used = pl.concat([codes.unique() for codes in coded]).unique()
    labels = used.cast(pl.String)
    numbers = used.to_physical().to_numpy()
    rank = np.zeros(int(numbers.max()) + 1, dtype=np.uint32)
    rank[numbers[labels.arg_sort().to_numpy()]] = np.arange(len(labels), dtype=np.uint32)
    return _Ranked(labels.sort(), [rank[codes.to_physical().to_numpy()] for codes in coded])
