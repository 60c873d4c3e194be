"""Summary of a data set: its counts, how they compare with the registry, and possible mistakes in the files."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankadjust.base.arrays import BoolArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS
from rankadjust.data.encode import Encoded
from rankadjust.data.registry import Dataset

_USUAL = ("training", "validation", "testing")
_COUNTS_OF_TRAINING = {"entities_in_training", "entities_in_inference", "distinct_seen_triples"}


def summarise(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the counts of a data set as plain values for a JSON file.

    A triple is (head, relation, tail), whatever its time. Unseen entities and relations do not occur in the known
    splits of their graph: the splits of the training graph, or the split inference. Isolated entities are in the list
    of all entities and occur in no triple.
    """
    if "position" in encoded.triples.columns:
        return _summary_of_facts(encoded, dataset)
    size, entities = encoded.labels.height, encoded.labels.filter(kind="entity").height
    parts = _parts(encoded)
    graph_of = {split: "inference" if split.startswith("inference") else "training" for split in parts}
    occurring = {split: _occurring(part, entities, size) for split, part in parts.items()}
    nothing = np.zeros(size, np.bool_)
    known = {
        graph: np.any(
            [nothing, *(occurring[split] for split in dataset.known if graph_of.get(split) == graph)], 0
        )
        for graph in ("training", "inference")
        if graph in graph_of.values()
    }
    seen = {split: known[graph] for split, graph in graph_of.items()}
    covered = {
        split: np.all([seen[split][ids] for ids in _ids(part, entities)], axis=0)
        for split, part in parts.items()
    }
    bits, held = _held(parts, covered)
    distinct = {
        split: sum(number for splits, _, number in held if splits & bit) for split, bit in bits.items()
    }
    return {
        "dataset": dataset.name,
        "role": dataset.role,
        "entities": entities,
        "isolated_entities": int((~np.any([nothing, *occurring.values()], axis=0)[:entities]).sum()),
        "relations": size - entities,
        **{f"entities_in_{graph}": int(mask[:entities].sum()) for graph, mask in known.items()},
        **{f"relations_in_{graph}": int(mask[entities:].sum()) for graph, mask in known.items()},
        "triples": {split: part.height for split, part in parts.items()},
        "distinct_triples": distinct,
        "duplicates_within": {split: part.height - distinct[split] for split, part in parts.items()},
        "duplicates_between": {
            f"{one}&{other}": sum(
                number for splits, _, number in held if splits & bits[one] and splits & bits[other]
            )
            for one, other in combinations(parts, 2)
        },
        "self_loops": {split: int((part["head"] == part["tail"]).sum()) for split, part in parts.items()},
        "unseen": {
            split: {
                "entities": int((occurring[split] & ~seen[split])[:entities].sum()),
                "relations": int((occurring[split] & ~seen[split])[entities:].sum()),
                "triples": int((~covered[split]).sum()),
            }
            for split in parts
            if split not in dataset.known
        },
        "distinct_seen_triples": {
            split: sum(number for _, splits, number in held if splits & bit) for split, bit in bits.items()
        },
    }


