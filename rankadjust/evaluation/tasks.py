"""Tasks as arrays, and their clusters: what `evaluate` and `compare` compute with, made from a checked table of tasks.

The two tasks of a triple may do well or badly together, and so may triples that share a query or a relation. The
population, the other tasks that an interval or a test holds for, says which of them are clusters
(docs/methods-intervals.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES, TIED

POPULATIONS = {
    "triples": "other test triples of this split",
    "queries": "other queries",
    "relations": "other relations",
}
"""The populations, and the other tasks that an interval or a test for each of them holds for."""
_COLUMN = {"triples": "triple", "queries": "query", "relations": "relation"}
# The entity of a query of labels or ids, ? in place of the answer: head and relation are known, or relation and tail.
_ENTITY = (
    *(r"^([^\t]*)\t[^\t]*\t\?", r"^\?\t[^\t]*\t([^\t]*)"),
    *(r"^(\d+),\d+,\?$", r"^\?,\d+,(\d+)$"),
)
# Where so many tasks have one candidate only, somebody should look why.
_MANY_ALONE = 0.1


@dataclass(frozen=True)
class Tasks:
    """n ranking tasks. Every array but the positions has one value a task, shape (n,).

    sides: for each side (head, tail, both) the positions of its tasks.
    ranks: for each type of rank (given; or optimistic, realistic, pessimistic, expected) the best and the worst rank of
        every task. They differ for expected ranks only, where every whole rank between them is equally likely.
    counts: numbers of candidates, nan where not known.
    by_triple: whether triples are known, otherwise each task is one.
    clusters: for each population that is known (triples always are) the number of each task's cluster by side, or of
        both sides.
    one_list: whether all tasks have the same list of negatives, so that their ranks depend on each other.
    """

    sides: Mapping[str, IntArray]
    ranks: Mapping[str, tuple[FloatArray, FloatArray]]
    counts: FloatArray
    by_triple: bool
    clusters: Mapping[str, Mapping[str, IntArray]]
    one_list: bool = False

    def ways(self, population: str, side: str) -> list[IntArray]:
        """Return the cluster of each task of a side for a population, from 0 on, in one way or in three.

        Of three, the tasks of a cluster may go together in the first way, the one with the fewest clusters, and in the
        second; those of one cluster of the third are together in both.
        """
        known = self.clusters[population]
        chosen = [known[side]] if side in known else [*known.values()]
        ways = sorted((_numbered(pl.Series(each[self.sides[side]])) for each in chosen), key=np.max)
        if len(ways) == 1:
            return ways
        meet = _numbered(pl.Series(ways[0] * (ways[1].max() + 1) + ways[1]))
        # Clusters that are parts of others add nothing.
        return ways[:1] if meet.max() == ways[1].max() else [*ways, meet]

    @cached_property
    def counts_known(self) -> bool:
        """Whether the number of candidates of every task is known."""
        return not np.isnan(self.counts).any()


def tasks_of(frame: pl.DataFrame) -> Tasks:
    """Return the tasks of a table as `rankadjust.evaluation.rank_files.tasks_from` makes it."""
    sides = _sides(frame)
    by_triple = "triple" in frame.columns
    triples = _numbered(frame["triple"]) if by_triple else np.arange(frame.height)
    known = [name for name, column in _COLUMN.items() if by_triple and column in frame.columns]
    return Tasks(
        sides=sides,
        ranks=_ranks(frame),
        counts=frame["num_candidates"].to_numpy()
        if "num_candidates" in frame.columns
        else np.full(frame.height, np.nan),
        by_triple=by_triple,
        clusters={"triples": {"both": triples}} | {name: _clusters(frame, name) for name in known},
        one_list="one_list" in frame.columns and bool(frame["one_list"].all()),
    )


def remarks_on(tasks: pl.DataFrame) -> list[str]:
    """Return what looks like a mistake in a table of tasks, but may be none."""
    remarks = []
    if {"triple", "side"} <= {*tasks.columns}:
        repeated = int(tasks.select(pl.struct("triple", "side").is_duplicated().sum()).item())
        if repeated:
            remarks.append(
                f"{repeated:,} tasks share triple and side with another task: are two runs in one table, or is a task "
                "there twice and another missing?"
            )
    alone = int((tasks["num_candidates"] == 1).sum()) if "num_candidates" in tasks.columns else 0
    if alone >= _MANY_ALONE * tasks.height:
        remarks.append(
            f"{alone:,} of {tasks.height:,} tasks have no candidate but the true answer, so that their rank is 1 "
            "for every model: is the mask of filtered candidates inverted?"
        )
    return remarks


def _sides(frame: pl.DataFrame) -> Mapping[str, IntArray]:
    """Return the positions of each side's tasks; `both` only where the table has both, or does not tell them apart."""
    both = {"both": np.arange(frame.height)}
    if "side" not in frame.columns:
        return both
    positions = {side: np.flatnonzero(frame["side"].eq(side).to_numpy()) for side in TASK_SIDES}
    present = {side: places for side, places in positions.items() if places.size}
    return present | both if len(present) > 1 else present


