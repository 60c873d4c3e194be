"""What is known of every ranking task before any model: candidates, relation, query, cardinality, half-link.

One row a task, to be joined with the ranks of anyone (docs/compare.md, "Where does it come from").
"""

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import LABEL_COLUMNS, TEST_SPLITS, TIME_COLUMNS, time_columns
from rankadjust.counting.candidates import graphs_of, require_applicable
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import of_graph, survey
from rankadjust.counting.protocols import Protocol, get_protocol
from rankadjust.counting.rows import SIDES, ranked_rows, rows_of, tasks_of

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
    where training lacks it); half_link (seen or unseen): whether the query has any answer in training.
    """
    times = [name for name in TIME_COLUMNS if name in triples.columns]
    of_kind = {kind: labels.filter(kind=kind).sort("id")["label"] for kind in ("entity", "relation")}
    kinds = {"head": "entity", "relation": "relation", "tail": "entity"}
    rows = triples.select(
        "split",
        *LABEL_COLUMNS,
        *(pl.lit(of_kind[kind].gather(triples[name])).alias(f"{name}_label") for name, kind in kinds.items()),
        *(pl.col(name).cast(pl.String) for name in times),
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        line=(pl.int_range(pl.len(), dtype=pl.Int64) + 1).over("split"),
    ).cast({"split": pl.String})
    tasks = count_tasks(triples, protocol, isolated)
    attributes = tasks.join(rows, on="row", how="left", maintain_order="left")
    texts = [*(pl.col(f"{name}_label") for name in LABEL_COLUMNS), *map(pl.col, times)]
    head, relation, tail, *when = texts
    asked = [
        pl.when(pl.col("side") == "head").then(pl.lit("?")).otherwise(head),
        relation,
        pl.when(pl.col("side") == "tail").then(pl.lit("?")).otherwise(tail),
        *when,
    ]
    parts = [
        _with_known(attributes.filter(split=split), triples.filter(pl.col("split").is_in(known)))
        for split, known in _KNOWN.items()
    ]
    return pl.concat(parts).select(
        "split",
        triple=pl.concat_str(texts, separator="\t"),
        line="line",
        ids=pl.concat_str([pl.col(name).cast(pl.String) for name in LABEL_COLUMNS], separator=","),
        side="side",
        num_candidates="num_candidates",
        relation="relation_label",
        query=pl.concat_str(asked, separator="\t"),
        cardinality="cardinality",
        half_link="half_link",
    )


def count_tasks(triples: pl.DataFrame, protocol: str | Protocol, isolated: int = 0) -> pl.DataFrame:
    """Return the number of candidates of each single ranking task of the test splits.

    triples, protocol, isolated: as for `rankadjust.counting.candidates.count_candidates`, in one frame. A triple that
    occurs more than once in a split is one task on each side.

    The result has the columns row (the first row of `triples` with this triple), side (head, tail) and num_candidates
    (Int64 but for side), sorted by row and side; triples that the protocol drops are left out. Raises RankadjustError
    for a protocol that does not apply, and for triples as count_candidates does.
    """
    given = get_protocol(protocol) if isinstance(protocol, str) else protocol
    frame = one_frame(triples)
    present = frame["split"].unique().cast(pl.String).to_list()
    require_applicable([given], frame.columns, present)
    codes = integer_codes(frame)
    key = ["split", *LABEL_COLUMNS, *time_columns(codes)]
    first_rows = pl.DataFrame({name: codes[name] for name in key}).cast(pl.Int64).with_row_index("row")
    first_rows = first_rows.cast(pl.Int64).unique(key, keep="first", maintain_order=True)
    parts = [pl.DataFrame(schema={**dict.fromkeys([*key, "num_candidates"], pl.Int64), "side": pl.String})]
    surveys = survey(codes, isolated)
    for graph in graphs_of(present):
        occurring = surveys[graph].occurring
        rows = rows_of(of_graph(codes, graph), graph, occurring, given.time)
        columns = dict(zip(key, (rows.split, rows.head, rows.relation, rows.tail, *rows.times), strict=True))
        for side in SIDES:
            candidates = tasks_of(rows, side, occurring, given).candidates
            columns["num_candidates"] = candidates.astype(np.int64) - (given.counting == "exclusive")
            for split, ranked in ranked_rows(rows, graph, given):
                if split in TEST_SPLITS:
                    chosen = pl.DataFrame({name: column[ranked.places] for name, column in columns.items()})
                    parts.append(chosen.cast(pl.Int64).with_columns(side=pl.lit(side, pl.String)))
    tasks = pl.concat(parts)
    return first_rows.join(tasks, on=key).select("row", "side", "num_candidates").sort("row", "side")


def _with_known(tasks: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Add cardinality and half_link, from the triples that are known."""
    distinct = known.select(LABEL_COLUMNS).unique()
    tails = distinct.group_by("relation", "head").len().group_by("relation").agg(tails=pl.col("len").mean())
    heads = distinct.group_by("relation", "tail").len().group_by("relation").agg(heads=pl.col("len").mean())
    of_relation = heads.join(tails, on="relation").select(
        "relation",
        cardinality=pl.concat_str(_one_or_many("heads"), _one_or_many("tails"), separator="-"),
    )
    anchors = pl.concat(
        distinct.select("relation", pl.col(anchor).alias("anchor"), side=pl.lit(side)).unique()
        for side, anchor in (("head", "tail"), ("tail", "head"))
    ).with_columns(half_link=pl.lit("seen"))
    anchor = pl.when(pl.col("side") == "head").then("tail").otherwise("head")
    return (
        tasks.with_columns(anchor=anchor)
        .join(of_relation, on="relation", how="left", maintain_order="left")
        .join(anchors, on=["relation", "anchor", "side"], how="left", maintain_order="left")
        .with_columns(pl.col("half_link", "cardinality").fill_null("unseen"))
    )


def _one_or_many(mean: str) -> pl.Expr:
    return pl.when(pl.col(mean) < _MANY).then(pl.lit("1")).otherwise(pl.lit("n"))
