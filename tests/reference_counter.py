"""Count candidates a second way, with joins of polars alone: to compare with docs/protocols.md line by line.

The frame is lazy and polars' streaming engine does the work, so this is also how a graph that does not fit into memory
is counted (docs/own-data.md).
"""

import polars as pl

from rankadjust.base.vocabulary import time_columns
from rankadjust.counting.candidates import HISTOGRAM_SCHEMA, PAIRS_SCHEMA, Candidates

TESTS = ["inference_testing", "inference_testing_2", "inference_testing_3"]
GRAPHS = [
    # training of the graph, what is evaluated on it, and what a cumulative filter knows when it is
    (
        ["facts", "training"],
        {
            "training": ["facts", "training"],
            "validation": ["facts", "training", "validation"],
            "testing": ["facts", "training", "validation", "testing"],
        },
    ),
    (
        ["inference"],
        {
            "inference": ["inference"],
            "inference_validation": ["inference", "inference_validation"],
            **{test: ["inference", "inference_validation", *TESTS] for test in TESTS},
        },
    ),
]
TRIPLE = ["head", "relation", "tail"]


def count_by_joins(triples, protocol, isolated=0, without=()):
    """Count like count_candidates. triples: a lazy frame with a column split. without: splits that are not ranked."""
    present = triples.select(pl.col("split").unique()).collect(engine="streaming")["split"].to_list()
    times = list(time_columns(triples.collect_schema().names()))
    histogram, pairs = [], []
    for training, evaluated in graphs_of(present):
        for split in [name for name in evaluated if name in present and name not in without]:
            release = {*training, *evaluated}
            known = {"all": release, "cumulative": evaluated[split], "none": []}[protocol.filter]
            given = (of_splits(triples, names) for names in ([split], known, training, release))
            tasks, entities = tasks_of(triples, *given, protocol, isolated, times)
            # Where the filter looks at times, tasks of one query differ from time to time: not counted.
            static = not (times and protocol.time == "aware" and protocol.negatives is None)
            first = [pl.lit(split).alias("split")]
            for side, other in (("head", "tail"), ("tail", "head")):
                columns = [*first, pl.lit(side).alias("side"), pl.lit(entities).alias("entities")]
                histogram.append(histogram_of(tasks, side, [other, "relation"], times, columns, static))
            pairs.append(pairs_of(tasks, times, first, static))
    return Candidates(table(histogram, HISTOGRAM_SCHEMA), table(pairs, PAIRS_SCHEMA))


def graphs_of(splits):
    inductive = any(name in splits for name in GRAPHS[1][1])
    if not inductive or "validation" in splits or "testing" in splits:
        yield GRAPHS[0]
    if inductive:
        yield GRAPHS[1]


def of_splits(triples, names):
    return triples.filter(pl.col("split").cast(pl.String).is_in(list(names))).drop("split")


def entities_of(triples):
    return pl.concat([triples.select(entity="head"), triples.select(entity="tail")]).unique()


def tasks_of(everything, split, known, base, release, protocol, isolated, times):
    """Return the ranked triples with the candidates of both sides, and how many entities are candidates."""
    seen = entities_of(base)
    pool, more = (seen, 0) if protocol.entities == "training" else (entities_of(release), isolated)
    entities = pool.select(pl.len()).collect(engine="streaming").item() + more
    if protocol.unseen == "drop":
        relations = of_splits(everything, ["facts", "training", "inference"]).select("relation").unique()
        for side in ("head", "tail"):
            split = split.join(seen, left_on=side, right_on="entity", how="semi")
        split = split.join(relations, on="relation", how="semi")
    if protocol.duplicates == "drop":
        split = split.unique()
    for side, other in (("head", "tail"), ("tail", "head")):
        if protocol.types == "any":
            candidates, of = pool.rename({"entity": side}), [side]
            split = split.with_columns(size=pl.lit(entities))
        else:
            candidates, of = base.select("relation", side).unique(), ["relation", side]
            sizes = candidates.group_by("relation").agg(size=pl.len())
            split = split.join(sizes, on="relation", how="left")
        if protocol.filter == "none":
            # Only the true answer is left out, where it is a candidate.
            found, key = candidates.with_columns(known=pl.lit(1)), of
        else:
            key = [other, "relation", *(times if protocol.time == "aware" else ())]
            # Of the known triples, those that answer a query.
            asked = known.select(*key, side).join(split.select(key).unique(), on=key, how="semi")
            answers = asked.unique().join(candidates, on=of, how="semi")
            found = answers.group_by(key).agg(known=pl.len())
        split = split.join(found, on=key, how="left")
        number = pl.col("size").fill_null(0).cast(pl.Int64) - pl.col("known").fill_null(0).cast(pl.Int64) + 1
        number = number if protocol.negatives is None else pl.lit(protocol.negatives + 1)
        number = (number - (protocol.counting == "exclusive")).alias(f"{side}_candidates")
        split = split.with_columns(number).drop("size", "known")
    return split.collect(engine="streaming").lazy(), entities


def histogram_of(tasks, side, query, times, columns, static):
    number = [f"{side}_candidates"]
    rows = tasks.group_by(number).agg(tasks=pl.len())
    ordered = pl.col("len") * (pl.col("len") - 1)
    for name, key in {
        "shared_pairs": [*query, *times],
        "repeated_pairs": [*TRIPLE, *times],
        "static_shared_pairs": query,
        "static_repeated_pairs": TRIPLE,
    }.items():
        rows = with_pairs(rows, tasks, number, key, name, ordered, static)
    return rows.rename({number[0]: "num_candidates"}).with_columns(columns)


def pairs_of(tasks, times, columns, static):
    numbers = ["head_candidates", "tail_candidates"]
    rows = tasks.group_by(numbers).agg(tasks=pl.len())
    for name, key in {"linked_pairs": [*TRIPLE, *times], "static_linked_pairs": TRIPLE}.items():
        rows = with_pairs(rows, tasks, numbers, key, name, pl.col("len") ** 2, static)
    return rows.with_columns(columns)


def with_pairs(rows, tasks, numbers, key, name, pairs, static):
    """Add how many pairs of tasks agree in the columns of a key, from the sizes of the groups that they make."""
    if name.startswith("static") and not static:
        return rows.with_columns(pl.lit(None).alias(name))
    sizes = tasks.group_by({*numbers, *key}).agg(len=pl.len().cast(pl.Int64))
    return rows.join(sizes.group_by(numbers).agg(pairs.sum().alias(name)), on=numbers)


def table(parts, schema):
    """Return the rows of all splits, in the order of the schema's columns: splits first, in their usual order."""
    frames = pl.collect_all(parts, engine="streaming")
    return pl.concat(
        [
            frame.select(pl.col(name).cast(kind) for name, kind in schema.items()).sort(
                name for name in schema if name.endswith("_candidates")
            )
            for frame in frames
        ]
        or [pl.DataFrame(schema=schema)]
    )
