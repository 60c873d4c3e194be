"""Ranking tasks: tables with one row a task, read from files, frames or arrays and checked.

Columns: rank, or optimistic and pessimistic (of tied scores); side (head, tail); optionally triple, num_candidates,
weight and group, and the columns that `task_attributes` names. Other columns are left alone (docs/evaluate.md,
"Ranks").
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
from rankadjust.base.frames import filled, is_frame, require_frame
from rankadjust.base.io import read_csv, read_parquet, readable
from rankadjust.base.vocabulary import TASK_SIDES, TIED
from rankadjust.evaluation.answer_lists import holds_answers, read_answers
from rankadjust.evaluation.rank_columns import (
    BEYOND,
    TRIPLE_WITH_RANKS,
    Layout,
    with_bounds,
    with_sides,
)
from rankadjust.evaluation.score_files import holds_scores, ranks_of_scores, read_array, read_scores
from rankadjust.evaluation.task_attributes import ATTRIBUTES

COLUMNS = ("rank", *TIED, "side", "triple", "num_candidates", "weight", "group")

_NUMBERS = ("rank", *TIED, "num_candidates", "weight")
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_SUFFIXES = (*_SEPARATORS, ".parquet")
# So LibKGE calls it, in a folder for each run.
_TRACE = "trace.yaml"
_TRACES = (".yaml", ".yml")
_TRACE_NUMBERS = ("s", "p", "o", "epoch", "rank", "rank_filtered", "rank_filtered_with_test")
# Head, relation and tail of a triple, and the ranks of head and tail: 'a;r;b;1;MISS_3'.
_TRIPLE_WITH_RANKS = re.compile(r"[^;]*;[^;]*;[^;]*(?:;(?:\d+(?:\.\d+)?|MISS\w*)){2}")
_SIDE_OF_TASK = {"sp": "tail", "po": "head"}


def tasks_from(
    source: str | Path | pl.DataFrame | ArrayLike,
    num_candidates: ArrayLike | None = None,
    where: str = "the ranks",
    layout: Layout | None = None,
) -> pl.DataFrame:
    """Return the tasks of a file or folder (ranks or scores), of a frame, or of an array of ranks.

    where: the name of the source in messages, if it is not a file. num_candidates: one number for all tasks or one
    for each; None where the source says it, or nobody does. layout: what the source does not say about its columns. The
    result has the columns of COLUMNS and ATTRIBUTES that the source has (numbers as Float64, others as String), without
    nulls; for scores also num_filtered and one_list, as `read_scores` has them.
    Raises RankadjustError with the number of a row that cannot be a task.
    """
    layout = layout or Layout()
    if num_candidates is not None and np.ndim(num_candidates) == 0 and layout.bounds:
        layout = replace(layout, most=int(_numbers(num_candidates, "num_candidates")[0]))
    if isinstance(source, str | Path):
        tasks = _read(Path(source), layout)
    elif is_frame(source):
        tasks = _tasks_of(require_frame(source, where), layout, where, first_row=0)
    elif isinstance(source, Mapping):
        tasks = _of_scores(ranks_of_scores(source, where), where)
    else:
        tasks = _tasks_of(_of_array(source, layout, where), layout, where, first_row=0)
    if num_candidates is None:
        return tasks
    counts = _numbers(num_candidates, "num_candidates")
    if counts.size not in (1, tasks.height):
        raise RankadjustError(
            f"num_candidates has {counts.size} values for {tasks.height} tasks; give one for each, or one for all"
        )
    counts = np.broadcast_to(counts, tasks.height)
    return check_tasks(tasks.with_columns(num_candidates=counts), where, first_row=0)


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise RankadjustError(f"{name} must be a list of numbers") from None
    if numbers.ndim != 1:
        raise RankadjustError(f"{name} must be a list of numbers, not an array of the shape {numbers.shape}")
    return numbers


def _of_array(source: ArrayLike, layout: Layout, where: str) -> pl.DataFrame:
    """Return an array of ranks as a table: of the shape (n,), or (n, columns) where these have names."""
    try:
        array = np.asarray(source)
    except ValueError:
        raise RankadjustError(f"{where} must be a list of numbers") from None
    if layout.columns and array.ndim == 2:
        return _named(pl.DataFrame(array, orient="row"), layout.columns, where)
    if array.ndim == 2:
        raise RankadjustError(
            f"{where}: an array of the shape {array.shape}; name its columns, for example columns=['rank_head', "
            "'rank_tail'] (--columns rank_head,rank_tail)"
        )
    return pl.DataFrame({"rank": _numbers(source, where)})


def _of_scores(ranks: pl.DataFrame, where: str) -> pl.DataFrame:
    known = [name for name in ("num_filtered", "one_list") if name in ranks.columns]
    return check_tasks(ranks, where, first_row=0).with_columns(ranks.select(known))


def _tasks_of(frame: pl.DataFrame, layout: Layout, where: str, first_row: int) -> pl.DataFrame:
    return check_tasks(with_bounds(with_sides(frame), layout, where), where, first_row, len(frame))


def _read(path: Path, layout: Layout) -> pl.DataFrame:
    if holds_scores(path):
        return _of_scores(read_scores(path), str(path))
    if re.match("[a-z]{2,}:/", str(path)):
        raise RankadjustError(f"{path}: this is an address; download the file, and give its path")
    if (path / _TRACE).is_file():
        path /= _TRACE
    if path.is_dir():
        return _read_folder(path, layout)
    if path.suffix == ".npy":
        return _tasks_of(_of_array(read_array(path), layout, str(path)), layout, str(path), first_row=0)
    if holds_answers(path):
        return check_tasks(read_answers(path, layout.known, layout.most), str(path), first_row=1)
    frame = read_trace(path) if path.suffix in _TRACES else _read_table(path, layout)
    # People count lines from 1, and the header of a text table is one.
    is_headed = not layout.columns and tuple(frame.columns) != TRIPLE_WITH_RANKS
    has_header = _suffix(path) in _SEPARATORS and is_headed
    return _tasks_of(frame, layout, str(path), first_row=1 + has_header)


def table_files(folder: Path) -> list[Path]:
    """Return the tables of a folder by name, or raise where there are none."""
    files = sorted(file for file in folder.iterdir() if _suffix(file) in _SUFFIXES)
    if not files:
        raise RankadjustError(
            f"{folder}: the folder holds neither scores.npy nor {', '.join(_SUFFIXES)} files"
        )
    return files


def run_sources(folder: Path, *, folders: bool = False) -> list[Path]:
    """Return what holds ranks or scores in a folder, by name, or raise where there is nothing.

    These are tables, .npz files, traces of LibKGE (trace.yaml, trace-1.yaml and the like, since a folder of LibKGE has
    its settings in other .yaml files), and folders that hold scores or a trace.yaml; all folders if these are wanted.
    """
    files = sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".") and (_is_run(path) or (folders and path.is_dir()))
    )
    if not files:
        raise RankadjustError(
            f"{folder}: the folder holds no ranks or scores: neither {', '.join(_SUFFIXES)} and .npz files "
            "nor trace.yaml of LibKGE, nor folders with one of these"
        )
    return files


def _is_run(path: Path) -> bool:
    if path.is_dir():
        return holds_scores(path) or (path / _TRACE).is_file()
    is_trace = path.suffix in _TRACES and path.name.startswith(Path(_TRACE).stem)
    return is_trace or path.suffix == ".npz" or _suffix(path) in _SUFFIXES


def _read_folder(path: Path, layout: Layout) -> pl.DataFrame:
    files = table_files(path)
    tables = [_read(file, layout) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.columns != tables[0].columns:
            raise RankadjustError(
                f"{file}: the columns are {', '.join(table.columns)}, but {files[0].name} has "
                f"{', '.join(tables[0].columns)}; give every file the same"
            )
    return pl.concat(tables)


def _read_table(path: Path, layout: Layout) -> pl.DataFrame:
    with readable(path):
        if path.suffix == ".parquet":
            return read_parquet(path)
        if _suffix(path) in _SEPARATORS:
            return _read_text(path, _SEPARATORS[_suffix(path)], layout.columns)
    raise RankadjustError(
        f"{path}: not a table of ranks or scores; known are {', '.join(_SUFFIXES)}, .npy, .npz, trace.yaml of LibKGE, "
        "and lists of answers of AnyBURL"
    )


def _read_text(path: Path, separator: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the table in a text. columns: the names of its columns, if it has no header.

    Where spreadsheets write a comma for the decimal point, they separate the cells by semicolons.
    """
    with path.open("rb") as file:
        start = file.read(1000)
    if start.startswith(b"PK"):
        raise RankadjustError(
            f"{path}: this is a zip archive, not a text; unpack it, and give the file in it"
        )
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start[:2]:
        raise RankadjustError(
            f"{path}: row 1: the text is UTF-16, as some spreadsheets write it; save it as UTF-8"
        )
    first = start.decode("utf-8", errors="replace").partition("\n")[0]
    has_semicolons = ";" in first and separator not in first and path.suffix != ".gz"
    if has_semicolons:
        separator = ";"
        columns = columns or (TRIPLE_WITH_RANKS if _TRIPLE_WITH_RANKS.fullmatch(first.strip()) else ())
    try:
        frame = read_csv(path, separator=separator, raise_if_empty=False, has_header=not columns)
    except pl.exceptions.PolarsError:
        if why := None if path.suffix == ".gz" else _why_no_table(path, separator):
            raise RankadjustError(f"{path}: {why}") from None
        raise
    frame = _named(frame, columns, str(path)) if columns else frame
    numbers = [name for name in _NUMBERS if name in frame.columns] if has_semicolons else []
    return frame.with_columns(pl.col(numbers).str.replace(",", ".", literal=True))


