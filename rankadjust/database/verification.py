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
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.counting.protocols import Benchmark, Protocol, applies
from rankadjust.data.registry import Dataset, has_baselines
from rankadjust.database import store
from rankadjust.database.arithmetic import SCALES, Z_OF_VARIANCE, add_coefficients

# What a deposit has besides (rankadjust.output.deposit).
DEPOSITED_DATASETS = "datasets.csv"
ORIGINS = ("licence", "reference", "pykeen")


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
_Load = Callable[[Path], pl.DataFrame]
_NAMED = 3  # rows in a line
_UNSOUND_NAMED = 5  # rows in the message of an error


@dataclass(frozen=True)
class Comparison:
    """How one file of two releases compares, a line for each thing that differs."""

    file: str
    verdict: Literal["identical", "equal", "different"]
    lines: tuple[str, ...] = ()


def verify(folder: Path, other: Path | None = None) -> list[Comparison]:
    """Compare the tables of a release with another release (None: the shipped release).

    folder, other: a deposit, the folder `database` of a run's results, or resources/database. Files are compared with
    SHA256SUMS beside them, too. Raises RankadjustError where a folder lacks a table, a table is damaged, or the
    constants of a row contradict each other (`require_sound`).
    """
    reference = shipped(store.RELEASED).parent if other is None else other
    for each in (folder, reference):
        if not each.is_dir():
            raise RankadjustError(f"{each}: there is no such folder; give one with the file {store.DATABASE}")
    of_candidates = (*EVALUATION, "num_candidates")
    tables: tuple[tuple[str, _Load, Sequence[str], Mapping[str, pl.Expr]], ...] = (
        (store.DATABASE, _moments, KEY, _ACCURACY),
        (store.BASELINES, store.load_baselines, (*KEY, "baseline"), _ACCURACY_OF_BASELINES),
        (store.CANDIDATES, store.load_candidates, of_candidates, {}),
        (store.DATASETS, _datasets, ("dataset",), {}),
    )
    return [
        *(
            _compared(name, load(folder / name), load(reference / name), key, accuracy)
            for name, load, key, accuracy in tables
        ),
        *_checksums(folder),
        *(sums for sums in _checksums(reference) if sums.lines),
    ]


def _moments(file: Path) -> pl.DataFrame:
    """Return a database without what follows from the moments, once it is found to follow."""
    database = store.load_database(file)
    require_sound(database)
    return database.drop(SCALES)


def _datasets(file: Path) -> pl.DataFrame:
    """Return the counts of data sets as text; a deposit has them with the origins of the data sets, as CSV."""
    deposited = file.with_name(DEPOSITED_DATASETS)
    return (
        without_guards(read_csv(deposited)).drop(ORIGINS) if deposited.exists() else store.load_datasets(file)
    )


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
    file: str, first: pl.DataFrame, other: pl.DataFrame, key: Sequence[str], accuracy: Mapping[str, pl.Expr]
) -> Comparison:
    """Compare two tables row by row. key: columns that name a row. accuracy: by how much of itself a number may differ.

    Of a column without accuracy every value must be the same.
    """
    if first.equals(other):
        return Comparison(file, "identical")
    alone = [*(set(first.columns) ^ set(other.columns))]
    lines, close = [f"the column {name} is in one of them only" for name in sorted(alone)], []
    both = first.with_columns(_first=True).join(
        other.with_columns(_second=True),
        on=key, how="full", coalesce=True, suffix="_other", nulls_equal=True, maintain_order="left_right",
    )  # fmt: skip
    for which, lacks in (("first", "_second"), ("second", "_first")):
        rows = both.filter(pl.col(lacks).is_null())
        lines += [f"only the {which} has {_rows(rows, key)}"] if rows.height else []
    both = both.drop_nulls(["_first", "_second"])
    for name in first.columns:
        if name in (*alone, *key):
            continue
        mine, theirs = pl.col(name), pl.col(f"{name}_other")
        changed = both.filter(mine.ne_missing(theirs))
        by, beyond = "", changed
        if changed[name].dtype.is_float():
            difference = (mine - theirs).abs() / pl.max_horizontal(mine.abs(), theirs.abs())
            largest = changed.select(difference.max()).item()
            by = "" if largest is None else f" by up to {largest:.1e} of itself"
            limit = accuracy.get(name, pl.lit(0.0))
            beyond = changed.filter(~(difference <= limit).fill_null(value=False))
        if beyond.height:
            lines.append(f"{name} differs{by} in {_rows(beyond, key)}")
        elif changed.height:
            close.append(f"{name} differs{by} in {changed.height:,} of {both.height:,} rows")
    if lines:
        return Comparison(file, "different", (*lines, *close))
    return Comparison(file, "equal", tuple(close) or ("the rows are in another order",))


