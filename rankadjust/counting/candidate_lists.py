"""Candidates from lists of one's own: the entities that may be the head or the tail of a relation."""

from collections.abc import Collection, Iterator, Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.vocabulary import time_columns
from rankadjust.counting.candidates import HISTOGRAM_SCHEMA, PAIRS_SCHEMA, Candidates
from rankadjust.counting.codes import one_frame
from rankadjust.counting.rows import OTHER, SIDES, TRAINING_GRAPH

Entities = Collection[str] | Collection[int]
Lists = Mapping[str, Entities] | Mapping[str | int, Mapping[str, Entities]]
"""Entities by side (head, tail), or by relation and side."""

_QUERY = ["side", "given", "relation"]


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
    triples = one_frame(splits).with_columns(pl.col("split").cast(pl.String))
    if time_columns(triples.columns):
        raise RankadjustError("lists of candidates are for triples without times")
    kind = triples.schema["head"]
    listed = pl.DataFrame(
        list(_rows(lists, triples["relation"].unique().to_list())),
        schema={"relation": triples.schema["relation"], "side": pl.String, "answer": kind},
        orient="row",
    ).unique()
    entities = pl.concat([triples["head"], triples["tail"]]).n_unique() + isolated
    answers = pl.concat(
        triples.select(
            "split", "relation", given=pl.col(OTHER[side]), answer=pl.col(side), side=pl.lit(side, pl.String)
        )
        for side in SIDES
    )
    sizes = listed.group_by("relation", "side").len("size")
    distinct = answers.unique([*_QUERY, "answer"]).join(sizes, on=["relation", "side"], how="left")
    inside = pl.concat(
        [
            distinct.filter(pl.col("size").is_null()),
            distinct.join(listed, on=["relation", "side", "answer"], how="semi"),
        ]
    )
    tasks = (
        answers.filter(pl.col("split").is_in(TRAINING_GRAPH.evaluated))
        .join(sizes, on=["relation", "side"], how="left")
        .join(inside.group_by(_QUERY).len("known"), on=_QUERY, how="left")
        .with_columns(
            entities=pl.lit(entities),
            num_candidates=pl.col("size").fill_null(entities)
            - pl.col("known").fill_null(0).cast(pl.Int64)
            + 1,
        )
    )
    return Candidates(_histogram(tasks), _pairs(tasks))


def _rows(lists: Lists, relations: Collection[str | int]) -> Iterator[tuple[str | int, str, str | int]]:
    """Yield relation, side and entity of each entry of the lists."""
    for relation, by_side in (
        lists.items() if not {*lists} <= {*SIDES} else ((each, lists) for each in relations)
    ):
        if relation not in relations:
            hint = did_you_mean(str(relation), map(str, relations))
            raise RankadjustError(f"candidates: no triple has the relation {relation!r}{hint}")
        if not isinstance(by_side, Mapping) or not {*by_side} <= {*SIDES}:
            raise RankadjustError(f"candidates of {relation!r}: give lists of entities for head and tail")
        for side, entities in by_side.items():
            if isinstance(entities, str) or not len(entities):
                raise RankadjustError(f"candidates of {relation!r}, {side}: give a list of entities")
            yield from ((relation, str(side), entity) for entity in entities)


def _times(name: str) -> pl.Expr:
    """Return the number of ordered pairs among as many things as each row counts."""
    return (pl.col(name) * (pl.col(name) - 1)).cast(pl.Int64)


def _histogram(tasks: pl.DataFrame) -> pl.DataFrame:
    key = ["split", "side", "entities", "num_candidates"]
    queries = tasks.group_by([*key, "given", "relation"]).len("size")
    repeated = tasks.group_by([*key, "given", "relation", "answer"]).len("size")
    counts = queries.group_by(key).agg(tasks=pl.col("size").sum(), shared_pairs=_times("size").sum())
    counts = counts.join(repeated.group_by(key).agg(repeated_pairs=_times("size").sum()), on=key)
    return _ordered(counts, ("shared_pairs", "repeated_pairs"), HISTOGRAM_SCHEMA)


def _pairs(tasks: pl.DataFrame) -> pl.DataFrame:
    head, tail = (
        tasks.filter(side=side)
        .rename({"given": OTHER[side], "answer": side, "num_candidates": f"{side}_candidates"})
        .select("split", "head", "relation", "tail", f"{side}_candidates")
        for side in SIDES
    )
    triple = ["split", "head", "relation", "tail"]
    size = head.group_by([*triple, "head_candidates"]).len("size").join(tail.unique(), on=triple)
    key = ["split", "head_candidates", "tail_candidates"]
    counts = size.group_by(key).agg(tasks=pl.col("size").sum(), linked_pairs=(pl.col("size") ** 2).sum())
    return _ordered(counts, ("linked_pairs",), PAIRS_SCHEMA)


def _ordered(counts: pl.DataFrame, pairs: Collection[str], schema: pl.Schema) -> pl.DataFrame:
    """Return counts as `count_candidates` has them: without times, pairs whatever their times are the same."""
    counts = counts.with_columns(pl.col(name).alias(f"static_{name}") for name in pairs)
    places = {name: place for place, name in enumerate(TRAINING_GRAPH.evaluated)}
    keys = [name for name in schema if name.endswith(("side", "candidates"))]
    ordered = counts.sort(pl.col("split").replace_strict(places, return_dtype=pl.Int64), *keys)
    return ordered.select(pl.col(name).cast(kind) for name, kind in schema.items())
