"""Triples as frames, checked, and as columns of small integers, on which counting works."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import require_frame
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, time_columns
from rankadjust.counting.packing import Integers

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


def one_frame(splits: Mapping[str, pl.DataFrame] | pl.DataFrame) -> pl.DataFrame:
    """Return the triples of all splits below each other, checked, with a column `split`; times are text."""
    given = splits if isinstance(splits, Mapping) else {None: splits}
    called = {name: "the triples" if name is None else f"split {name!r}" for name in given}
    frames = {name: require_frame(frame, called[name]) for name, frame in given.items()}
    names = list(frames)
    if names == [None]:
        if "split" not in frames[None].columns:
            raise RankadjustError("the triples lack the column 'split'; add it, or give one frame per split")
        names = frames[None]["split"].unique().cast(pl.String).to_list()
    for name in names:
        if name not in SPLITS:
            hint = did_you_mean(str(name), SPLITS) or f"; allowed: {', '.join(SPLITS)}"
            raise RankadjustError(f"unknown split {name!r}{hint}")
    if not frames:
        raise RankadjustError("no splits were given; count_candidates needs at least one")
    times = time_columns(next(iter(frames.values())).columns)
    for name, frame in frames.items():
        _check(frame, called[name], times)
    kinds = {name: {_kind(frame.schema[name]) for frame in frames.values()} for name in LABEL_COLUMNS}
    for name, found in kinds.items():
        if len(found) > 1:
            raise RankadjustError(
                f"{name} is {' and '.join(sorted(found))}; give it the same type in every split"
            )
    tidy = [
        pl.col(name).cast(pl.String) if name in times or "text" in kinds[name] else pl.col(name)
        for name in (*LABEL_COLUMNS, *times)
    ]
    split = {name: pl.col("split") if name is None else pl.lit(name) for name in frames}
    return pl.concat(
        [
            frame.select(split[name].cast(pl.Enum(SPLITS)).alias("split"), *tidy)
            for name, frame in frames.items()
        ],
        how="vertical_relaxed",
    )


def _check(frame: pl.DataFrame, where: str, times: Sequence[str]) -> None:
    """Raise where a frame of triples has no rows, lacks a column, has times that others lack, or holds a null."""
    for name in (*LABEL_COLUMNS, *times):
        if name not in frame.columns:
            raise RankadjustError(f"{where} lacks the column {name!r}; it has {', '.join(frame.columns)}")
    if time_columns(frame.columns) != times:
        raise RankadjustError(f"{where} has times and the first split has none; give times to all or to none")
    if frame.is_empty():
        raise RankadjustError(f"{where}: no triples; leave an empty split out")
    for name in (*LABEL_COLUMNS, *times):
        missing = frame[name].is_null()
        missing |= (frame[name] == "").fill_null(value=False) if frame[name].dtype == pl.String else missing
        if missing.any():
            row = missing.arg_max()
            raise RankadjustError(f"{where}: row {row} (from 0) has no {name}; drop the row or fill it in")


def integer_codes(triples: pl.DataFrame) -> dict[str, Integers]:
    """Return every column as integers from 0 on, small enough to index a table; equal values get equal integers."""
    codes: dict[str, Integers] = {}
    codes["head"], codes["tail"] = _codes([triples["head"], triples["tail"]], "head and tail")
    for name in ("relation", *time_columns(triples.columns)):
        (codes[name],) = _codes([triples[name]], name)
    position = np.array([ORDER.index(name) for name in SPLITS], np.uint8)
    codes["split"] = position[triples["split"].to_physical().to_numpy()]
    return codes


def _codes(columns: Sequence[pl.Series], what: str) -> list[Integers]:
    """Return columns that share their ids as integers."""
    kinds = {_kind(column.dtype) for column in columns}
    if kinds == {"text"}:
        # Categories of their own: numbers of the global ones would grow with whatever else the process has read.
        categories = pl.Categorical(pl.Categories.random())
        # They live as long as a column that has them: all columns are cast before the first is let go.
        texts = [column.cast(categories) for column in columns]
        return [text.to_physical().to_numpy() for text in texts]
    if kinds != {"integer"}:
        raise RankadjustError(f"{what}: {columns[0].dtype} cannot be used as ids; give text or integers")
    ids = [column.to_numpy() for column in columns]
    highest = max(int(part.max()) for part in ids)
    if min(int(part.min()) for part in ids) < 0 or highest >= _SPARSE * ids[0].size:
        numbers = np.unique(np.concatenate(ids), return_inverse=True)[1].astype(np.uint32)
        return np.split(numbers, len(ids))
    return [part.astype(np.uint32, copy=False) for part in ids]


def _kind(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return "text"
    return "integer" if dtype.is_integer() else "other"
