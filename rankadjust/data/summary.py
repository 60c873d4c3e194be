"""Summary of a data set: its counts, how they compare with the registry, and possible mistakes in the files."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, listed
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS
from rankadjust.data.encode import Encoded
from rankadjust.data.registry import Dataset

_USUAL = ("training", "validation", "testing")
_NAMES_OF_COLUMNS = ("head", "relation", "tail", "subject", "predicate", "object", "source", "target")
_COUNTS_OF_TRAINING = {"entities_in_training", "entities_in_inference", "distinct_seen_triples"}


def summarise(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the counts of a data set as plain values for a JSON file.

    A triple is (head, relation, tail), whatever its time, or a whole fact of any number of entities. Unseen entities
    and relations do not occur in the known splits of their graph: the splits of the training graph, or the split
    inference. Isolated entities are in the list of all entities and occur in no triple.
    """
    of_facts = "position" in encoded.triples.columns
    ends = ["tail"] if of_facts else ["head", "tail"]
    by_split = encoded.triples.partition_by("split", as_dict=True, include_key=False)
    parts = {str(split): part for (split,), part in by_split.items()}
    graph_of = {split: "inference" if split.startswith("inference") else "training" for split in parts}
    graphs = [graph for graph in ("training", "inference") if graph in graph_of.values()]
    columns = {"entities": ends, "relations": ["relation"]}

    def occurring(splits: Iterable[str], kind: str) -> pl.Series:
        nothing = pl.Series(dtype=pl.UInt32)
        return pl.concat(
            [nothing, *(parts[split][name] for split in splits for name in columns[kind])]
        ).unique()

    known = {
        (graph, kind): occurring([split for split in dataset.known if graph_of.get(split) == graph], kind)
        for graph in graphs
        for kind in columns
    }
    new = {
        (split, kind): ids.filter(~ids.is_in(known[graph_of[split], kind].implode()))
        for split in parts
        for kind in columns
        for ids in [occurring([split], kind)]
    }
    lacking = {
        split: part.filter(
            pl.any_horizontal(
                pl.col(names).is_in(new[split, kind].implode()) for kind, names in columns.items()
            )
        )
        for split, part in parts.items()
    }
    whole = parts
    if of_facts:
        # The first entity and all that is known of it are the whole fact.
        whole = {split: part.filter(position=1) for split, part in parts.items()}
        lacking = {split: part.join(lacking[split], on="fact", how="semi") for split, part in whole.items()}
    distinct = {split: part.select(LABEL_COLUMNS).unique() for split, part in whole.items()}
    entities, relations = (encoded.labels.filter(kind=kind).height for kind in ("entity", "relation"))
    return {
        "dataset": dataset.name,
        "role": dataset.role,
        "entities": entities,
        "isolated_entities": entities - occurring(graph_of, "entities").len(),
        "relations": relations,
        **{f"{kind}_in_{graph}": known[graph, kind].len() for kind in columns for graph in graphs},
        "triples": {split: part.height for split, part in whole.items()},
        "distinct_triples": {split: each.height for split, each in distinct.items()},
        "duplicates_within": {split: part.height - distinct[split].height for split, part in whole.items()},
        "duplicates_between": {
            f"{one}&{other}": distinct[one].join(distinct[other], on=LABEL_COLUMNS, how="semi").height
            for one, other in combinations(parts, 2)
        },
        "self_loops": {}
        if of_facts
        else {split: int((part["head"] == part["tail"]).sum()) for split, part in whole.items()},
        "unseen": {
            split: {**{kind: new[split, kind].len() for kind in columns}, "triples": lacking[split].height}
            for split in parts
            if split not in dataset.known
        },
        "distinct_seen_triples": {
            split: each.height - lacking[split].select(LABEL_COLUMNS).n_unique()
            for split, each in distinct.items()
        },
    }


# The registry's counts


def check_expected(summary: Mapping[str, Any], dataset: Dataset) -> str | None:
    """Compare a summary with the counts of the registry.

    Returns None where they agree, and the differences with the registry's reason where it gives one.
    Raises RankadjustError where it does not.
    """
    differences = ", ".join(_differences(summary, dataset.expected))
    if not differences:
        return None
    if dataset.differs:
        return f"{dataset.name}: {differences}; known to differ: {dataset.differs}"
    raise RankadjustError(
        f"{dataset.name}: {differences}; if these are the right files, correct the counts under "
        "'expected', or give a reason under 'expected.differs'"
    )