def _named(frame: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    if frame.width != len(columns):
        raise RankadjustError(
            f"{where}: {frame.width} columns, but {len(columns)} names: {', '.join(columns)}"
        )
    return frame.rename(dict(zip(frame.columns, columns, strict=True)))


def _why_no_table(path: Path, separator: str) -> str | None:
    """Return the first row that is no row of a table, the cause and the remedy; None where none is found."""
    lines = path.read_bytes().splitlines()
    header: list[str] = []
    for row, line in enumerate(lines, 1):
        try:
            cells = next(csv.reader([line.decode()], delimiter=separator), [])
        except UnicodeDecodeError:
            return f"row {row}: the text is not UTF-8; save it as UTF-8"
        header = header or cells
        if len(cells) > len(header):
            hint = (
                _header_hint(header) or "; write ranks with a decimal point, and text with a comma in quotes"
            )
            return f"row {row} has {len(cells)} cells, but the header {len(header)}{hint}"
    return None


def _suffix(path: Path) -> str:
    """Return the suffix of the format; gzipped text is read like text."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def check_tasks(frame: pl.DataFrame, where: str, first_row: int, height: int | None = None) -> pl.DataFrame:
    """Return the columns of tasks as Float64 and String, or raise RankadjustError with the first wrong row.

    where: what the message calls the table; first_row: the number of its first row; height: how many rows it has, if
    each of them is two tasks.
    """
    height = height or max(1, frame.height)
    _check_columns(frame, where)
    present = [name for name in COLUMNS if name in frame.columns]
    # People have columns of these names for other purposes: a column without an attribute for every task is left alone.
    present += [name for name in ATTRIBUTES if name in frame.columns and _is_attribute(frame[name])]
    rules = _rules(present)
    for name, (_, rule) in rules.items():
        if not _holds_values(frame[name], number=name in _NUMBERS):
            given = frame[name].drop_nulls().head(1).to_list()
            row = int((frame[name].is_not_null().arg_max() or 0) if given else 0)
            raise _wrong_value(where, first_row + row % height, name, given[0] if given else None, rule)
    text = [name for name in present if name not in _NUMBERS]
    tasks = frame.select(
        *(pl.col(name).cast(pl.Float64, strict=False) for name in present if name in _NUMBERS),
        *(pl.col(name).cast(pl.String).str.strip_chars() for name in text),
    ).select(present)
    if tasks.is_empty():
        raise RankadjustError(f"{where}: there are no tasks")
    if "side" in present:
        tasks = tasks.with_columns(pl.col("side").str.to_lowercase())
    for name, (is_wrong, rule) in rules.items():
        wrong = tasks.select((is_wrong | pl.col(name).is_null()).arg_true()).to_series()
        if wrong.len():
            row = int(wrong[0])
            raise _wrong_value(where, first_row + row % height, name, frame[name][row], rule)
    if "weight" in present and tasks["weight"].sum() == 0:
        raise RankadjustError(f"{where}: every weight is 0; at least one must be more")
    return tasks


def _wrong_value(where: str, row: int, name: str, given: object, rule: str) -> RankadjustError:
    said = "empty" if given is None else repr(given)
    return RankadjustError(f"{where}: row {row}: {name} is {said}, but it must be {rule}{_hint(name, given)}")


def _holds_values(column: pl.Series, *, number: bool) -> bool:
    """Say whether a column has one plain value in each cell: no lists, records or bytes, and for numbers no dates."""
    kind = column.dtype
    if number:
        return kind.is_numeric() or isinstance(kind, pl.String | pl.Categorical | pl.Enum | pl.Null)
    return not (kind.is_nested() or isinstance(kind, pl.Binary | pl.Object))


def _is_attribute(column: pl.Series) -> bool:
    is_text = isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum)
    return (is_text or column.dtype.is_integer()) and column.null_count() == 0


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
        raise RankadjustError(f"{where}: there are no ranks: it is empty")
    for name in frame.columns:
        # So polars calls the second column of a name.
        first = name.removesuffix("_duplicated_0")
        if first != name and first in COLUMNS:
            raise RankadjustError(f"{where}: there are two columns '{first}'; leave out one")
    absent = [name for name in COLUMNS if name not in frame.columns]
    for name in frame.columns:
        close = difflib.get_close_matches(name.casefold(), absent, n=1, cutoff=0.8)
        if name not in COLUMNS and close:
            raise RankadjustError(f"{where}: unknown column '{name}'; did you mean {close[0]}?")
    if "rank" in absent and not {*TIED}.isdisjoint(absent):
        raise RankadjustError(
            f"{where}: there are no ranks: needed is the column rank, or optimistic and pessimistic; "
            f"it has {', '.join(frame.columns)}{_header_hint(frame.columns)}"
        )


def _header_hint(names: Sequence[str]) -> str:
    """Return why the names of the columns look wrong."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|,"):
        return "; separate the columns by commas in a .csv, by tabs in a .tsv file"
    if any(name.replace(".", "", 1).isdecimal() for name in names):
        return "; the first line must be the names of the columns"
    return ""


