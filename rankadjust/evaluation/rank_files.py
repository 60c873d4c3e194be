"""Ranking tasks: tables with one row a task, read from files, frames or arrays and checked.

Columns: rank, or optimistic and pessimistic (of tied scores); side (head, tail); optionally triple, num_candidates, and
the columns that `task_attributes` names. Other columns are left alone (docs/rank-files.md).
"""

import csv
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import is_frame, require_frame
from rankadjust.base.io import read_csv, read_parquet, readable
from rankadjust.base.vocabulary import TASK_SIDES, TIED
from rankadjust.evaluation.rank_columns import (
    BEYOND,
    TRIPLE_WITH_RANKS,
    Layout,
    with_bounds,
    with_sides,
)
from rankadjust.evaluation.score_files import as_array, ranks_of_scores, read_array, read_scores
from rankadjust.evaluation.task_attributes import ATTRIBUTES, baselines_in
from rankadjust.evaluation.tool_files import holds_answers, read_answers

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_SUFFIXES = (*_SEPARATORS, ".parquet")
# Head, relation and tail of a triple, and the ranks of head and tail: 'a;r;b;1;MISS_3'.
_TRIPLE_WITH_RANKS = re.compile(r"[^;]*;[^;]*;[^;]*(?:;(?:\d+(?:\.\d+)?|MISS\w*)){2}")


def tasks_from(
    source: str | Path | pl.DataFrame | ArrayLike,
    num_candidates: ArrayLike | None = None,
    where: str = "the ranks",
    layout: Layout | None = None,
) -> pl.DataFrame:
    """Return the tasks of a file (ranks or scores), of a frame, or of an array of ranks.

    where: the name of the source in messages, if it is not a file. num_candidates: one number for all tasks or one
    for each; None where the source says it, or nobody does. layout: what the source does not say about its columns. The
    result has the columns of COLUMNS and ATTRIBUTES that the source has (numbers as Float64, others as String), without
    nulls, and the ranks of baselines; for scores also one_list, as `ranks_of_scores` has it.
    Raises RankadjustError with the number of a row that cannot be a task.
    """
    layout = layout or Layout()
    counts = None if num_candidates is None else _numbers(num_candidates, "num_candidates")
    if counts is not None and counts.size == 1 and layout.bounds:
        layout = replace(layout, most=int(counts[0]))
    if isinstance(source, str | Path):
        tasks = _read(Path(source), layout)
    elif isinstance(source, Mapping):
        tasks = _of_scores(ranks_of_scores(source, where), where)
    else:
        is_table = is_frame(source)
        frame = require_frame(source, where) if is_table else _of_array(source, layout, where)
        tasks = _tasks_of(frame, layout, where, first_row=0)
    if counts is None:
        return tasks
    if counts.size not in (1, tasks.height):
        raise RankadjustError(
            f"num_candidates has {counts.size} values for {tasks.height} tasks; give one for each, or one for all"
        )
    counts = np.broadcast_to(counts, tasks.height)
    return _checked(tasks.with_columns(num_candidates=counts), where, first_row=0)


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        numbers = np.atleast_1d(as_array(values).astype(np.float64))
    except (TypeError, ValueError):
        raise RankadjustError(f"{name} must be a list of numbers") from None
    if numbers.ndim != 1:
        raise RankadjustError(f"{name} must be a list of numbers, not an array of the shape {numbers.shape}")
    return numbers


def _of_array(source: ArrayLike, layout: Layout, where: str) -> pl.DataFrame:
    """Return an array of ranks as a table: of the shape (n,), or (n, columns) where these have names."""
    try:
        array = as_array(source)
    except ValueError:
        raise RankadjustError(f"{where} must be a list of numbers") from None
    if array.ndim != 2:
        return pl.DataFrame({"rank": _numbers(array, where)})
    if layout.columns:
        return _named(pl.DataFrame(array, orient="row"), layout.columns, where)
    raise RankadjustError(
        f"{where}: the array has the shape {array.shape}; name its columns, for example columns=['rank_head', "
        "'rank_tail'] (--columns rank_head,rank_tail)"
    )


