"""Verify a release: whether its files are whole, and its numbers equal another release's.

Two releases made on different machines may differ in the last digits of a moment, where the machines have another
processor or another library of mathematical functions. What that may amount to is stated: docs/methods.md, "Accuracy".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, read_csv, read_sums, sha256_of, shipped, without_guards
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.database.adjustments import COEFFICIENTS, add_coefficients
from rankadjust.database.beside import CANDIDATES, DATASETS, load_candidates, load_datasets
from rankadjust.database.counted_baselines import BASELINES, load_baselines
from rankadjust.database.release import require_sound
from rankadjust.database.store import RELEASED, load_database

# What a deposit has besides (rankadjust.output.deposit).
DEPOSITED_DATASETS = "datasets.csv"
ORIGINS = ("licence", "reference", "pykeen")

Verdict = Literal["identical", "equal", "different"]

# The stated relative accuracy of the moments; that of the median, which is computed another way, is lower.
_ACCURACY = {
    "expectation": 1e-12,
    "variance": 1e-12,
    "variance_random_scorer": 1e-11,
    "variance_static_scorer": 1e-11,
}
_ACCURACY_OF_MEDIAN = {"expectation": 1e-9, "variance": 1e-6}
_MEDIANS = ("median_rank", "inverse_median_rank")
# The variance of a metric whose ranks are hardly tied is a small difference of large numbers.
_ACCURACY_OF_BASELINES = {"value": 1e-11, "variance": 1e-6}
_DERIVED = [column for columns in COEFFICIENTS.values() for column in columns if column is not None]
_NAMED = 3  # rows in a line


@dataclass(frozen=True)
class Comparison:
    """How one file of two releases compares, a line for each thing that differs."""

    file: str
    verdict: Verdict
    lines: tuple[str, ...] = ()


def verify(folder: Path, other: Path | None = None) -> list[Comparison]:
    """Compare the tables of a release with another release (None: the shipped release).

    folder, other: a deposit, the folder `database` of a run's results, or resources/database. Of a deposit the
    checksums of all files are compared too. Raises RankadjustError where a folder has no database, a table is damaged,
    or the constants of a row contradict each other (`rankadjust.database.release.require_sound`).
    """
    reference = shipped(RELEASED).parent if other is None else other
    name = Path(RELEASED).name
    return [
        _databases(load_database(_in(folder, name)), load_database(_in(reference, name))),
        _baselines(folder, reference),
        _compared(
            CANDIDATES,
            load_candidates(_in(folder, CANDIDATES)),
            load_candidates(_in(reference, CANDIDATES)),
            key=(*EVALUATION, "num_candidates"),
        ),
        _compared(DATASETS, _datasets(folder), _datasets(reference), key=("dataset",)),
        *_checksums(folder),
    ]


def _in(folder: Path, name: str) -> Path:
    if not folder.is_dir():
        raise RankadjustError(f"{folder}: there is no such folder; give one with the file {name}")
    return folder / name


def _datasets(folder: Path) -> pl.DataFrame:
    """Return the counts of data sets as text; a deposit has them with the origins of the data sets, as CSV."""
    deposited = folder / DEPOSITED_DATASETS
    if deposited.exists() and not (folder / DATASETS).exists():
        return without_guards(read_csv(deposited)).drop(ORIGINS)
    return load_datasets(_in(folder, DATASETS))


def _checksums(folder: Path) -> Iterator[Comparison]:
    """Yield whether the files of a deposit have the checksums that it lists; nothing for a folder without."""
    if not (folder / SUMS).exists():
        return
    listed = read_sums(folder / SUMS)
    lines = [f"{name} is missing" for name in listed if not (folder / name).is_file()]
    lines += [
        f"{name} is not as it was written"
        for name, digest in listed.items()
        if (folder / name).is_file() and sha256_of(folder / name) != digest
    ]
    yield Comparison(SUMS, "different" if lines else "identical", tuple(lines))


def _databases(first: pl.DataFrame, other: pl.DataFrame) -> Comparison:
    for database in (first, other):
        require_sound(database)
    comparison = _compared(Path(RELEASED).name, first, other, KEY, _is_within_accuracy, left_out=_DERIVED)
    lines = tuple(line for database in (first, other) for line in _not_following(database))
    return Comparison(comparison.file, "different", comparison.lines + lines) if lines else comparison


def _baselines(folder: Path, reference: Path) -> Comparison:
    """Compare what counting baselines reach; releases of earlier versions do not say that."""
    lacking = [where for where in (folder, reference) if not (where / BASELINES).exists()]
    if lacking:
        return Comparison(BASELINES, "different", tuple(f"{where} has no {BASELINES}" for where in lacking))
    first, other = (load_baselines(where / BASELINES) for where in (folder, reference))
    return _compared(BASELINES, first, other, (*KEY, "baseline"), _is_within_accuracy_of_baselines)


def _not_following(database: pl.DataFrame) -> Iterator[str]:
    """Yield the scales and offsets that do not follow from their row's moments, to the last bit."""
    anew = add_coefficients(database.drop("optimum", *_DERIVED, strict=False))
    for name in _DERIVED:
        wrong = database.filter(database[name].ne_missing(anew[name]))
        if wrong.height:
            yield f"{name} does not follow from the moments in {_rows(wrong, KEY)}"


