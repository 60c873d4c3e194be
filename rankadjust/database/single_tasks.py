"""Single tasks: what is known of each, and how baselines rank it, from a run's files or one's own triples."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from rankadjust.base.stages import LABELS, SUMMARY, TASKS, TRIPLES, read_product, read_product_json
from rankadjust.base.vocabulary import LABEL_COLUMNS, time_columns
from rankadjust.baselines.tasks import tasks_with_baselines
from rankadjust.counting.protocols import Protocol
from rankadjust.data.encode import encode
from rankadjust.database.computed import Triples, given_triples


def own_tasks(splits: Mapping[str, Triples | None], protocol: Protocol) -> pl.DataFrame:
    """Return the tasks of one's own triples, as `rankadjust.baselines.tasks.tasks_with_baselines`."""
    given = given_triples(splits)
    texts = {
        name: frame.select(pl.col(*LABEL_COLUMNS, *time_columns(frame.columns)).cast(pl.String))
        for name, frame in given.items()
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
        return read_product(table, TASKS, f"{dataset} ({protocol})")
    triples, labels, summary = (
        results / "triples" / f"{dataset}{suffix}" for suffix in (".parquet", ".labels.parquet", ".json")
    )
    if not triples.is_file():
        return None
    return tasks_with_baselines(
        read_product(triples, TRIPLES, dataset),
        read_product(labels, LABELS, dataset),
        protocol,
        read_product_json(summary, SUMMARY, dataset)["isolated_entities"],
    )
