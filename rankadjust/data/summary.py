"""Summary of a data set: how many triples, entities, repetitions and overlaps it has, compared with the registry."""

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

    A triple is (head, relation, tail); its time counts under `times` only. Unseen entities and relations do not
    occur in the known splits of their graph: the splits of the training graph, or the split inference. Isolated
    entities are in the list of all entities and occur in no triple.
    """
    kinds = encoded.labels["kind"]
    entities, relations = (int((kinds == kind).sum()) for kind in ("entity", "relation"))
    seen_in, triples = _survey(encoded.triples, entities, relations)
    splits = list(seen_in)
    known = {
        graph: _Seen.union(
            [seen_in[split] for split in splits if split in dataset.known and _graph_of(split) == graph],
            entities,
            relations,
        )
        for graph in dict.fromkeys(map(_graph_of, splits))
    }
    size = _Size(entities, relations)
    own = _Columns.of(encoded.triples)
    counts = _counts(own, known, size)
    isolated = entities - _count(_Seen.union(seen_in.values(), entities, relations).entities)
    distinct = counts["distinct"]
    summary = {
        "dataset": dataset.name,
        "role": dataset.role,
        "known": list(dataset.known),
        "entities": entities,
        "isolated_entities": isolated,
        "relations": relations,
        **{f"entities_in_{graph}": _count(seen.entities) for graph, seen in known.items()},
        **{f"relations_in_{graph}": _count(seen.relations) for graph, seen in known.items()},
        "triples": triples,
        "distinct_triples": distinct,
        "distinct_triples_in_all_splits": counts["distinct_in_all"],
        "duplicates_within": {split: triples[split] - distinct[split] for split in splits},
        "duplicates_between": counts["overlaps"],
        "self_loops": counts["self_loops"],
        "unseen": {
            split: {
                **known[_graph_of(split)].missing_from(seen_in[split]),
                "triples": counts["uncovered"][split],
            }
            for split in splits
            if split not in dataset.known
        },
        "distinct_seen_triples": counts["distinct_covered"],
    }
    if dataset.role == "inductive":
        summary["graphs"] = _graphs(seen_in, counts["distinct_in_graph"], size)
    if own.times.width:
        values = pl.concat(own.times[name].rename("time") for name in own.times.columns).n_unique()
        summary["times"] = {"values": values, **counts["times"]}
    return summary


@dataclass(frozen=True)
class _Size:
    """How many entities and relations there are in the whole data set."""

    entities: int
    relations: int


@dataclass(frozen=True)
class _Seen:
    """Masks over all ids: which entities and relations occur."""

    entities: _Mask
    relations: _Mask

    @classmethod
    def union(cls, parts: Iterable["_Seen"], entities: int, relations: int) -> "_Seen":
        union = cls(np.zeros(entities, dtype=np.bool_), np.zeros(relations, dtype=np.bool_))
        for part in parts:
            np.logical_or(union.entities, part.entities, out=union.entities)
            np.logical_or(union.relations, part.relations, out=union.relations)
        return union

    def covers(self, head: _Ids, relation: _Ids, tail: _Ids) -> _Mask:
        """Return for each triple whether its entities and its relation are among the seen ones."""
        covered: _Mask = self.entities[head] & self.entities[tail] & self.relations[relation]
        return covered

    def missing_from(self, own: "_Seen") -> dict[str, int]:
        """Return how many entities and relations that occur elsewhere are not among the seen ones."""
        return {
            "entities": _count(own.entities & ~self.entities),
            "relations": _count(own.relations & ~self.relations),
        }


def _survey(triples: pl.DataFrame, entities: int, relations: int) -> tuple[dict[str, _Seen], dict[str, int]]:
    """Return for each split what occurs there, and how many triples it has."""
    columns = [triples[name].to_numpy() for name in LABEL_COLUMNS]
    seen = {}
    rows_of = _rows_of_splits(triples["split"])
    for split, rows in rows_of.items():
        head, relation, tail = (column[rows] for column in columns)
        own = _Seen.union([], entities, relations)
        own.entities[head] = True
        own.entities[tail] = True
        own.relations[relation] = True
        seen[split] = own
    return seen, {split: rows.stop - rows.start for split, rows in rows_of.items()}


@dataclass(frozen=True)
class _Columns:
    """Triples as columns of ids, ordered by split."""

    head: _Ids
    relation: _Ids
    tail: _Ids
    times: pl.DataFrame
    rows: Mapping[str, slice]

    @classmethod
    def of(cls, triples: pl.DataFrame) -> "_Columns":
        head, relation, tail = (triples[name].to_numpy() for name in LABEL_COLUMNS)
        times = triples.select(name for name in TIME_COLUMNS if name in triples.columns)
        return cls(head, relation, tail, times, _rows_of_splits(triples["split"]))

    def keys(self, size: _Size) -> _Keys:
        """Return one number per row, the same for the same triple."""
        return _pair(_pair(self.head, self.relation, size.relations), self.tail, size.entities)


def _counts(part: _Columns, known: Mapping[str, _Seen], size: _Size) -> dict[str, Any]:
    """Return what can be added up over the parts."""
    keys = part.keys(size)
    distinct = {split: _distinct(keys[rows]) for split, rows in part.rows.items()}
    covered = {
        split: known[_graph_of(split)].covers(part.head[rows], part.relation[rows], part.tail[rows])
        for split, rows in part.rows.items()
    }
    counts: dict[str, Any] = {
        "distinct": {split: values.size for split, values in distinct.items()},
        "distinct_in_all": _in_union(distinct.values()),
        "distinct_in_graph": {
            graph: _in_union(values for split, values in distinct.items() if _graph_of(split) == graph)
            for graph in (known if "inference" in known else ())
        },
        "overlaps": _overlaps(distinct),
        "self_loops": {
            split: _count(part.head[rows] == part.tail[rows]) for split, rows in part.rows.items()
        },
        "uncovered": {split: _count(~mask) for split, mask in covered.items()},
        "distinct_covered": {
            split: (distinct[split] if covered[split].all() else _distinct(keys[rows][covered[split]])).size
            for split, rows in part.rows.items()
        },
    }
    if part.times.width:
        counts["times"] = _times(part.times, keys, part.rows)
    return counts


def _graph_of(split: str) -> str:
    return "inference" if split.startswith("inference") else "training"


def _rows_of_splits(column: pl.Series) -> dict[str, slice]:
    """Return the rows of each split; encoded triples are ordered by split."""
    sizes = column.value_counts().sort("split").rows()
    ends = np.cumsum([size for _, size in sizes], dtype=np.int64).tolist()
    return {split: slice(end - size, end) for (split, size), end in zip(sizes, ends, strict=True)}


def _count(mask: _Mask) -> int:
    return int(np.count_nonzero(mask))


def _pair(first: npt.NDArray[np.unsignedinteger[Any]], second: _Ids, size: int) -> _Keys:
    """Return one number per pair, the same for the same pair; second < size.

    Where the pairs do not fit into 64 bits, ranks of `first` take its place: they do, as rows and ids have 32.
    """
    if (int(first.max(initial=0)) + 1) * size > 1 << 64:
        first = np.unique(first, return_inverse=True)[1].astype(np.uint64)
    pairs: _Keys = first.astype(np.uint64)
    pairs *= np.uint64(size)
    pairs += second
    return pairs


def _distinct(keys: _Keys) -> _Keys:
    """Return the different values, sorted (numpy's unique hashes them first, which takes ten times as long)."""
    ordered = pl.Series(keys).sort().to_numpy()
    first_of_its_kind = np.ones(ordered.size, dtype=np.bool_)
    first_of_its_kind[1:] = ordered[1:] != ordered[:-1]
    return ordered if first_of_its_kind.all() else ordered[first_of_its_kind]


def _overlaps(distinct: Mapping[str, _Keys]) -> dict[str, int]:
    pairs = combinations(distinct, 2)
    return {f"{first}&{other}": _common(distinct[first], distinct[other]) for first, other in pairs}


def _common(first: _Keys, other: _Keys) -> int:
    """Return how many values two sorted arrays without repetitions share, by looking the fewer up in the more."""
    fewer, more = sorted((first, other), key=len)
    return _count(_among(fewer, more))


def _in_union(sets: Iterable[_Keys]) -> int:
    """Return how many values are in any of some sorted arrays without repetitions; only the fewer are looked up."""
    larger: list[_Keys] = []
    number = 0
    for values in sorted(sets, key=len, reverse=True):
        new = values
        for others in larger:
            new = new[~_among(new, others)]
        number += new.size
        larger.append(values)
    return number


def _among(values: _Keys, others: _Keys) -> _Mask:
    """Return for each value whether it is among others, which are sorted."""
    if not others.size:
        return np.zeros(values.size, dtype=np.bool_)
    among: _Mask = others[np.searchsorted(others, values).clip(max=others.size - 1)] == values
    return among


def _graphs(seen_in: Mapping[str, _Seen], distinct: Mapping[str, int], size: _Size) -> dict[str, Any]:
    """Return the counts of the graphs of an inductive data set, evaluation splits included.

    A data set without a training graph has no overlap of two graphs.
    """
    of_graphs = {
        graph: _Seen.union(
            [seen for split, seen in seen_in.items() if _graph_of(split) == graph],
            size.entities,
            size.relations,
        )
        for graph in dict.fromkeys(map(_graph_of, seen_in))
    }
    graphs: dict[str, Any] = {
        graph: {
            "entities": _count(seen.entities),
            "relations": _count(seen.relations),
            "distinct_triples": distinct[graph],
        }
        for graph, seen in of_graphs.items()
    }
    if "training" in seen_in:
        graphs["shared_entities"] = _count(of_graphs["training"].entities & of_graphs["inference"].entities)
        graphs["new_relations"] = _count(of_graphs["inference"].relations & ~seen_in["training"].relations)
    return graphs


def _times(times: pl.DataFrame, keys: _Keys, rows: Mapping[str, slice]) -> dict[str, Any]:
    for name in times.columns:
        ranks = times[name].rank("dense").to_numpy() - 1
        keys = _pair(keys, ranks.astype(np.uint32), times.height)
    distinct = {split: _distinct(keys[part]) for split, part in rows.items()}
    return {
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