def _rows(rows: pl.DataFrame, key: Sequence[str]) -> str:
    """Return how many rows there are, and the first of them by name."""
    named = "; ".join(", ".join(map(str, row)) for row in rows.select(key).head(_NAMED).iter_rows())
    more = "; …" if rows.height > _NAMED else ""
    return f"{rows.height:,} row{'' if rows.height == 1 else 's'} ({named}{more})"


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
    bounded = {(each.name, "filtered") for each in registry.values() if each.without_training is not None}
    _require(constant | bounded | _counted(registry.values(), protocols), held)


def require_baselines(
    baselines: pl.DataFrame, registry: Mapping[str, Dataset], protocols: Mapping[str, Protocol]
) -> None:
    """Raise RankadjustError where a release lacks the baselines of a verified data set whose triples are given."""
    given = list(filter(has_baselines, registry.values()))
    ranked = {name: each for name, each in protocols.items() if each.has_standings}
    _require(_counted(given, ranked), baselines.select("dataset", "protocol").unique().iter_rows())


def _counted(datasets: Iterable[Dataset], protocols: Mapping[str, Protocol]) -> set[tuple[str, str]]:
    return {
        (dataset.name, name)
        for dataset in datasets
        for name, protocol in protocols.items()
        if dataset.verified and applies(protocol, dataset.format.columns, dataset.splits) is None
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
    anew = add_coefficients(database.drop(*SCALES)).select(pl.col(SCALES).name.suffix("_anew"))
    faults = _wrong_moments() | {
        f"{name} does not follow from the moments": pl.col(name).ne_missing(pl.col(f"{name}_anew"))
        for name in SCALES
    }
    texts = [pl.when(where).then(pl.lit(text)) for text, where in faults.items()]
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
    expectation, variance, reason = map(pl.col, ("expectation", "variance", "reason"))
    missing = pl.any_horizontal(pl.col("expectation", "variance", "index_scale", "z_scale").is_null())
    faults = {
        "expectation not finite": ~expectation.is_finite(),
        "bounds of an expectation that is known": pl.col("expectation_low").is_not_null()
        & expectation.is_not_null(),
        "variance 0 and expectation not the optimum": (variance == 0) & (expectation != pl.col("optimum")),
        "a missing value without a reason": reason.is_null() & missing,
    }
    for name in ("expectation", "variance"):
        low, high = pl.col(f"{name}_low"), pl.col(f"{name}_high")
        faults[f"{name}: only a lower or only an upper bound"] = low.is_null() != high.is_null()
        faults[f"bounds of the {name} not finite, or in the wrong order"] = ~(
            high.is_finite() & (low <= high) & (low >= 0)
        )
    for name in Z_OF_VARIANCE:
        spread, is_constant = pl.col(name), (variance == 0).fill_null(value=False)
        faults[f"{name} negative or not finite"] = ~(spread.is_finite() & (spread >= 0))
        faults[f"{name} 0 where variance is not, or the reverse"] = (spread == 0) != is_constant
    for scorer in ("random_scorer", "static_scorer"):
        faults[f"variance_{scorer} and the reason why there is none, or neither"] = (
            pl.col(f"variance_{scorer}").is_null() != pl.col(f"reason_{scorer}").is_not_null()
        )
    faults["variance_static_scorer below variance_random_scorer"] = pl.col("variance_static_scorer") < pl.col(
        "variance_random_scorer"
    )
    return faults


def pykeen_layout(database: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the expectations under PyKEEN's own protocol in the columns of the file that PyKEEN published.

    Columns dataset (the name under which PyKEEN resolves it), metric, side, split, value.
    """
    # Of a data set without published splits PyKEEN draws its own.
    names = {each.name: each.pykeen for each in registry.values() if each.pykeen and "testing" in each.splits}
    rows = database.filter(
        pl.col("dataset").is_in(list(names)),
        pl.col("split").is_in(["training", "validation", "testing"]),
        protocol="pykeen",
    )
    dataset = pl.col("dataset").replace_strict(names, return_dtype=pl.String)
    columns = ("metric", "side", "split")
    values = rows.drop_nulls("expectation").select(dataset, *columns, value="expectation")
    return values.sort("dataset", *columns)
