"""The triples of some relations as rows, and the counts: tasks and pairs of tasks in runs of equal N.

A task is an evaluation triple on one side; with C the candidates of that side and K the known answers of its query,
the true one included, it has N = |C without K| + 1 candidates (docs/protocols.md). Every protocol goes the same way:

1. sort the triples of a graph, so that each occurs once per split, with a multiplicity;
2. mark the rows that make an answer known, and from which split on;
3. per side, number the queries, count the known candidates of each, and look N up for every row;
4. per split, count tasks and pairs of tasks in runs of equal N; for temporal data once more with the times forgotten,
   which is how a model that does not see them scores.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import time_columns
from rankadjust.counting.codes import ORDER
from rankadjust.counting.packing import Flags, Integers, counted, numbered, starts
from rankadjust.counting.protocols import Protocol, Time

Side = Literal["head", "tail"]
SIDES: tuple[Side, Side] = ("head", "tail")
OTHER: dict[Side, Side] = {"head": "tail", "tail": "head"}

# What was counted of some relations: a frame for each split and side, or "both".
Counts = dict[tuple[str, str], pl.DataFrame]


@dataclass(frozen=True)
class Graph:
    """Splits that are ranked on the same entities, earliest known first."""

    base: tuple[str, ...]
    evaluated: tuple[str, ...]


TRAINING_GRAPH = Graph(("facts", "training"), ("training", "validation", "testing"))
INFERENCE_GRAPH = Graph(("inference",), ("inference", "inference_validation", "inference_testing"))
# What a cumulative filter distinguishes, for each split in its ORDER.
LEVEL_OF = np.array([0, 0, 0, 1, 1, 2, 2], np.uint8)


@dataclass(frozen=True)
class Occurring:
    """What occurs anywhere in a graph, whatever the relation; masks over ids.

    entities: in any of its splits, and the entities of the release that occur in no triple.
    base_entities: in its base. base_relations: in the base of any graph.
    """

    entities: Flags
    base_entities: Flags
    base_relations: Flags

    def pool(self, protocol: Protocol) -> Flags:
        """Return for every entity id whether it is a candidate."""
        return self.base_entities if protocol.entities == "training" else self.entities


@dataclass(frozen=True)
class Rows:
    """The distinct triples of each split of some relations, sorted; one entry per row in every array.

    split: position in ORDER. repetitions: how often the split holds the triple.
    seen: whether training (or facts, or inference) knows its entities and its relation.
    first: whether no row above is the same answer. An answer may have several rows (in two splits, at two times)
        and must be counted once, in the row of its earliest split.
    in_base: whether the row belongs to training (or facts, or inference), which determines the entities that are seen.
    """

    head: Integers
    relation: Integers
    tail: Integers
    times: tuple[Integers, ...]
    split: Integers
    repetitions: Integers
    seen: Flags
    first: Flags
    in_base: Flags

    def entity(self, side: Side) -> Integers:
        """Return the entities that are the answers of the tasks of a side."""
        return self.head if side == "head" else self.tail

    # What several protocols need is made once.

    @cached_property
    def places(self) -> dict[str, Integers]:
        """The rows of each split."""
        return {name: np.flatnonzero(self.split == code) for code, name in enumerate(ORDER)}

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
    def observed(self) -> dict[Side, tuple[Flags, Integers]]:
        """Whether the base has each row's answer on that side of its relation, and how many answers it has there."""
        by_side: dict[Side, tuple[Flags, Integers]] = {}
        for side in SIDES:
            numbers = numbered([self.relation, self.entity(side)])
            observed = np.zeros(int(numbers.max()) + 1, bool)
            observed[numbers[self.in_base]] = True
            relation_of = np.empty(observed.size, self.relation.dtype)
            relation_of[numbers] = self.relation
            sizes = np.bincount(relation_of[observed], minlength=int(self.relation.max()) + 1)
            by_side[side] = observed[numbers], sizes[self.relation]
        return by_side


@dataclass(frozen=True)
class TasksOfSide:
    """The tasks of one side of a graph, one per row.

    query: the number of its query, time included; static_query: of its query without the time, the same array where
    there are no times; candidates: how many it has. Not every number need occur.
    """

    query: Integers
    static_query: Integers
    candidates: Integers


