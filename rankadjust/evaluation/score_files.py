"""Ranks from scores: optimistic and pessimistic ranks of the true answers, block by block.

Scores are a matrix of tasks and candidates; a higher score is better. They come as arrays, as one .npz
file, or as a folder of .npy files that is read a few rows at a time, so that it may be larger than the
memory (docs/evaluate.md).
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import readable

# One value a task, taken over into the table of ranks.
TASK_COLUMNS = ("side", "triple", "weight", "group")

_NUMBERS = "fiu"  # kinds of types, as numpy names them
_BLOCK = 2**22  # scores that are looked at together
_ROW_POINTERS, _COLUMNS = "filter_indptr", "filter_indices"
# What numpy and scipy raise for bytes that are something else.
_BROKEN = (
    *(
        OSError,
        ValueError,
        EOFError,
        KeyError,
        TypeError,
        ArithmeticError,
        RuntimeError,
        SyntaxError,
        MemoryError,
    ),
    *(TokenError, zipfile.BadZipFile, zlib.error),
)
# The arrays of the evaluators of OGB and TGB: the scores of the true answers, and of their negatives.
_POSITIVE, _NEGATIVE = "y_pred_pos", "y_pred_neg"


@dataclass(frozen=True)
class _Sparse:
    """A sparse mask in compressed rows."""

    row_pointers: IntArray
    columns: IntArray
    shape: tuple[int, ...]
    dtype = np.dtype(np.bool_)

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        pointers = self.row_pointers[rows.start : rows.stop + 1]
        mask = np.zeros((pointers.size - 1, self.shape[1]), dtype=np.bool_)
        numbers = np.repeat(np.arange(pointers.size - 1), np.diff(pointers))
        mask[numbers, self.columns[pointers[0] : pointers[-1]]] = True
        return mask


_Rows = NDArray[Any] | _Sparse


# From here on a power of ten stands for a mask.
_FILLING = -1e4


def rank_scores(scores: ArrayLike, target: ArrayLike, mask: ArrayLike | None = None) -> pl.DataFrame:
    """Return the rank of the true answer of each task among its candidates.

    scores: numbers (tasks, candidates), higher is better. target: whole numbers (tasks,), the column of the
    true answer, from 0. mask: truth values (tasks, candidates), or a scipy sparse array, true for candidates
    that are filtered out; the true answer is a candidate whatever the mask says. None: nothing is filtered.

    Columns of the result (Int64): optimistic (1 + number of candidates with a higher score), pessimistic
    (number of candidates with an equal or higher score, the true answer included), num_candidates (the true
    answer included). The realistic rank is the mean of the first two.

    Raises RankadjustError for shapes that do not fit, a target outside the columns, and a candidate whose
    score is NaN.

    >>> rank_scores([[0.1, 0.7, 0.7, 0.2]], [1]).to_dicts()
    [{'optimistic': 1, 'pessimistic': 2, 'num_candidates': 4}]
    >>> rank_scores([[0.1, 0.7, 0.7, 0.2]], [1], mask=[[False, False, True, False]]).to_dicts()
    [{'optimistic': 1, 'pessimistic': 1, 'num_candidates': 3}]
    """
    filtered = None if mask is None else _from_sparse(mask) if hasattr(mask, "tocsr") else np.asarray(mask)
    return _ranked(np.asarray(scores), np.asarray(target), filtered, "the scores")


def holds_scores(path: Path) -> bool:
    """Return whether a path is an .npz file or a folder with scores.npy or y_pred_pos.npy."""
    return path.suffix == ".npz" or any((path / f"{name}.npy").is_file() for name in ("scores", _POSITIVE))


def read_scores(path: str | Path) -> pl.DataFrame:
    """Return the ranks of the scores in an .npz file or a folder, as `rank_scores` does.

    The file holds scores, target and optionally mask (dense), or filter_indptr and filter_indices (a sparse
    mask in compressed rows, as in scipy). The folder holds scores.npy, target.npy and optionally mask.npy,
    or filter.npz (written by scipy.sparse.save_npz); scores.npy and mask.npy are never read as a whole.
    In place of scores and target both may hold y_pred_pos (tasks,) and y_pred_neg (tasks, negatives), as the evaluators
    of OGB and TGB take them. Both may hold one value a task of side, triple, weight and group, which become columns of
    the result. One more is num_filtered: how many columns of each task the mask takes away.
    """
    path = Path(path)
    return ranks_of_scores(_load_file(path) if path.suffix == ".npz" else _open_folder(path), path)


def ranks_of_scores(arrays: Mapping[str, Any], path: str | Path = "the scores") -> pl.DataFrame:
    """Return the ranks of arrays, named as in a file of scores (`read_scores`); path: for messages."""
    if _POSITIVE in arrays or _NEGATIVE in arrays:
        ranks = _against_negatives(arrays, path).with_columns(num_filtered=0)
    else:
        ranks = _among_candidates(arrays, path)
    for name in TASK_COLUMNS:
        if name in arrays:
            column = np.asarray(arrays[name])
            if column.shape != (ranks.height,):
                raise RankadjustError(f"{path}: '{name}' has the shape {column.shape}, not ({ranks.height},)")
            ranks = ranks.with_columns(pl.Series(name, column))
    return ranks


def _among_candidates(arrays: Mapping[str, Any], path: str | Path) -> pl.DataFrame:
    for name in ("scores", "target"):
        if name not in arrays:
            raise RankadjustError(f"{path}: there is no '{name}'; it has {', '.join(arrays) or 'nothing'}")
    scores = arrays["scores"] if hasattr(arrays["scores"], "shape") else np.asarray(arrays["scores"])
    mask = _mask(arrays, path)
    ranks = _ranked(scores, np.asarray(arrays["target"]), mask, str(path))
    if mask is not None and scores.shape[1] > 1 and (ranks["num_candidates"] == 1).all():
        raise RankadjustError(
            f"{path}: the mask filters out everything but the true answer in every task, so that every rank is 1; "
            "it is true where a candidate is filtered out: is it inverted?"
        )
    return ranks.with_columns(num_filtered=scores.shape[1] - pl.col("num_candidates"))


def _against_negatives(arrays: Mapping[str, Any], path: str | Path) -> pl.DataFrame:
    """Return the ranks of true answers among negatives: a row or a list of them for each, or one list for all.

    The column one_list says that all have the same negatives: then their ranks depend on each other.
    """
    for name in (_POSITIVE, _NEGATIVE):
        if name not in arrays:
            raise RankadjustError(f"{path}: there is no '{name}'; it has {', '.join(arrays)}")
    positive, given = np.asarray(arrays[_POSITIVE]), arrays[_NEGATIVE]
    is_listed = isinstance(given, Sequence) and len({np.shape(own) for own in given}) > 1
    negatives = [np.asarray(own) for own in (given if is_listed else [given])]
    dimensions = {own.ndim for own in negatives}
    if (
        any(each.dtype.kind not in _NUMBERS or not each.size for each in (positive, *negatives))
        or positive.shape[:1] != (positive.size,)
        or (dimensions == {2} and len(negatives[0]) != positive.size)
        or (is_listed and (dimensions != {1} or len(negatives) != positive.size))
        or not dimensions <= {1, 2}
    ):
        shape = "lists" if is_listed else f"the shape {negatives[0].shape}"
        raise RankadjustError(
            f"{path}: y_pred_pos has the shape {positive.shape} and y_pred_neg {shape}; needed are numbers: (tasks,) "
            "and (tasks, negatives), with the negatives of each task in a row, or one list (negatives,) for all tasks"
        )
    scores = positive.ravel()
    if dimensions == {2}:
        target = np.zeros(scores.size, dtype=np.int64)
        return _ranked(np.column_stack([scores, negatives[0]]), target, None, str(path))
    for task, own in enumerate(negatives):
        _refuse_unusable(own[None], np.ones((1, own.size), dtype=np.bool_), task, str(path))
    _refuse_unusable(scores[:, None], np.ones((scores.size, 1), dtype=np.bool_), 0, str(path))
    ordered = [np.sort(own) for own in negatives]
    owners = ordered if is_listed else ordered * scores.size
    better, not_worse = (
        [own.size - int(np.searchsorted(own, score, side)) for own, score in zip(owners, scores, strict=True)]
        for side in ("right", "left")
    )
    ranks = pl.DataFrame(
        {"optimistic": better, "pessimistic": not_worse, "num_candidates": [own.size for own in owners]}
    )
    return ranks.select(pl.all() + 1, one_list=pl.lit(value=not is_listed and scores.size > 1))


def _load_file(path: Path) -> Mapping[str, Any]:
    with _readable(path):
        arrays = np.load(path, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise RankadjustError(f"{path}: one array without a name; write it with numpy.savez")
        with arrays:
            # If a member is not an array, numpy returns its bytes.
            return {name: np.asarray(array) for name, array in arrays.items()}


def read_array(path: Path) -> NDArray[Any]:
    """Return the array in a .npy file."""
    with _readable(path):
        array: NDArray[Any] = np.load(path, allow_pickle=False)
        return array


def _open_folder(path: Path) -> Mapping[str, Any]:
    arrays: dict[str, Any] = {}
    for name in ("scores", "mask", "target", _POSITIVE, _NEGATIVE, *TASK_COLUMNS):
        file = path / f"{name}.npy"
        if file.is_file():
            with _readable(file):
                # A map of the file: scores may be larger than the memory, and are read a few rows at a time.
                arrays[name] = np.load(file, mmap_mode="r", allow_pickle=False)
    file = path / "filter.npz"
    if file.is_file():
        with _readable(file):
            arrays["filter"] = _from_sparse(sparse.load_npz(file))
    return arrays


def _readable(path: Path) -> AbstractContextManager[None]:
    return readable(path, "cannot be read as numbers", broken=_BROKEN)


def _mask(arrays: Mapping[str, Any], path: str | Path) -> _Rows | None:
    """Return what is filtered out; the arrays give it at most once."""
    given = [name for name in ("mask", "filter", _ROW_POINTERS) if name in arrays]
    if len(given) > 1:
        raise RankadjustError(f"{path}: {given[0]} and {given[1]} both say what is filtered; leave one out")
    if _ROW_POINTERS in arrays:
        if _COLUMNS not in arrays:
            raise RankadjustError(f"{path}: '{_ROW_POINTERS}' needs '{_COLUMNS}' beside it")
        if len(arrays["scores"].shape) != 2:
            # Scores of no shape at all: the mask is not what is wrong.
            return None
        shape = (arrays[_ROW_POINTERS].size - 1, arrays["scores"].shape[-1])
        return _checked(_Sparse(arrays[_ROW_POINTERS], arrays[_COLUMNS], shape), path)
    mask: _Rows | None = arrays[given[0]] if given else None
    return mask


def _from_sparse(matrix: Any) -> _Sparse:  # noqa: ANN401 - any of scipy's sparse arrays and matrices
    rows = matrix.tocsr(copy=True)
    rows.eliminate_zeros()
    return _Sparse(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.shape)


def _checked(mask: _Sparse, path: str | Path) -> _Sparse:
    """Return a sparse mask from the user's own arrays, which may be anything."""
    pointers, columns = mask.row_pointers, mask.columns
    whole = pointers.dtype.kind in "iu" and columns.dtype.kind in "iu" and pointers.ndim == columns.ndim == 1
    if not (
        whole
        and pointers.size > 0
        and pointers[0] == 0
        and pointers[-1] == columns.size
        and (np.diff(pointers.astype(np.int64)) >= 0).all()
        and (columns.size == 0 or (columns.min() >= 0 and columns.max() < mask.shape[1]))
    ):
        raise RankadjustError(
            f"{path}: '{_ROW_POINTERS}' and '{_COLUMNS}' are not compressed rows; "
            "write indptr and indices of a scipy.sparse.csr_array"
        )
    return _Sparse(pointers.astype(np.int64), columns.astype(np.int64), mask.shape)


