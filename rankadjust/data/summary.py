"""Summary of a data set: how many triples, entities, repetitions and overlaps it has, held against the registry."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, TIME_COLUMNS
from rankadjust.data.encoding import Encoded
from rankadjust.data.registry import Dataset

_Ids = npt.NDArray[np.uint32]
_Keys = npt.NDArray[np.uint64]
_Mask = npt.NDArray[np.bool_]


def summarise(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the counts of a data set as plain values for a JSON file.

    A triple is (head, relation, tail); its time counts under `times` only. What is unseen in a split does not
    occur in the known splits of its graph: those of the training graph, or the split inference. Isolated entities
    are among all entities and stand in no triple.
    """
    whole = _Triples.of(encoded)
    rows = _rows_of_splits(encoded.triples["split"])
    splits = {split: whole.part(part) for split, part in rows.items()}
    keys = whole.keys()
    distinct = {split: _distinct(keys[part]) for split, part in rows.items()}
    known: dict[str, list[_Triples]] = {_graph_of(split): [] for split in splits}
    for split, part in splits.items():
        if split in dataset.known:
            known[_graph_of(split)].append(part)
    seen = {graph: _Seen.within(parts, whole) for graph, parts in known.items()}
    covered = {split: seen[_graph_of(split)].covers(part) for split, part in splits.items()}
    summary = {
        "dataset": dataset.name,
        "role": dataset.role,
        "known": list(dataset.known),
        "entities": whole.entities,
        "isolated_entities": _count(~_Seen.within(splits.values(), whole).entities),
        "relations": whole.relations,
        **{f"entities_in_{graph}": _count(one.entities) for graph, one in seen.items()},
        **{f"relations_in_{graph}": _count(one.relations) for graph, one in seen.items()},
        "triples": {split: part.head.size for split, part in splits.items()},
        "distinct_triples": {split: values.size for split, values in distinct.items()},
        "distinct_triples_in_all_splits": _distinct(np.concatenate(list(distinct.values()))).size,
        "duplicates_within": {split: part.head.size - distinct[split].size for split, part in splits.items()},
        "duplicates_between": _overlaps(distinct),
        "self_loops": {split: _count(part.head == part.tail) for split, part in splits.items()},
        "unseen": {
            split: {**seen[_graph_of(split)].missing_from(part), "triples": _count(~covered[split])}
            for split, part in splits.items()
            if split not in dataset.known
        },
        "distinct_seen_triples": {
            split: (distinct[split] if covered[split].all() else _distinct(keys[part][covered[split]])).size
            for split, part in rows.items()
        },
    }
    if dataset.role == "inductive":
        summary["graphs"] = _graphs(splits, distinct, whole)
    times = encoded.triples.select(name for name in TIME_COLUMNS if name in encoded.triples.columns)
    if times.width:
        summary["times"] = _times(times, keys, rows)
    return summary


@dataclass(frozen=True)
class _Triples:
    """Columns of ids, and how many entities and relations there are in the whole data set."""

    head: _Ids
    relation: _Ids
    tail: _Ids
    entities: int
    relations: int

    @classmethod
    def of(cls, encoded: Encoded) -> "_Triples":
        head, relation, tail = (encoded.triples[name].to_numpy() for name in LABEL_COLUMNS)
        kinds = encoded.labels["kind"]
        return cls(head, relation, tail, int((kinds == "entity").sum()), int((kinds == "relation").sum()))

    def part(self, rows: slice) -> "_Triples":
        return _Triples(self.head[rows], self.relation[rows], self.tail[rows], self.entities, self.relations)

    def keys(self) -> _Keys:
        """Return one number per row, the same for the same triple."""
        return _pair(_pair(self.head, self.relation, self.relations), self.tail, self.entities)


@dataclass(frozen=True)
class _Seen:
    """Masks over all ids: which entities and relations occur."""

    entities: _Mask
    relations: _Mask

    @classmethod
    def within(cls, parts: Iterable[_Triples], whole: _Triples) -> "_Seen":
        entities = np.zeros(whole.entities, dtype=np.bool_)
        relations = np.zeros(whole.relations, dtype=np.bool_)
        for part in parts:
            entities[part.head] = True
            entities[part.tail] = True
            relations[part.relation] = True
        return cls(entities, relations)

    def covers(self, part: _Triples) -> _Mask:
        """Return for each triple whether its entities and its relation are among the seen ones."""
        covered: _Mask = self.entities[part.head] & self.entities[part.tail] & self.relations[part.relation]
        return covered

    def missing_from(self, part: _Triples) -> dict[str, int]:
        """Return how many entities and relations of the part are not among the seen ones."""
        own = _Seen.within([part], part)
        return {
            "entities": _count(own.entities & ~self.entities),
            "relations": _count(own.relations & ~self.relations),
        }


