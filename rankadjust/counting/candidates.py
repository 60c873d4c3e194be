"""Counting candidates: from triples to histograms of how many candidates the ranking tasks have.

`rows` says how the triples of some relations are counted, `groups` which relations are counted together.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl
import polars.selectors as cs

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SPLITS
from rankadjust.counting.codes import integer_codes, one_frame, plain_codes
from rankadjust.counting.groups import Survey, counted_at_once, counted_within, share, survey
from rankadjust.counting.protocols import Benchmark, Protocol, applies, get_protocol
from rankadjust.counting.rows import INFERENCE_GRAPH, SIDES, TRAINING_GRAPH, Counts, Graph, sums

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
        histogram: how many tasks of each split and side have how many candidates; pairs: how many triples have how
        many for head and tail.

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
    (candidates,) = count_protocols(splits, [protocol], isolated)
    return candidates


def count_protocols(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[str | Protocol], isolated: int = 0
) -> list[Candidates]:
    """Count the candidates of a data set under several protocols.

    The same as `count_candidates` for each, but triples are encoded and sorted once.

    Parameters
    ----------
    splits : mapping of str to polars.DataFrame, or polars.DataFrame
        As for `count_candidates`.
    protocols : sequence of str or Protocol
        Names of shipped protocols, or your own.
    isolated : int
        The number of entities of the release that occur in no triple.

    Returns
    -------
    list of Candidates
        In the order of the protocols.

    Raises
    ------
    RankadjustError
        As `count_candidates`.

    Examples
    --------
    >>> triples = pl.DataFrame(
    ...     [("training", "a", "r", "b"), ("training", "b", "r", "c"), ("testing", "a", "r", "c")],
    ...     schema=["split", "head", "relation", "tail"], orient="row",
    ... )
    >>> filtered, raw = count_protocols(triples, ["filtered", "raw"])
    >>> raw.histogram.filter(split="testing")["num_candidates"].to_list()
    [3, 3]

    """
    given = [get_protocol(protocol) if isinstance(protocol, str) else protocol for protocol in protocols]
    triples = one_frame(splits)
    occurring = set(triples["split"].unique())
    present = [name for name in SPLITS if name in occurring]
    require_applicable(given, triples.columns, present)
    require_one_graph(isolated, present)
    codes = [integer_codes(triples)]
    surveyed = survey(lambda: codes, isolated)

    def counted(graph: Survey, different: Sequence[Protocol]) -> Iterator[list[Counts]]:
        return counted_at_once(lambda: codes, graph, different)

    return _counted(given, [surveyed.graphs[graph] for graph in graphs_of(present)], counted)


def count_blocks(
    blocks: Callable[[], Iterable[pl.DataFrame]],
    protocols: Sequence[str | Protocol],
    memory: float,
    isolated: int = 0,
    part: int = 0,
    parts: int = 1,
) -> list[Candidates]:
    """Count like count_protocols what is too large for memory.

    blocks: returns the triples anew with every call, in blocks, each a frame with the columns split, head, relation,
        tail (integers from 0 on; ids that are not used cost a byte each) and times as integers, where there are any.
    memory: bytes that counting may take besides a block. One pass finds out what occurs, and each further
        pass counts as many groups of relations as fit. A relation that does not fit takes three passes more.
    isolated: the number of entities that occur in no triple, as for count_candidates.
    part, parts: count only the relations of this part (from 0 on) of so many; `add_up` adds the parts up. Which part
        a relation belongs to depends on nothing but the numbers of triples of all relations.

    Raises RankadjustError as count_protocols does, where memory does not suffice for the entities or for the triples
    of a single query, and for a part that is none of the parts.
    """
    if not 0 <= part < parts:
        raise RankadjustError(f"part {part} of {parts}; parts are numbered from 0 to {parts - 1}")
    given = [get_protocol(protocol) if isinstance(protocol, str) else protocol for protocol in protocols]
    codes = lambda: map(plain_codes, blocks())  # noqa: E731 - a function of its own would say no more
    surveyed = survey(codes, isolated)
    if not surveyed.splits:
        raise RankadjustError("no triples were given; count_blocks needs at least one")
    require_applicable(given, surveyed.columns, surveyed.splits)
    require_one_graph(isolated, surveyed.splits)

    def counted(graph: Survey, different: Sequence[Protocol]) -> Iterator[list[Counts]]:
        own = replace(graph, triples=share(graph.triples, part, parts))
        return counted_within(memory, codes, own, different)

    return _counted(given, [surveyed.graphs[graph] for graph in graphs_of(surveyed.splits)], counted)


def add_up(parts: Iterable[Candidates]) -> Candidates:
    """Return the candidates of a whole data set from its parts, all counted under the same protocol."""
    given = list(parts)
    histograms = pl.concat([candidates.histogram for candidates in given])
    pairs = pl.concat([candidates.pairs for candidates in given])
    return Candidates(
        _added_up(histograms, ["split", "side", "entities", "num_candidates"]),
        _added_up(pairs, ["split", "head_candidates", "tail_candidates"]),
    )


def under_protocols(counted: Mapping[str, Candidates]) -> Candidates:
    """Return the candidates under several protocols as one, with the name of each in a first column `protocol`."""
    return Candidates(
        *(
            pl.concat(
                table.select(pl.lit(name).alias("protocol"), pl.all())
                for name, table in zip(counted, tables, strict=True)
            )
            for tables in zip(
                *((candidates.histogram, candidates.pairs) for candidates in counted.values()), strict=True
            )
        )
    )


def of_protocol(tables: Candidates, name: str) -> Candidates:
    """Select one protocol from the result of `under_protocols`."""
    return Candidates(
        tables.histogram.filter(protocol=name).drop("protocol"),
        tables.pairs.filter(protocol=name).drop("protocol"),
    )


def _added_up(table: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Add up the rows of the same key. A column is null in all rows or in none, and a null stays null."""
    number = pl.all().sum() * pl.when(pl.all().null_count() == 0).then(1)
    split = pl.col("split").cast(pl.Enum(SPLITS))
    added = table.with_columns(split).group_by(key).agg(number).sort(key)
    return added.with_columns(pl.col("split").cast(pl.String)).select(table.columns)


