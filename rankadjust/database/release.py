"""The release: what goes into it, whether it is whole and sound, and the layout that PyKEEN's users have."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import KEY, KNOWN_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import Benchmark, Protocol, applies
from rankadjust.data.registry import Dataset
from rankadjust.database.adjustments import COEFFICIENTS, Z_OF_VARIANCE
from rankadjust.database.arithmetic import LEAST_ROOM

PYKEEN_SPLITS = ("training", "validation", "testing")

# By how much scale * M + offset may miss what it must be at the expectation and at the optimum.
_TOLERANCE = 1e-9
_NAMED = 5  # rows in the message of an error


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
        rows = unsound.select(*KEY, pl.col("violation").list.join(", ")).head(_NAMED)
        named = "; ".join(f"{', '.join(key)}: {violation}" for *key, violation in rows.iter_rows())
        more = f"; and {unsound.height - _NAMED} more" if unsound.height > _NAMED else ""
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