def _named(frame: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    if frame.width != len(columns):
        raise RankadjustError(
            f"{where}: {frame.width} columns, but {len(columns)} names: {', '.join(columns)}"
        )
    return frame.rename(dict(zip(frame.columns, columns, strict=True)))


def _of_scores(ranks: pl.DataFrame, where: str) -> pl.DataFrame:
    one_list = [name for name in ranks.columns if name == "one_list"]
    return _checked(ranks, where, first_row=0).with_columns(ranks.select(one_list))


def _tasks_of(frame: pl.DataFrame, layout: Layout, where: str, first_row: int) -> pl.DataFrame:
    return _checked(with_bounds(with_sides(frame), layout, where), where, first_row, len(frame))


# --- files -----------------------------------------------------------------------------------------------------


def _read(path: Path, layout: Layout) -> pl.DataFrame:
    if path.suffix == ".npz":
        return _of_scores(read_scores(path), str(path))
    if re.match("[a-z]{2,}:/", str(path)):
        raise RankadjustError(f"{path}: this is an address; download the file, and give its path")
    if path.is_dir():
        raise RankadjustError(f"{path}: this is a folder; give one file of ranks or scores")
    if holds_answers(path):
        return _checked(read_answers(path, layout.known, layout.most), str(path), first_row=1)
    if path.suffix == ".npy":
        return _tasks_of(_of_array(read_array(path), layout, str(path)), layout, str(path), first_row=0)
    frame = _read_table(path, layout)
    # People count lines from 1, and the header of a text table is one.
    is_headed = not layout.columns and tuple(frame.columns) != TRIPLE_WITH_RANKS
    return _tasks_of(frame, layout, str(path), 1 + (path.suffix in _SEPARATORS and is_headed))


def run_files(folder: Path) -> list[Path]:
    """Return the tables and .npz files in a folder, by name, or raise where there is none."""
    files = sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".") and (path.suffix == ".npz" or path.suffix in _SUFFIXES)
    )
    if not files:
        raise RankadjustError(f"{folder}: the folder holds no {', '.join(_SUFFIXES)} and .npz files")
    return files


def _read_table(path: Path, layout: Layout) -> pl.DataFrame:
    with readable(path):
        if path.suffix == ".parquet":
            return read_parquet(path)
        if path.suffix in _SEPARATORS:
            return _read_text(path, _SEPARATORS[path.suffix], layout.columns)
    raise RankadjustError(
        f"{path}: not a table of ranks or scores; give a file that ends in {', '.join(_SUFFIXES)}, .npy or "
        ".npz, or AnyBURL's lists of answers"
    )


