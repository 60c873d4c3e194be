"""Summary of a data set: its counts, how they compare with the registry, and what looks like a mistake in the files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, TIME_COLUMNS
from rankadjust.data.encode import Encoded
from rankadjust.data.registry import Dataset

_Mask = npt.NDArray[np.bool_]
_USUAL = ("training", "validation", "testing")
# From this share on, of the triples of an evaluation split, those that a model is given are worth a word.
_MANY = 0.05
_COUNTS_OF_TRAINING = {"entities_in_training", "entities_in_inference", "distinct_seen_triples"}


def summarise(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the counts of a data set as plain values for a JSON file.

    A triple is (head, relation, tail); its time counts under `times` only. Unseen entities and relations do not
    occur in the known splits of their graph: the splits of the training graph, or the split inference. Isolated
    entities are in the list of all entities and occur in no triple.
    """
    kinds = encoded.labels["kind"]
    sizes = {kind: int((kinds == kind).sum()) for kind in ("entity", "relation")}
    parts = _parts(encoded)
    splits = list(parts)
    occurring = {split: _occurring(part, sizes) for split, part in parts.items()}
    graphs = {
        graph: [split for split in splits if _graph_of(split) == graph]
        for graph in dict.fromkeys(map(_graph_of, splits))
    }
    known = {
        graph: _union([occurring[split] for split in own if split in dataset.known], sizes)
        for graph, own in graphs.items()
    }
    covered = {split: _covered(part, known[_graph_of(split)]) for split, part in parts.items()}
    held = _held(parts, covered, [], sizes)
    distinct = {split: held.in_any([split]) for split in splits}
    every = _union(occurring.values(), sizes)
    summary: dict[str, Any] = {
        "dataset": dataset.name,
        "role": dataset.role,
        "known": list(dataset.known),
        "entities": sizes["entity"],
        "isolated_entities": sizes["entity"] - int(every["entity"].sum()),
        "relations": sizes["relation"],
        **{f"entities_in_{graph}": int(seen["entity"].sum()) for graph, seen in known.items()},
        **{f"relations_in_{graph}": int(seen["relation"].sum()) for graph, seen in known.items()},
        "triples": {split: part.height for split, part in parts.items()},
        "distinct_triples": distinct,
        "distinct_triples_in_all_splits": held.in_any(splits),
        "duplicates_within": {split: part.height - distinct[split] for split, part in parts.items()},
        "duplicates_between": held.in_both(),
        "self_loops": {split: int((part["head"] == part["tail"]).sum()) for split, part in parts.items()},
        "unseen": {
            split: {
                "entities": _missing(occurring[split], known[_graph_of(split)], "entity"),
                "relations": _missing(occurring[split], known[_graph_of(split)], "relation"),
                "triples": int((~covered[split]).sum()),
            }
            for split in splits
            if split not in dataset.known
        },
        "distinct_seen_triples": {split: held.covered_in(split) for split in splits},
    }
    if dataset.role == "inductive":
        of_graph = {
            graph: _union([occurring[split] for split in own], sizes) for graph, own in graphs.items()
        }
        summary["graphs"] = {
            graph: {
                "entities": int(of_graph[graph]["entity"].sum()),
                "relations": int(of_graph[graph]["relation"].sum()),
                "distinct_triples": held.in_any(own),
            }
            for graph, own in graphs.items()
        }
        # A data set without a training graph has no overlap of two graphs.
        if "training" in occurring:
            shared = of_graph["training"]["entity"] & of_graph["inference"]["entity"]
            summary["graphs"]["shared_entities"] = int(shared.sum())
            new = _missing(of_graph["inference"], occurring["training"], "relation")
            summary["graphs"]["new_relations"] = new
    times = [name for name in TIME_COLUMNS if name in encoded.triples.columns]
    if times:
        timed = _held(parts, covered, times, sizes)
        summary["times"] = {
            "values": pl.concat(encoded.triples[name].rename("time") for name in times).n_unique(),
            "distinct_triples": {split: timed.in_any([split]) for split in splits},
            "duplicates_between": timed.in_both(),
        }
    return summary


class _Held:
    """How many different triples are held by which splits.

    counts: the columns splits and covered, which have a bit for each split (set in the latter where the split holds the
    triple, and its entities and relation are known), and number.
    """

    def __init__(self, splits: Sequence[str], counts: pl.DataFrame) -> None:
        self._counts = counts
        self._bits = {split: 1 << place for place, split in enumerate(splits)}

    def in_any(self, splits: Iterable[str]) -> int:
        bits = sum(map(self._bits.__getitem__, splits))
        return self._number((pl.col("splits") & bits) > 0)

    def in_both(self) -> dict[str, int]:
        """Return for each pair of splits, such as 'training&testing', how many triples stand in both."""
        return {
            f"{one}&{other}": self._number((pl.col("splits") & both) == both)
            for one, other in combinations(self._bits, 2)
            for both in [self._bits[one] | self._bits[other]]
        }

    def covered_in(self, split: str) -> int:
        return self._number((pl.col("covered") & self._bits[split]) > 0)

    def _number(self, where: pl.Expr) -> int:
        return int(self._counts.filter(where)["number"].sum())


