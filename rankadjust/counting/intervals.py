"""Between which numbers the candidates of every task lie, where the training triples are missing.

A task (h, r, ?) under the protocol `filtered` has N = E - K + 1 candidates, K the number of its known answers in all
splits. The known answers are entities on that side of r in some split, and the known answers of the evaluation splits
are among them: K is at most the size of the range of r and at least what the evaluation splits have
(docs/methods.md, "Without training triples").
"""

from collections.abc import Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS
from rankadjust.counting.rows import OTHER, SIDES

INTERVAL_SCHEMA = pl.Schema(
    dict.fromkeys(("split", "side"), pl.String)
    | dict.fromkeys(("entities", "least", "most", "tasks"), pl.Int64)
)


def candidate_intervals(
    evaluated: Mapping[str, pl.DataFrame], ranges: pl.DataFrame, entities: int
) -> pl.DataFrame:
    """Return how many tasks have least <= N <= most candidates: a row for each split, side and pair of bounds.

    evaluated: the evaluation splits of a graph, frames with head, relation and tail. ranges: relation, side, entity,
    for each relation all entities at that side in any split. entities: the number of all entities of the graph.
    The result has the columns of INTERVAL_SCHEMA, sorted; a triple that occurs twice in a split is two tasks.

    Raises RankadjustError where an evaluation triple has an entity that its range lacks: then the ranges belong to
    another data set.
    """
    known = pl.concat(frame.select(LABEL_COLUMNS) for frame in evaluated.values()).unique()
    parts = []
    for side in SIDES:
        of_side = ranges.filter(side=side)
        outside = known.join(of_side, left_on=["relation", side], right_on=["relation", "entity"], how="anti")
        if outside.height:
            triple = ", ".join(map(str, outside.row(0)))
            raise RankadjustError(
                f"the evaluation triple ({triple}) has a {side} that the ranges of its relation lack; "
                "ranges and splits are of different data sets"
            )
        sizes = of_side.group_by("relation").agg(size=pl.col("entity").n_unique().cast(pl.Int64))
        query = [OTHER[side], "relation"]
        answers = known.group_by(query).agg(answers=pl.len().cast(pl.Int64))
        for split, frame in evaluated.items():
            tasks = frame.join(sizes, on="relation").join(answers, on=query)
            bounds = tasks.select(least=entities - pl.col("size") + 1, most=entities - pl.col("answers") + 1)
            names = {"split": pl.lit(split), "side": pl.lit(side), "entities": pl.lit(entities)}
            parts.append(bounds.group_by("least", "most").agg(tasks=pl.len()).with_columns(**names))
    rows = pl.concat(parts).select(pl.col(name).cast(kind) for name, kind in INTERVAL_SCHEMA.items())
    return rows.sort(pl.col("split").cast(pl.Enum([*evaluated])), "side", "least", "most")