def _read_text(path: Path, separator: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the table in a text. columns: the names of its columns, if it has no header.

    Where spreadsheets write a comma for the decimal point, they separate the cells by semicolons.
    """
    with path.open("rb") as file:
        start = file.read(1000)
    if b"\0" in start[:4]:
        raise RankadjustError(f"{path}: row 1: the text is UTF-16; save it as UTF-8")
    first = start.decode("utf-8", errors="replace").partition("\n")[0]
    has_semicolons = ";" in first and separator not in first
    if has_semicolons:
        separator = ";"
        columns = columns or (TRIPLE_WITH_RANKS if _TRIPLE_WITH_RANKS.fullmatch(first.strip()) else ())
    try:
        frame = read_csv(path, separator=separator, raise_if_empty=False, has_header=not columns)
    except pl.exceptions.PolarsError:
        _refuse_row(path, separator)
        raise
    frame = _named(frame, columns, str(path)) if columns else frame
    numbers = [name for name in _NUMBERS if name in frame.columns] if has_semicolons else []
    return frame.with_columns(pl.col(numbers).str.replace(",", ".", literal=True))


def _refuse_row(path: Path, separator: str) -> None:
    """Raise RankadjustError with the first row that is no row of a table, the cause and the remedy."""
    header: list[str] = []
    for row, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            cells = next(csv.reader([line.decode()], delimiter=separator), [])
        except UnicodeDecodeError:
            raise RankadjustError(f"{path}: row {row}: the text is not UTF-8; save it as UTF-8") from None
        header = header or cells
        if len(cells) > len(header):
            hint = (
                _header_hint(header) or "; write ranks with a decimal point, and text with a comma in quotes"
            )
            raise RankadjustError(
                f"{path}: row {row} has {len(cells)} cells, but the header {len(header)}{hint}"
            )


# --- what a table of tasks may hold ----------------------------------------------------------------------------


def _no_count(name: str) -> pl.Expr:
    # Above 2^52 floats have no halves.
    return ~((pl.col(name) >= 1) & (pl.col(name) < 2.0**52) & (pl.col(name) % 1 == 0))


_best, _worst = (pl.col(name) for name in TIED)
_rank = pl.col("rank")
_no_rank = ~((_rank >= 1) & (_rank < 2.0**51) & (_rank * 2 % 1 == 0))
_no_number = _no_count("num_candidates") | (pl.col("num_candidates") < pl.max_horizontal("rank", *TIED))
# For each column the wrong cells, and the rule in words; a column that a table lacks is null.
_RULES = (
    ("rank", _no_rank, "a rank: a whole number from 1 on, or a half between two"),
    (TIED[0], _no_count(TIED[0]), "a rank: a whole number from 1 on"),
    (TIED[1], _no_count(TIED[1]) | (_worst < _best), "a whole number not below optimistic"),
    ("rank", (_rank < _best) | (_rank > _worst), "a rank from optimistic to pessimistic"),
    ("side", ~pl.col("side").is_in(TASK_SIDES), "head or tail"),
    ("triple", pl.lit(value=False), "given for every task, or for none"),
    ("num_candidates", _no_number, "a whole number not below the rank"),
)
COLUMNS = tuple(dict.fromkeys(name for name, _, _ in _RULES))
_NUMBERS = ("rank", *TIED, "num_candidates")
_TEXT = pl.String | pl.Categorical | pl.Enum


def _checked(frame: pl.DataFrame, where: str, first_row: int, height: int | None = None) -> pl.DataFrame:
    """Return the columns of tasks as Float64 and String, or raise RankadjustError with the first wrong row.

    where: what the message calls the table; first_row: the number of its first row; height: how many rows it has, if
    each of them is two tasks.
    """

    def refuse(row: int, name: str, rule: str) -> None:
        given = frame[name].slice(row, 1).to_list()[0]
        said, number = "empty" if given is None else repr(given), first_row + row % (height or frame.height)
        raise RankadjustError(
            f"{where}: row {number}: {name} is {said}, but it must be {rule}{_hint(name, given)}"
        )

    _check_columns(frame, where)
    if frame.is_empty():
        raise RankadjustError(f"{where}: there are no tasks")
    present = [name for name in COLUMNS if name in frame.columns]
    rules = [(name, wrong, rule) for name, wrong, rule in _RULES if name in present]
    for name, _, rule in rules:
        kind = frame.schema[name]
        is_plain = not (kind.is_nested() or isinstance(kind, pl.Binary | pl.Object))
        if not (kind.is_numeric() or isinstance(kind, _TEXT | pl.Null) if name in _NUMBERS else is_plain):
            refuse(int(frame[name].is_not_null().arg_max() or 0), name, rule)
    # People have columns of these names for other purposes: a column without an attribute for every task is left alone.
    named = [name for name in ATTRIBUTES if name in frame.columns and not frame[name].null_count()]
    attributes = [
        name for name in named if isinstance(kind := frame.schema[name], _TEXT) or kind.is_integer()
    ]
    counted = [f"{name}_{end}" for name in baselines_in(frame.columns) for end in TIED]
    tasks = frame.select(
        pl.col(name).cast(pl.Float64, strict=False)
        if name in (*_NUMBERS, *counted)
        else pl.col(name).cast(pl.String).str.strip_chars()
        for name in (*present, *attributes, *counted)
    ).with_columns(pl.col("side" if "side" in present else ()).str.to_lowercase())
    absent = {name: pl.lit(None, pl.Float64) for name in _NUMBERS if name not in present}
    judged = tasks.with_columns(**absent)
    for name, is_wrong, rule in rules:
        wrong = judged.select((is_wrong.fill_null(value=False) | pl.col(name).is_null()).arg_true())
        if wrong.height:
            refuse(int(wrong.item(0, 0)), name, rule)
    return tasks


def _hint(name: str, given: object) -> str:
    """Return what is likely to be behind a wrong value of a column."""
    text = str(given).strip().casefold()
    if name == "side":
        return did_you_mean(str(given), TASK_SIDES)
    if name in ("rank", *TIED):
        if text in ("0", "0.0"):
            return "; if your ranks count from 0, add 1 to each; if 0 is an answer beyond the best k, give --beyond k"
        if re.search(BEYOND, text):
            return "; if the answer was not among the best k, give --beyond k"
        if re.fullmatch(r"\d+,\d+", text):
            return f"; write a decimal point: {text.replace(',', '.')}"
        if text == "nan":
            return "; look for scores of the model that are NaN"
    return ""


def _check_columns(frame: pl.DataFrame, where: str) -> None:
    """Raise where ranks are missing, or where a column is called nearly like one that is missing."""
    if not frame.columns:
        raise RankadjustError(f"{where}: there are no ranks, because it is empty")
    for name in ("weight", "group"):
        if name in frame.columns:
            raise RankadjustError(
                f"{where}: the column {name} is not read, because every task counts alike; leave it out, or "
                "evaluate each part in a file of its own"
            )
    absent = [name for name in COLUMNS if name not in frame.columns]
    for name in frame.columns:
        # So polars calls the second column of a name.
        first = name.removesuffix("_duplicated_0")
        if first != name and first in COLUMNS:
            raise RankadjustError(f"{where}: there are two columns '{first}'; leave out one")
        close = difflib.get_close_matches(name.casefold(), absent, n=1, cutoff=0.8)
        if name not in COLUMNS and close:
            raise RankadjustError(f"{where}: unknown column '{name}'; did you mean {close[0]}?")
    if "rank" in absent and not {*TIED}.isdisjoint(absent):
        raise RankadjustError(
            f"{where}: there is no column rank, nor optimistic and pessimistic; the columns are "
            f"{', '.join(frame.columns)}{_header_hint(frame.columns)}"
        )


def _header_hint(names: Sequence[str]) -> str:
    """Return why the names of the columns look wrong."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|,"):
        return "; separate the columns by commas in a .csv, by tabs in a .tsv file"
    if any(name.replace(".", "", 1).isdecimal() for name in names):
        return "; the first line must be the names of the columns"
    return ""