def rows_of(codes: Mapping[str, Integers], graph: Graph, occurring: Occurring, time: Time) -> Rows:
    """Return the distinct rows; the first row of an answer is from its earliest split.

    time: of the protocol, whether an answer at another time is another answer.
    """
    aware = time == "aware"
    times = time_columns(codes)
    answer = ["head", "relation", "tail", *(times if aware else ())]
    # What makes an answer known comes first.
    order = [*answer, "split", *(() if aware else times)]
    distinct, repetitions = counted([codes[name] for name in order])
    columns = dict(zip(order, distinct, strict=True))
    return Rows(
        head=columns["head"],
        relation=columns["relation"],
        tail=columns["tail"],
        times=tuple(columns[name] for name in times),
        split=columns["split"],
        repetitions=repetitions,
        seen=occurring.base_entities[columns["head"]]
        & occurring.base_entities[columns["tail"]]
        & occurring.base_relations[columns["relation"]],
        first=starts([columns[name] for name in answer]),
        in_base=is_one_of(columns["split"], graph.base),
    )


def counts_of_rows(rows: Rows, graph: Graph, occurring: Occurring, protocol: Protocol) -> Counts:
    """Count the tasks of both sides, of rows that are whole relations."""
    tasks = {side: tasks_of(rows, side, occurring, protocol) for side in SIDES}
    counts: Counts = {}
    for split, ranked in ranked_rows(rows, graph, protocol):
        static = _static_of(rows, ranked, protocol)
        for side, own in tasks.items():
            histogram = partial(_histogram, own.query, own.candidates, ranked)
            of_static = partial(_histogram, own.static_query, own.candidates)
            counts[split, side] = _with_static(histogram(), ranked, static, of_static)
        linked = partial(_linked, tasks["head"].candidates, tasks["tail"].candidates)
        counts[split, "both"] = _with_static(linked(ranked), ranked, static, linked)
    return counts


@dataclass(frozen=True)
class Ranked:
    """The rows of a split that are ranked, and how often each is."""

    places: Integers
    multiplicity: Integers


def ranked_rows(rows: Rows, graph: Graph, protocol: Protocol) -> Iterator[tuple[str, Ranked]]:
    """Yield each split that has ranked triples, with its rows."""
    for split in graph.evaluated:
        places = rows.places[split]
        if protocol.unseen == "drop":
            places = places[rows.seen[places]]
        if places.size:
            times = rows.repetitions[places]
            yield split, Ranked(places, np.ones_like(times) if protocol.duplicates == "drop" else times)


def _static_of(rows: Rows, ranked: Ranked, protocol: Protocol) -> Ranked | None:
    """Return the ranked rows with the times forgotten: a triple at several times is one row, as often as all of them.

    None where tasks of one query differ in their candidates from time to time.
    """
    if not rows.times:
        return ranked
    if filters_by_time(rows, protocol):
        return None
    # Rows are sorted.
    first = np.flatnonzero(
        starts([column[ranked.places] for column in (rows.head, rows.relation, rows.tail)])
    )
    times = np.add.reduceat(ranked.multiplicity, first, dtype=np.int64)
    return Ranked(ranked.places[first], times)


def _with_static(
    counts: pl.DataFrame, ranked: Ranked, static: Ranked | None, count: Callable[[Ranked], pl.DataFrame]
) -> pl.DataFrame:
    """Add the pairs of tasks whatever their times, as static_<name>; null where there is nothing to count."""
    names = {name: f"static_{name}" for name in counts.columns if name.endswith("_pairs")}
    if static is None:
        return counts.with_columns(pl.lit(None, pl.Int64).alias(name) for name in names.values())
    if static is ranked:
        return counts.with_columns(pl.col(name).alias(other) for name, other in names.items())
    key = [name for name in counts.columns if name not in names]
    return counts.join(count(static).rename(names), on=key, how="left", maintain_order="left", validate="1:1")


def sums(counts: Sequence[Counts]) -> Counts:
    """Add up what was counted in groups of relations."""
    return {key: _sum([part[key] for part in counts if key in part]) for key in set().union(*counts)}


