"""Which triples are counted together: groups of relations, some at a time in threads.

Triples of different relations never share a query or an answer, so the counts of groups add up, and little memory is
needed besides the triples. The entities and relations that occur, which depend on all of them, come first (`survey`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.progress import progress, reporting
from rankadjust.counting.packing import Flags, Integers
from rankadjust.counting.protocols import Protocol
from rankadjust.counting.rows import (
    INFERENCE_GRAPH,
    SIDES,
    TRAINING_GRAPH,
    Counts,
    Graph,
    Occurring,
    counts_of_rows,
    is_one_of,
    rows_of,
)

T = TypeVar("T")

# Triples that are counted together: so many that calls do not matter, and so few that they stay in a cache.
GROUP = 2**21
# Each group looks at all relations once, so their number is limited.
_GROUPS = 32


@dataclass(frozen=True)
class Survey:
    """What a graph holds. triples: how many each relation has."""

    graph: Graph
    occurring: Occurring
    triples: Integers


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
        size = max(int(own[side].max()) + 1 if own[side].size else 0 for side in SIDES)
        entities, base_entities = np.zeros(size, bool), np.zeros(size, bool)
        for side in SIDES:
            entities[own[side]] = True
            base_entities[own[side][in_base]] = True
        # Ids above all ids of the triples; nothing looks them up.
        release = np.concatenate([entities, np.ones(isolated, bool)]) if isolated else entities
        occurring = Occurring(release, base_entities, base_relations)
        surveys[graph] = Survey(graph, occurring, np.bincount(own["relation"]))
    return surveys


def counted_in_groups(
    codes: Mapping[str, Integers], surveyed: Survey, protocols: Sequence[Protocol]
) -> list[list[Counts]]:
    """Return what was counted of each group of relations of a graph, under each protocol."""

    def counts(own: dict[str, Integers], relations: Flags) -> list[Counts]:
        triples, occurring = within_group(own, relations, surveyed)
        rows = cache(lambda time: rows_of(triples, surveyed.graph, occurring, time))
        return [counts_of_rows(rows(each.time), surveyed.graph, occurring, each) for each in protocols]

    with progress("counting", int(surveyed.triples.sum()), "triples") as report:
        return list(in_groups(codes, surveyed, counts, GROUP, surveyed.triples.size, report))


def in_groups(
    codes: Mapping[str, Integers],
    surveyed: Survey,
    work: Callable[[dict[str, Integers], Flags], T],
    size: int,
    most: int,
    report: Callable[[int], object],
) -> Iterator[T]:
    """Yield what `work` makes of each group of relations.

    work: gets the triples of a group and a mask over relations that says which are its own. size: about how many
    triples a group has; of many, more. most: how many relations it may have. report: gets the number of triples that
    are done.
    """
    triples = surveyed.triples
    groups = _groups(triples, max(size, int(triples.sum()) // _GROUPS), most)
    own = of_graph(codes, surveyed.graph)

    def done(relations: Flags) -> T:
        places = slice(None) if relations.all() else np.flatnonzero(relations[own["relation"]])
        return work({name: column[places] for name, column in own.items()}, relations)

    # numpy lets go of Python while it works, so threads work side by side.
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        sizes = [int(triples[group].sum()) for group in groups]
        yield from reporting(threads.map(done, groups), sizes, report)


def within_group(
    codes: Mapping[str, Integers], relations: Flags, surveyed: Survey
) -> tuple[dict[str, Integers], Occurring]:
    """Return the triples of some relations, and their entities; relations are numbered anew, which takes fewer bits."""
    number = (np.cumsum(relations) - 1).astype(np.uint32)
    in_base = surveyed.occurring.base_relations[: relations.size][relations]
    return {**codes, "relation": number[codes["relation"]]}, replace(
        surveyed.occurring, base_relations=in_base
    )


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
