"""The constants that PyKEEN publishes (Zenodo record 6331629), or writes, beside ours, and why they differ.

Every reason is computed: it is named only where ours, with that change, is theirs.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import read_csv
from rankadjust.base.words import folded
from rankadjust.chance.metrics import find
from rankadjust.chance.moments import metric_moments
from rankadjust.data.registry import Dataset
from rankadjust.data.sources import File, FileSet, Zenodo
from rankadjust.database.constants import Constants

RECORD: FileSet = (File(Zenodo("6331629", "metric_adjustments.tsv.gz"), {"metric_adjustments": None}),)
"""The published table, unpacked as metric_adjustments.txt."""

EQUAL = "equal"
NOT_COUNTED = "true answer not counted"
SIMULATED = "true answer not counted, simulation"
APPROXIMATED = "ln c / (c - 1), c the mean number without the true answer"
OTHER_DATA = "another release of the data"
INSIDE, OUTSIDE = "inside our bounds", "outside our bounds"
LACKING = "not in our database"
UNKNOWN = "unknown"

_COLUMNS = ("dataset", "metric", "side", "split", "value")
_EVALUATION = ("dataset", "split", "side")
# Closed forms agree to this; what is simulated is within so many standard errors.
_SAME, _STANDARD_ERRORS = 1e-9, 5
_MR, _MRR = "arithmetic_mean_rank", "inverse_harmonic_mean_rank"


def read_record(path: str | Path) -> pl.DataFrame:
    """Return a table of PyKEEN's, packed or not: dataset, metric, side, split (String) and value (Float64).

    Raises RankadjustError where a file cannot be read, lacks a column, or has a value that is not a number.
    """
    try:
        table = read_csv(path, separator="\t")
        return table.select(*_COLUMNS[:-1], pl.col("value").cast(pl.Float64))
    except (OSError, pl.exceptions.PolarsError) as error:
        problem = str(error).partition("\n")[0]
        raise RankadjustError(
            f"{path}: not a table as PyKEEN writes it, with the columns {', '.join(_COLUMNS)} between tabs: {problem}"
        ) from None


def compare_record(
    record: pl.DataFrame, constants: Constants, registry: Mapping[str, Dataset], samples: int = 10_000
) -> pl.DataFrame:
    """Join PyKEEN's constants with ours, under its protocol, and say why they differ.

    samples: how many PyKEEN drew for a metric without a closed form.

    Returns a row for each row of the record: dataset (our name or null), pykeen (their name), split, side,
    metric, tasks, ours (exact), theirs, difference (theirs / ours - 1), not_counted (ours without the true answer), low
    and high (where ours has bounds only), candidates and candidates_theirs (the mean number of candidates, without the
    true answer, theirs from the mean rank), and reason.
    """
    named = {folded(each.pykeen or name): name for name, each in registry.items()}
    rows = record.rename({"dataset": "pykeen", "value": "theirs"}).with_columns(
        dataset=pl.col("pykeen").map_elements(lambda name: named.get(folded(name)), return_dtype=pl.String),
        metric=pl.col("metric").map_elements(_key, return_dtype=pl.String),
    )
    key = [*_EVALUATION, "metric"]
    ours = _ours(rows, constants, "pykeen").rename({"expectation": "ours"}).drop("variance")
    without = _ours(rows, constants, "pykeen-published").rename({"expectation": "not_counted"}).drop("tasks")
    bounded = constants.table.filter(pl.col("expectation_low").is_not_null(), protocol="filtered")
    bounds = bounded.select(*key, low="expectation_low", high="expectation_high")
    # E[MR] is (N + 1) / 2; theirs counts N without the true answer.
    mean = rows.filter(metric=_MR).select(*_EVALUATION, candidates_theirs=2 * pl.col("theirs") - 1)
    own = ours.filter(metric=_MR).select(*_EVALUATION, candidates=2 * pl.col("ours") - 2)
    for table in (ours, without, bounds):
        rows = rows.join(table, on=key, how="left", maintain_order="left")
    for table in (own, mean):
        rows = rows.join(table, on=_EVALUATION, how="left", maintain_order="left")
    rows = rows.with_columns(difference=pl.col("theirs") / pl.col("ours") - 1, reason=_reason(samples))
    names = ("ours", "theirs", "difference", "not_counted", "low", "high", "candidates", "candidates_theirs")
    return rows.select("dataset", "pykeen", "split", "side", "metric", "tasks", *names, "reason")


def _key(metric: str) -> str:
    found = find(metric)
    return metric if found is None else found.key


def _ours(rows: pl.DataFrame, constants: Constants, protocol: str) -> pl.DataFrame:
    """Return tasks, expectation and variance of the evaluations and metrics, computed where the database lacks a k."""
    key = [*_EVALUATION, "metric"]
    wanted = rows.select(key).drop_nulls().unique(maintain_order=True)
    columns = (*key, "tasks", "expectation", "variance")
    table = constants.table.filter(protocol=protocol).drop_nulls("expectation").select(columns)
    found = wanted.join(table, on=key, how="inner", maintain_order="left")
    more = []
    for dataset, split, side, metric in wanted.join(found, on=key, how="anti").iter_rows():
        counts = constants.histograms.candidate_counts(dataset, protocol, split, side)
        if counts is not None and find(metric) is not None:
            moments = metric_moments(metric, counts.counts, counts.tasks)
            tasks = int(counts.tasks.sum())
            more.append((dataset, split, side, metric, tasks, moments.expectation, moments.variance))
    return pl.concat([found, pl.DataFrame(more, found.schema, orient="row")])


def _reason(samples: int) -> pl.Expr:
    ours, theirs, without, spread = map(pl.col, ("ours", "theirs", "not_counted", "variance"))
    own, mean = pl.col("candidates"), pl.col("candidates_theirs")

    def is_theirs(value: pl.Expr) -> pl.Expr:
        return (theirs - value).abs() <= _SAME * value.abs()

    simulated = (theirs - without).abs() <= _STANDARD_ERRORS * (spread / samples).sqrt()
    # With the true answer counted, N is larger by one.
    same_data = ((mean - own).abs() <= _SAME * own) | ((mean - own - 1).abs() <= _SAME * own)
    known = (
        (INSIDE, (pl.col("low") <= theirs) & (theirs <= pl.col("high"))),
        (OUTSIDE, pl.col("low").is_not_null()),
        (LACKING, ours.is_null()),
        (EQUAL, is_theirs(ours)),
        (NOT_COUNTED, is_theirs(without)),
        (
            APPROXIMATED,
            (pl.col("metric") == _MRR) & ((theirs - own.log() / (own - 1)).abs() <= _SAME * theirs),
        ),
        (OTHER_DATA, ~same_data),
        (SIMULATED, simulated),
    )
    return pl.coalesce(*(pl.when(where).then(pl.lit(reason)) for reason, where in known), pl.lit(UNKNOWN))


def record_summary(compared: pl.DataFrame) -> pl.DataFrame:
    """Return pykeen, reason, and for both together the number of rows and the largest difference."""
    groups = compared.group_by("pykeen", "reason", maintain_order=True)
    return groups.agg(rows=pl.len(), largest_difference=pl.col("difference").abs().max())
