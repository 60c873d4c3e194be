"""What is known of every ranking task before any model: candidates, relation, query, cardinality.

One row a task, to be joined with the ranks of anyone (docs/compare.md, "Where does it come from").
"""

from collections.abc import Mapping
from itertools import product

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import LABEL_COLUMNS, TEST_SPLITS, TIMES, time_columns
from rankadjust.counting.candidates import graphs_of, require_applicable
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import of_graph, survey
from rankadjust.counting.packing import Integers
from rankadjust.counting.protocols import Protocol, get_protocol
from rankadjust.counting.rows import OTHER, SIDES, Ranked, Rows, ranked_rows, rows_of, tasks_of

# From this mean number of answers a query on, a side of a relation is "many" (Bordes et al. 2013).
_MANY = 1.5
# What is known when a test split is ranked.
_KNOWN = {"testing": ("facts", "training"), "inference_testing": ("inference",)}


def task_attributes(
    triples: pl.DataFrame, labels: pl.DataFrame, protocol: str | Protocol, isolated: int = 0
) -> pl.DataFrame:
    """Return one row for each task of the test splits of a data set.

    triples, labels: as `rankadjust.data.encode.Encoded` holds them. isolated: entities that occur in no triple.

    The columns: split; triple, the labels of head, relation and tail (and of times) with tabs between them; line, the
    place of the triple in its split, from 1; ids, the three ids with commas; side; num_candidates; relation; query, the
    labels with ? in place of the answer; cardinality of the relation in training (1-1, 1-n, n-1 or n-n; unseen
    where training lacks it).
    """
    triples = evaluated(triples, get_protocol(protocol) if isinstance(protocol, str) else protocol)
    names = {kind: labels.filter(kind=kind).sort("id")["label"] for kind in ("entity", "relation")}
    times = time_columns(triples.columns)
    texts = ["head_label", "relation_label", "tail_label", *times]
    rows = triples.with_columns(
        pl.col("split", *times).cast(pl.String),
        *(
            pl.lit(names["relation" if name == "relation" else "entity"].gather(triples[name])).alias(
                f"{name}_label"
            )
            for name in LABEL_COLUMNS
        ),
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        line=(pl.int_range(pl.len(), dtype=pl.Int64) + 1).over("split"),
    )
    tasks = count_tasks(triples, protocol, isolated).join(rows, on="row", how="left", maintain_order="left")
    parts = [
        tasks.filter(split=split).join(
            _cardinality(triples.filter(pl.col("split").is_in(known))),
            on="relation",
            how="left",
            maintain_order="left",
        )
        for split, known in _KNOWN.items()
    ]
    asked = [
        pl.when(pl.col("side") == name.removesuffix("_label")).then(pl.lit("?")).otherwise(name)
        for name in texts
    ]
    return pl.concat(parts).select(
        "split",
        triple=pl.concat_str(texts, separator="\t"),
        line="line",
        ids=pl.concat_str(pl.col(LABEL_COLUMNS).cast(pl.String), separator=","),
        side="side",
        num_candidates="num_candidates",
        relation="relation_label",
        query=pl.concat_str(asked, separator="\t"),
        cardinality=pl.col("cardinality").fill_null("unseen"),
    )


def evaluated(triples: pl.DataFrame, protocol: Protocol) -> pl.DataFrame:
    """Return triples with the splits that the protocol evaluates: merged ones have one name."""
    if protocol.splits == "separate":
        return triples
    split = pl.col("split").cast(pl.String).replace("inference_validation", "inference_testing")
    return triples.with_columns(split.cast(triples.schema["split"]))


def count_tasks(triples: pl.DataFrame, protocol: str | Protocol, isolated: int = 0) -> pl.DataFrame:
    """Return the number of candidates of each single ranking task of the test splits.

    triples, protocol, isolated: as for `rankadjust.counting.candidates.count_candidates`, in one frame. A triple that
    occurs more than once in a split is one task on each side.

    The result has the columns row (the first row of `triples` with this triple), side (head, tail) and num_candidates
    (Int64 but for side), sorted by row and side; triples that the protocol drops are left out. Raises RankadjustError
    for a protocol that does not apply, and for triples as count_candidates does.
    """
    given = get_protocol(protocol) if isinstance(protocol, str) else protocol
    frame = evaluated(one_frame(triples), given)
    present = frame["split"].unique().to_list()
    require_applicable([given], frame.columns, present)
    codes = integer_codes(frame)
    surveys = survey(codes, isolated)
    parts = [pl.DataFrame(schema={"num_candidates": pl.Int64, "side": pl.String})]
    for graph in graphs_of(present):
        rows = rows_of(of_graph(codes, graph), surveys[graph], given.time, given.splits)
        for (split, ranked), side in product(ranked_rows(rows, given), SIDES):
            if split in TEST_SPLITS:
                candidates = tasks_of(rows, side, given).candidates.astype(np.int64)
                candidates -= given.counting == "exclusive"
                table = single_tasks(rows, rows.relation, ranked, num_candidates=candidates)
                parts.append(table.with_columns(side=pl.lit(side)))
    tasks = by_first_row(codes, pl.concat(parts, how="diagonal"))
    return tasks.select("row", "side", "num_candidates").sort("row", "side")


def single_tasks(rows: Rows, relation: Integers, ranked: Ranked, **columns: Integers) -> pl.DataFrame:
    """Return columns of ranked rows with the codes of their triples, for `by_first_row`.

    relation: of each row, in the codes of the whole data set.
    """
    codes = {"split": rows.split, "head": rows.head, "relation": relation, "tail": rows.tail}
    codes |= dict(zip(TIMES[len(rows.times) - 1], rows.times, strict=True)) if rows.times else {}
    chosen = {name: column[ranked.places] for name, column in (codes | columns).items()}
    return pl.DataFrame(chosen).cast(pl.Int64)


def by_first_row(codes: Mapping[str, Integers], tasks: pl.DataFrame) -> pl.DataFrame:
    """Return tasks of triples with the first row that holds the triple, in place of its codes."""
    key = ["split", *LABEL_COLUMNS, *time_columns(codes)]
    rows = pl.DataFrame({name: codes[name] for name in key}).with_row_index("row").cast(pl.Int64)
    first = rows.unique(key, keep="first", maintain_order=True)
    keyed = tasks.with_columns(
        pl.lit(None, pl.Int64).alias(name) for name in key if name not in tasks.columns
    )
    return first.join(keyed, on=key).drop(key)


def _cardinality(known: pl.DataFrame) -> pl.DataFrame:
    """Return relation and cardinality of each relation among the triples that are known."""
    distinct = known.select(LABEL_COLUMNS).unique()
    is_one = pl.col("len").mean() < _MANY
    heads, tails = (
        distinct.group_by("relation", OTHER[side])
        .len()
        .group_by("relation")
        .agg(pl.when(is_one).then(pl.lit("1")).otherwise(pl.lit("n")).alias(side))
        for side in SIDES
    )
    of_sides = pl.concat_str(SIDES, separator="-")
    return heads.join(tails, on="relation").select("relation", cardinality=of_sides)
