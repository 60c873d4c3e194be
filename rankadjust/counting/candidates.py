"""Counting candidates: from triples to histograms of how many candidates the ranking tasks have.

A task is an evaluation triple on one side; with C the candidates of that side and K the known answers of its query,
the true one included, it has N = |C without K| + 1 candidates (docs/protocols.md). Every protocol goes the same way:

1. sort the triples of a graph, so that each stands once per split, with a multiplicity;
2. mark the rows that make an answer known, and from which split on;
3. per side, number the queries, count the known candidates of each, and look N up for every row;
4. per split, count tasks and pairs of tasks in runs of equal N; for temporal data once more with the times forgotten,
   which is how a model that does not see them scores.

All sorting is done on columns packed into 64-bit words, so that hundreds of millions of triples need no more than
some words each.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, time_columns
from rankadjust.counting.protocols import Benchmark, Protocol, applies, get_protocol

Integers = NDArray[Any]  # non-negative integers of any width
Flags = NDArray[np.bool_]
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
_WORD = 64
_BLOCK = 2**20
_NEVER = np.iinfo(np.uint8).max
# Ids beyond this many per occurrence are renumbered, so that tables indexed by id stay small.
_SPARSE = 16


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
# In this order splits become known; the levels are what a cumulative filter distinguishes.
_ORDER = (
    "facts",
    "training",
    "inference",
    "validation",
    "inference_validation",
    "testing",
    "inference_testing",
)
_LEVEL_OF = np.array([0, 0, 0, 1, 1, 2, 2], np.uint8)


@dataclass(frozen=True)
class _Rows:
    """The distinct triples of each split of a graph, sorted; one entry per row in every array.

    split: position in _ORDER. multiplicity: how many tasks the row is on each side, more than one where the split
        holds a triple twice and the protocol keeps duplicates.
    level: how much a filter knows when the row is ranked: under a cumulative filter 0 for training, 1 for
        validation, 2 for testing; else 0 everywhere.
    known_from: the lowest level at which this row counts as a known answer. An answer may stand in several rows (in
        two splits, at two times) and must be counted once: the row of its earliest split has that split's level,
        the others have _NEVER. Without a filter all rows have _NEVER.
    in_base: whether the row belongs to training (or facts, or inference), which tells the entities that are seen.
    """

    head: Integers
    relation: Integers
    tail: Integers
    times: tuple[Integers, ...]
    split: Integers
    multiplicity: Integers
    level: Integers
    known_from: Integers
    in_base: Flags

    def entity(self, side: Side) -> Integers:
        return self.head if side == "head" else self.tail


@dataclass(frozen=True)
class _Tasks:
    """The tasks of one side of a graph, one per row.

    query: the number of its query, time included; static_query: of its query without the time, the same array where
    there are no times; candidates: how many it has.
    """

    query: Integers
    static_query: Integers
    candidates: Integers


def count_candidates(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocol: str | Protocol
) -> Candidates:
    """Count the candidates of every ranking task of a data set.

    splits: a frame per split, named as in rankadjust.base.vocabulary.SPLITS, with the columns head, relation,
        tail (text or integers from 0 on) and, for temporal data, time or time_start and time_end (compared for
        equality); or one frame with a column `split` besides. Other columns are ignored.
    protocol: a Protocol or the name of a shipped one.

    Counted are training, validation and testing on all their entities, and inference, inference_validation and
    inference_testing on theirs. `facts` are known like training and not ranked. The training split of an inductive
    set without validation and testing is not counted, since nothing is ranked on its graph.

    Raises RankadjustError for an unknown or empty split, a missing column, a null, ids that are neither text nor
    integers, and a protocol that does not apply.
    """
    protocol = get_protocol(protocol) if isinstance(protocol, str) else protocol
    triples = _one_frame(splits)
    occurring = set(triples["split"].unique())
    present = [name for name in SPLITS if name in occurring]
    reason = applies(protocol, triples.columns, present)
    if reason:
        raise RankadjustError(reason)
    codes = _integer_codes(triples)
    seen_relations = np.zeros(int(codes["relation"].max()) + 1, bool)
    seen_relations[codes["relation"][_is_one_of(codes["split"], ("facts", "training", "inference"))]] = True
    histograms, pairs = [], []
    for graph in _graphs(present):
        rows = _rows_of_graph(codes, graph, protocol)
        ranked = _ranked(rows, seen_relations, protocol)
        pool = _pool(rows, protocol)
        tasks = {side: _tasks(rows, side, pool, protocol) for side in _SIDES}
        for split in graph.evaluated:
            selected = ranked & _is_one_of(rows.split, {split})
            if not selected.any():
                continue
            counts = _counts_of_split(rows, np.flatnonzero(selected), tasks, protocol)
            entities = int(pool.sum())
            histograms += [
                _labelled(counts[side], split=split, side=side, entities=entities) for side in _SIDES
            ]
            pairs.append(_labelled(counts["both"], split=split))
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


def _one_frame(splits: Mapping[str, pl.DataFrame] | pl.DataFrame) -> pl.DataFrame:
    """Return the triples of all splits below each other, checked, with a column `split`; times are text."""
    if isinstance(splits, pl.DataFrame):
        if "split" not in splits.columns:
            raise RankadjustError("the triples lack the column 'split'; add it, or give one frame per split")
        names = splits["split"].unique().cast(pl.String).to_list()
        parts = {"the triples": splits}
    else:
        names = list(splits)
        parts = {f"split {name!r}": frame for name, frame in splits.items()}
    for name in names:
        if name not in SPLITS:
            hint = did_you_mean(str(name), SPLITS) or f"; allowed: {', '.join(SPLITS)}"
            raise RankadjustError(f"unknown split {name!r}{hint}")
    if not parts:
        raise RankadjustError("no splits were given; count_candidates needs at least one")
    times = time_columns(next(iter(parts.values())).columns)
    for where, frame in parts.items():
        _check(frame, where, times)
    text = list(times)
    for name in LABEL_COLUMNS:
        kinds = {where: _kind(frame.schema[name]) for where, frame in parts.items()}
        if len(set(kinds.values())) > 1:
            listed = ", ".join(f"{kind} in {where}" for where, kind in kinds.items())
            raise RankadjustError(f"{name} is {listed}; make it the same everywhere")
        if "text" in kinds.values():
            text.append(name)
    tidy = [
        pl.col(name).cast(pl.String) if name in text else pl.col(name) for name in (*LABEL_COLUMNS, *times)
    ]
    if isinstance(splits, pl.DataFrame):
        return splits.select(pl.col("split").cast(pl.Enum(SPLITS)), *tidy)
    tagged = [
        frame.select(pl.lit(name, pl.Enum(SPLITS)).alias("split"), *tidy) for name, frame in splits.items()
    ]
    return pl.concat(tagged, how="vertical_relaxed")


def _check(frame: pl.DataFrame, where: str, times: Sequence[str]) -> None:
    """Raise where a frame of triples has no rows, lacks a column, has times that others lack, or holds a null."""
    for name in (*LABEL_COLUMNS, *times):
        if name not in frame.columns:
            raise RankadjustError(f"{where} lacks the column {name!r}; it has {', '.join(frame.columns)}")
    if time_columns(frame.columns) != times:
        raise RankadjustError(f"{where} has times and the first split has none; give times to all or to none")
    if frame.is_empty():
        raise RankadjustError(f"{where}: no triples; leave an empty split out")
    for name in (*LABEL_COLUMNS, *times):
        if frame[name].null_count():
            row = frame[name].is_null().arg_max()
            raise RankadjustError(f"{where}: row {row} (from 0) has no {name}; drop the row or fill it in")


def _integer_codes(triples: pl.DataFrame) -> dict[str, Integers]:
    """Return every column as integers from 0 on, small enough to index a table; equal values get equal integers."""
    codes: dict[str, Integers] = {}
    codes["head"], codes["tail"] = _codes([triples["head"], triples["tail"]], "head and tail")
    for name in ("relation", *time_columns(triples.columns)):
        (codes[name],) = _codes([triples[name]], name)
    position = np.array([_ORDER.index(name) for name in SPLITS], np.uint8)
    codes["split"] = position[triples["split"].to_physical().to_numpy()]
    return codes


def _codes(columns: Sequence[pl.Series], what: str) -> list[Integers]:
    """Return columns that share their ids as integers."""
    kinds = {_kind(column.dtype) for column in columns}
    if kinds == {"text"}:
        # Categories of their own: numbers of the global ones would grow with whatever else the process has read.
        categories = pl.Categorical(pl.Categories.random())
        # They live as long as a column that has them: all columns are cast before the first is let go.
        texts = [column.cast(categories) for column in columns]
        return [text.to_physical().to_numpy() for text in texts]
    if kinds != {"integer"}:
        held = " and ".join(dict.fromkeys(str(column.dtype) for column in columns))
        raise RankadjustError(f"{what}: {held} is no kind of id; make it text or integers")
    ids = [column.to_numpy() for column in columns]
    highest = max(int(part.max()) for part in ids)
    if min(int(part.min()) for part in ids) < 0 or highest >= _SPARSE * ids[0].size:
        numbers = np.unique(np.concatenate(ids), return_inverse=True)[1].astype(np.uint32)
        return np.split(numbers, len(ids))
    return [part.astype(np.uint32, copy=False) for part in ids]


def _kind(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return "text"
    return "integer" if dtype.is_integer() else "other"


def _graphs(present: Sequence[str]) -> Iterator[_Graph]:
    inductive = any(name in present for name in _INFERENCE_GRAPH.evaluated)
    if not inductive or any(name in present for name in ("validation", "testing")):
        yield _TRAINING_GRAPH
    if inductive:
        yield _INFERENCE_GRAPH


def _rows_of_graph(codes: Mapping[str, Integers], graph: _Graph, protocol: Protocol) -> _Rows:
    """Return the distinct rows of a graph's splits and what each makes known under the protocol's filter."""
    members = _is_one_of(codes["split"], {*graph.base, *graph.evaluated})
    times = time_columns(codes)
    aware = times if protocol.time == "aware" else ()
    answer = ["head", "relation", "tail", *aware]
    # What makes an answer known comes first, so that the first row of each answer is that of the earliest split.
    order = [*answer, "split", *(() if aware else times)]
    distinct, multiplicity = _counted([_selected(codes[name], members) for name in order])
    columns = dict(zip(order, distinct, strict=True))
    level = (
        _LEVEL_OF[columns["split"]] if protocol.filter == "cumulative" else np.zeros_like(columns["split"])
    )
    known_from = np.where(_starts([columns[name] for name in answer]), level, _NEVER)
    return _Rows(
        head=columns["head"],
        relation=columns["relation"],
        tail=columns["tail"],
        times=tuple(columns[name] for name in times),
        split=columns["split"],
        multiplicity=multiplicity if protocol.duplicates == "keep" else np.ones_like(multiplicity),
        level=level,
        known_from=known_from if protocol.filter != "none" else np.full_like(known_from, _NEVER),
        in_base=_is_one_of(columns["split"], graph.base),
    )


def _selected(column: Integers, members: Flags) -> Integers:
    return column if members.all() else column[members]


def _ranked(rows: _Rows, seen_relations: Flags, protocol: Protocol) -> Flags:
    """Return which rows are ranked at all: with `unseen: drop` only those known to training in all three parts."""
    if protocol.unseen == "keep":
        return np.ones(rows.split.size, bool)
    seen = _entities(rows, rows.in_base)
    return seen[rows.head] & seen[rows.tail] & seen_relations[rows.relation]


def _pool(rows: _Rows, protocol: Protocol) -> Flags:
    """Return for every entity id whether it is a candidate."""
    return _entities(rows, rows.in_base if protocol.entities == "training" else slice(None))


def _tasks(rows: _Rows, side: Side, pool: Flags, protocol: Protocol) -> _Tasks:
    """Return query and number of candidates of every row, ranked or not."""
    static_query = [rows.entity(_OTHER[side]), rows.relation]
    exclusive = protocol.counting == "exclusive"
    if protocol.negatives is not None:
        if protocol.negatives >= pool.sum():
            raise RankadjustError(
                f"{protocol.name}: {protocol.negatives} distinct negatives cannot be drawn from {pool.sum()} entities"
            )
        numbers = _numbered(static_query)
        candidates = np.full(numbers.size, protocol.negatives + 1 - exclusive)
        return _Tasks(_with_times(numbers, rows), numbers, candidates)
    inside, size = _candidate_sets(rows, side, pool, protocol)
    if protocol.filter == "none":
        # Without a filter every candidate but the true answer is a negative. Where candidates are restricted (to
        # training's entities, to observed types) a true answer may stand outside them: its task then has one
        # negative more than a task of the same query whose answer is among them. They are counted as two queries.
        numbers = _numbered([*static_query, inside.astype(np.uint8)])
        return _Tasks(_with_times(numbers, rows), numbers, size - inside + (1 - exclusive))
    by_time = _filters_by_time(rows, protocol)
    numbers = _numbered([*static_query, *rows.times] if by_time else static_query)
    candidates = _known(numbers, inside, rows)
    np.subtract(size + 1 - exclusive, candidates, out=candidates)
    return _Tasks(numbers if by_time else _with_times(numbers, rows), numbers, candidates)


def _with_times(query: Integers, rows: _Rows) -> Integers:
    """Return the numbers of queries that differ in their times too."""
    return _numbered([query, *rows.times]) if rows.times else query


def _filters_by_time(rows: _Rows, protocol: Protocol) -> bool:
    """Return whether tasks of one query have other candidates at other times."""
    return bool(rows.times) and protocol.time == "aware" and protocol.negatives is None


def _known(query: Integers, inside: Flags, rows: _Rows) -> Integers:
    """Return for every row how many candidates of its query are known at the level of its split."""
    queries = int(query.max()) + 1
    for level in range(int(rows.level.max()) + 1):
        known_of = np.bincount(_selected(query, inside & (rows.known_from <= level)), minlength=queries)
        if level == 0:
            known = known_of[query]
        else:
            at_level = np.flatnonzero(rows.level == level)
            known[at_level] = known_of[query[at_level]]
    return known


def _candidate_sets(rows: _Rows, side: Side, pool: Flags, protocol: Protocol) -> tuple[Flags, Integers]:
    """Return for every row whether its answer is among the candidates, and how many candidates there are.

    The latter is one number where it is the same for all rows.
    """
    answer = rows.entity(side)
    if protocol.types == "any":
        return pool[answer], pool.sum()
    numbers = _numbered([rows.relation, answer])
    observed = np.zeros(int(numbers.max()) + 1, bool)
    observed[numbers[rows.in_base]] = True
    relation_of = np.empty(observed.size, rows.relation.dtype)
    relation_of[numbers] = rows.relation
    sizes = np.bincount(relation_of[observed], minlength=int(rows.relation.max()) + 1)
    return observed[numbers], sizes[rows.relation]


def _counts_of_split(
    rows: _Rows, selected: Integers, tasks: Mapping[Side, _Tasks], protocol: Protocol
) -> dict[str, pl.DataFrame]:
    """Count tasks and pairs of tasks of the selected rows, which are of one split: per side, and of both sides."""
    multiplicity = rows.multiplicity[selected]
    query = {side: tasks[side].query[selected] for side in _SIDES}
    candidates = {side: tasks[side].candidates[selected] for side in _SIDES}
    counts = _counts(query, candidates, multiplicity)
    if not rows.times:
        return {name: _with_static(table, table) for name, table in counts.items()}
    if _filters_by_time(rows, protocol):
        return {name: _with_static(table, None) for name, table in counts.items()}
    # Without its time a triple is one row, which stands as often as at all times together. Rows are sorted.
    first = np.flatnonzero(_starts([column[selected] for column in (rows.head, rows.relation, rows.tail)]))
    static = _counts(
        {side: tasks[side].static_query[selected][first] for side in _SIDES},
        {side: candidates[side][first] for side in _SIDES},
        np.add.reduceat(multiplicity, first, dtype=np.int64),
    )
    return {name: _with_static(table, static[name]) for name, table in counts.items()}


def _counts(
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


def _linked(head_candidates: Integers, tail_candidates: Integers, multiplicity: Integers) -> pl.DataFrame:
    """Count triples, and pairs of a head and a tail task of the same triple, per pair of numbers of candidates."""
    counts = _sizes_counted(
        head_candidates=head_candidates, tail_candidates=tail_candidates, size=multiplicity
    )
    size, count = pl.col("size"), pl.col("count")
    return (
        counts.group_by("head_candidates", "tail_candidates")
        .agg((size * count).sum().alias("tasks"), (size * size * count).sum().alias("linked_pairs"))
        .sort("head_candidates", "tail_candidates")
    )


def _sizes_counted(**columns: Integers) -> pl.DataFrame:
    """Return the distinct rows of the columns as Int64, and how often each occurs as `count`."""
    distinct, count = _counted(list(columns.values()))
    return pl.DataFrame({**dict(zip(columns, distinct, strict=True)), "count": count}).cast(pl.Int64)


def _labelled(counts: pl.DataFrame, **labels: str | int) -> pl.DataFrame:
    return counts.with_columns(pl.lit(value).alias(name) for name, value in labels.items())


def _table(parts: Sequence[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    if not parts:
        return pl.DataFrame(schema=schema)
    return pl.concat(
        [part.select(pl.col(name).cast(kind) for name, kind in schema.items()) for part in parts]
    )


def _is_one_of(split: Integers, names: Collection[str]) -> Flags:
    return np.array([name in names for name in _ORDER])[split]


def _entities(rows: _Rows, selected: Flags | slice) -> Flags:
    """Return for every entity id whether it occurs in the selected rows."""
    occurs = np.zeros(1 + max(int(rows.head.max()), int(rows.tail.max())), bool)
    occurs[rows.head[selected]] = True
    occurs[rows.tail[selected]] = True
    return occurs


def _numbered(columns: Sequence[Integers]) -> Integers:
    """Return for every row of some columns the number, from 0 on, of its value among the distinct ones."""
    starts, order = _ordered(columns)
    number = np.cumsum(starts, dtype=np.int64)
    number -= 1
    if order is None:
        return number
    numbers = np.empty_like(number)
    numbers[order] = number
    return numbers


def _counted(columns: Sequence[Integers]) -> tuple[list[Integers], Integers]:
    """Return the distinct rows of some columns in ascending order, and how often each occurs."""
    height = columns[0].size
    widths = _widths(columns)
    words = _packed(columns, widths)
    if len(words) == 1:
        words[0].sort()
        first = np.flatnonzero(_starts(words))
        distinct = _unpacked(words[0] if first.size == height else words[0][first], columns, widths)
    else:
        starts, order = _ordered(columns)
        first = np.flatnonzero(starts)
        distinct = [column[first if order is None else order[first]] for column in columns]
    if first.size == height:
        return distinct, np.ones(height, np.uint8)
    count = np.empty_like(first)
    np.subtract(first[1:], first[:-1], out=count[:-1])
    count[-1:] = height - first[-1:]
    return distinct, count


def _ordered(columns: Sequence[Integers]) -> tuple[Flags, Integers | None]:
    """Return where runs of equal rows start when the rows are in ascending order, and which row stands where.

    The latter is None where they are in that order already, as rows sorted by triple are for the queries of tails.
    """
    widths = _widths(columns)
    first, *others = _packed(columns, widths)
    if others:
        # Numbers take no more bits than there are rows, so that with them one more column fits a word at least.
        whole = int((np.cumsum(widths) <= _WORD).sum())
        return _ordered([_numbered(columns[:whole]), *columns[whole:]])
    if (first[1:] >= first[:-1]).all():
        return _starts([first]), None
    height = first.size
    row_width = height.bit_length()
    if sum(widths) + row_width > _WORD:
        order = np.argsort(first)
        return _starts([first[order]]), order
    # Sorting words that carry their row is many times faster than an indirect sort.
    first <<= np.uint64(row_width)
    for start in range(0, height, _BLOCK):
        first[start : start + _BLOCK] |= np.arange(start, min(start + _BLOCK, height), dtype=np.uint64)
    first.sort()
    order = (first & np.uint64(2**row_width - 1)).view(np.int64)
    first >>= np.uint64(row_width)
    return _starts([first]), order


def _starts(words: Sequence[Integers]) -> Flags:
    """Return where a run of equal rows begins."""
    starts = np.zeros(words[0].size, bool)
    starts[:1] = True
    for word in words:
        starts[1:] |= word[1:] != word[:-1]
    return starts


def _widths(columns: Sequence[Integers]) -> list[int]:
    """Return how many bits the values of each column need."""
    return [int(column.max(initial=1)).bit_length() for column in columns]


def _packed(columns: Sequence[Integers], widths: Sequence[int]) -> list[Integers]:
    """Pack columns into as few 64-bit words as hold them, the first column in the highest bits of the first word."""
    words: list[Integers] = []
    room = 0
    for column, width in zip(columns, widths, strict=True):
        if width > room:
            words.append(column.astype(np.uint64))
            room = _WORD - width
        else:
            words[-1] <<= np.uint64(width)
            words[-1] |= column.view(np.uint64) if column.dtype == np.int64 else column
            room -= width
    return words


def _unpacked(word: Integers, columns: Sequence[Integers], widths: Sequence[int]) -> list[Integers]:
    """Take apart a word that _packed made of these columns; the word is used up."""
    parts = []
    for column, width in zip(reversed(columns), reversed(widths), strict=True):
        part = word.astype(column.dtype)
        part &= column.dtype.type(2**width - 1)
        parts.append(part)
        word >>= np.uint64(width)
    return parts[::-1]
