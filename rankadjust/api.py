"""The public functions that take the released database and the shipped registry where nothing else is given."""

from pathlib import Path

import polars as pl

from rankadjust import consistency, published
from rankadjust.database import load_database
from rankadjust.registry import load_registry


def rescore(frame: pl.DataFrame, database: pl.DataFrame | str | Path | None = None) -> pl.DataFrame:
    """Return a tidy table of published values with the adjusted values added (`rankadjust.published.rescore`).

    frame: text columns dataset, metric, value and optionally those of workflow/schemas/tidy.schema.yaml.
    database: a frame or a file as `load_database` takes it; None means the released one.
    No row is lost: one that cannot be adjusted says why in status and message.
    Raises RankadjustError where a needed column is missing.

    >>> import polars as pl
    >>> from rankadjust.database import assemble
    >>> constants = {
    ...     "dataset": "Nations", "protocol": "filtered", "split": "testing", "side": "both",
    ...     "metric": "inverse_harmonic_mean_rank", "entities": 14, "tasks": 402,
    ...     "expectation": 0.3844414082699486, "variance": 1.8117984421965722e-04,
    ...     "variance_random_scorer": None, "method": "closed form", "reason": None,
    ... }
    >>> schema = {"variance_random_scorer": pl.Float64, "reason": pl.String}
    >>> nations = assemble([pl.DataFrame(constants, schema_overrides=schema)])
    >>> printed = pl.DataFrame({"dataset": ["Nations"], "metric": ["MRR"], "value": ["0.430"]})
    >>> rescore(printed, nations).select("status", pl.col("index").round(3)).rows()
    [('ok', 0.074)]
    """
    constants = database if isinstance(database, pl.DataFrame) else load_database(database)
    return published.rescore(frame, constants, registry=load_registry())


def check(frame: pl.DataFrame, database: pl.DataFrame | str | Path | None = None) -> pl.DataFrame:
    """Return where the printed metrics of a model contradict each other (`rankadjust.consistency.check`).

    frame: a tidy table, or one that `rescore` has returned. The result has a row for each broken bound with
    the value, the limit, by how much it is passed, and a message; no row means that nothing is wrong.
    database: as in `rescore`; it gives the numbers of candidates that bound the mean rank.
    """
    rescored = frame if "status" in frame.columns else rescore(frame, database)
    return consistency.check(rescored)
