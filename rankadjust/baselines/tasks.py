"""The ranks that baselines give the single tasks of the test splits, beside the attributes of each task.

A baseline ties answers, and every order of tied answers is equally likely. So each task has an optimistic and a
pessimistic rank, and every whole rank between them is equally likely.
"""

import polars as pl

from rankadjust.base.vocabulary import TIED
from rankadjust.baselines.tally import task_standings
from rankadjust.counting.attributes import task_attributes
from rankadjust.counting.protocols import Protocol, get_protocol

_TASK = ["split", "line", "side"]


def tasks_with_baselines(
    triples: pl.DataFrame, labels: pl.DataFrame, protocol: str | Protocol, isolated: int = 0
) -> pl.DataFrame:
    """Return the table of `task_attributes` with two more columns for each baseline, such as popularity_optimistic.

    If the protocol samples negatives, these columns are missing: the negatives differ from run to run, and so do the
    ranks.
    """
    tasks = task_attributes(triples, labels, protocol, isolated)
    rules = get_protocol(protocol) if isinstance(protocol, str) else protocol
    if rules.negatives is not None:
        return tasks
    line = (pl.int_range(pl.len(), dtype=pl.Int64) + 1).over("split")
    places = triples.select(pl.col("split").cast(pl.String), line=line).with_row_index("row")
    standings = task_standings(triples, rules, isolated).with_columns(
        optimistic=pl.col("above") + 1, pessimistic=pl.col("above") + pl.col("tied")
    )
    joined = places.cast({"row": pl.Int64})
    for (baseline,), part in standings.partition_by("baseline", as_dict=True, maintain_order=True).items():
        ranks = part.select("row", "side", *(pl.col(end).alias(f"{baseline}_{end}") for end in TIED))
        on = [name for name in ("row", "side") if name in joined.columns]
        joined = joined.join(ranks, on=on)
    return tasks.join(joined.drop("row"), on=_TASK, how="left", maintain_order="left")