def _summary_of_facts(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the same counts for facts of any number of entities, where a triple is a whole fact."""
    parts = _parts(encoded)
    given = pl.concat(part for split, part in parts.items() if split in dataset.known)
    new = {
        name: {split: part.join(given, on=name, how="anti") for split, part in parts.items()}
        for name in ("tail", "relation")
    }
    # The first entity and all that is known of it are the whole fact.
    facts = {split: part.filter(position=1).select("head", "tail") for split, part in parts.items()}
    distinct = {split: each.unique() for split, each in facts.items()}
    return {
        "dataset": dataset.name,
        "role": dataset.role,
        "entities": encoded.labels.filter(kind="entity").height,
        "isolated_entities": 0,
        "relations": encoded.labels.filter(kind="relation").height,
        "entities_in_training": given["tail"].n_unique(),
        "relations_in_training": given["relation"].n_unique(),
        "triples": {split: each.height for split, each in facts.items()},
        "distinct_triples": {split: each.height for split, each in distinct.items()},
        "duplicates_within": {split: facts[split].height - distinct[split].height for split in parts},
        "duplicates_between": {
            f"{one}&{other}": distinct[one].join(distinct[other], on=["head", "tail"], how="semi").height
            for one, other in combinations(parts, 2)
        },
        "self_loops": {},
        "unseen": {
            split: {
                "entities": new["tail"][split]["tail"].n_unique(),
                "relations": new["relation"][split]["relation"].n_unique(),
                "triples": pl.concat(new[name][split]["fact"] for name in new).n_unique(),
            }
            for split in parts
            if split not in dataset.known
        },
    }


def _parts(encoded: Encoded) -> dict[str, pl.DataFrame]:
    """Return the triples of each split, in the order of SPLITS."""
    parts = encoded.triples.partition_by("split", as_dict=True, include_key=False)
    return {str(split): part for (split,), part in parts.items()}


def _ids(part: pl.DataFrame, entities: int) -> list[NDArray[np.uint32]]:
    """Return the places of heads, tails and relations in a mask: of each entity, and after them of each relation."""
    relations = part["relation"].to_numpy() + np.uint32(entities)
    return [part["head"].to_numpy(), part["tail"].to_numpy(), relations]


def _occurring(part: pl.DataFrame, entities: int, size: int) -> BoolArray:
    mask = np.zeros(size, np.bool_)
    for ids in _ids(part, entities):
        mask[ids] = True
    return mask


def _held(
    parts: Mapping[str, pl.DataFrame], covered: Mapping[str, BoolArray]
) -> tuple[dict[str, int], list[tuple[int, int, int]]]:
    """Return a bit for each split, and how many different triples are held by which splits.

    Each tuple has the bits of the splits that hold the triples, the bits of those where all that they name is known,
    and the number of triples.
    """
    bits = {split: 1 << place for place, split in enumerate(parts)}
    rows = [
        part.lazy().select(
            *LABEL_COLUMNS,
            splits=pl.lit(bits[split], pl.UInt16),
            covered=pl.lit(pl.Series(covered[split])).cast(pl.UInt16) * bits[split],
        )
        for split, part in parts.items()
    ]
    held = pl.concat(rows).group_by(LABEL_COLUMNS).agg(pl.col("splits", "covered").bitwise_or())
    return bits, held.group_by("splits", "covered").agg(number=pl.len()).collect().rows()


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
    parts = _parts(encoded)
    found = (_header(parts, encoded), _order(encoded, dataset), _same(parts))
    return [*chain(*found, _leaks(summary, dataset), _unseen(summary, dataset))]


def _header(parts: Mapping[str, pl.DataFrame], encoded: Encoded) -> Iterator[str]:
    """Look for names of columns that were read as a triple: the same in every file, and nothing like the rest."""
    first = {part.row(0)[:3] for part in parts.values()}
    if len(parts) < 2 or len(first) > 1:
        return
    [(head, relation, tail)] = first
    ends = pl.col("head", "tail").is_in([head, tail]).sum()
    counts = encoded.triples.select(pl.sum_horizontal(ends), (pl.col("relation") == relation).sum())
    of_ends, of_relation = counts.row(0)
    if of_ends > 2 * len(parts) or of_relation > len(parts):
        return
    named = (("entity", head), ("relation", relation), ("entity", tail))
    words = [encoded.labels.filter(kind=kind, id=number)["label"].item() for kind, number in named]
    yield (
        f"the first line of every split is {', '.join(map(repr, words))}, and these labels occur nowhere else: "
        "if they name the columns, delete this line, or declare format.header_lines: 1"
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


def _same(parts: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    for first, other in combinations(parts, 2):
        if parts[first].equals(parts[other]):
            yield f"the splits {first} and {other} are the same file, line by line: check the paths under sources"


def _leaks(summary: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    if dataset.role == "temporal" or "duplicates_between" in dataset.expected:
        # A triple is asked for at another time than it is known, or whoever states the count knows it.
        return
    for pair, common in summary["duplicates_between"].items():
        known, asked = pair.split("&")
        every = summary["distinct_triples"][asked]
        if known in dataset.known and asked not in dataset.known and common:
            share = f"{common / every:.1%}" if common / every < 0.1 else f"{common / every:.0%}"
            yield f"{common:,} of the {every:,} {asked} triples ({share}) stand in {known} too"


def _unseen(summary: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    """Count the evaluated triples that hold an entity or relation which no split that a model is given has."""
    # Whoever states these counts knows that training lacks some.
    if _COUNTS_OF_TRAINING & set(dataset.expected):
        return
    for split, unseen in summary["unseen"].items():
        if unseen["triples"]:
            graph = "the inference graph" if split.startswith("inference") else "training"
            yield (
                f"{unseen['triples']:,} of {summary['triples'][split]:,} {split} triples hold an entity or relation "
                f"that {graph} never saw ({unseen['entities']:,} entities, {unseen['relations']:,} relations): "
                "filtered ranks them all the same, filtered-training and pykeen leave them out"
            )