def _rules(present: Sequence[str]) -> Mapping[str, tuple[pl.Expr, str]]:
    """Return for each column an expression for wrong cells, and the rule in words."""
    ranks = [name for name in ("rank", *TIED) if name in present]
    rules = {
        name: (_no_rank(name), "a rank: a whole number from 1 on, or a half between two") for name in ranks
    }
    for name in {*TIED} & {*present}:
        rules[name] = (_no_count(name), "a rank: a whole number from 1 on")
    if {*TIED} <= {*present}:
        worse = pl.col("pessimistic") < pl.col("optimistic")
        rules["pessimistic"] = (_no_count("pessimistic") | worse, "a whole number not below optimistic")
    if "rank" in present and not {*TIED}.isdisjoint(present):
        outside = pl.any_horizontal(
            *(pl.col("rank") < pl.col(name) for name in ("optimistic",) if name in present),
            *(pl.col("rank") > pl.col(name) for name in ("pessimistic",) if name in present),
        )
        rules["rank"] = (_no_rank("rank") | outside, "a rank from optimistic to pessimistic")
    if "side" in present:
        rules["side"] = (~pl.col("side").is_in(TASK_SIDES), "head or tail")
    if "num_candidates" in present:
        fewer = pl.any_horizontal(pl.col("num_candidates") < pl.col(name) for name in ranks)
        rules["num_candidates"] = (_no_count("num_candidates") | fewer, "a whole number not below the rank")
    if "weight" in present:
        rules["weight"] = (~((pl.col("weight") >= 0) & pl.col("weight").is_finite()), "a number from 0 on")
    never = pl.lit(value=False)
    rules |= {
        name: (never, "given for every task, or for none") for name in ("triple", "group") if name in present
    }
    return rules