def _compared(
    file: str,
    first: pl.DataFrame,
    other: pl.DataFrame,
    key: Sequence[str],
    is_close: Callable[[str], pl.Expr | None] = lambda _: None,
    left_out: Sequence[str] = (),
) -> Comparison:
    """Compare two tables row by row. key: columns that name a row.

    is_close: from a column to whether two numbers that are not the same are as good as equal, None where they are not.
    left_out: columns that are not compared.
    """
    if first.equals(other):
        return Comparison(file, "identical")
    names = [name for name in first.columns if name in other.columns and name not in (*key, *left_out)]
    lines = [
        f"the column {name} is in one of them only" for name in _in_one_only(first.columns, other.columns)
    ]
    for mine, theirs, which in ((first, other, "first"), (other, first, "second")):
        alone = mine.join(theirs, on=key, how="anti", nulls_equal=True)
        if alone.height:
            lines.append(f"only the {which} has {_rows(alone, key)}")
    both = first.join(other, on=key, how="inner", suffix="_other", nulls_equal=True, maintain_order="left")
    close = []
    for name in names:
        changed = both.filter(pl.col(name).ne_missing(pl.col(f"{name}_other")))
        if changed.is_empty():
            continue
        within = is_close(name)
        beyond = changed if within is None else changed.filter(~within.fill_null(value=False))
        if beyond.height:
            lines.append(f"{name} differs{_by(name, beyond)} in {_rows(beyond, key)}")
        else:
            close.append(f"{name} differs{_by(name, changed)} in {changed.height:,} of {both.height:,} rows")
    if lines:
        return Comparison(file, "different", (*lines, *close))
    if close or not first.select(key).equals(other.select(key)):
        return Comparison(file, "equal", tuple(close) or ("the rows are in another order",))
    return Comparison(file, "identical")


def _in_one_only(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in (*names, *others) if (name in names) != (name in others)]


def _by(name: str, changed: pl.DataFrame) -> str:
    """Return in words by how much numbers differ; nothing for other columns."""
    if not changed[name].dtype.is_float():
        return ""
    largest = changed.select(_difference(name).max()).item()
    return "" if largest is None else f" by up to {largest:.1e} of itself"


def _rows(rows: pl.DataFrame, key: Sequence[str]) -> str:
    """Return how many rows there are, and the first of them by name."""
    named = "; ".join(", ".join(map(str, row)) for row in rows.select(key).head(_NAMED).iter_rows())
    more = "; …" if rows.height > _NAMED else ""
    return f"{rows.height:,} row{'' if rows.height == 1 else 's'} ({named}{more})"


def _is_within_accuracy(name: str) -> pl.Expr | None:
    """Return whether a moment and its namesake of the other release agree to the stated accuracy."""
    kind = name.removesuffix("_low").removesuffix("_high")
    if kind not in _ACCURACY:
        return None
    of_median = pl.lit(_ACCURACY_OF_MEDIAN.get(kind, _ACCURACY[kind]))
    accuracy = pl.when(pl.col("metric").is_in(_MEDIANS)).then(of_median).otherwise(pl.lit(_ACCURACY[kind]))
    return _difference(name) <= accuracy


def _is_within_accuracy_of_baselines(name: str) -> pl.Expr | None:
    accuracy = _ACCURACY_OF_BASELINES.get(name)
    return None if accuracy is None else _difference(name) <= accuracy


def _difference(name: str) -> pl.Expr:
    """Return by how much of itself a number differs from its namesake; null where one of them is null."""
    mine, theirs = pl.col(name), pl.col(f"{name}_other")
    return (mine - theirs).abs() / pl.max_horizontal(mine.abs(), theirs.abs())