def _sum(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up the rows with the same numbers of candidates; a null, which is one everywhere, stays."""
    if len(frames) == 1:
        return frames[0]
    key = [name for name in frames[0].columns if name.endswith("_candidates")]
    number = pl.all().sum() * pl.when(pl.all().null_count() == 0).then(1)
    return pl.concat(frames).group_by(key).agg(number).sort(key)


def tasks_of(rows: Rows, side: Side, occurring: Occurring, protocol: Protocol) -> TasksOfSide:
    """Return query and number of candidates of every row, ranked or not."""
    pool = occurring.pool(protocol)
    query, static_query = rows.query[side], rows.static_query[side]
    if protocol.negatives is not None:
        return TasksOfSide(query, static_query, np.full(query.size, protocol.negatives + 1))
    inside, size = (pool[rows.entity(side)], pool.sum()) if protocol.types == "any" else rows.observed[side]
    if protocol.filter == "none":
        # Without a filter every candidate but the true answer is a negative. Where candidates are restricted (to
        # training's entities, to observed types) a true answer may be outside them: its task then has one
        # negative more than a task of the same query whose answer is among them. They are counted as two queries.
        static = 2 * static_query + inside
        return TasksOfSide(2 * query + inside if rows.times else static, static, size - inside + 1)
    candidates = _known(query if filters_by_time(rows, protocol) else static_query, inside, rows, protocol)
    np.subtract(size + 1, candidates, out=candidates)
    return TasksOfSide(query, static_query, candidates)


def filters_by_time(rows: Rows, protocol: Protocol) -> bool:
    """Return whether tasks of one query have other candidates at other times."""
    return bool(rows.times) and protocol.time == "aware" and protocol.negatives is None


def _known(query: Integers, inside: Flags, rows: Rows, protocol: Protocol) -> Integers:
    """Return for every row how many candidates of its query are known to the filter when the row is ranked.

    A cumulative filter knows training when training is ranked, validation as well when validation is, and all when
    testing is.
    """
    queries = int(query.max()) + 1
    known = inside & rows.first
    if protocol.filter != "cumulative":
        return np.bincount(selected(query, known), minlength=queries)[query]
    numbers = np.empty_like(query)
    known_of = np.zeros(queries, np.int64)
    for at_level in rows.levels:
        query_at_level = query[at_level]
        known_of += np.bincount(selected(query_at_level, known[at_level]), minlength=queries)
        numbers[at_level] = known_of[query_at_level]
    return numbers


def _histogram(query: Integers, candidates: Integers, ranked: Ranked) -> pl.DataFrame:
    """Count tasks and pairs of tasks per number of candidates."""
    query, candidates = query[ranked.places], candidates[ranked.places]
    multiplicity = ranked.multiplicity
    group = np.bincount(query)
    candidates_of = np.zeros(group.size, np.int64)
    candidates_of[query] = candidates
    # Adding where a triple is repeated is exact and, as that is rare, much faster than weights.
    again = np.flatnonzero(multiplicity > 1)
    np.add.at(group, query[again], multiplicity[again] - 1)
    counts = _sizes_counted(num_candidates=candidates_of, size=group).filter(pl.col("size") > 0)
    repeats = _sizes_counted(num_candidates=candidates[again], size=multiplicity[again])
    ordered_pairs = (pl.col("size") * (pl.col("size") - 1) * pl.col("count")).sum()
    return (
        counts.group_by("num_candidates")
        .agg((pl.col("size") * pl.col("count")).sum().alias("tasks"), ordered_pairs.alias("shared_pairs"))
        .join(
            repeats.group_by("num_candidates").agg(ordered_pairs.alias("repeated_pairs")),
            on="num_candidates",
            how="left",
        )
        .with_columns(pl.col("repeated_pairs").fill_null(0))
        .sort("num_candidates")
    )


def _linked(head_candidates: Integers, tail_candidates: Integers, ranked: Ranked) -> pl.DataFrame:
    """Count triples, and pairs of a head and a tail task of the same triple, per pair of numbers of candidates."""
    counts = _sizes_counted(
        head_candidates=head_candidates[ranked.places],
        tail_candidates=tail_candidates[ranked.places],
        size=ranked.multiplicity,
    )
    size, count = pl.col("size"), pl.col("count")
    return (
        counts.group_by("head_candidates", "tail_candidates")
        .agg((size * count).sum().alias("tasks"), (size * size * count).sum().alias("linked_pairs"))
        .sort("head_candidates", "tail_candidates")
    )


def _sizes_counted(**columns: Integers) -> pl.DataFrame:
    """Return the distinct rows of the columns as Int64, and how often each occurs as `count`."""
    distinct, count = counted(list(columns.values()))
    return pl.DataFrame({**dict(zip(columns, distinct, strict=True)), "count": count}).cast(pl.Int64)


def is_one_of(split: Integers, names: Collection[str]) -> Flags:
    """Return for every row whether its split is one of those named."""
    return np.array([name in names for name in ORDER])[split]


def selected(column: Integers, members: Flags) -> Integers:
    """Return the entries of the members, without a copy where all are."""
    # Taking places is some times faster than selecting by a mask.
    return column if members.all() else column[np.flatnonzero(members)]
