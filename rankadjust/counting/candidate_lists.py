"""Candidates from lists of one's own: the entities that may be the head or the tail of a relation."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.vocabulary import time_columns
from rankadjust.counting.candidates import Candidates, added_up
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import survey
from rankadjust.counting.packing import Integers
from rankadjust.counting.protocols import Protocol
from rankadjust.counting.rows import SIDES, TRAINING_GRAPH, counts_of_tasks, rows_of, tasks_of

Entities = Collection[str] | Collection[int]
Lists = Mapping[str, Entities] | Mapping[str | int, Mapping[str, Entities]]
"""Entities by side (head, tail), or by relation and side."""


def count_listed(splits: Mapping[str, pl.DataFrame], lists: Lists, isolated: int = 0) -> Candidates:
    """Count the candidates of every task, ranked against the entities of a list: as `count_candidates` for filtered.

    lists: for each relation the entities that its heads and its tails are ranked against, or the same for all
    relations. A relation or side without a list is ranked against all entities. Known answers are filtered out; a true
    answer that is not in its list is a candidate besides. isolated: the number of entities in no triple.

    Raises RankadjustError for an unknown relation or side, an empty list, and triples with times.

    >>> train = pl.DataFrame({"head": ["c1", "c2"], "relation": ["treats"] * 2, "tail": ["d1", "d2"]})
    >>> test = pl.DataFrame({"head": ["c1"], "relation": ["treats"], "tail": ["d2"]})
    >>> lists = {"treats": {"head": ["c1", "c2", "c3"], "tail": ["d1", "d2"]}}
    >>> found = count_listed({"training": train, "testing": test}, lists).histogram.filter(split="testing")
    >>> found.select("side", "num_candidates", "tasks").rows()
    [('head', 2, 1), ('tail', 1, 1)]
    """
    triples = one_frame(splits)
    if time_columns(triples.columns):
        raise RankadjustError("lists of candidates need triples without times; leave the times out")
    listed = pl.DataFrame(
        list(_rows(lists, triples["relation"].unique().to_list())),
        schema={"relation": triples.schema["relation"], "side": pl.String, "entity": triples.schema["head"]},
        orient="row",
    ).unique()
    entity = pl.col("entity")
    entries = listed.select(
        "relation", split=pl.lit("training", triples.schema["split"]), head=entity, tail=entity
    )
    codes = integer_codes(pl.concat([triples, entries.select(triples.columns)]))
    own = {name: column[: triples.height] for name, column in codes.items()}
    surveyed = survey(own, isolated)[TRAINING_GRAPH]
    protocol = Protocol("filtered")
    rows = rows_of(own, surveyed, protocol.time)
    tasks = {}
    for side in SIDES:
        of_side = triples.height + np.flatnonzero(listed["side"] == side)
        relation, listed_entity = codes["relation"][of_side], codes["head"][of_side]
        sizes = np.bincount(relation, minlength=int(codes["relation"].max()) + 1)[rows.relation]
        inside = np.isin(_pair(rows.relation, rows.entity(side)), _pair(relation, listed_entity))
        size = np.where(sizes, sizes, surveyed.entities.sum())
        tasks[side] = tasks_of(rows, side, protocol, (inside | (sizes == 0), size))
    return added_up([counts_of_tasks(rows, tasks, protocol)], protocol)


def _pair(relation: Integers, entity: Integers) -> Integers:
    """Return a number for each pair of codes."""
    return relation.astype(np.uint64) << np.uint64(32) | entity


def _rows(lists: Lists, relations: Collection[str | int]) -> Iterator[tuple[str | int, str, str | int]]:
    """Yield relation, side and entity of each entry of the lists."""
    by_relation = dict.fromkeys(relations, lists) if {*lists} <= {*SIDES} else lists
    for relation, by_side in by_relation.items():
        if relation not in relations:
            hint = did_you_mean(str(relation), map(str, relations))
            raise RankadjustError(f"candidates: no triple has the relation {relation!r}{hint}")
        for side, entities in by_side.items() if isinstance(by_side, Mapping) else [("", "")]:
            if side not in SIDES or isinstance(entities, str) or not len(entities):
                raise RankadjustError(f"candidates of {relation!r}: give lists of entities for head and tail")
            yield from ((relation, str(side), entity) for entity in entities)
