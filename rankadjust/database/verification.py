"""Verify a release: whether its files are whole, and its numbers equal another release's.

Two releases made on different machines may differ in the last digits of a moment, where the machines have another
processor or another library of mathematical functions. What that may amount to is stated: docs/methods.md, "Accuracy".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, read_csv, read_sums, sha256_of, shipped, without_guards
from rankadjust.base.vocabulary import EVALUATION, KEY, KNOWN_SPLITS
from rankadjust.counting.protocols import Benchmark, Protocol, applies
from rankadjust.data.registry import Dataset
from rankadjust.database.arithmetic import COEFFICIENTS, Z_OF_VARIANCE, add_coefficients
from rankadjust.database.store import (
    BASELINES,
    CANDIDATES,
    DATABASE,
    DATASETS,
    RELEASED,
    load_baselines,
    load_candidates,
    load_database,
    load_datasets,
)

# What a deposit has besides (rankadjust.output.deposit).
DEPOSITED_DATASETS = "datasets.csv"
ORIGINS = ("licence", "reference", "pykeen")

Verdict = Literal["identical", "equal", "different"]


def _accuracy(of_most: float, of_median: float) -> pl.Expr:
    is_median = pl.col("metric").is_in(["median_rank", "inverse_median_rank"])
    return pl.when(is_median).then(of_median).otherwise(of_most)


# The stated relative accuracy of the moments; that of the median, which is computed another way, is lower.
_ACCURACY = {
    **{f"expectation{end}": _accuracy(1e-12, 1e-9) for end in ("", "_low", "_high")},
    **{f"variance{end}": _accuracy(1e-12, 1e-6) for end in ("", "_low", "_high")},
    **dict.fromkeys(("variance_random_scorer", "variance_static_scorer"), pl.lit(1e-11)),
}
# The variance of a metric whose ranks are hardly tied is a small difference of large numbers.
_ACCURACY_OF_BASELINES = {"value": pl.lit(1e-11), "variance": pl.lit(1e-6)}
_DERIVED = [column for columns in COEFFICIENTS.values() for column in columns if column is not None]
_NAMED = 3  # rows in a line
_UNSOUND_NAMED = 5  # rows in the message of an error


@dataclass(frozen=True)
class Comparison:
    """How one file of two releases compares, a line for each thing that differs."""

    file: str
    verdict: Verdict
    lines: tuple[str, ...] = ()


def verify(folder: Path, other: Path | None = None) -> list[Comparison]:
    """Compare the tables of a release with another release (None: the shipped release).

    folder, other: a deposit, the folder `database` of a run's results, or resources/database. Files are compared with
    SHA256SUMS beside them, too. Raises RankadjustError where a folder lacks a table, a table is damaged, or the
    constants of a row contradict each other (`require_sound`).
    """
    reference = shipped(RELEASED).parent if other is None else other
    for each in (folder, reference):
        if not each.is_dir():
            raise RankadjustError(f"{each}: there is no such folder; give one with the file {DATABASE}")

    def both(load: Callable[[Path], pl.DataFrame], name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        return load(folder / name), load(reference / name)

    databases = both(load_database, DATABASE)
    for database in databases:
        require_sound(database)
    return [
        # What is derived from the moments is sound, so that only the moments are compared.
        _compared(DATABASE, *databases, KEY, _ACCURACY, left_out=_DERIVED),
        _compared(BASELINES, *both(load_baselines, BASELINES), (*KEY, "baseline"), _ACCURACY_OF_BASELINES),
        _compared(CANDIDATES, *both(load_candidates, CANDIDATES), (*EVALUATION, "num_candidates")),
        _compared(DATASETS, *both(_datasets, DATASETS), ("dataset",)),
        *_checksums(folder),
        *(sums for sums in _checksums(reference) if sums.lines),
    ]


def _datasets(file: Path) -> pl.DataFrame:
    """Return the counts of data sets as text; a deposit has them with the origins of the data sets, as CSV."""
    deposited = file.with_name(DEPOSITED_DATASETS)
    return without_guards(read_csv(deposited)).drop(ORIGINS) if deposited.exists() else load_datasets(file)


def _checksums(folder: Path) -> Iterator[Comparison]:
    """Yield whether the files of a deposit have the checksums that it lists; nothing for a folder without."""
    if not (folder / SUMS).exists():
        return
    lines = []
    for name, digest in read_sums(folder / SUMS).items():
        if not (folder / name).is_file():
            lines.append(f"{name} is missing")
        elif sha256_of(folder / name) != digest:
            lines.append(f"{name} is not as it was written")
    yield Comparison(SUMS, "different" if lines else "identical", tuple(lines))


def _compared(
    file: str,
    first: pl.DataFrame,
    other: pl.DataFrame,
    key: Sequence[str],
    accuracy: Mapping[str, pl.Expr] | None = None,
    left_out: Sequence[str] = (),
) -> Comparison:
    """Compare two tables row by row. key: columns that name a row.

    accuracy: by how much of itself a number may differ, of the columns where it may. left_out: columns that are not
    compared.
    """
    if first.equals(other):
        return Comparison(file, "identical")
    lines = [
        f"the column {name} is in one of them only"
        for name in (*first.columns, *other.columns)
        if (name in first.columns) != (name in other.columns)
    ]
    both = first.with_columns(_first=True).join(
        other.with_columns(_second=True),
        on=key, how="full", coalesce=True, suffix="_other", nulls_equal=True, maintain_order="left_right",
    )  # fmt: skip
    for which, lacks in (("first", "_second"), ("second", "_first")):
        alone = both.filter(pl.col(lacks).is_null())
        if alone.height:
            lines.append(f"only the {which} has {_rows(alone, key)}")
    both = both.drop_nulls(["_first", "_second"])
    close = []
    for name in first.columns:
        if name not in other.columns or name in (*key, *left_out):
            continue
        changed = both.filter(pl.col(name).ne_missing(pl.col(f"{name}_other")))
        beyond = changed
        if accuracy is not None and name in accuracy:
            beyond = changed.filter(~(_difference(name) <= accuracy[name]).fill_null(value=False))
        if beyond.height:
            lines.append(f"{name} differs{_by(name, beyond)} in {_rows(beyond, key)}")
        elif changed.height:
            close.append(f"{name} differs{_by(name, changed)} in {changed.height:,} of {both.height:,} rows")
    if lines:
        return Comparison(file, "different", (*lines, *close))
    if close or not first.select(key).equals(other.select(key)):
        return Comparison(file, "equal", tuple(close) or ("the rows are in another order",))
    return Comparison(file, "identical")


def _by(name: str, changed: pl.DataFrame) -> str:
    """Return in words by how much numbers differ; nothing for other columns."""
    largest = changed.select(_difference(name).max()).item() if changed[name].dtype.is_float() else None
    return "" if largest is None else f" by up to {largest:.1e} of itself"


def _rows(rows: pl.DataFrame, key: Sequence[str]) -> str:
    """Return how many rows there are, and the first of them by name."""
    named = "; ".join(", ".join(map(str, row)) for row in rows.select(key).head(_NAMED).iter_rows())
    more = "; …" if rows.height > _NAMED else ""
    return f"{rows.height:,} row{'' if rows.height == 1 else 's'} ({named}{more})"


def _difference(name: str) -> pl.Expr:
    """Return by how much of itself a number differs from its namesake; null where one of them is null."""
    mine, theirs = pl.col(name), pl.col(f"{name}_other")
    return (mine - theirs).abs() / pl.max_horizontal(mine.abs(), theirs.abs())


def require_complete(
    held: Iterable[tuple[str, str]],
    registry: Mapping[str, Dataset],
    protocols: Mapping[str, Protocol],
    benchmarks: Iterable[Benchmark],
) -> None:
    """Raise RankadjustError where a release lacks a verified data set, a protocol that applies, or a benchmark.

    Of a data set without training triples it has to have bounds. held: the data sets and protocols that it has.
    """
    constant = {(benchmark.dataset, benchmark.protocol.name) for benchmark in benchmarks}
    bounded = {
        (dataset.name, "filtered") for dataset in registry.values() if dataset.without_training is not None
    }
    _require(constant | _counted(registry, protocols) | bounded, held)


def require_baselines(
    baselines: pl.DataFrame, registry: Mapping[str, Dataset], protocols: Mapping[str, Protocol]
) -> None:
    """Raise RankadjustError where a release lacks the baselines of a verified data set whose triples are given."""
    given = {key for key in _counted(registry, protocols) if set(KNOWN_SPLITS) & set(registry[key[0]].splits)}
    _require(given, baselines.select("dataset", "protocol").unique().iter_rows())


def _counted(registry: Mapping[str, Dataset], protocols: Mapping[str, Protocol]) -> set[tuple[str, str]]:
    return {
        (dataset.name, name)
        for dataset in registry.values()
        if dataset.verified
        for name, protocol in protocols.items()
        if applies(protocol, dataset.format.columns, dataset.splits) is None
    }


def _require(needed: set[tuple[str, str]], held: Iterable[tuple[str, str]]) -> None:
    missing = sorted(needed.difference(held))
    if missing:
        named = ", ".join(f"{dataset} ({protocol})" for dataset, protocol in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise RankadjustError(
            f"the release would lack {named}{more}; set the keys datasets, without_training and protocols as "
            "config/full.yaml does, which --configfile config/full.yaml takes"
        )


def require_sound(database: pl.DataFrame) -> None:
    """Raise RankadjustError, which names rows, where the constants of any row of a database contradict each other.

    A row is sound where its moments can be moments, where a reason is given for missing values, and where every scale
    and offset follows from the moments, to the last bit.
    """
    anew = add_coefficients(database.drop("optimum", *_DERIVED)).select(pl.col(_DERIVED).name.suffix("_anew"))
    broken = _wrong_moments() | {
        f"{name} does not follow from the moments": pl.col(name).ne_missing(pl.col(f"{name}_anew"))
        for name in _DERIVED
    }
    texts = [
        pl.when(where.fill_null(value=False)).then(pl.lit(text)).alias(text) for text, where in broken.items()
    ]
    violation = pl.concat_str(texts, separator=", ", ignore_nulls=True)
    rows = pl.concat([database, anew], how="horizontal").select(*KEY, violation=violation)
    unsound = rows.filter(pl.col("violation") != "")
    if unsound.height:
        first = unsound.head(_UNSOUND_NAMED)
        named = "; ".join(f"{', '.join(key)}: {text}" for *key, text in first.iter_rows())
        more = f"; and {unsound.height - first.height} more" if unsound.height > first.height else ""
        raise RankadjustError(
            f"{unsound.height} of the {database.height} rows of the database are not sound: {named}{more}"
        )


def _wrong_moments() -> dict[str, pl.Expr]:
    """Return each possible fault of the moments of a row, and where it occurs; an unknown value is not a fault."""
    expectation, variance = pl.col("expectation"), pl.col("variance")
    low, high = pl.col("expectation_low"), pl.col("expectation_high")
    spread_low, spread_high = pl.col("variance_low"), pl.col("variance_high")
    needed = [pl.col(name).is_null() for name in ("expectation", "variance", "index_scale", "z_scale")]
    faults = {
        "expectation not finite": ~expectation.is_finite(),
        "bounds of an expectation that is known": low.is_not_null() & expectation.is_not_null(),
        "only one bound": low.is_null() != high.is_null(),
        "bounds not finite, or in the wrong order": ~(low.is_finite() & high.is_finite() & (low <= high)),
        "one bound of the variance without the other": spread_low.is_null() != spread_high.is_null(),
        "bounds of the variance negative or in the wrong order": (
            ~((spread_low >= 0) & (spread_low <= spread_high) & spread_high.is_finite())
        ),
        "variance 0 and expectation not the optimum": (variance == 0) & (expectation != pl.col("optimum")),
        "variance_static_scorer below variance_random_scorer": (
            pl.col("variance_static_scorer") < pl.col("variance_random_scorer")
        ),
        "a missing value without a reason": pl.col("reason").is_null() & pl.any_horizontal(needed),
    }
    for name in Z_OF_VARIANCE:
        spread, is_constant = pl.col(name), (variance == 0).fill_null(value=False)
        faults[f"{name} negative or not finite"] = ~(spread.is_finite() & (spread >= 0))
        faults[f"{name} 0 where variance is not, or the reverse"] = (spread == 0) != is_constant
    for scorer in ("random_scorer", "static_scorer"):
        faults[f"variance_{scorer} and the reason why there is none, or neither"] = (
            pl.col(f"variance_{scorer}").is_null() != pl.col(f"reason_{scorer}").is_not_null()
        )
    return faults


def pykeen_layout(database: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the expectations under PyKEEN's own protocol in the columns of the file that PyKEEN published.

    Columns dataset (the name under which PyKEEN resolves it), metric, side, split, value.
    """
    # Of a data set without published splits PyKEEN draws its own.
    names = {
        dataset.name: dataset.pykeen
        for dataset in registry.values()
        if dataset.pykeen and "testing" in dataset.splits
    }
    in_pykeen = pl.col("dataset").is_in(list(names)) & pl.col("split").is_in(
        ["training", "validation", "testing"]
    )
    rows = database.filter(in_pykeen, protocol="pykeen").drop_nulls("expectation")
    dataset = pl.col("dataset").replace_strict(names, return_dtype=pl.String)
    columns = ("metric", "side", "split")
    return rows.select(dataset, *columns, value="expectation").sort("dataset", *columns)
