"""Counting candidates: from triples to histograms of how many candidates the ranking tasks have.

`rows` says how the triples of some relations are counted, `groups` which relations are counted together.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain

import polars as pl
import polars.selectors as cs

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SPLITS
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import in_groups, survey
from rankadjust.counting.packing import Integers
from rankadjust.counting.protocols import Benchmark, Protocol, applies, get_protocol
from rankadjust.counting.rows import (
    INFERENCE_GRAPH,
    SIDES,
    TRAINING_GRAPH,
    Counts,
    Graph,
    Survey,
    counts_of_tasks,
    rows_of,
    tasks_of,
)

# Triples that are counted together: so many that calls do not matter, and so few that they stay in a cache.
GROUP = 2**21

_PAIRS = ("shared_pairs", "repeated_pairs", "static_shared_pairs", "static_repeated_pairs")
HISTOGRAM_SCHEMA = pl.Schema(
    dict.fromkeys(("split", "side"), pl.String)
    | dict.fromkeys(("entities", "num_candidates", "tasks", *_PAIRS), pl.Int64)
)
_LINKED = ("tasks", "linked_pairs", "static_linked_pairs")
PAIRS_SCHEMA = pl.Schema(
    {"split": pl.String} | dict.fromkeys(("head_candidates", "tail_candidates", *_LINKED), pl.Int64)
)


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

    All counts are Int64; rows are sorted by split (order of SPLITS), side and number of candidates. A split has no
    rows if the protocol drops all of its triples.
    """

    histogram: pl.DataFrame
    pairs: pl.DataFrame


def count_candidates(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocol: str | Protocol, isolated: int = 0
) -> Candidates:
    """Count the candidates of every ranking task of a data set.

    Counted are training, validation and testing on all their entities, and inference, inference_validation and
    inference_testing on theirs. `facts` are known like training and not ranked. The training split of an inductive
    set without validation and testing is not counted, since nothing is ranked on its graph.

    Parameters
    ----------
    splits : mapping of str to polars.DataFrame, or polars.DataFrame
        A frame per split, named as in `rankadjust.base.vocabulary.SPLITS`, or one frame with a column split. The
        columns are head, relation and tail, as text or integers from 0 on. Temporal data also have time, or time_start
        and time_end, which are compared for equality. Other columns are ignored.
    protocol : str or Protocol
        What is ranked against what: the name of a shipped protocol, or one of your own.
    isolated : int
        The number of entities of the release that occur in no triple. They are candidates where a protocol takes all
        entities of the release; not for inductive data, which have two graphs.

    Returns
    -------
    Candidates
        Its histogram says how many tasks of each split and side have each number of candidates, and its pairs how
        many triples have each two numbers for head and tail.

    Raises
    ------
    RankadjustError
        For an unknown or empty split, a missing column, a null, and ids that are neither text nor integers. For a
        protocol that does not apply, and for isolated entities of inductive data.

    Examples
    --------
    >>> triples = {
    ...     "training": pl.DataFrame({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", "c"]}),
    ...     "testing": pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["c"]}),
    ... }
    >>> found = count_candidates(triples, "filtered").histogram.filter(split="testing")
    >>> found.select("side", "num_candidates", "tasks").rows()
    [('head', 2, 1), ('tail', 2, 1)]

    """
    return count_protocols(splits, [protocol], isolated)[0]


def count_protocols(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[str | Protocol], isolated: int = 0
) -> list[Candidates]:
    """Return the candidates of a data set under each of several protocols: encoded and sorted once."""
    given = [get_protocol(each) if isinstance(each, str) else each for each in protocols]
    triples = one_frame(splits)
    present = triples["split"].unique().to_list()
    require_applicable(given, triples.columns, present)
    codes = integer_codes(triples)
    surveyed = survey(codes, isolated)

    def count(own: dict[str, Integers], of_graph: Survey, _: Integers) -> list[Counts]:
        rows = cache(partial(rows_of, own, of_graph))
        return [
            counts_of_tasks(of, {side: tasks_of(of, side, each) for side in SIDES}, each)
            for each in given
            for of in [rows(each.time, each.splits)]
        ]

    counts: list[list[Counts]] = []
    for graph in map(surveyed.__getitem__, graphs_of(present)):
        for protocol in given:
            entities = int(graph.pool(protocol).sum())
            if protocol.constant is not None and protocol.constant > entities:
                raise RankadjustError(
                    f"{protocol.name}: {protocol.negatives} distinct negatives cannot be drawn from {entities} entities"
                )
        counts += in_groups(codes, graph, count, GROUP, graph.triples.size)
    return [
        added_up(of_protocol, each)
        for of_protocol, each in zip(zip(*counts, strict=True), given, strict=True)
    ]


