"""PyKEEN's evaluator, which also writes the rank of every triple to a file: PyKEEN itself keeps their means only."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pykeen.evaluation import RankBasedEvaluator

from rankadjust.base.frames import filled
from rankadjust.base.io import write_parquet


class RankWriter(RankBasedEvaluator):  # type: ignore[misc]  # PyKEEN is not installed where types are checked
    """An evaluator of PyKEEN that leaves a file of ranks for `rankadjust evaluate`, `compare` and `paper`.

    Parameters
    ----------
    path
        The Parquet file to write. Every evaluation replaces it, so that after `pykeen.pipeline.pipeline` it has the
        ranks of the testing triples, whatever an early stopper evaluated before.
    **options
        The options of `pykeen.evaluation.RankBasedEvaluator`.

    """

    def __init__(self, path: str | Path, **options: Any) -> None:  # noqa: ANN401 - PyKEEN's
        super().__init__(**options)
        self.path = Path(path)
        self._triples: dict[str, list[np.ndarray[Any, Any]]] = {}

    def process_scores_(self, hrt_batch: Any, target: str, *scores: Any, **options: Any) -> None:  # noqa: ANN401 - PyKEEN's
        """Note which triples were ranked."""
        super().process_scores_(hrt_batch, target, *scores, **options)
        self._triples.setdefault(target, []).append(hrt_batch.detach().cpu().numpy())

    def clear(self) -> None:
        """Forget all ranks."""
        super().clear()
        self._triples.clear()

    def finalize(self) -> Any:  # noqa: ANN401 - PyKEEN's
        """Write the ranks, and return PyKEEN's metrics."""
        write_parquet(pl.concat(map(self._of_side, self._triples)), self.path)
        result = super().finalize()
        self._triples.clear()
        return result

    def _of_side(self, side: str) -> pl.DataFrame:
        """Return a row for each ranked triple: PyKEEN's three ids with commas, its relation, query and ranks."""
        ids = dict(zip(("h", "r", "t"), np.concatenate(self._triples[side]).T, strict=True))
        ranks = {kind: np.concatenate(self.ranks[side, kind]) for kind in ("optimistic", "pessimistic")}
        counts = np.concatenate(self.num_candidates[side])
        query = filled("?,{},{}", "r", "t") if side == "head" else filled("{},{},?", "h", "r")
        return pl.DataFrame({**ids, **ranks, "num_candidates": counts}).select(
            filled("{},{},{}", "h", "r", "t").alias("triple"),
            pl.lit(side).alias("side"),
            pl.col("optimistic", "pessimistic", "num_candidates"),
            pl.col("r").cast(pl.String).alias("relation"),
            query.alias("query"),
        )
