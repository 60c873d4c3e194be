"""The triples of some relations as rows, and the counts: tasks and pairs of tasks in runs of equal N.

A task is an evaluation triple on one side. With C the candidates of that side and K the answers of its query that the
filter knows, it has N = |C without K and the true answer| + 1 candidates (docs/protocols.md). Every protocol goes the
same way:

1. sort the triples of a graph, so that each occurs once per split, with a multiplicity;
2. per side, number the queries, count the candidates that are known answers of each, and look N up for every row;
3. per split, count tasks and pairs of tasks in runs of equal N; for temporal data once more with the times forgotten,
   which is how a model that does not see them scores.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

from rankadjust.base.vocabulary import SPLITS, time_columns
from rankadjust.counting.codes import ORDER
from rankadjust.counting.packing import Flags, Integers, counted, numbered, starts
from rankadjust.counting.protocols import Protocol, Time

Side = Literal["head", "tail"]
SIDES: tuple[Side, Side] = ("head", "tail")
OTHER: dict[Side, Side] = {"head": "tail", "tail": "head"}

Counts = tuple[list[pl.DataFrame], list[pl.DataFrame]]
"""What was counted of some relations: histograms, and how many triples have how many candidates on both sides."""

Pool = tuple[Flags, Integers]
"""Whether the answer of each row is a candidate, and how many candidates there are."""


class Graph(NamedTuple):
    """Splits that are ranked on the same entities: those that are known from the start, and those that are ranked."""

    base: tuple[str, ...]
    evaluated: tuple[str, ...]


TRAINING_GRAPH = Graph(("facts", "training"), ("training", "validation", "testing"))
INFERENCE_GRAPH = Graph(("inference",), tuple(split for split in SPLITS if split.startswith("inference")))
_SIZE, _COUNT = pl.col("size"), pl.col("count")
# What a cumulative filter distinguishes, for each split in its ORDER.
LEVEL_OF = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2], np.uint8)


@dataclass(frozen=True)
class Survey:
    """What occurs anywhere in a graph, whatever the relation; masks over ids.

    entities: in any of its splits, and the entities of the release that occur in no triple. base_entities: in its base.
    base_relations: in the base of any graph. triples: how many each relation has.
    """

    graph: Graph
    entities: Flags
    base_entities: Flags
    base_relations: Flags
    triples: Integers

    def pool(self, protocol: Protocol) -> Flags:
        """Return for every entity id whether it is a candidate."""
        return self.base_entities if protocol.entities == "training" else self.entities


@dataclass(frozen=True)
class Rows:
    """The distinct triples of each split of some relations, sorted; one entry per row in every array.

    split: position in ORDER. repetitions: how often the split holds the triple.
    first: whether no row above is the same answer. An answer may have several rows, in two splits or at two times.
    """

    survey: Survey
    head: Integers
    relation: Integers
    tail: Integers
    times: tuple[Integers, ...]
    split: Integers
    repetitions: Integers
    first: Flags

    def entity(self, side: Side) -> Integers:
        """Return the entities that are the answers of the tasks of a side."""
        return self.head if side == "head" else self.tail

    def pool(self, side: Side, protocol: Protocol) -> Pool:
        """Return whether each row's answer is in its pool of candidates, and the size of that pool."""
        if protocol.types != "any":
            return self._typed[side, protocol.types]
        pool = self.survey.pool(protocol)
        return pool[self.entity(side)], pool.sum()

    # What several protocols need is made once.

    @cached_property
    def in_base(self) -> Flags:
        """Whether the row belongs to training (or facts, or inference), which determines the entities that are seen."""
        return is_one_of(self.split, self.survey.graph.base)

    @cached_property
    def levels(self) -> list[Integers]:
        """The rows of the splits that a cumulative filter comes to know at the same time."""
        level = LEVEL_OF[self.split]
        return [np.flatnonzero(level == own) for own in range(int(level.max()) + 1)]

    @cached_property
    def static_query(self) -> dict[Side, Integers]:
        """The number of each row's query, the time aside."""
        return {side: numbered([self.entity(OTHER[side]), self.relation]) for side in SIDES}

    @cached_property
    def query(self) -> dict[Side, Integers]:
        """The number of each row's query, time included; the same arrays where there are no times."""
        if not self.times:
            return self.static_query
        return {side: numbered([self.static_query[side], *self.times]) for side in SIDES}

    @cached_property
    def answer(self) -> Integers:
        """The number of each row's answer."""
        return np.cumsum(self.first, dtype=np.int64) - 1

    def known(self, filtered_by: str) -> Iterator[tuple[Flags, Integers | None]]:
        """Yield for each set of splits that a filter knows: one row of each known answer, and the rows ranked then."""
        if filtered_by == "all":
            yield self.first, None
            return
        base = np.array([name in self.survey.graph.base for name in ORDER])
        itself = np.eye(len(ORDER), dtype=bool)
        # Of each split, whether each split is known when it is ranked.
        known = {
            "cumulative": LEVEL_OF[:, None] >= LEVEL_OF,
            "split": base | itself,
            "graph": base | (itself & False),
            "none": itself & False,
        }[filtered_by]
        for splits in np.unique(known, axis=0):
            asked = np.flatnonzero((known == splits).all(axis=1)[self.split])
            if asked.size:
                places = np.flatnonzero(splits[self.split])
                first = np.zeros_like(self.first)
                first[places[starts([self.answer[places]])]] = True
                yield first, asked

    @cached_property
    def _typed(self) -> dict[tuple[Side, str], Pool]:
        """The pools of entities that the base (observed) or any split (known) has on a side of the relation."""
        pools: dict[tuple[Side, str], Pool] = {}
        for side in SIDES:
            number = numbered([self.relation, self.entity(side)])
            relation_of = np.empty(int(number.max()) + 1, self.relation.dtype)
            relation_of[number] = self.relation
            for types, members in (("observed", self.in_base), ("known", slice(None))):
                occurs = np.zeros(relation_of.size, bool)
                occurs[number[members]] = True
                sizes = np.bincount(relation_of[occurs], minlength=int(self.relation.max()) + 1)
                pools[side, types] = occurs[number], sizes[self.relation]
        return pools