def _no_count(name: str) -> pl.Expr:
    # Above 2^52 floats have no halves.
    return ~((pl.col(name) >= 1) & (pl.col(name) < 2.0**52) & (pl.col(name) % 1 == 0))


def _no_rank(name: str) -> pl.Expr:
    return ~((pl.col(name) >= 1) & (pl.col(name) < 2.0**51) & (pl.col(name) * 2 % 1 == 0))


# --- traces of LibKGE ------------------------------------------------------------------------------------------


def read_trace(path: Path) -> pl.DataFrame:
    """Return triple (LibKGE's three ids with commas), side, rank, relation and query of every task of a trace.yaml.

    A trace of an evaluation with `eval.trace_level: example` has one record a line, in YAML's flow style: `task: sp`
    asks for the object, `task: po` for the subject. Millions of lines are read by their keys rather than as YAML, which
    takes a thousand times as long.

    The rank is the basis of LibKGE's filtered metrics: filtered with the test triples if the trace has it
    (validation data), else filtered. Of several epochs the last counts. Raises
    RankadjustError where the trace has no examples, or examples of several splits.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RankadjustError(f"{path}: cannot be read as a trace of LibKGE ({error})") from None
    examples = pl.DataFrame(
        {"line": [line for line in lines if "event: example_rank" in line]}, schema={"line": pl.String}
    )
    if examples.is_empty():
        raise RankadjustError(
            f"{path}: there is no rank of a single triple; evaluate with LibKGE's option eval.trace_level=example"
        )
    keys = (*_TRACE_NUMBERS, "task", "split")
    ranks = examples.select(
        pl.col("line").str.extract(rf"[{{ ]{re.escape(key)}: ([^,}}]+)[,}}]").alias(key) for key in keys
    )
    ranks = ranks.with_columns(pl.col(_TRACE_NUMBERS).cast(pl.Int64, strict=False))
    rank = pl.coalesce("rank_filtered_with_test", "rank_filtered")
    broken = ranks.select(
        (rank.is_null() | ~pl.col("task").is_in(list(_SIDE_OF_TASK))).arg_true()
    ).to_series()
    if broken.len():
        line = examples["line"][int(broken[0])]
        raise RankadjustError(f"{path}: a record has no task sp or po, or no rank_filtered: {line[:80]}…")
    splits = ranks["split"].drop_nulls().unique().sort().to_list()
    if len(splits) > 1:
        raise RankadjustError(
            f"{path}: there are ranks of the splits {' and '.join(splits)}; keep the lines of one"
        )
    ids = ["s", "p", "o"]
    is_tail = pl.col("task") == "sp"
    asked = pl.when(is_tail).then(filled("{},{},?", "s", "p")).otherwise(filled("?,{},{}", "p", "o"))
    return ranks.filter(pl.col("epoch").eq_missing(pl.col("epoch").max())).select(
        triple=pl.concat_str([pl.col(name).cast(pl.String) for name in ids], separator=","),
        side=pl.col("task").replace_strict(_SIDE_OF_TASK),
        rank=rank,
        relation=pl.col("p").cast(pl.String),
        query=asked,
    )