def _ranked(scores: _Rows, target: NDArray[Any], mask: _Rows | None, where: str) -> pl.DataFrame:
    _check_shapes(scores, target, mask, where)
    answers = target.astype(np.int64)
    ranks = np.empty((3, answers.size), dtype=np.int64)
    for rows in _blocks(*scores.shape):
        ranks[:, rows] = _ranked_block(
            scores[rows], answers[rows], None if mask is None else mask[rows], rows.start, where
        )
    return pl.DataFrame(dict(zip(("optimistic", "pessimistic", "num_candidates"), ranks, strict=True)))


def _blocks(tasks: int, candidates: int) -> Iterator[slice]:
    step = max(1, _BLOCK // candidates)
    for start in range(0, tasks, step):
        yield slice(start, min(start + step, tasks))


def _ranked_block(
    scores: NDArray[Any], target: IntArray, mask: NDArray[Any] | None, first: int, where: str
) -> tuple[IntArray, ...]:
    """Return both ranks and the number of candidates of some rows; `first` is the number of the first."""
    number = np.arange(target.size)
    if mask is None:
        is_candidate = np.ones(scores.shape, dtype=np.bool_)
    else:
        strange = (mask != 0) & (mask != 1)
        if strange.any():
            row, column = (int(place[0]) for place in np.nonzero(strange))
            raise RankadjustError(
                f"{where}: the mask of task {first + row}, column {column} is {mask[row, column]} (counted from 0); "
                "a mask is 1 or true where a candidate is filtered out, else 0 or false"
            )
        is_candidate = ~mask.astype(np.bool_)
        is_candidate[number, target] = True
    _refuse_unusable(scores, is_candidate, first, where)
    true_score = scores[number, target][:, None]
    better = np.count_nonzero((scores > true_score) & is_candidate, axis=1)
    not_worse = np.count_nonzero((scores >= true_score) & is_candidate, axis=1)
    return better + 1, not_worse, np.count_nonzero(is_candidate, axis=1)


def _refuse_unusable(scores: NDArray[Any], is_candidate: NDArray[np.bool_], first: int, where: str) -> None:
    """Refuse NaN, which has no rank, and marks that programs write over known answers: -inf, -1e6, -1e4."""
    not_a_number = np.isnan(scores) & is_candidate
    if not_a_number.any():
        row, column = (int(place[0]) for place in np.nonzero(not_a_number))
        raise RankadjustError(
            f"{where}: the score of task {first + row}, column {column} is NaN (counted from 0); "
            "NaN has no rank: mend the score, or mask it if it is filtered out"
        )
    lowest = float(np.min(scores, initial=0, where=is_candidate))
    if lowest > _FILLING or not (np.isneginf(lowest) or float(np.log10(-lowest)).is_integer()):
        return
    row, column = (int(place[0]) for place in np.nonzero((scores == lowest) & is_candidate))
    raise RankadjustError(
        f"{where}: the score of task {first + row}, column {column} is {lowest:g} (counted from 0), as programs write "
        "it over known answers: such a candidate is filtered out by a mask, else it counts as one that was beaten"
    )


def _check_shapes(scores: _Rows, target: NDArray[Any], mask: _Rows | None, where: str) -> None:
    if len(scores.shape) != 2 or 0 in scores.shape:
        raise RankadjustError(f"{where}: scores have the shape {scores.shape}, not (tasks, candidates)")
    if scores.dtype.kind not in _NUMBERS:
        raise RankadjustError(f"{where}: scores are {scores.dtype}; they must be numbers")
    tasks, candidates = scores.shape
    if target.shape != (tasks,) or target.dtype.kind not in "iu":
        raise RankadjustError(
            f"{where}: target is {target.dtype} of the shape {target.shape}; "
            f"it must be {tasks} whole numbers, one a task"
        )
    outside = np.flatnonzero((target < 0) | (target >= candidates))
    if outside.size:
        task = outside[0]
        raise RankadjustError(
            f"{where}: the target of task {task} is {target[task]}, but columns go from 0 to {candidates - 1}"
        )
    if mask is not None and (mask.shape != scores.shape or mask.dtype.kind not in "biu"):
        raise RankadjustError(
            f"{where}: the mask is {mask.dtype} of the shape {mask.shape}; "
            f"it must be truth values of the shape {scores.shape}"
        )
