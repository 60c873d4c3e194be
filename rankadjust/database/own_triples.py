"""What no database has: constants and tasks of one's own triples, and constants of metrics that a database lacks."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import is_frame, require_frame
from rankadjust.base.io import read_json, read_product
from rankadjust.base.vocabulary import KNOWN_SPLITS, LABEL_COLUMNS, TASK_SIDES, time_columns
from rankadjust.baselines.table import METRICS, baselines_tables
from rankadjust.baselines.tally import count_standings, tasks_with_baselines
from rankadjust.chance.metrics import Metric, expand, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidate_lists import Lists, count_listed
from rankadjust.counting.candidates import Candidates, count_candidates
from rankadjust.counting.protocols import Protocol
from rankadjust.data.encode import encode
from rankadjust.database.store import BASELINES_SCHEMA, assemble

Triples = pl.DataFrame | ArrayLike
"""Head, relation and tail in each row: a frame with these columns, or an array or a list of the shape (n, 3)."""

_NOT_COUNTED = "there is no z of a random scorer, because nothing says which tasks share a query"
_UNKNOWN = {
    **dict.fromkeys(("variance_random_scorer", "variance_static_scorer"), pl.lit(None, pl.Float64)),
    **dict.fromkeys(("reason_random_scorer", "reason_static_scorer"), pl.lit(_NOT_COUNTED)),
}


def baselines_of(
    splits: Mapping[str, pl.DataFrame], protocol: Protocol, name: str
) -> Callable[[Sequence[str] | None], pl.DataFrame]:
    """Return what computes, for keys of metrics, the values of counting baselines on one's own triples, counted once.

    Without keys, for mean rank, MRR and Hits@k. splits: of `given_triples`. name: what the data set is called.
    """
    standings = cache(lambda: list(count_standings(splits, [protocol])))

    def values(metrics: Sequence[str] | None) -> pl.DataFrame:
        if not set(KNOWN_SPLITS) & set(splits) or not protocol.has_standings:
            return pl.DataFrame(schema=BASELINES_SCHEMA)
        wanted = expand(METRICS, (1, 3, 5, 10)) if metrics is None else list(map(resolve, metrics))
        (table,) = baselines_tables(standings(), wanted, [protocol])
        names = (pl.lit(name).alias("dataset"), pl.lit(protocol.name).alias("protocol"))
        return table.select(*names, pl.all())

    return values


def given_triples(splits: Mapping[str, Triples | None]) -> dict[str, pl.DataFrame]:
    """Return the triples of each split as a frame; a split that is None is left out, and an empty one but training."""
    return {
        name: _triples(triples, name)
        for name, triples in splits.items()
        if triples is not None
        and (name == "training" or not (isinstance(triples, Sized) and not len(triples)))
    }


def own_counts(
    splits: Mapping[str, pl.DataFrame],
    protocol: Protocol,
    candidates: Lists | None,
    relations: Sequence[str] | Sequence[int] | None,
) -> tuple[Candidates, Protocol]:
    """Return the candidates of one's own tasks, and the protocol that they are counted under.

    candidates: lists of entities that answers are ranked against. relations: those whose triples are ranked; known
    answers are of the same relation, so that the others only add entities.
    """
    is_filtered = replace(protocol, name="filtered", description="") == Protocol("filtered")
    if not is_filtered and candidates is not None:
        raise RankadjustError(f"lists of candidates are ranked under filtered, not under {protocol.name}")
    isolated = 0
    if relations is not None:
        if (protocol.entities, protocol.unseen) != ("release", "keep"):
            raise RankadjustError(
                f"{protocol.name} needs all training triples, so it cannot rank some relations; leave relations out"
            )
        absent = [
            each for each in relations if all(each not in frame["relation"] for frame in splits.values())
        ]
        if absent:
            raise RankadjustError(f"no triple has the relation {absent[0]!r}")
        ranked = pl.col("relation").is_in(list(relations))
        everything = _entities(splits)
        splits = {name: own for name, frame in splits.items() if (own := frame.filter(ranked)).height}
        isolated = everything - _entities(splits)
    if candidates is None:
        return count_candidates(splits, protocol, isolated), protocol
    return count_listed(splits, candidates, isolated), replace(protocol, name="listed")


def _entities(splits: Mapping[str, pl.DataFrame]) -> int:
    ends = [frame[side].alias("entity") for frame in splits.values() for side in TASK_SIDES]
    return pl.concat([end.to_frame() for end in ends], how="vertical_relaxed").n_unique()


def computed(
    counts: pl.DataFrame, pairs: pl.DataFrame | None, protocol: Protocol | str, metrics: Sequence[Metric]
) -> pl.DataFrame:
    """Return rows of a database for the tasks of one data set, protocol and split.

    counts: dataset, protocol, and the columns of a histogram of `rankadjust.count_candidates`; pairs: None where it is
    not known which tasks share a query, so that the variance under a random scorer is missing.
    """
    rows = moments_table(counts, metrics, protocol)
    if pairs is None:
        rows = rows.with_columns(**_UNKNOWN)
    else:
        nulls = nulls_table(counts, pairs, protocol, metrics)
        rows = rows.join(nulls, on=["split", "side", "metric"], how="left", maintain_order="left")
    names = [pl.lit(counts[name][0]).alias(name) for name in ("dataset", "protocol")]
    return assemble([rows.with_columns(names)])


def _triples(given: Triples, split: str) -> pl.DataFrame:
    """Return triples as a frame of labels or of integers."""
    if is_frame(given):
        frame = require_frame(given, f"the triples for {split}")
        lacking = [name for name in LABEL_COLUMNS if name not in frame.columns]
        if lacking:
            has = ", ".join(frame.columns)
            raise RankadjustError(f"the triples for {split} lack the column {lacking[0]}; they have {has}")
        return frame
    try:
        # In a list, NaN beside labels would become the label 'nan'.
        array = np.asarray(given, dtype=None if isinstance(given, np.ndarray) else object)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != len(LABEL_COLUMNS):
        raise RankadjustError(
            f"the triples for {split} must be an array or a list of the shape (n, 3): head, relation, tail in a row"
        )
    if array.dtype.kind in "iu" or all(isinstance(label, int) for label in array.flat):
        return pl.DataFrame(array.astype(np.int64), schema=list(LABEL_COLUMNS))
    # A label that is missing is null, which is refused with its row, as it is in a frame. NaN is not itself.
    columns = (
        [None if label in (None, "") or label != label else str(label) for label in column]  # noqa: PLR0124
        for column in array.T
    )
    schema = dict.fromkeys(LABEL_COLUMNS, pl.String)
    return pl.DataFrame(dict(zip(LABEL_COLUMNS, columns, strict=True)), schema=schema)


def own_tasks(splits: Mapping[str, pl.DataFrame], protocol: Protocol) -> pl.DataFrame:
    """Return the tasks of one's own triples, as `rankadjust.baselines.tally.tasks_with_baselines`."""
    texts = {
        name: frame.select(pl.col(*LABEL_COLUMNS, *time_columns(frame.columns)).cast(pl.String))
        for name, frame in splits.items()
    }
    encoded = encode(texts)
    return tasks_with_baselines(encoded.triples, encoded.labels, protocol)


def tasks_of_run(database: Path | None, dataset: str, protocol: str) -> pl.DataFrame | None:
    """Return the tasks of a data set of a run, None where it has no triples of it. database: the file of the run."""
    if database is None:
        return None
    results = database.parent.parent
    table = results / "tasks" / dataset / f"{protocol}.parquet"
    if table.is_file():
        return read_product(table, "tasks")
    files = results / "triples"
    if not (files / f"{dataset}.parquet").is_file():
        return None
    triples = read_product(files / f"{dataset}.parquet", "triples")
    labels = read_product(files / f"{dataset}.labels.parquet", "labels")
    isolated = read_json(files / f"{dataset}.json")["isolated_entities"]
    return tasks_with_baselines(triples, labels, protocol, isolated)
