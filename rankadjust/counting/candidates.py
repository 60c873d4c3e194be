"""Counting candidates: from triples to histograms of how many candidates the ranking tasks have.

A task is an evaluation triple on one side; with C the candidates of that side and K the known answers of its query,
the true one included, it has N = |C without K| + 1 candidates (docs/protocols.md). Every protocol goes the same way:

1. sort the triples of a graph, so that each stands once per split, with a multiplicity;
2. mark the rows that make an answer known, and from which split on;
3. per side, number the queries, count the known candidates of each, and look N up for every row;
4. per split, count tasks and pairs of tasks in runs of equal N; for temporal data once more with the times forgotten,
   which is how a model that does not see them scores.

Triples of different relations never share a query or an answer. So relations are counted group by group, some groups
at a time in threads, and the histograms added up: whatever the number of triples, little memory is needed besides
theirs. What depends on all triples, the entities and relations that occur, is found out first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Literal

import numpy as np
import polars as pl
import polars.selectors as cs

from rankadjust.base.errors import RankadjustError
from rankadjust.base.progress import progress, told
from rankadjust.base.vocabulary import SPLITS, time_columns
from rankadjust.counting.codes import ORDER, integer_codes, one_frame, plain_codes
from rankadjust.counting.packing import Flags, Integers, counted, numbered, starts
from rankadjust.counting.protocols import Benchmark, Protocol, applies, get_protocol

Side = Literal["head", "tail"]

HISTOGRAM_SCHEMA = pl.Schema(
    {
        "split": pl.String,
        "side": pl.String,
        "entities": pl.Int64,
        "num_candidates": pl.Int64,
        "tasks": pl.Int64,
        "shared_pairs": pl.Int64,
        "repeated_pairs": pl.Int64,
        "static_shared_pairs": pl.Int64,
        "static_repeated_pairs": pl.Int64,
    }
)
PAIRS_SCHEMA = pl.Schema(
    {
        "split": pl.String,
        "head_candidates": pl.Int64,
        "tail_candidates": pl.Int64,
        "tasks": pl.Int64,
        "linked_pairs": pl.Int64,
        "static_linked_pairs": pl.Int64,
    }
)

_SIDES: tuple[Side, Side] = ("head", "tail")
_OTHER: dict[Side, Side] = {"head": "tail", "tail": "head"}
_NEVER = np.iinfo(np.uint8).max
# Triples that are counted together: so many that calls do not matter, and so few that they stay in a cache.
_GROUP = 2**21
# Each group looks at all relations once, so that their number is limited.
_GROUPS = 32
# Memory that counting takes for a triple: 130 to 172 bytes were measured, depending on the protocol (docs/scale.md).
_BYTES = 180


@dataclass(frozen=True)
class Candidates:
    """What a data set's ranking tasks look like under a protocol.

    histogram: split, side (head, tail), entities (size of the pool of candidates), num_candidates, tasks,
        shared_pairs (ordered pairs of tasks of this row with the same query, time included), repeated_pairs (those
        of them that are the same triple twice, at the same time).
    pairs: split, head_candidates, tail_candidates, tasks (evaluation triples), linked_pairs (pairs of a head task and
        a tail task of the same triple, at the same time).

    The columns static_shared_pairs, static_repeated_pairs and static_linked_pairs count the same pairs whatever their
    times: they are larger for temporal data, and equal for others. Under a filter that looks at times they are
    null, because tasks of one query then differ in their candidates from time to time.

    All counts are Int64; rows are sorted by split (order of SPLITS), side and number of candidates. A split of which
    the protocol drops every triple has no rows.
    """

    histogram: pl.DataFrame
    pairs: pl.DataFrame


@dataclass(frozen=True)
class _Graph:
    """Splits that are ranked on the same entities, in the order in which they become known."""

    base: tuple[str, ...]
    evaluated: tuple[str, ...]


_TRAINING_GRAPH = _Graph(("facts", "training"), ("training", "validation", "testing"))
_INFERENCE_GRAPH = _Graph(("inference",), ("inference", "inference_validation", "inference_testing"))
# What a cumulative filter distinguishes, for each split in its ORDER.
_LEVEL_OF = np.array([0, 0, 0, 1, 1, 2, 2], np.uint8)


@dataclass(frozen=True)
class _Occurring:
    """What occurs anywhere in a graph, whatever the relation; masks over ids.

    entities: in any of its splits, and those of the release that stand in no triple.
    base_entities: in its base. base_relations: in the base of any graph.
    """

    entities: Flags
    base_entities: Flags
    base_relations: Flags

    def pool(self, protocol: Protocol) -> Flags:
        """Return for every entity id whether it is a candidate."""
        return self.base_entities if protocol.entities == "training" else self.entities


@dataclass(frozen=True)
class _Rows:
    """The distinct triples of each split of some relations, sorted; one entry per row in every array.

    split: position in ORDER. repetitions: how often the split holds the triple.
    seen: whether training (or facts, or inference) knows its entities and its relation.
    first: whether no row above is the same answer. An answer may stand in several rows (in two splits, at two times)
        and must be counted once, in the row of its earliest split.
    in_base: whether the row belongs to training (or facts, or inference), which tells the entities that are seen.
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
        return self.head if side == "head" else self.tail

    # What several protocols need is made once.

    @cached_property
    def places(self) -> dict[str, Integers]:
        """The rows of each split."""
        return {name: np.flatnonzero(self.split == code) for code, name in enumerate(ORDER)}

    @cached_property
    def levels(self) -> list[Integers]:
        """The rows of the splits that a cumulative filter comes to know at the same time."""
        level = _LEVEL_OF[self.split]
        return [np.flatnonzero(level == own) for own in range(int(level.max()) + 1)]

    @cached_property
    def static_query(self) -> dict[Side, Integers]:
        """The number of each row's query, the time aside."""
        return {side: numbered([self.entity(_OTHER[side]), self.relation]) for side in _SIDES}

    @cached_property
    def query(self) -> dict[Side, Integers]:
        """The number of each row's query, time included; the same arrays where there are no times."""
        if not self.times:
            return self.static_query
        return {side: numbered([self.static_query[side], *self.times]) for side in _SIDES}

    @cached_property
    def observed(self) -> dict[Side, tuple[Flags, Integers]]:
        """Whether the base has each row's answer on that side of its relation, and how many answers it has there."""
        found: dict[Side, tuple[Flags, Integers]] = {}
        for side in _SIDES:
            numbers = numbered([self.relation, self.entity(side)])
            observed = np.zeros(int(numbers.max()) + 1, bool)
            observed[numbers[self.in_base]] = True
            relation_of = np.empty(observed.size, self.relation.dtype)
            relation_of[numbers] = self.relation
            sizes = np.bincount(relation_of[observed], minlength=int(self.relation.max()) + 1)
            found[side] = observed[numbers], sizes[self.relation]
        return found