def count_encoded(triples: pl.DataFrame, protocols: Sequence[Protocol], isolated: int = 0) -> Candidates:
    """Return the candidates of a data set under several protocols, in tables with a first column `protocol`.

    triples: as `rankadjust.data.encode.encode` makes them. isolated: as for `count_candidates`.

    Facts with any number of entities have a row for each entity: it is asked for, and the relation, its position and
    the other entities are known. Their sides are position_1, position_2, ...; their table of pairs is empty, because
    nobody counts which tasks share the score of a fact.
    """
    if "position" in triples.columns:
        return _of_facts(triples, protocols)
    counted = count_protocols(triples, protocols, isolated)
    tables = [
        [
            table.select(pl.lit(protocol.name).alias("protocol"), pl.all())
            for table in (each.histogram, each.pairs)
        ]
        for protocol, each in zip(protocols, counted, strict=True)
    ]
    return Candidates(*map(pl.concat, zip(*tables, strict=True)))


def _of_facts(facts: pl.DataFrame, protocols: Sequence[Protocol]) -> Candidates:
    entities = facts["tail"].n_unique()
    parts = []
    for (position,), own in facts.sort("position").group_by("position", maintain_order=True):
        # A head is a query here and not a candidate, so the number of heads is subtracted again.
        known = own["head"].n_unique()
        triples = own.select("split", "head", "relation", "tail").with_columns(pl.col("head") + entities)
        tables = count_encoded(triples, protocols, entities - own["tail"].n_unique())
        parts.append(
            tables.histogram.filter(side="tail").with_columns(
                pl.col("entities", "num_candidates") - known,
                side=pl.lit(f"position_{position}"),
            )
        )
    order = pl.col("protocol").cast(pl.Enum([protocol.name for protocol in protocols]))
    splits = pl.col("split").cast(pl.Enum(SPLITS))
    histogram = pl.concat(parts).sort(order, splits, maintain_order=True)
    return Candidates(histogram, tables.pairs.clear())


def added_up(counts: Iterable[Counts], protocol: Protocol) -> Candidates:
    """Return as two tables what was counted of groups of relations, the true answer included."""
    tables = []
    for schema, groups in zip((HISTOGRAM_SCHEMA, PAIRS_SCHEMA), zip(*counts, strict=True), strict=True):
        key = [name for name in schema if name != "tasks" and not name.endswith("_pairs")]
        # A null, which is one everywhere, stays.
        number = pl.all().sum() * pl.when(pl.all().null_count() == 0).then(1)
        empty = pl.DataFrame(schema={**schema, "split": pl.Enum(SPLITS)})
        table = pl.concat([empty, *chain(*groups)], how="diagonal").group_by(key).agg(number).sort(key)
        exclusive = cs.ends_with("_candidates") - int(protocol.counting == "exclusive")
        tables.append(table.cast(schema).with_columns(exclusive))
    return Candidates(*tables)


def require_applicable(
    protocols: Iterable[Protocol], columns: Collection[str], present: Collection[str]
) -> None:
    """Raise RankadjustError for the first protocol that does not apply to triples with these columns and splits."""
    for protocol in protocols:
        reason = applies(protocol, columns, present)
        if reason:
            raise RankadjustError(reason)


def benchmark_candidates(benchmark: Benchmark) -> pl.DataFrame:
    """Return the histogram of a benchmark with a constant number of candidates, made without its triples.

    The columns are the same as in Candidates.histogram. tasks is null where the number of ranked triples is not public,
    entities where their number is not. Where all tasks have common negatives, every two of them share a query;
    elsewhere it is not known how tasks share queries (shared_pairs, repeated_pairs: null). num_candidates is null
    where the benchmark says why it is not known.
    """
    negatives = benchmark.protocol.negatives
    pool = benchmark.entities if negatives is None else negatives + 1
    exclusive = benchmark.protocol.counting == "exclusive"
    shared = ("shared_pairs", "static_shared_pairs")
    rows = [
        {
            "split": split,
            "side": side,
            "entities": benchmark.entities,
            "num_candidates": None if pool is None or benchmark.reason else pool - exclusive,
            "tasks": tasks,
            **(dict.fromkeys(shared, tasks and tasks * (tasks - 1)) if benchmark.common_negatives else {}),
        }
        for split, tasks in benchmark.tasks.items()
        for side in benchmark.sides
    ]
    return pl.DataFrame(rows, HISTOGRAM_SCHEMA)


def graphs_of(present: Collection[str]) -> Iterator[Graph]:
    """Yield the graphs on which anything of a data set with these splits is ranked."""
    inductive = any(name in present for name in INFERENCE_GRAPH.evaluated)
    if not inductive or any(name in present for name in ("validation", "testing")):
        yield TRAINING_GRAPH
    if inductive:
        yield INFERENCE_GRAPH
