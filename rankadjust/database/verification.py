"""Verify a release: whether its files are whole, and its numbers equal another release's.

Two releases made on different machines may differ in the last digits of a moment, where the machines have another
processor or another library of mathematical functions. What that may amount to is stated: docs/methods.md, "Accuracy".
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, read_csv, read_sums, sha256_of, shipped, without_guards
from rankadjust.base.vocabulary import EVALUATION, KEY, KNOWN_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import Benchmark, Protocol, applies
from rankadjust.data.registry import Dataset
from rankadjust.database.arithmetic import COEFFICIENTS, LEAST_ROOM, Z_OF_VARIANCE, add_coefficients
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
_UNSOUND_NAMED = 5  # rows in the message of an error

PYKEEN_SPLITS = ("training", "validation", "testing")
# By how much scale * M + offset may miss what it must be at the expectation and at the optimum.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """How one file of two releases compares, a line for each thing that differs."""

    file: str
    verdict: Verdict
    lines: tuple[str, ...] = ()


def verify(folder: Path, other: Path | None = None) -> list[Comparison]:
    """Compare the tables of a release with another release (None: the shipped release).

    folder, other: a deposit, the folder `database` of a run's results, or resources/database. Files are compared with
    SHA256SUMS beside them, too. Raises RankadjustError where a folder has no database, a table is damaged, or the
    constants of a row contradict each other (`require_sound`).
    """
    reference = shipped(RELEASED).parent if other is None else other
    return [
        _databases(load_database(_in(folder, DATABASE)), load_database(_in(reference, DATABASE))),
        _baselines(folder, reference),
        _compared(
            CANDIDATES,
            load_candidates(_in(folder, CANDIDATES)),
            load_candidates(_in(reference, CANDIDATES)),
            key=(*EVALUATION, "num_candidates"),
        ),
        _compared(DATASETS, _datasets(folder), _datasets(reference), key=("dataset",)),
        *_checksums(folder),
        *(sums for sums in _checksums(reference) if sums.lines and other is None),
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
    comparison = _compared(DATABASE, first, other, KEY, _is_within_accuracy, left_out=_DERIVED)
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
    counted = _counted(registry, protocols)
    bounded = {
        (dataset.name, "filtered") for dataset in registry.values() if dataset.without_training is not None
    }
    _require((constant | counted | bounded).difference(held))


def require_baselines(
    baselines: pl.DataFrame, registry: Mapping[str, Dataset], protocols: Mapping[str, Protocol]
) -> None:
    """Raise RankadjustError where a release lacks the baselines of a verified data set whose triples are given."""
    given = {
        (name, protocol)
        for name, protocol in _counted(registry, protocols)
        if not set(KNOWN_SPLITS).isdisjoint(registry[name].splits)
    }
    _require(given.difference(baselines.select("dataset", "protocol").unique().iter_rows()))


def _counted(registry: Mapping[str, Dataset], protocols: Mapping[str, Protocol]) -> set[tuple[str, str]]:
    return {
        (dataset.name, name)
        for dataset in registry.values()
        if dataset.verified
        for name, protocol in protocols.items()
        if applies(protocol, dataset.format.columns, dataset.splits) is None
    }


def _require(lacking: Collection[tuple[str, str]]) -> None:
    missing = sorted(lacking)
    if missing:
        named = ", ".join(f"{dataset} ({protocol})" for dataset, protocol in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise RankadjustError(
            f"the release would lack {named}{more}; set the keys datasets, without_training and protocols as "
            "config/full.yaml does, which --configfile config/full.yaml takes"
        )


def require_sound(database: pl.DataFrame) -> None:
    """Raise RankadjustError, which names rows, where the constants of any row of a database contradict each other.

    A row is sound where its variances are finite and not negative; where the index is 0 at the expectation and 1 at
    the optimum, the ratio 1 at the expectation, z 0 there and 1 one standard deviation further, all within 1e-9;
    where each adjustment exists exactly if the moments allow it; and where a reason is given for missing values.
    docs/methods.md, "Adjustments", says when an adjustment exists.
    """
    unsound = database.with_columns(
        violation=pl.concat_list(
            pl.when(broken.fill_null(value=False)).then(pl.lit(text))
            for text, broken in _violations(database)
        ).list.drop_nulls()
    ).filter(pl.col("violation").list.len() > 0)
    if unsound.height:
        rows = unsound.select(*KEY, pl.col("violation").list.join(", ")).head(_UNSOUND_NAMED)
        named = "; ".join(f"{', '.join(key)}: {violation}" for *key, violation in rows.iter_rows())
        more = f"; and {unsound.height - _UNSOUND_NAMED} more" if unsound.height > _UNSOUND_NAMED else ""
        raise RankadjustError(
            f"{unsound.height} of the {database.height} rows of the database are not sound: {named}{more}"
        )


def _violations(database: pl.DataFrame) -> Iterator[tuple[str, pl.Expr]]:
    """Yield each possible fault of a row, and where it occurs; an unknown value is not a fault."""
    metrics = {key: resolve(key) for key in database["metric"].unique()}
    has_ratio = pl.col("metric").is_in([key for key, metric in metrics.items() if metric.ratio])
    increasing = pl.col("metric").is_in([key for key, metric in metrics.items() if metric.increasing])
    expectation, optimum, variance = (pl.col(name) for name in ("expectation", "optimum", "variance"))
    constant = (variance == 0).fill_null(value=False)
    room = (optimum - expectation).abs() > LEAST_ROOM * optimum

    low, high = pl.col("expectation_low"), pl.col("expectation_high")
    yield "expectation not finite", ~expectation.is_finite()
    yield "bounds of an expectation that is known", low.is_not_null() & expectation.is_not_null()
    yield "only one bound", low.is_null() != high.is_null()
    yield "bounds not finite, or in the wrong order", ~(low.is_finite() & high.is_finite() & (low <= high))
    spread_low, spread_high = pl.col("variance_low"), pl.col("variance_high")
    yield "one bound of the variance without the other", spread_low.is_null() != spread_high.is_null()
    yield (
        "bounds of the variance negative or in the wrong order",
        ~((spread_low >= 0) & (spread_low <= spread_high) & spread_high.is_finite()),
    )
    yield "variance 0 and expectation not the optimum", constant & (expectation != optimum)
    for adjustment, columns in COEFFICIENTS.items():
        coefficients = [pl.col(column) for column in columns if column is not None]
        yield f"{adjustment} not finite", ~pl.all_horizontal(each.is_finite() for each in coefficients)
        yield f"only half of {adjustment}", coefficients[0].is_null() != coefficients[-1].is_null()
    ratio_exists = pl.col("ratio_scale").is_not_null()
    yield (
        "ratio where there is none, or none where there is one",
        ratio_exists != (has_ratio & expectation.is_not_null()),
    )
    yield "ratio not 1 at the expectation", _off(pl.col("ratio_scale") * expectation, 1)
    index_exists = pl.col("index_scale").is_not_null()
    yield "index without variance, or next to the optimum", index_exists & ~(room & ~constant)
    yield "no index", ~index_exists & room & ~constant
    yield "index not 0 at the expectation", _off(_at(expectation, "index"), 0)
    yield "index not 1 at the optimum", _off(_at(optimum, "index"), 1)
    yield "index beyond bounds", (pl.col("index_scale") * optimum).abs() > 1 / LEAST_ROOM
    for name, z in Z_OF_VARIANCE.items():
        spread = pl.col(name)
        yield f"{name} negative or not finite", ~(spread.is_finite() & (spread >= 0))
        yield f"{name} 0 where variance is not, or the reverse", (spread == 0) != constant
        exists = (spread > 0).fill_null(value=False)
        yield (
            f"{z} where {name} is 0 or unknown, or none where it is known",
            (pl.col(f"{z}_scale").is_not_null() != exists),
        )
        yield f"{z} not 0 at the expectation", _off(_at(expectation, z), 0)
        step = pl.col(f"{z}_scale") * spread.sqrt()
        yield (
            f"{z} not 1 one standard deviation better",
            _off(pl.when(increasing).then(step).otherwise(-step), 1),
        )
    for scorer in ("random_scorer", "static_scorer"):
        yield (
            f"variance_{scorer} and the reason why there is none, or neither",
            pl.col(f"variance_{scorer}").is_null() != pl.col(f"reason_{scorer}").is_not_null(),
        )
    yield (
        "variance_static_scorer below variance_random_scorer",
        pl.col("variance_static_scorer") < pl.col("variance_random_scorer"),
    )
    needed = [expectation, variance, pl.col("index_scale"), pl.col("z_scale")]
    yield (
        "a missing value without a reason",
        pl.col("reason").is_null() & pl.any_horizontal(each.is_null() for each in needed),
    )


def _at(value: pl.Expr, adjustment: str) -> pl.Expr:
    scale, offset = COEFFICIENTS[adjustment]
    return value * pl.col(scale) + (0 if offset is None else pl.col(offset))


def _off(value: pl.Expr, expected: float) -> pl.Expr:
    # A sum that is not a number is off too.
    return ~((value - expected).abs() <= _TOLERANCE)


def pykeen_layout(database: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the expectations under PyKEEN's own protocol in the columns of the file that PyKEEN published.

    Columns dataset (the name under which PyKEEN resolves it), metric, side, split, value; metrics without expectation
    are left out.
    """
    # Of a data set without published splits PyKEEN draws its own.
    names = {
        dataset.name: dataset.pykeen
        for dataset in registry.values()
        if dataset.pykeen and "testing" in dataset.splits
    }
    return (
        database.filter(
            pl.col("protocol") == "pykeen",
            pl.col("dataset").is_in(list(names)),
            pl.col("split").is_in(PYKEEN_SPLITS),
            pl.col("expectation").is_not_null(),
        )
        .select(
            pl.col("dataset").replace_strict(names, return_dtype=pl.String),
            "metric",
            "side",
            "split",
            value="expectation",
        )
        .sort("dataset", "metric", "side", "split")
    )