@dataclass(frozen=True)
class _Tasks:
    """The tasks of one side of a graph, one per row.

    query: the number of its query, time included; static_query: of its query without the time, the same array where
    there are no times; candidates: how many it has. Not every number need occur.
    """

    query: Integers
    static_query: Integers
    candidates: Integers


# Triples as columns of integers, in blocks, anew with every call.
_Blocks = Callable[[], Iterable[Mapping[str, Integers]]]
# What was counted of some relations: the frames of a split, by the split, and side or "both".
_Counts = dict[tuple[str, str], pl.DataFrame]


def count_candidates(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocol: str | Protocol, isolated: int = 0
) -> Candidates:
    """Count the candidates of every ranking task of a data set.

    splits: a frame per split, named as in rankadjust.base.vocabulary.SPLITS, with the columns head, relation,
        tail (text or integers from 0 on) and, for temporal data, time or time_start and time_end (compared for
        equality); or one frame with a column `split` besides. Other columns are ignored.
    protocol: a Protocol or the name of a shipped one.
    isolated: the number of entities of the release that stand in no triple. They are candidates where those are all
        entities of the release; not for inductive data, which have two graphs.

    Counted are training, validation and testing on all their entities, and inference, inference_validation and
    inference_testing on theirs. `facts` are known like training and not ranked. The training split of an inductive
    set without validation and testing is not counted, since nothing is ranked on its graph.

    Raises RankadjustError for an unknown or empty split, a missing column, a null, ids that are neither text nor
    integers, a protocol that does not apply, and isolated entities of inductive data.
    """
    (candidates,) = count_protocols(splits, [protocol], isolated)
    return candidates