def rows_of(codes: Mapping[str, Integers], survey: Survey, time: Time, splits: str = "separate") -> Rows:
    """Return the distinct rows; the first row of an answer is from its earliest split.

    time, splits: of the protocol, whether an answer at another time is another answer, and whether the evaluation
    splits of the inference graph are one.
    """
    if splits == "merged" and survey.graph is INFERENCE_GRAPH:
        validation, testing = map(ORDER.index, ("inference_validation", "inference_testing"))
        codes = {**codes, "split": np.where(codes["split"] == validation, testing, codes["split"])}
    times = time_columns(codes)
    answer = ["head", "relation", "tail", *(times if time == "aware" else ())]
    # What makes an answer known comes first.
    order = list(dict.fromkeys([*answer, "split", *times]))
    distinct, repetitions = counted([codes[name] for name in order])
    columns = dict(zip(order, distinct, strict=True))
    first = starts([columns[name] for name in answer])
    of_times = tuple(columns.pop(name) for name in times)
    return Rows(survey, times=of_times, repetitions=repetitions, first=first, **columns)


class Ranked(NamedTuple):
    """The rows of a split that are ranked, and how often each is."""

    places: Integers
    multiplicity: Integers


def ranked_rows(rows: Rows, protocol: Protocol) -> Iterator[tuple[str, Ranked]]:
    """Yield each split that has ranked triples, with its rows."""
    known = rows.survey
    for split in known.graph.evaluated:
        places = np.flatnonzero(rows.split == ORDER.index(split))
        if protocol.unseen == "drop":
            seen = known.base_entities[rows.head[places]] & known.base_entities[rows.tail[places]]
            places = places[seen & known.base_relations[rows.relation[places]]]
        if places.size:
            times = rows.repetitions[places]
            yield split, Ranked(places, np.ones_like(times) if protocol.duplicates == "drop" else times)


class TasksOfSide(NamedTuple):
    """The tasks of one side of a graph, one per row.

    query: the number of its query, time included; static_query: of its query without the time, the same array where
    there are no times; candidates: how many it has. Not every number need occur.
    """

    query: Integers
    static_query: Integers
    candidates: Integers


def tasks_of(rows: Rows, side: Side, protocol: Protocol, pool: Pool | None = None) -> TasksOfSide:
    """Return query and number of candidates of every row, ranked or not. pool: None for that of the protocol."""
    query, static_query = rows.query[side], rows.static_query[side]
    if protocol.constant is not None:
        return TasksOfSide(query, static_query, np.full(query.size, protocol.constant))
    inside, size = pool or rows.pool(side, protocol)
    filtered = query if filters_by_time(rows, protocol) else static_query
    candidates = np.empty(query.size, np.int64)
    own = np.zeros(query.size, bool)
    for first, asked in rows.known(protocol.filter):
        known = np.flatnonzero(first & inside)
        number = np.bincount(filtered[known], minlength=int(filtered.max()) + 1)
        if asked is None:
            candidates = number[filtered]
            continue
        candidates[asked] = number[filtered[asked]]
        if protocol.filter in ("none", "graph"):
            is_known = np.zeros(int(rows.answer[-1]) + 1, bool)
            is_known[rows.answer[known]] = True
            own[asked] = inside[asked] & ~is_known[rows.answer[asked]]
    np.subtract(size + 1, candidates, out=candidates)
    if own.any():
        # A true answer that is a candidate and not known leaves one negative less than its query has for others, so
        # that the tasks are counted as of two queries.
        candidates -= own
        static = 2 * static_query + own
        query, static_query = (2 * query + own if rows.times else static), static
    if protocol.drawn == "with-true-answer":
        # The entity of the query may not be drawn; where it is a known answer it is left out already.
        is_known = np.zeros(int(rows.static_query[side].max()) + 1, bool)
        is_known[rows.static_query[side][rows.in_base & (rows.head == rows.tail)]] = True
        candidates -= ~is_known[rows.static_query[side]]
    return TasksOfSide(query, static_query, candidates)


