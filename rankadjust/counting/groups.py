"""Which triples are counted together: groups of relations, some at a time in threads.

Triples of different relations never share a query or an answer, so the counts of groups add up, and little memory is
needed besides the triples. The entities and relations that occur, which depend on all of them, come first (`survey`).
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.counting.packing import Flags, Integers
from rankadjust.counting.rows import INFERENCE_GRAPH, SIDES, TRAINING_GRAPH, Graph, Survey, is_one_of

T = TypeVar("T")

# Each group looks at all relations once, so their number is limited.
_GROUPS = 32


def survey(codes: Mapping[str, Integers], isolated: int) -> dict[Graph, Survey]:
    """Return what each of the two graphs holds, one of them usually empty.

    codes: triples as `rankadjust.counting.codes.integer_codes` gives them. isolated: entities without a triple.
    Raises RankadjustError for isolated entities of inductive data, whose graph would be unknown.
    """
    surveys = {}
    base_relations = np.zeros(int(codes["relation"].max(initial=0)) + 1, bool)
    base_relations[codes["relation"][is_one_of(codes["split"], ("facts", "training", "inference"))]] = True
    for graph in (TRAINING_GRAPH, INFERENCE_GRAPH):
        own = of_graph(codes, graph)
        if isolated and graph is INFERENCE_GRAPH and own["split"].size:
            raise RankadjustError(
                "inductive data with entities that occur in no triple: their graph is not known"
            )
        in_base = is_one_of(own["split"], graph.base)
        size = max(int(own[side].max(initial=0)) + 1 for side in SIDES)
        entities, base_entities = np.zeros(size, bool), np.zeros(size, bool)
        for side in SIDES:
            entities[own[side]] = True
            base_entities[own[side][in_base]] = True
        # Ids above all ids of the triples; nothing looks them up.
        release = np.pad(entities, (0, isolated), constant_values=True)
        surveys[graph] = Survey(graph, release, base_entities, base_relations, np.bincount(own["relation"]))
    return surveys


def in_groups(
    codes: Mapping[str, Integers],
    surveyed: Survey,
    work: Callable[[dict[str, Integers], Survey, Integers], T],
    size: int,
    most: int,
) -> Iterator[T]:
    """Yield what `work` makes of each group of relations.

    work: gets the triples of a group, with relations numbered anew, which takes fewer bits; what the graph holds; and
    the ids of the group's relations. size: about how many triples a group has; of many, more. most: how many relations
    it may have.
    """
    triples = surveyed.triples
    groups = _groups(triples, max(size, int(triples.sum()) // _GROUPS), most)
    own = of_graph(codes, surveyed.graph)

    def done(relations: Flags) -> T:
        places = slice(None) if relations.all() else np.flatnonzero(relations[own["relation"]])
        group = {name: column[places] for name, column in own.items()}
        group["relation"] = (np.cumsum(relations) - 1).astype(np.uint32)[group["relation"]]
        in_base = surveyed.base_relations[: relations.size][relations]
        return work(group, replace(surveyed, base_relations=in_base), np.flatnonzero(relations))

    # numpy lets go of Python while it works, so threads work side by side.
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        yield from threads.map(done, groups)


def of_graph(codes: Mapping[str, Integers], graph: Graph) -> Mapping[str, Integers]:
    """Return the triples of a graph's splits."""
    members = is_one_of(codes["split"], {*graph.base, *graph.evaluated})
    if members.all():
        return codes
    places = np.flatnonzero(members)
    return {name: column[places] for name, column in codes.items()}


def _groups(triples: Integers, size: int, most: int) -> list[Flags]:
    """Return masks over relations: groups of them with about `size` triples, and of at most about `most` relations.

    triples: how many each relation has; those that have none are in no group.
    """
    # Put the triples of all relations in a row: a relation goes where the middle of its triples falls.
    group = (np.cumsum(triples) - triples // 2) // size
    present = triples > 0
    number = group * (triples.size + 1) + (np.cumsum(present) - 1) // most
    return [(number == group_number) & present for group_number in np.unique(number[present])]