def require_applicable(
    protocols: Iterable[Protocol], columns: Collection[str], present: Collection[str]
) -> None:
    """Raise RankadjustError for the first protocol that does not apply to triples with these columns and splits."""
    for protocol in protocols:
        reason = applies(protocol, columns, present)
        if reason:
            raise RankadjustError(reason)


def require_one_graph(isolated: int, present: Collection[str]) -> None:
    """Raise RankadjustError for isolated entities of inductive data, whose graph would be unknown."""
    if isolated and any(name in present for name in INFERENCE_GRAPH.evaluated):
        raise RankadjustError(
            "inductive data with entities that occur in no triple: their graph is not known; leave num_entities out"
        )


def _counted_like(protocol: Protocol) -> Protocol:
    """Return the protocol with the same tasks and, but for a true answer that is left out, the same candidates."""
    return replace(protocol, name="any", counting="inclusive", sides="shared", data="any", description="")


def _counted(
    protocols: Sequence[Protocol],
    graphs: Iterable[Survey],
    count: Callable[[Survey, Sequence[Protocol]], Iterator[list[Counts]]],
) -> list[Candidates]:
    """Count the graphs of a data set and return what was found under each protocol."""
    # Protocols that differ only in properties that do not affect counting are counted once.
    different = list(dict.fromkeys(map(_counted_like, protocols)))
    totals: list[Counts] = [{} for _ in different]
    for graph in graphs:
        of_groups = list(count(graph, different))
        for place, protocol in enumerate(different):
            entities = pl.lit(int(graph.occurring.pool(protocol).sum())).alias("entities")
            counts = sums([group[place] for group in of_groups])
            totals[place] |= {key: frame.with_columns(entities) for key, frame in counts.items()}
    return [_candidates(totals[different.index(_counted_like(protocol))], protocol) for protocol in protocols]


def _candidates(counts: Counts, protocol: Protocol) -> Candidates:
    """Return as two tables what was counted inclusively."""
    histograms: list[pl.DataFrame] = []
    pairs: list[pl.DataFrame] = []
    for split in SPLITS:
        for side in (*SIDES, "both"):
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


def _table(parts: Sequence[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    if not parts:
        return pl.DataFrame(schema=schema)
    return pl.concat(
        [part.select(pl.col(name).cast(kind) for name, kind in schema.items()) for part in parts]
    )