def count_protocols(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[str | Protocol], isolated: int = 0
) -> list[Candidates]:
    """Count the candidates of a data set under several protocols, in the order of the protocols.

    The same as count_candidates for each, but triples are encoded and sorted once.
    """
    given = [get_protocol(one) if isinstance(one, str) else one for one in protocols]
    triples = one_frame(splits)
    occurring = set(triples["split"].unique())
    present = [name for name in SPLITS if name in occurring]
    _require(given, triples.columns, present)
    _require_one_graph(isolated, present)
    codes = integer_codes(triples)
    # Protocols that differ in what is not counted here are counted once.
    different = list(dict.fromkeys(map(_counted_like, given)))
    found = _counts(lambda: [codes], present, different, isolated)
    return [_candidates(found[different.index(_counted_like(one))], one) for one in given]


def count_blocks(
    blocks: Callable[[], Iterable[pl.DataFrame]],
    protocols: Sequence[str | Protocol],
    memory: float,
    isolated: int = 0,
) -> list[Candidates]:
    """Count like count_protocols what is too large for memory.

    blocks: returns the triples anew with every call, in blocks, each a frame with the columns split, head, relation,
        tail (integers from 0 on; ids that are not used cost a byte each) and times as integers, where there are any.
    memory: bytes that counting may take besides a block. The triples are gone through once more for each group of
        relations that fits.
    isolated: the number of entities that stand in no triple, as for count_candidates.

    Raises RankadjustError as count_protocols does, and where the triples of a single relation do not fit.
    """
    given = [get_protocol(one) if isinstance(one, str) else one for one in protocols]
    splits: set[str] = set()
    columns: list[str] = []
    for block in blocks():
        splits.update(block["split"].unique())
        columns = block.columns
    present = [name for name in SPLITS if name in splits]
    if not present:
        raise RankadjustError("no triples were given; count_blocks needs at least one")
    _require(given, columns, present)
    _require_one_graph(isolated, present)
    different = list(dict.fromkeys(map(_counted_like, given)))
    found = _counts(lambda: map(plain_codes, blocks()), present, different, isolated, memory)
    return [_candidates(found[different.index(_counted_like(one))], one) for one in given]


def _require(protocols: Iterable[Protocol], columns: Collection[str], present: Collection[str]) -> None:
    for protocol in protocols:
        reason = applies(protocol, columns, present)
        if reason:
            raise RankadjustError(reason)


def _require_one_graph(isolated: int, present: Collection[str]) -> None:
    if isolated and any(name in present for name in _INFERENCE_GRAPH.evaluated):
        raise RankadjustError("entities that stand in no triple belong to neither graph of inductive data")


def _counted_like(protocol: Protocol) -> Protocol:
    """Return the protocol with the same tasks and, but for a true answer that is left out, the same candidates."""
    return replace(protocol, name="any", counting="inclusive", sides="shared", data="any", description="")