def _ranks(frame: pl.DataFrame) -> Mapping[str, tuple[FloatArray, FloatArray]]:
    ranks = {"given": 2 * (frame["rank"].to_numpy(),)} if "rank" in frame.columns else {}
    if {*TIED} <= {*frame.columns}:
        best, worst = (frame[name].to_numpy() for name in TIED)
        single = {"optimistic": best, "realistic": (best + worst) / 2, "pessimistic": worst}
        ranks |= {name: (each, each) for name, each in single.items()} | {"expected": (best, worst)}
    return ranks


def _numbered(column: pl.Series) -> IntArray:
    """Return a number for each value of a column, from 0 on, the same for equal values."""
    return (column.rank("dense") - 1).cast(pl.Int64).to_numpy()


# --- clusters ------------------------------------------------------------------------------------------------


def _clusters(tasks: pl.DataFrame, population: str) -> Mapping[str, IntArray]:
    if population != "queries":
        return {"both": _numbered(tasks[_COLUMN[population]])}
    sides = tasks["side"].unique().sort().to_list() if "side" in tasks.columns else ["both"]
    return {side: _queries(tasks, side) for side in sides}


def population_of(tasks: pl.DataFrame, asked: str | None, split: str | None) -> str:
    """Return the population that intervals and tests of tasks hold for.

    asked: triples, queries or relations; None chooses. split: how the data were split, as the registry says it; None
    where it does not. A random split stands for other triples, a split by relation for other relations. Otherwise
    triples that share a query are taken to go together, where that is known.
    Raises RankadjustError where what is asked for is not known.
    """
    if asked is not None:
        if asked not in POPULATIONS:
            raise RankadjustError(f"unknown population '{asked}'; there are {', '.join(POPULATIONS)}")
        column = _COLUMN[asked]
        if asked != "triples" and not {"triple", column} <= {*tasks.columns}:
            raise RankadjustError(
                f"the {column} of each task is not known: give --tasks with the file that the workflow's target "
                f"tasks writes, a column {column}, or labels with tabs in the column triple"
            )
        return asked
    if split == "by relation" and {"triple", "relation"} <= {*tasks.columns}:
        return "relations"
    return "queries" if split != "random" and _share_queries(tasks) else "triples"


def _share_queries(tasks: pl.DataFrame) -> bool:
    if not {"query", "triple"} <= {*tasks.columns}:
        return False
    key = [name for name in ("side", "query") if name in tasks.columns]
    return tasks.unique([*key, "triple"]).select(key).is_duplicated().any()


def _queries(tasks: pl.DataFrame, side: str) -> IntArray:
    """Return the number of the entity that the triple of each task is asked about on a side; without one it is alone.

    All queries about an entity go together, because a model that knows the entity well answers all of them well. A
    query whose text does not say its entity stands for itself.
    """
    own = tasks if side == "both" else tasks.filter(side=side)
    entities = [pl.col("query").cast(pl.String).str.extract(pattern) for pattern in _ENTITY]
    known = own.unique("triple", keep="first").select("triple", asked=pl.coalesce(*entities, "query"))
    joined = tasks.select("triple").join(known, on="triple", how="left", maintain_order="left")
    alone = pl.when(pl.col("asked").is_null()).then("triple")
    return _numbered(joined.select(pl.struct("asked", alone=alone)).to_series())