def filters_by_time(rows: Rows, protocol: Protocol) -> bool:
    """Return whether tasks of one query have other candidates at other times."""
    return bool(rows.times) and protocol.time == "aware" and protocol.constant is None


def counts_of_tasks(rows: Rows, tasks: Mapping[Side, TasksOfSide], protocol: Protocol) -> Counts:
    """Count the tasks of both sides, of rows that are whole relations; columns as in `Candidates`.

    The columns static_<name> are left out where tasks of one query differ in their candidates from time to time.
    """
    histograms, pairs = [], []
    entities = pl.lit(int(rows.survey.pool(protocol).sum()), pl.Int64).alias("entities")
    head, tail = (tasks[side].candidates for side in SIDES)
    for name, ranked in ranked_rows(rows, protocol):
        split = pl.lit(name, pl.Enum(SPLITS)).alias("split")
        static = None if filters_by_time(rows, protocol) else _without_times(rows, ranked)
        for side, (query, static_query, candidates) in tasks.items():
            counts = _histogram(query, candidates, ranked)
            if static is not None:
                of_static = counts if static is ranked else _histogram(static_query, candidates, static)
                counts = _beside(counts, of_static)
            histograms.append(counts.with_columns(split, entities, side=pl.lit(side)))
        counts = _linked(head, tail, ranked)
        if static is not None:
            counts = _beside(counts, counts if static is ranked else _linked(head, tail, static))
        pairs.append(counts.with_columns(split))
    return histograms, pairs


def _without_times(rows: Rows, ranked: Ranked) -> Ranked:
    """Return ranked rows with the times forgotten: a triple at several times is one row, as often as all of them."""
    if not rows.times:
        return ranked
    # Rows are sorted.
    triples = [column[ranked.places] for column in (rows.head, rows.relation, rows.tail)]
    first = np.flatnonzero(starts(triples))
    return Ranked(ranked.places[first], np.add.reduceat(ranked.multiplicity, first, dtype=np.int64))


def _beside(counts: pl.DataFrame, static: pl.DataFrame) -> pl.DataFrame:
    """Return counts with the pairs of tasks of other counts as static_<name>."""
    key = counts.select(cs.ends_with("_candidates")).columns
    pairs = static.select(*key, cs.ends_with("_pairs").name.prefix("static_"))
    return counts.join(pairs, on=key, how="left")


def _histogram(query: Integers, candidates: Integers, ranked: Ranked) -> pl.DataFrame:
    """Count tasks and pairs of tasks per number of candidates."""
    query, candidates = query[ranked.places], candidates[ranked.places]
    group = np.bincount(query)
    candidates_of = np.zeros(group.size, np.int64)
    candidates_of[query] = candidates
    # Adding where a triple is repeated is exact and, as that is rare, much faster than weights.
    again = np.flatnonzero(ranked.multiplicity > 1)
    np.add.at(group, query[again], ranked.multiplicity[again] - 1)
    ordered_pairs = (_SIZE * (_SIZE - 1) * _COUNT).sum()
    queries = _sizes_counted(num_candidates=candidates_of, size=group).filter(_SIZE > 0)
    repeats = _sizes_counted(num_candidates=candidates[again], size=ranked.multiplicity[again])
    counts = queries.group_by("num_candidates").agg(tasks=(_SIZE * _COUNT).sum(), shared_pairs=ordered_pairs)
    repeated = repeats.group_by("num_candidates").agg(repeated_pairs=ordered_pairs)
    return counts.join(repeated, on="num_candidates", how="left").with_columns(
        pl.col("repeated_pairs").fill_null(0)
    )


def _linked(head_candidates: Integers, tail_candidates: Integers, ranked: Ranked) -> pl.DataFrame:
    """Count triples, and pairs of a head and a tail task of the same triple, per pair of numbers of candidates."""
    numbers = {
        "head_candidates": head_candidates[ranked.places],
        "tail_candidates": tail_candidates[ranked.places],
    }
    counts = _sizes_counted(**numbers, size=ranked.multiplicity)
    return counts.group_by(*numbers).agg(tasks=(_SIZE * _COUNT).sum(), linked_pairs=(_SIZE**2 * _COUNT).sum())


def _sizes_counted(**columns: Integers) -> pl.DataFrame:
    """Return the distinct rows of the columns as Int64, and how often each occurs as `count`."""
    distinct, count = counted(list(columns.values()))
    return pl.DataFrame({**dict(zip(columns, distinct, strict=True)), "count": count}).cast(pl.Int64)


def is_one_of(split: Integers, names: Collection[str]) -> Flags:
    """Return for every row whether its split is one of those named."""
    return np.array([name in names for name in ORDER])[split]