def _differences(actual: Mapping[str, Any], expected: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in expected.items():
        if isinstance(value, Mapping):
            yield from _differences(actual.get(key, {}), value, f"{prefix}{key}.")
        elif actual.get(key) != value:
            yield f"{prefix}{key} is {actual.get(key, 'missing')}, expected {value}"


_ROW = {
    "dataset": pl.String,
    "role": pl.String,
    **dict.fromkeys(("entities", "relations", "entities_in_training", "relations_in_training"), pl.Int64),
    **dict.fromkeys(("entities_in_inference", "relations_in_inference"), pl.Int64),
    **{f"triples_{split}": pl.Int64 for split in SPLITS},
    **{f"distinct_triples_{split}": pl.Int64 for split in SPLITS},
    **dict.fromkeys(("duplicates_within", "duplicates_between", "self_loops", "unseen_triples"), pl.Int64),
}


def summary_row(summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return a summary as one row of results/database/datasets.tsv; a split that is not there is null.

    duplicates_within, duplicates_between (pairs of splits) and self_loops are sums over all splits,
    unseen_triples over those that are evaluated.
    """
    row = {name: summary.get(name) for name in _ROW}
    for name in ("triples", "distinct_triples"):
        row |= {f"{name}_{split}": summary[name].get(split) for split in SPLITS}
    for name in ("duplicates_within", "duplicates_between", "self_loops"):
        row[name] = sum(summary[name].values())
    row["unseen_triples"] = sum(counts["triples"] for counts in summary["unseen"].values())
    return pl.DataFrame([row], schema=_ROW, orient="row")


# Lines for the user


def in_one_line(summary: Mapping[str, Any]) -> str:
    """Return 'my-graph: 104 entities, 25 relations, 8,548 / 1,068 / 1,069 triples'.

    Where the splits are not training, validation and testing, each number of triples has its name.
    """
    counts = summary["triples"]
    isolated = f" ({summary['isolated_entities']:,} in no triple)" if summary["isolated_entities"] else ""
    triples = " / ".join(
        f"{number:,}" if tuple(counts) == _USUAL else f"{split} {number:,}"
        for split, number in counts.items()
    )
    return (
        f"{summary['dataset']}: {summary['entities']:,} entities{isolated}, {summary['relations']:,} relations, "
        f"{triples} triples"
    )


def warnings(encoded: Encoded, summary: Mapping[str, Any], dataset: Dataset) -> list[str]:
    """Return what looks like a mistake in the files or in their declaration, a sentence each.

    Nothing here is surely wrong: a count that the registry states under `expected` is taken to be meant.
    """
    if "position" in encoded.triples.columns:
        return []
    return [
        *_header(encoded),
        *_order(encoded, dataset),
        *_leaks(summary, dataset),
        *_unseen(summary, dataset),
    ]


def _header(encoded: Encoded) -> Iterator[str]:
    """Look for names of columns among the labels: of relations and of entities."""
    words = encoded.labels.filter(pl.col("label").str.to_lowercase().is_in(_NAMES_OF_COLUMNS))
    if words["kind"].n_unique() == 2:
        yield (
            f"{listed(map(repr, words['label']))} occur as labels: if they name the columns, delete the first line of "
            "every split, or declare format.header_lines: 1"
        )


def _order(encoded: Encoded, dataset: Dataset) -> Iterator[str]:
    """Compare the columns: there are fewer relations than entities nearly everywhere."""
    if {"entities", "relations"} <= set(dataset.expected):
        return
    number = {name: encoded.triples[name].n_unique() for name in LABEL_COLUMNS}
    fewest = min(("head", "tail"), key=number.__getitem__)
    if number["relation"] > number[fewest]:
        yield (
            f"the column of relations has {number['relation']:,} different values, the column of {fewest}s "
            f"{number[fewest]:,}: if the columns are in another order, declare format.columns; if not, give "
            "the numbers of entities and relations under expected"
        )


def _leaks(summary: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    if dataset.role == "temporal" or "duplicates_between" in dataset.expected:
        # A triple is asked for at another time than it is known, or whoever states the count knows it.
        return
    for pair, common in summary["duplicates_between"].items():
        known, asked = pair.split("&")
        every = summary["distinct_triples"][asked]
        if known in dataset.known and asked not in dataset.known and common:
            share = f"{common / every:.1%}" if common / every < 0.1 else f"{common / every:.0%}"
            yield f"{common:,} of the {every:,} {asked} triples ({share}) are in {known}, too"


def _unseen(summary: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    """Count the evaluated triples that hold an entity or relation which no split that a model is given has."""
    # Whoever states these counts knows that training lacks some.
    if _COUNTS_OF_TRAINING & set(dataset.expected):
        return
    for split, unseen in summary["unseen"].items():
        if unseen["triples"]:
            graph = "the inference graph" if split.startswith("inference") else "training"
            yield (
                f"{unseen['triples']:,} of {summary['triples'][split]:,} {split} triples have an entity or relation "
                f"that {graph} does not have ({unseen['entities']:,} entities, {unseen['relations']:,} relations); "
                "filtered ranks these triples, too, but filtered-training and pykeen leave them out"
            )