def _held(
    parts: Mapping[str, pl.DataFrame],
    covered: Mapping[str, _Mask],
    times: list[str],
    sizes: Mapping[str, int],
) -> _Held:
    """Group equal triples, and of those with times equal times."""
    key: list[pl.Expr] = [*map(pl.col, LABEL_COLUMNS)]
    if sizes["entity"] ** 2 * sizes["relation"] < 1 << 64:
        # One number takes half the time of three.
        head, relation, tail = (each.cast(pl.UInt64) for each in key)
        key = [((head * sizes["relation"] + relation) * sizes["entity"] + tail).alias("triple")]
    rows = [
        part.lazy().select(
            *key,
            *times,
            splits=pl.lit(1 << place, pl.UInt8),
            covered=pl.lit(pl.Series(covered[split])).cast(pl.UInt8) * (1 << place),
        )
        for place, (split, part) in enumerate(parts.items())
    ]
    same = [each.meta.output_name() for each in key] + times
    held = pl.concat(rows).group_by(same).agg(pl.col("splits", "covered").bitwise_or())
    return _Held([*parts], held.group_by("splits", "covered").agg(number=pl.len()).collect())


def _parts(encoded: Encoded) -> dict[str, pl.DataFrame]:
    """Return the triples of each split without a copy; splits follow one another, in the order of SPLITS."""
    parts, end = {}, 0
    triples = encoded.triples.drop("split")
    for split, size in encoded.triples["split"].value_counts().sort("split").rows():
        parts[split] = triples.slice(end, size)
        end += size
    return parts


def _graph_of(split: str) -> str:
    return "inference" if split.startswith("inference") else "training"


def _occurring(part: pl.DataFrame, sizes: Mapping[str, int]) -> dict[str, _Mask]:
    """Return masks over ids: which entities and relations occur."""
    masks = {kind: np.zeros(size, np.bool_) for kind, size in sizes.items()}
    for name in LABEL_COLUMNS:
        masks["relation" if name == "relation" else "entity"][part[name].to_numpy()] = True
    return masks


def _union(masks: Iterable[Mapping[str, _Mask]], sizes: Mapping[str, int]) -> dict[str, _Mask]:
    union = {kind: np.zeros(size, np.bool_) for kind, size in sizes.items()}
    for own in masks:
        for kind in union:
            union[kind] |= own[kind]
    return union


def _covered(part: pl.DataFrame, known: Mapping[str, _Mask]) -> _Mask:
    """Return for each triple whether its entities and its relation are known."""
    head, relation, tail = (part[name].to_numpy() for name in LABEL_COLUMNS)
    covered: _Mask = known["entity"][head] & known["entity"][tail] & known["relation"][relation]
    return covered


def _missing(own: Mapping[str, _Mask], known: Mapping[str, _Mask], kind: str) -> int:
    return int((own[kind] & ~known[kind]).sum())


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
    parts = _parts(encoded)
    return [
        *_header(parts, encoded),
        *_count_in_list(encoded, summary),
        *_order(encoded, dataset),
        *_same(parts),
        *_leaks(summary, dataset),
        *_unseen(summary, dataset),
    ]


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
    words = [
        repr(encoded.labels.filter(kind=kind, id=number)["label"].item())
        for kind, number in (("entity", head), ("relation", relation), ("entity", tail))
    ]
    yield (
        f"the first line of every split is {', '.join(words)}, and these labels occur nowhere else: "
        "if they name the columns, declare format.header_lines: 1"
    )


def _count_in_list(encoded: Encoded, summary: Mapping[str, Any]) -> Iterator[str]:
    """Look for the number of entities that was read as one of them: no triple has it."""
    number = str(summary["entities"] - 1)
    entity = encoded.labels.filter(kind="entity", label=number)["id"]
    if not summary["isolated_entities"] or entity.is_empty():
        return
    used = encoded.triples.select(pl.any_horizontal((pl.col("head", "tail") == entity.item()).any())).item()
    if not used:
        yield (
            f"the list of entities has {number!r}, which no triple has, and {summary['entities'] - 1:,} others: "
            "if it counts them, declare header_lines: 1 under format.entities"
        )


def _order(encoded: Encoded, dataset: Dataset) -> Iterator[str]:
    """Compare the columns: there are fewer relations than entities nearly everywhere."""
    if {"entities", "relations"} <= set(dataset.expected):
        return
    # Marking the ids that occur is many times faster than comparing them.
    number = {name: np.count_nonzero(np.bincount(encoded.triples[name].to_numpy())) for name in LABEL_COLUMNS}
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
