"""Triples as frames, checked, and as columns of small integers, on which counting works."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import require_frame
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, time_columns
from rankadjust.counting.packing import Integers
from rankadjust.data.encode import ids_of

# In this order splits become known: the code of a split is its place here.
ORDER = (
    "facts",
    "training",
    "inference",
    "validation",
    "inference_validation",
    "testing",
    "inference_testing",
    "inference_testing_2",
    "inference_testing_3",
)
# Ids beyond this many per occurrence are renumbered, so that tables indexed by id stay small.
_SPARSE = 16
_TEXT = (pl.String, pl.Categorical, pl.Enum)


def one_frame(splits: Mapping[str, pl.DataFrame] | pl.DataFrame) -> pl.DataFrame:
    """Return the triples of all splits below each other, checked, with a column `split`; times are text."""
    parts: list[pl.DataFrame] = []
    times: tuple[str, ...] | None = None
    for name, given in splits.items() if isinstance(splits, Mapping) else [(None, splits)]:
        where = "the triples" if name is None else f"split {name!r}"
        frame = require_frame(given, where)
        if name is not None:
            frame = frame.with_columns(split=pl.lit(str(name)))
        elif "split" not in frame.columns:
            raise RankadjustError("the triples lack the column 'split'; add it, or give one frame per split")
        times = time_columns(frame.columns) if times is None else times
        _check(frame, where, times)
        columns = [
            pl.col(column) if frame.schema[column].is_integer() else pl.col(column).cast(pl.String)
            for column in LABEL_COLUMNS
        ]
        parts.append(
            frame.select(pl.col("split").cast(pl.Enum(SPLITS)), *columns, pl.col(times).cast(pl.String))
        )
    if not parts:
        raise RankadjustError("no splits were given; count_candidates needs at least one")
    for column in LABEL_COLUMNS:
        if len({part.schema[column].is_integer() for part in parts}) > 1:
            raise RankadjustError(f"{column} is integer and text; give it the same type in every split")
    return pl.concat(parts, how="vertical_relaxed")


def _check(frame: pl.DataFrame, where: str, times: tuple[str, ...]) -> None:
    """Raise where a frame of triples has no rows, lacks a column, has times that others lack, or holds a null."""
    for split in frame["split"].unique().cast(pl.String):
        if split not in SPLITS:
            hint = did_you_mean(str(split), SPLITS) or f"; allowed: {', '.join(SPLITS)}"
            raise RankadjustError(f"unknown split {split!r}{hint}")
    for name in (*LABEL_COLUMNS, *times):
        if name not in frame.columns:
            raise RankadjustError(f"{where} lacks the column {name!r}; it has {', '.join(frame.columns)}")
    if time_columns(frame.columns) != times:
        raise RankadjustError(f"{where} has times and the first split has none; give times to all or to none")
    if frame.is_empty():
        raise RankadjustError(f"{where}: no triples; leave an empty split out")
    for name in (*LABEL_COLUMNS, *times):
        kind = frame.schema[name]
        if name not in times and not (kind.is_integer() or isinstance(kind, _TEXT)):
            raise RankadjustError(
                f"{where}: {name} is {kind}, which cannot be used as ids; give text or integers"
            )
        missing = (
            frame[name].is_null() if kind != pl.String else frame[name].is_in(["", None], nulls_equal=True)
        )
        if missing.any():
            row = missing.arg_max()
            raise RankadjustError(f"{where}: row {row} (from 0) has no {name}; drop the row or fill it in")


def integer_codes(triples: pl.DataFrame) -> dict[str, Integers]:
    """Return every column as integers from 0 on, small enough to index a table; equal values get equal integers."""
    codes: dict[str, Integers] = {}
    codes["head"], codes["tail"] = _codes([triples["head"], triples["tail"]])
    for name in ("relation", *time_columns(triples.columns)):
        (codes[name],) = _codes([triples[name]])
    position = np.array([ORDER.index(name) for name in SPLITS], np.uint8)
    codes["split"] = position[triples["split"].to_physical().to_numpy()]
    return codes


def _codes(columns: Sequence[pl.Series]) -> list[Integers]:
    """Return columns that share their ids as integers."""
    if not columns[0].dtype.is_integer():
        return [ids.to_numpy() for ids in ids_of(columns)[1]]
    ids = [column.to_numpy() for column in columns]
    highest = max(int(part.max()) for part in ids)
    if min(int(part.min()) for part in ids) < 0 or highest >= _SPARSE * ids[0].size:
        numbers = np.unique(np.concatenate(ids), return_inverse=True)[1].astype(np.uint32)
        return np.split(numbers, len(ids))
    return [part.astype(np.uint32, copy=False) for part in ids]
