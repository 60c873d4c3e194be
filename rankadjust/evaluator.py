"""The ranks of a model batch by batch, while it is being evaluated, and then its metrics: `Evaluator`."""

from typing import Any

import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.score_files import as_array, rank_scores
from rankadjust.output.adjusted_text import FIRST_METRICS
from rankadjust.output.evaluation_text import evaluation, main_rows


class Evaluator:
    """An evaluator of scores in batches. Call `update` for each batch, and then `compute`.

    It keeps the ranks and the number of candidates of each task, 12 bytes, and no scores.

    Parameters
    ----------
    **options
        Options of `rankadjust.evaluate`, such as dataset, protocol, split, metrics and population.

    Examples
    --------
    >>> evaluator = Evaluator(metrics=["mrr", "hits@1"])
    >>> evaluator.update([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], target=[1, 1])
    >>> evaluator.update([[0.4, 0.9, 0.6]], target=[0], mask=[[False, True, False]])
    >>> found = evaluator.compute().filter(rank_type="realistic")
    >>> found.select("metric", pl.col("value", "expectation").round(4)).rows()
    [('inverse_harmonic_mean_rank', 0.6667, 0.6574), ('hits_at_1', 0.3333, 0.3889)]

    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - options of evaluate
        self._options = options
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._batches: list[pl.DataFrame] = []

    def update(
        self,
        scores: ArrayLike,
        target: ArrayLike,
        mask: ArrayLike | None = None,
        *,
        side: str | None = None,
        triple: ArrayLike | None = None,
    ) -> None:
        """Rank the true answers of a batch.

        Parameters
        ----------
        scores : array or tensor of shape (tasks, candidates)
            Higher is better. Tensors of torch may be on any device.
        target : array or tensor of int, shape (tasks,)
            The columns of the true answers, from 0.
        mask : array or tensor of bool, shape (tasks, candidates), optional
            True for other known answers, which are filtered out.
        side : str, optional
            head or tail: which end of the triple is asked for, if the model is evaluated on both.
        triple : array or tensor, shape (tasks,), optional
            The names or numbers of the triples. None: the tasks of each side come in the same order of
            triples.

        Raises
        ------
        RankadjustError
            For shapes that do not fit, and for scores that are NaN.

        """
        ranks = rank_scores(scores, target, mask).cast(pl.Int32)
        if triple is not None:
            names = as_array(triple)
            if names.shape != (ranks.height,):
                raise RankadjustError(f"triple has the shape {names.shape}, not ({ranks.height},)")
            ranks = ranks.with_columns(triple=pl.Series(names))
        self._batches.append(ranks if side is None else ranks.with_columns(side=pl.lit(side, pl.Categorical)))

    def compute(self) -> pl.DataFrame:
        """Return what `rankadjust.evaluate` returns for all tasks so far."""
        return evaluate(self._tasks(), **self._options)

    def summary(self) -> str:
        """Return the table and the sentences that `rankadjust evaluate` prints."""
        return evaluation(main_rows(evaluate(self._tasks(), **{"metrics": FIRST_METRICS} | self._options)))

    def _tasks(self) -> pl.DataFrame:
        if not self._batches:
            raise RankadjustError("there are no ranks yet: call update with the scores of a batch")
        widths = {tuple(batch.columns) for batch in self._batches}
        if len(widths) > 1:
            raise RankadjustError("give side and triple with every batch, or with none")
        tasks = pl.concat(self._batches)
        if "triple" not in tasks.columns:
            order = pl.int_range(pl.len())
            tasks = tasks.with_columns(triple=order.over("side") if "side" in tasks.columns else order)
        return tasks
