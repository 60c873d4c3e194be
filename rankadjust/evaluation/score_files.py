"""Ranks from scores: optimistic and pessimistic ranks of the true answers, block by block.

Scores are a matrix of tasks and candidates; a higher score is better. They come as arrays or tensors, or as one .npz
file (docs/rank-files.md).
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import readable

# One value a task, taken over into the table of ranks.
TASK_COLUMNS = ("side", "triple")

_NUMBERS = "fiu"  # kinds of types, as numpy names them
_BLOCK = 2**22  # scores that are looked at together
# The arrays of the evaluators of OGB and TGB: the scores of the true answers, and of their negatives.
_POSITIVE, _NEGATIVE = "y_pred_pos", "y_pred_neg"
# From here on a power of ten stands for a mask.
_FILLING = -1e4


def rank_scores(scores: ArrayLike, target: ArrayLike, mask: ArrayLike | None = None) -> pl.DataFrame:
    """Return the rank of the true answer of each task among its candidates.

    scores: numbers (tasks, candidates), higher is better. target: whole numbers (tasks,), the column of the
    true answer, from 0. mask: truth values (tasks, candidates), true for candidates that are filtered out; the true
    answer is a candidate whatever the mask says. None: nothing is filtered. Tensors of torch are read like arrays.

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
    filtered = None if mask is None else as_array(mask)
    return _ranked(as_array(scores), as_array(target), filtered, "the scores")


