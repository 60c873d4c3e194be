"""Encoding triples: from labels to integers that depend on nothing but the labels.

Text is compared, sorted and looked up as seldom as possible: labels are replaced by hashes of 64 bits, sorting
finds equal labels, and only one label of each is sorted as text. Nothing relies on luck: at the end every label
is compared with the label of its id, and where two labels have the same hash, all is done again with
another hash.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, count

import numpy as np
import numpy.typing as npt
import polars as pl

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, TIME_COLUMNS

_Ids = npt.NDArray[np.uint32]
_Hashes = npt.NDArray[np.uint64]

_KINDS = {"entity": ("head", "tail"), "relation": ("relation",)}
_KIND_OF = {column: kind for kind, columns in _KINDS.items() for column in columns}
# Rows that are looked at together: copies of so many take little memory.
_BLOCK = 1 << 20


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


def encode(splits: Mapping[str, pl.DataFrame], entities: pl.Series | None = None) -> Encoded:
    """Replace the labels of all splits by integers that depend on nothing but the labels.

    splits: frames of String columns head, relation, tail and, in all of them or none, times.
    entities: the labels (String) of all entities, if the data set lists them. Entities without a triple get ids too.

    Raises RankadjustError for no split, an unknown name of a split, frames with different columns, and a triple with
    an entity that is not among all of them.
    """
    if not splits:
        raise RankadjustError("there is no split to encode; give at least 'training'")
    unknown = [name for name in splits if name not in SPLITS]
    if unknown:
        raise RankadjustError(f"unknown split '{unknown[0]}'; the splits are {', '.join(SPLITS)}")
    present = [name for name in SPLITS if name in splits]
    columns = [name for name in (*LABEL_COLUMNS, *TIME_COLUMNS) if name in splits[present[0]].columns]
    for name in present:
        if set(columns) != set(splits[name].columns):
            raise RankadjustError(f"the split {name} has other columns than {present[0]}; declare one format")
    texts = {column: pl.concat([splits[name][column] for name in present]) for column in LABEL_COLUMNS}
    ends = list(accumulate(splits[name].height for name in present))
    if entities is not None:
        # Below the last split, where no triple takes them.
        texts["head"] = pl.concat([texts["head"], entities])
    labels, ids = _ranked(texts)
    if entities is not None:
        _check_listed(ids["head"][ends[-1] :], labels["entity"])
    frames = [
        pl.DataFrame({column: ids[column][end - splits[name].height : end] for column in LABEL_COLUMNS})
        .with_columns(splits[name].select(columns[len(LABEL_COLUMNS) :]))
        .select(pl.lit(name, pl.Enum(SPLITS)).alias("split"), *columns)
        for name, end in zip(present, ends, strict=True)
    ]
    return Encoded(pl.concat(frames), pl.concat([_table(kind, known) for kind, known in labels.items()]))


def _check_listed(listed: _Ids, labels: pl.Series) -> None:
    """Raise where an entity of a triple is not in the list of all entities."""
    missing = np.ones(len(labels), np.bool_)
    missing[listed] = False
    if missing.any():
        raise RankadjustError(
            f"{np.count_nonzero(missing):,} of the {len(labels):,} entities occur in triples but not in the list of "
            f"all entities, for example {labels[int(missing.argmax())]!r}; check the columns under format.entities: "
            "entity is the field that the triples use"
        )


def _table(kind: str, labels: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"label": labels}).select(
        kind=pl.lit(kind), id=pl.int_range(pl.len(), dtype=pl.UInt32), label="label"
    )


def _ranked(texts: Mapping[str, pl.Series]) -> tuple[dict[str, pl.Series], dict[str, _Ids]]:
    """Return the sorted labels of each kind, and for each column the places of its labels among them."""
    # numpy and polars let go of Python while they work, so threads work side by side.
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        for seed in count():
            hashed = threads.map(lambda text: _numbered(_hashes(text, seed)), texts.values())  # noqa: B023
            numbered = dict(zip(texts, hashed, strict=True))
            labels: dict[str, pl.Series] = {}
            ids: dict[str, _Ids] = {}
            for kind, columns in _KINDS.items():
                hashes, labels[kind] = _union([(texts[name], numbered[name]) for name in columns])
                # The label whose hash is the smallest comes first in the union, and so on.
                by_hash = np.argsort(_hashes(labels[kind], seed)).astype(np.uint32)
                for name in columns:
                    place = by_hash[np.searchsorted(hashes, numbered[name].values)]
                    ids[name] = place[numbered[name].number]
            meant = [labels[_KIND_OF[name]] for name in texts]
            if all(threads.map(_stands_for, (ids[name] for name in texts), meant, texts.values())):
                return labels, ids
    raise AssertionError("count() ended")


@dataclass(frozen=True)
class _Numbered:
    """The distinct values of a column in ascending order, a row of each, and for every row the number of its value."""

    values: _Hashes
    row: IntArray
    number: _Ids


def _hashes(column: pl.Series, seed: int) -> _Hashes:
    return column.hash(seed).to_numpy()


def _numbered(hashes: _Hashes) -> _Numbered:
    """Give equal hashes the same number, in ascending order.

    Words of the highest bits of a hash and its row are sorted, which is many times faster than sorting indirectly.
    """
    height = hashes.size
    row_width = height.bit_length()
    row_mask = np.uint64((1 << row_width) - 1)
    words = hashes & ~row_mask
    for start in range(0, height, _BLOCK):
        words[start : start + _BLOCK] |= np.arange(start, min(start + _BLOCK, height), dtype=np.uint64)
    # In jobs numpy has only its oldest instructions (rankadjust.base.processor), and sorts half as fast as polars.
    words = pl.Series(words).sort().to_numpy()
    order = (words & row_mask).view(np.int64)
    in_order = hashes[order]
    starts = _starts(in_order)
    # Hashes that differ only in their lower bits are not sorted among themselves, so equal hashes may be apart.
    places = np.flatnonzero(starts)[1:]
    mixed = words[places][(in_order[places] ^ in_order[places - 1]) <= row_mask]
    if mixed.size:
        runs = _places_within(words, mixed & ~row_mask, mixed | row_mask)
        by_hash = np.argsort(in_order[runs], kind="stable")
        order[runs] = order[runs[by_hash]]
        in_order[runs] = in_order[runs[by_hash]]
        starts = _starts(in_order)
    number_in_order = np.cumsum(starts, dtype=np.uint32)
    number_in_order -= np.uint32(1)
    number = np.empty_like(number_in_order)
    number[order] = number_in_order
    return _Numbered(in_order[starts], order[starts], number)


def _starts(values: _Hashes) -> npt.NDArray[np.bool_]:
    """Return where a run of equal values begins."""
    starts = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return starts


def _places_within(words: _Hashes, lowest: _Hashes, highest: _Hashes) -> IntArray:
    """Return the places of sorted words that lie between any of these bounds, which are equal or apart."""
    first = np.searchsorted(words, np.unique(lowest))
    last = np.searchsorted(words, np.unique(highest), side="right")
    length = last - first
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    places: IntArray = np.repeat(first, length) + within
    return places


def _union(columns: Sequence[tuple[pl.Series, _Numbered]]) -> tuple[_Hashes, pl.Series]:
    """Return the hashes of all columns in ascending order, and a label for each of them, the labels sorted."""
    hashes = np.empty(0, np.uint64)
    labels = []
    for column, numbered in columns:
        place = np.searchsorted(hashes, numbered.values)
        new = place == hashes.size
        new[~new] = hashes[place[~new]] != numbered.values[~new]
        labels.append(_at(column, numbered.row[new]))
        hashes = np.sort(np.concatenate([hashes, numbered.values[new]]))
    return hashes, pl.concat(labels).sort()


def _at(column: pl.Series, rows: IntArray) -> pl.Series:
    """Return the labels of some rows; going through the column once is faster than looking rows up."""
    chosen = np.zeros(len(column), np.bool_)
    chosen[rows] = True
    return column.filter(pl.Series(chosen))


def _stands_for(ids: _Ids, labels: pl.Series, column: pl.Series) -> bool:
    """Return whether every id of a column belongs to its label."""
    return all(
        (labels.gather(ids[start : start + _BLOCK]) == column[start : start + _BLOCK]).all()
        for start in range(0, len(column), _BLOCK)
    )