def _graph_of(split: str) -> str:
    return "inference" if split.startswith("inference") else "training"


def _rows_of_splits(column: pl.Series) -> dict[str, slice]:
    """Return the rows of each split; encoded triples stand split by split."""
    sizes = column.value_counts().sort("split").rows()
    ends = np.cumsum([size for _, size in sizes]).tolist()
    return {split: slice(end - size, end) for (split, size), end in zip(sizes, ends, strict=True)}


def _count(mask: _Mask) -> int:
    return int(np.count_nonzero(mask))


def _pair(first: npt.NDArray[np.unsignedinteger[Any]], second: _Ids, size: int) -> _Keys:
    """Return one number per pair, the same for the same pair; second < size.

    Where the pairs do not fit into 64 bits, ranks of `first` take its place: they do, as rows and ids have 32.
    """
    if (int(first.max()) + 1) * size > 1 << 64:
        first = np.unique(first, return_inverse=True)[1].astype(np.uint64)
    pairs: _Keys = first.astype(np.uint64) * np.uint64(size) + second
    return pairs


def _distinct(keys: _Keys) -> _Keys:
    """Return the different values, sorted (numpy's unique hashes them first, which takes ten times as long)."""
    ordered = np.sort(keys)
    first_of_its_kind = np.ones(ordered.size, dtype=np.bool_)
    first_of_its_kind[1:] = ordered[1:] != ordered[:-1]
    return ordered if first_of_its_kind.all() else ordered[first_of_its_kind]


def _overlaps(distinct: Mapping[str, _Keys]) -> dict[str, int]:
    pairs = combinations(distinct, 2)
    return {f"{one}&{other}": _common(distinct[one], distinct[other]) for one, other in pairs}


def _common(one: _Keys, other: _Keys) -> int:
    """Return how many values two sorted arrays without repetitions share, by looking the fewer up in the more."""
    fewer, more = sorted((one, other), key=len)
    places = np.searchsorted(more, fewer).clip(max=more.size - 1)
    return _count(more[places] == fewer)


def _graphs(splits: Mapping[str, _Triples], distinct: Mapping[str, _Keys], whole: _Triples) -> dict[str, Any]:
    """Return the counts of the two graphs of an inductive data set, evaluation splits included."""
    members = {
        graph: [split for split in splits if _graph_of(split) == graph] for graph in ("training", "inference")
    }
    found = {
        graph: _Seen.within([splits[split] for split in names], whole) for graph, names in members.items()
    }
    in_training = _Seen.within([splits["training"]], whole)
    return {
        **{
            graph: {
                "entities": _count(found[graph].entities),
                "relations": _count(found[graph].relations),
                "distinct_triples": _distinct(np.concatenate([distinct[split] for split in names])).size,
            }
            for graph, names in members.items()
        },
        "shared_entities": _count(found["training"].entities & found["inference"].entities),
        "new_relations": _count(found["inference"].relations & ~in_training.relations),
    }


def _times(times: pl.DataFrame, keys: _Keys, rows: Mapping[str, slice]) -> dict[str, Any]:
    for name in times.columns:
        ranks = times[name].rank("dense").to_numpy() - 1
        keys = _pair(keys, ranks.astype(np.uint32), times.height)
    distinct = {split: _distinct(keys[part]) for split, part in rows.items()}
    return {
        "values": pl.concat([times[name].rename("time") for name in times.columns]).n_unique(),
        "distinct_triples": {split: values.size for split, values in distinct.items()},
        "duplicates_between": _overlaps(distinct),
    }


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
        f"{dataset.name}: {differences}; these are other files than the registry means, or it needs "
        "other counts under 'expected', or a reason under 'expected.differs'"
    )


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in expected.items():
        if isinstance(value, Mapping):
            yield from _differences(found.get(key, {}), value, f"{prefix}{key}.")
        elif found.get(key) != value:
            yield f"{prefix}{key} is {found.get(key, 'missing')}, expected {value}"


_ROW = {
    "dataset": pl.String,
    "role": pl.String,
    "entities": pl.Int64,
    "relations": pl.Int64,
    "entities_in_training": pl.Int64,
    "relations_in_training": pl.Int64,
    "entities_in_inference": pl.Int64,
    "relations_in_inference": pl.Int64,
    **{f"triples_{split}": pl.Int64 for split in SPLITS},
    **{f"distinct_triples_{split}": pl.Int64 for split in SPLITS},
    "duplicates_within": pl.Int64,
    "duplicates_between": pl.Int64,
    "self_loops": pl.Int64,
    "unseen_triples": pl.Int64,
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