def _counts(
    blocks: _Blocks,
    present: Sequence[str],
    protocols: Sequence[Protocol],
    isolated: int,
    memory: float | None = None,
) -> list[_Counts]:
    """Count all relations under each protocol: some groups at a time, or one after the other where memory is short."""
    found: list[_Counts] = [{} for _ in protocols]
    for graph in _graphs(present):
        occurring, triples = _survey(blocks, graph, isolated)
        if memory is None:
            groups = _groups(triples, max(_GROUP, int(triples.sum()) // _GROUPS))
        else:
            groups = _fitting(triples, memory)
        count = partial(_counts_of_group, blocks, graph, occurring, protocols)
        # numpy lets go of Python while it works, so that threads work side by side.
        with (
            ThreadPoolExecutor(pl.thread_pool_size() if memory is None else 1) as threads,
            progress("counting", int(triples.sum()), "triples") as report,
        ):
            sizes = [int(triples[group].sum()) for group in groups]
            of_groups = list(told(threads.map(count, groups), sizes, report))
        for place, protocol in enumerate(protocols):
            entities = pl.lit(int(occurring.pool(protocol).sum())).alias("entities")
            counts = _sums([one[place] for one in of_groups])
            found[place] |= {key: frame.with_columns(entities) for key, frame in counts.items()}
    return found


def _candidates(counts: _Counts, protocol: Protocol) -> Candidates:
    """Return as two tables what was counted inclusively."""
    histograms: list[pl.DataFrame] = []
    pairs: list[pl.DataFrame] = []
    for split in SPLITS:
        for side in (*_SIDES, "both"):
            if (split, side) not in counts:
                continue
            entities = int(counts[split, side]["entities"][0])
            if protocol.negatives is not None and protocol.negatives >= entities:
                raise RankadjustError(
                    f"{protocol.name}: {protocol.negatives} distinct negatives cannot be drawn from {entities} entities"
                )
            labelled = counts[split, side].with_columns(
                cs.ends_with("_candidates") - int(protocol.counting == "exclusive"),
                pl.lit(split).alias("split"),
                pl.lit(side).alias("side"),
            )
            (pairs if side == "both" else histograms).append(labelled)
    return Candidates(_table(histograms, HISTOGRAM_SCHEMA), _table(pairs, PAIRS_SCHEMA))


def benchmark_candidates(benchmark: Benchmark) -> pl.DataFrame:
    """Return the histogram of a benchmark with a constant number of candidates, made without its triples.

    Columns are those of Candidates.histogram. tasks is null where the number of ranked triples is not public,
    entities where it is not; how tasks share queries is never known (shared_pairs, repeated_pairs: null).
    """
    negatives = benchmark.protocol.negatives
    pool = benchmark.entities if negatives is None else negatives + 1
    exclusive = benchmark.protocol.counting == "exclusive"
    rows = [
        {
            "split": split,
            "side": side,
            "entities": benchmark.entities,
            "num_candidates": None if pool is None else pool - exclusive,
            "tasks": tasks,
        }
        for split, tasks in benchmark.tasks.items()
        for side in benchmark.sides
    ]
    return pl.DataFrame(rows, HISTOGRAM_SCHEMA)


def _graphs(present: Sequence[str]) -> Iterator[_Graph]:
    inductive = any(name in present for name in _INFERENCE_GRAPH.evaluated)
    if not inductive or any(name in present for name in ("validation", "testing")):
        yield _TRAINING_GRAPH
    if inductive:
        yield _INFERENCE_GRAPH


def _of_graph(blocks: _Blocks, graph: _Graph) -> Iterator[dict[str, Integers]]:
    """Yield the triples of a graph's splits."""
    for codes in blocks():
        members = _is_one_of(codes["split"], {*graph.base, *graph.evaluated})
        places = slice(None) if members.all() else np.flatnonzero(members)
        yield {name: column[places] for name, column in codes.items()}


def _survey(blocks: _Blocks, graph: _Graph, isolated: int) -> tuple[_Occurring, Integers]:
    """Return what occurs in a graph, and how many triples each relation has there."""
    entities, base_entities, base_relations = (np.zeros(0, bool) for _ in range(3))
    triples = np.zeros(0, np.int64)
    for codes in blocks():
        known = _is_one_of(codes["split"], ("facts", "training", "inference"))
        base_relations = _marked(base_relations, _selected(codes["relation"], known))
    for codes in _of_graph(blocks, graph):
        in_base = _is_one_of(codes["split"], graph.base)
        for side in _SIDES:
            entities = _marked(entities, codes[side])
            base_entities = _marked(base_entities, _selected(codes[side], in_base))
        more = np.bincount(codes["relation"])
        triples = _grown(triples, more.size)
        triples[: more.size] += more
    # Ids beyond those of the triples; nothing asks for one of them.
    release = np.concatenate([entities, np.ones(isolated, bool)])
    return (
        _Occurring(release, _grown(base_entities, entities.size), _grown(base_relations, triples.size)),
        triples,
    )


def _marked(mask: Flags, ids: Integers) -> Flags:
    """Mark ids, in place where the mask is long enough."""
    mask = _grown(mask, int(ids.max(initial=0)) + 1)
    mask[ids] = True
    return mask


def _grown(array: Integers, size: int) -> Integers:
    """Return the array with zeros up to the size."""
    return array if array.size >= size else np.concatenate([array, np.zeros(size - array.size, array.dtype)])


def _groups(triples: Integers, size: int) -> list[Flags]:
    """Return masks over relations: groups of them with about `size` triples; `triples` has those of each relation."""
    # A relation belongs where the middle of its triples would, if those of all relations stood in a row.
    group = (np.cumsum(triples) - triples // 2) // size
    return [group == number for number in np.unique(group[triples > 0])]


def _fitting(triples: Integers, memory: float) -> list[Flags]:
    """Return masks over relations: groups of them, each of which fits the memory."""
    most = int(memory / _BYTES)
    largest = int(triples.argmax())
    if triples[largest] > most:
        raise RankadjustError(
            f"relation {largest} has {triples[largest]:,} triples; counting them takes up to "
            f"{triples[largest] * _BYTES / 1e9:.1f} GB, and {memory / 1e9:.1f} GB are given"
        )
    group, filled, number = np.zeros(triples.size, np.int64), 0, 0
    for relation in np.flatnonzero(triples):
        if filled + triples[relation] > most:
            number, filled = number + 1, 0
        filled += int(triples[relation])
        group[relation] = number
    return [(group == one) & (triples > 0) for one in range(number + 1)]


def _selected(column: Integers, members: Flags) -> Integers:
    # Taking places is some times faster than selecting by a mask.
    return column if members.all() else column[np.flatnonzero(members)]


def _counts_of_group(
    blocks: _Blocks,
    graph: _Graph,
    occurring: _Occurring,
    protocols: Sequence[Protocol],
    relations: Flags,
) -> list[_Counts]:
    """Count what a graph has of some relations, under each protocol."""
    parts: list[dict[str, Integers]] = []
    for codes in _of_graph(blocks, graph):
        places = slice(None) if relations.all() else np.flatnonzero(relations[codes["relation"]])
        parts.append({name: column[places] for name, column in codes.items()})
    own = parts[0]
    if len(parts) > 1:
        own = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(own)}

    @cache
    def rows(aware: bool) -> _Rows:
        return _rows(own, graph, occurring, aware=aware)

    return [_counts_of_rows(rows(one.time == "aware"), graph, occurring, one) for one in protocols]


def _rows(codes: Mapping[str, Integers], graph: _Graph, occurring: _Occurring, *, aware: bool) -> _Rows:
    """Return the distinct rows, of which the first of each answer is that of the earliest split.

    aware: whether an answer at another time is another answer.
    """
    times = time_columns(codes)
    answer = ["head", "relation", "tail", *(times if aware else ())]
    # What makes an answer known comes first.
    order = [*answer, "split", *(() if aware else times)]
    distinct, repetitions = counted([codes[name] for name in order])
    columns = dict(zip(order, distinct, strict=True))
    return _Rows(
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
        in_base=_is_one_of(columns["split"], graph.base),
    )


def _counts_of_rows(rows: _Rows, graph: _Graph, occurring: _Occurring, protocol: Protocol) -> _Counts:
    tasks = {side: _tasks(rows, side, occurring.pool(protocol), protocol) for side in _SIDES}
    counts: _Counts = {}
    for split in graph.evaluated:
        selected = rows.places[split]
        if protocol.unseen == "drop":
            selected = selected[rows.seen[selected]]
        if selected.size:
            found = _counts_of_split(rows, selected, tasks, protocol)
            counts |= {(split, side): frame for side, frame in found.items()}
    return counts


def _sums(counts: Sequence[_Counts]) -> _Counts:
    """Add up what was counted in groups of relations."""
    return {key: _sum([one[key] for one in counts if key in one]) for key in set().union(*counts)}


def _sum(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up the rows with the same numbers of candidates; a null, which is one everywhere, stays."""
    if len(frames) == 1:
        return frames[0]
    key = [name for name in frames[0].columns if name.endswith("_candidates")]
    number = pl.all().sum() * pl.when(pl.all().null_count() == 0).then(1)
    return pl.concat(frames).group_by(key).agg(number).sort(key)


def _tasks(rows: _Rows, side: Side, pool: Flags, protocol: Protocol) -> _Tasks:
    """Return query and number of candidates of every row, ranked or not."""
    query, static_query = rows.query[side], rows.static_query[side]
    if protocol.negatives is not None:
        return _Tasks(query, static_query, np.full(query.size, protocol.negatives + 1))
    inside, size = (pool[rows.entity(side)], pool.sum()) if protocol.types == "any" else rows.observed[side]
    if protocol.filter == "none":
        # Without a filter every candidate but the true answer is a negative. Where candidates are restricted (to
        # training's entities, to observed types) a true answer may stand outside them: its task then has one
        # negative more than a task of the same query whose answer is among them. They are counted as two queries.
        static = 2 * static_query + inside
        return _Tasks(2 * query + inside if rows.times else static, static, size - inside + 1)
    candidates = _known(query if _filters_by_time(rows, protocol) else static_query, inside, rows, protocol)
    np.subtract(size + 1, candidates, out=candidates)
    return _Tasks(query, static_query, candidates)


def _filters_by_time(rows: _Rows, protocol: Protocol) -> bool:
    """Return whether tasks of one query have other candidates at other times."""
    return bool(rows.times) and protocol.time == "aware" and protocol.negatives is None


def _known(query: Integers, inside: Flags, rows: _Rows, protocol: Protocol) -> Integers:
    """Return for every row how many candidates of its query are known to the filter when the row is ranked.

    A cumulative filter knows training when training is ranked, validation as well when validation is, and all when
    testing is.
    """
    queries = int(query.max()) + 1
    known = inside & rows.first
    if protocol.filter != "cumulative":
        return np.bincount(_selected(query, known), minlength=queries)[query]
    numbers = np.empty_like(query)
    known_of = np.zeros(queries, np.int64)
    for at_level in rows.levels:
        query_at_level = query[at_level]
        known_of += np.bincount(_selected(query_at_level, known[at_level]), minlength=queries)
        numbers[at_level] = known_of[query_at_level]
    return numbers


def _counts_of_split(
    rows: _Rows, selected: Integers, tasks: Mapping[Side, _Tasks], protocol: Protocol
) -> dict[str, pl.DataFrame]:
    """Count tasks and pairs of tasks of the selected rows, which are of one split: per side, and of both sides."""
    multiplicity = rows.repetitions[selected]
    if protocol.duplicates == "drop":
        multiplicity = np.ones_like(multiplicity)
    query = {side: tasks[side].query[selected] for side in _SIDES}
    candidates = {side: tasks[side].candidates[selected] for side in _SIDES}
    counts = _counts_of_tasks(query, candidates, multiplicity)
    if not rows.times:
        return {name: _with_static(table, table) for name, table in counts.items()}
    if _filters_by_time(rows, protocol):
        return {name: _with_static(table, None) for name, table in counts.items()}
    # Without its time a triple is one row, which stands as often as at all times together. Rows are sorted.
    first = np.flatnonzero(starts([column[selected] for column in (rows.head, rows.relation, rows.tail)]))
    static = _counts_of_tasks(
        {side: tasks[side].static_query[selected][first] for side in _SIDES},
        {side: candidates[side][first] for side in _SIDES},
        np.add.reduceat(multiplicity, first, dtype=np.int64),
    )
    return {name: _with_static(table, static[name]) for name, table in counts.items()}


def _counts_of_tasks(
    query: Mapping[Side, Integers], candidates: Mapping[Side, Integers], multiplicity: Integers
) -> dict[str, pl.DataFrame]:
    counts: dict[str, pl.DataFrame] = {
        side: _histogram(query[side], candidates[side], multiplicity) for side in _SIDES
    }
    return counts | {"both": _linked(candidates["head"], candidates["tail"], multiplicity)}


def _with_static(counts: pl.DataFrame, static: pl.DataFrame | None) -> pl.DataFrame:
    """Add the pairs of tasks in `static`, which has the same tasks, as static_<name>; null where there is none."""
    names = {name: f"static_{name}" for name in counts.columns if name.endswith("_pairs")}
    if static is None:
        return counts.with_columns(pl.lit(None, pl.Int64).alias(name) for name in names.values())
    key = [name for name in counts.columns if name not in names]
    return counts.join(static.rename(names), on=key, how="left", maintain_order="left", validate="1:1")


def _histogram(query: Integers, candidates: Integers, multiplicity: Integers) -> pl.DataFrame:
    """Count tasks and pairs of tasks per number of candidates."""
    group = np.bincount(query)
    candidates_of = np.zeros(group.size, np.int64)
    candidates_of[query] = candidates
    # Adding where a triple is repeated is exact and, as that is rare, much faster than weights.
    again = np.flatnonzero(multiplicity > 1)
    np.add.at(group, query[again], multiplicity[again] - 1)
    counts = _sizescounted(num_candidates=candidates_of, size=group).filter(pl.col("size") > 0)
    repeats = _sizescounted(num_candidates=candidates[again], size=multiplicity[again])
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


def _linked(head_candidates: Integers, tail_candidates: Integers, multiplicity: Integers) -> pl.DataFrame:
    """Count triples, and pairs of a head and a tail task of the same triple, per pair of numbers of candidates."""
    counts = _sizescounted(
        head_candidates=head_candidates, tail_candidates=tail_candidates, size=multiplicity
    )
    size, count = pl.col("size"), pl.col("count")
    return (
        counts.group_by("head_candidates", "tail_candidates")
        .agg((size * count).sum().alias("tasks"), (size * size * count).sum().alias("linked_pairs"))
        .sort("head_candidates", "tail_candidates")
    )


def _sizescounted(**columns: Integers) -> pl.DataFrame:
    """Return the distinct rows of the columns as Int64, and how often each occurs as `count`."""
    distinct, count = counted(list(columns.values()))
    return pl.DataFrame({**dict(zip(columns, distinct, strict=True)), "count": count}).cast(pl.Int64)


def _table(parts: Sequence[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    if not parts:
        return pl.DataFrame(schema=schema)
    return pl.concat(
        [part.select(pl.col(name).cast(kind) for name, kind in schema.items()) for part in parts]
    )


def _is_one_of(split: Integers, names: Collection[str]) -> Flags:
    return np.array([name in names for name in ORDER])[split]