def as_array(values: Any) -> NDArray[Any]:  # noqa: ANN401 - whatever numpy takes, and tensors
    """Return an array, a list or a tensor of torch, on whatever device, as an array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        # numpy has no such type.
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    return np.asarray(values)


def read_scores(path: str | Path) -> pl.DataFrame:
    """Return the ranks of the scores in an .npz file, as `rank_scores` does.

    The file holds scores, target and optionally mask; or y_pred_pos (tasks,) and y_pred_neg (tasks, negatives), as the
    evaluators of OGB and TGB take them. It may hold side and triple (tasks,), which become columns of the result.
    """
    with _readable(Path(path)), np.load(path, allow_pickle=False) as members:
        # If a member is not an array, numpy returns its bytes.
        arrays = {name: np.asarray(array) for name, array in members.items()}
    return ranks_of_scores(arrays, path)


def read_array(path: Path) -> NDArray[Any]:
    """Return the array in a .npy file as a map of the file, so that a header cannot claim memory."""
    with _readable(path):
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array


def _readable(path: Path) -> AbstractContextManager[None]:
    # For bytes that are something else numpy and scipy raise nearly anything.
    return readable(path, "cannot be read as numbers", broken=(Exception,))


def ranks_of_scores(arrays: Mapping[str, Any], path: str | Path = "the scores") -> pl.DataFrame:
    """Return the ranks of arrays, named as in a file of scores (`read_scores`); path: for messages."""
    for name in ("filter_indptr", "filter", "weight", "group"):
        if name in arrays:
            raise RankadjustError(
                f"{path}: '{name}' is not read; filter with the array mask, and leave weights and groups out"
            )
    against = _POSITIVE in arrays or _NEGATIVE in arrays
    for name in (_POSITIVE, _NEGATIVE) if against else ("scores", "target"):
        if name not in arrays:
            raise RankadjustError(f"{path}: there is no '{name}'; it has {', '.join(arrays) or 'nothing'}")
    ranks = _against_negatives(arrays, path) if against else _among_candidates(arrays, path)
    for name in TASK_COLUMNS:
        if name in arrays:
            column = as_array(arrays[name])
            if column.shape != (ranks.height,):
                raise RankadjustError(f"{path}: '{name}' has the shape {column.shape}, not ({ranks.height},)")
            ranks = ranks.with_columns(pl.Series(name, column))
    return ranks


def _among_candidates(arrays: Mapping[str, Any], path: str | Path) -> pl.DataFrame:
    scores = as_array(arrays["scores"])
    mask = as_array(arrays["mask"]) if "mask" in arrays else None
    ranks = _ranked(scores, as_array(arrays["target"]), mask, str(path))
    if mask is not None and scores.shape[1] > 1 and (ranks["num_candidates"] == 1).all():
        raise RankadjustError(
            f"{path}: the mask filters out all candidates but the true answer in every task, so every rank is 1. It "
            "must be true where a candidate is filtered out: is it inverted?"
        )
    return ranks


def _against_negatives(arrays: Mapping[str, Any], path: str | Path) -> pl.DataFrame:
    """Return the ranks of true answers among negatives: a row of them for each, or one list for all.

    The column one_list says that all have the same negatives: then their ranks depend on each other.
    """
    try:
        positive, negatives = as_array(arrays[_POSITIVE]), as_array(arrays[_NEGATIVE])
    except ValueError:
        raise RankadjustError(
            f"{path}: y_pred_neg has rows of different lengths; give scores with a mask"
        ) from None
    scores, own = positive.ravel(), negatives
    if (
        any(each.dtype.kind not in _NUMBERS or not each.size for each in (positive, negatives))
        or positive.shape[:1] != (positive.size,)
        or negatives.ndim not in (1, 2)
        or (negatives.ndim == 2 and len(negatives) != positive.size)
    ):
        raise RankadjustError(
            f"{path}: y_pred_pos has the shape {positive.shape} and y_pred_neg the shape {negatives.shape}; give "
            "numbers of the shapes (tasks,) and (tasks, negatives), a row for each task, or one list (negatives,) for "
            "all tasks"
        )
    if negatives.ndim == 2:
        target = np.zeros(scores.size, dtype=np.int64)
        return _ranked(np.column_stack([scores, negatives]), target, None, str(path))
    for task, each in enumerate((own, scores)):
        _refuse_unusable(each[None], np.ones((1, each.size), dtype=np.bool_), task, str(path))
    ordered = np.sort(own)
    better, not_worse = (own.size - np.searchsorted(ordered, scores, side) for side in ("right", "left"))
    ranks = pl.DataFrame({"optimistic": better, "pessimistic": not_worse, "num_candidates": own.size})
    return ranks.select(pl.all() + 1, one_list=pl.lit(value=scores.size > 1))


def _ranked(
    scores: NDArray[Any], target: NDArray[Any], mask: NDArray[Any] | None, where: str
) -> pl.DataFrame:
    _check_shapes(scores, target, mask, where)
    answers = target.astype(np.int64)
    ranks = np.empty((3, answers.size), dtype=np.int64)
    step = max(1, _BLOCK // scores.shape[1])
    for start in range(0, answers.size, step):
        rows = slice(start, start + step)
        filtered = None if mask is None else mask[rows]
        ranks[:, rows] = _ranked_block(scores[rows], answers[rows], filtered, start, where)
    return pl.DataFrame(dict(zip(("optimistic", "pessimistic", "num_candidates"), ranks, strict=True)))


def _ranked_block(
    scores: NDArray[Any], target: IntArray, mask: NDArray[Any] | None, first: int, where: str
) -> tuple[IntArray, ...]:
    """Return both ranks and the number of candidates of some rows; `first` is the number of the first."""
    number = np.arange(target.size)
    is_candidate = np.ones(scores.shape, dtype=np.bool_)
    if mask is not None:
        strange = (mask != 0) & (mask != 1)
        if strange.any():
            row, column = (int(place[0]) for place in np.nonzero(strange))
            raise RankadjustError(
                f"{where}: the mask of task {first + row}, column {column} is {mask[row, column]} (counted from 0); "
                "a mask is 1 or true where a candidate is filtered out, else 0 or false"
            )
        is_candidate = mask == 0
        is_candidate[number, target] = True
    _refuse_unusable(scores, is_candidate, first, where)
    true_score = scores[number, target][:, None]
    better = np.count_nonzero((scores > true_score) & is_candidate, axis=1)
    not_worse = np.count_nonzero((scores >= true_score) & is_candidate, axis=1)
    return better + 1, not_worse, np.count_nonzero(is_candidate, axis=1)


def _refuse_unusable(scores: NDArray[Any], is_candidate: NDArray[np.bool_], first: int, where: str) -> None:
    """Refuse NaN, which has no rank, and marks that programs write over known answers: -inf, -1e6, -1e4."""
    lowest = float(np.min(scores, initial=0, where=is_candidate))
    if np.isnan(lowest):
        wrong, why = np.isnan(scores), "NaN has no rank: mend the score, or mask it if it is filtered out"
    elif np.isneginf(lowest) or (lowest <= _FILLING and float(np.log10(-lowest)).is_integer()):
        wrong, why = scores == lowest, "programs write it over known answers, which a mask filters out"
    else:
        return
    row, column = (int(place[0]) for place in np.nonzero(wrong & is_candidate))
    said = "NaN" if np.isnan(lowest) else f"{lowest:g}"
    raise RankadjustError(
        f"{where}: the score of task {first + row}, column {column} is {said} (counted from 0); {why}"
    )


def _check_shapes(scores: NDArray[Any], target: NDArray[Any], mask: NDArray[Any] | None, where: str) -> None:
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
