"""A line on the data that were read, and warnings where the user may have meant other data."""

from collections.abc import Iterator, Mapping
from itertools import accumulate, combinations
from typing import Any

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import LABEL_COLUMNS
from rankadjust.data.encoding import Encoded
from rankadjust.data.registry import Dataset

_USUAL = ("training", "validation", "testing")
# From this share on, of the triples of an evaluation split, those that a model is given are worth a word.
_MANY = 0.05
_COUNTS_OF_TRAINING = {"entities_in_training", "entities_in_inference", "distinct_seen_triples"}


def in_one_line(summary: Mapping[str, Any]) -> str:
    """Return 'my-graph: 104 entities, 25 relations, 8,548 / 1,068 / 1,069 triples'.

    Where the splits are not training, validation and testing, each number of triples has its name.
    """
    named = summary["triples"].items()
    usual = tuple(summary["triples"]) == _USUAL
    isolated = f" ({summary['isolated_entities']:,} in no triple)" if summary["isolated_entities"] else ""
    triples = " / ".join(f"{number:,}" if usual else f"{split} {number:,}" for split, number in named)
    return "{dataset}: {entities:,} entities{isolated}, {relations:,} relations, {triples} triples".format(
        **{**summary, "isolated": isolated, "triples": triples}
    )


def warnings(encoded: Encoded, summary: Mapping[str, Any], dataset: Dataset) -> list[str]:
    """Return what looks like a mistake in the files or in their declaration, a sentence each.

    Nothing here is surely wrong: a count that the registry states under `expected` is taken to be meant.
    """
    splits = _splits(encoded, summary["triples"])
    return [
        *_header(splits, encoded),
        *_count_in_list(encoded, summary),
        *_order(encoded, dataset),
        *_same(splits),
        *_leaks(summary, dataset),
        *_unseen(summary, dataset),
    ]


def _splits(encoded: Encoded, sizes: Mapping[str, int]) -> dict[str, pl.DataFrame]:
    """Return the triples of each split without a copy; splits follow one another."""
    triples = encoded.triples.drop("split")
    ends = accumulate(sizes.values())
    return {
        split: triples.slice(end - sizes[split], sizes[split]) for split, end in zip(sizes, ends, strict=True)
    }


def _header(splits: Mapping[str, pl.DataFrame], encoded: Encoded) -> Iterator[str]:
    """Look for names of columns that were read as a triple: the same in every file, and nothing like the rest."""
    first = {part.row(0)[:3] for part in splits.values()}
    if len(splits) < 2 or len(first) > 1:
        return
    [(head, relation, tail)] = first
    columns = {name: encoded.triples[name].to_numpy() for name in LABEL_COLUMNS}
    ends = np.concatenate([columns["head"], columns["tail"]])
    elsewhere = np.isin(ends, [head, tail]).sum() > 2 * len(splits)
    if elsewhere or (columns["relation"] == relation).sum() > len(splits):
        return
    words = [
        _label(encoded, "entity", head),
        _label(encoded, "relation", relation),
        _label(encoded, "entity", tail),
    ]
    yield (
        f"the first line of every split is {', '.join(words)}, and these labels occur nowhere else: "
        "if they name the columns, declare format.header_lines: 1"
    )


def _count_in_list(encoded: Encoded, summary: Mapping[str, Any]) -> Iterator[str]:
    """Look for the number of entities that was read as one of them: no triple has it."""
    if not summary["isolated_entities"]:
        return
    number = str(summary["entities"] - 1)
    entity = encoded.labels.filter(pl.col("kind") == "entity", pl.col("label") == number)
    if entity.height:
        used = encoded.triples.select(
            pl.any_horizontal((pl.col("head", "tail") == entity["id"].item()).any())
        )
        if not used.item():
            yield (
                f"the list of entities has {number!r}, which no triple has, and {summary['entities'] - 1:,} others: "
                "if it counts them, declare header_lines: 1 under format.entities"
            )


def _label(encoded: Encoded, kind: str, number: int) -> str:
    return repr(encoded.labels.filter(kind=kind, id=number)["label"].item())


def _order(encoded: Encoded, dataset: Dataset) -> Iterator[str]:
    """Compare the columns: there are fewer relations than entities nearly everywhere."""
    if {"entities", "relations"} <= set(dataset.expected):
        return
    number = {name: _different(encoded.triples[name]) for name in LABEL_COLUMNS}
    fewest = min(("head", "tail"), key=number.__getitem__)
    if number["relation"] > number[fewest]:
        yield (
            f"the column of relations has {number['relation']:,} different values, the column of {fewest}s "
            f"{number[fewest]:,}: if the columns are in another order, declare format.columns; if not, give "
            "the numbers of entities and relations under expected"
        )


def _different(ids: pl.Series) -> int:
    """Return how many different ids there are; marking them is many times faster than comparing them."""
    occurs = np.zeros(int(ids.max()) + 1, np.bool_)  # type: ignore[arg-type]
    occurs[ids.to_numpy()] = True
    return int(np.count_nonzero(occurs))


def _same(splits: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    for first, other in combinations(splits, 2):
        if splits[first].equals(splits[other]):
            yield f"the splits {first} and {other} are the same file, line by line: check the paths under sources"


def _leaks(summary: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    # With times, a triple is asked for at another time than it is known.
    counts = summary.get("times", summary)
    for pair, common in counts["duplicates_between"].items():
        known, asked = pair.split("&")
        if known in dataset.known and asked not in dataset.known:
            every = counts["distinct_triples"][asked]
            if common > _MANY * every:
                yield f"{common:,} of the {every:,} {asked} triples ({common / every:.0%}) stand in {known} too"


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
