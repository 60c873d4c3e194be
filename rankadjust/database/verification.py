"""Verify a release: whether its numbers are sound, and equal another release's.

Two releases made on different machines may differ in the last digits of a moment, where the machines have another
processor or another library of mathematical functions. What that may amount to is stated: docs/methods.md, "Accuracy".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import shipped
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.data.registry import Dataset
from rankadjust.database import store
from rankadjust.database.arithmetic import SCALES, Z_OF_VARIANCE, add_coefficients


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


@dataclass(frozen=True)
class Comparison:
    """How one file of two releases compares, a line for each thing that differs."""

    file: str
    verdict: Literal["identical", "equal", "different"]
    lines: tuple[str, ...] = ()


def verify(folder: Path, other: Path | None = None) -> list[Comparison]:
    """Compare the tables of a release with another release (None: the shipped release).

    folder, other: a deposit, the folder `database` of a run's results, or resources/database. Raises RankadjustError
    where a folder lacks a table, a table is damaged, or the constants of a row contradict each other (`require_sound`).
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
    )
    return [
        _compared(name, load(folder / name), load(reference / name), key, accuracy)
        for name, load, key, accuracy in tables
    ]


def _moments(file: Path) -> pl.DataFrame:
    """Return a database without what follows from the moments, once it is found to follow."""
    database = store.load_database(file)
    require_sound(database)
    return database.drop(SCALES)


def _compared(
    file: str, first: pl.DataFrame, other: pl.DataFrame, key: Sequence[str], accuracy: Mapping[str, pl.Expr]
) -> Comparison:
    """Compare two tables row by row. key: columns that name a row. accuracy: by how much of itself a number may differ.

    Of a column without accuracy every value must be the same.
    """
    if first.equals(other):
        return Comparison(file, "identical")
    alone = sorted(set(first.columns) ^ set(other.columns))
    lines = [f"only one of the two has the column {name}" for name in alone]
    for which, here, there in (("first", first, other), ("second", other, first)):
        rows = here.join(there, on=key, how="anti", nulls_equal=True)
        lines += [f"only the {which} has {_rows(rows, key)}"] if rows.height else []
    both = first.join(other, on=key, suffix="_other", nulls_equal=True, maintain_order="left")
    is_equal = not lines
    for name in first.columns:
        if name in (*alone, *key):
            continue
        mine, theirs = pl.col(name), pl.col(f"{name}_other")
        changed = both.filter(mine.ne_missing(theirs))
        if changed.is_empty():
            continue
        by, share = "", pl.lit(float("inf"))
        if changed[name].dtype.is_float():
            share = (mine - theirs).abs() / pl.max_horizontal(mine.abs(), theirs.abs())
            by = f" by up to {changed.select(share.max()).item() or 0:.1e} of itself"
        lines.append(f"{name} differs{by} in {_rows(changed, key)}")
        is_equal &= changed.select((share <= accuracy.get(name, 0.0)).fill_null(value=False).all()).item()
    if not is_equal:
        return Comparison(file, "different", tuple(lines))
    return Comparison(file, "equal", tuple(lines) or ("the rows are in another order",))


def _rows(rows: pl.DataFrame, key: Sequence[str]) -> str:
    """Return how many rows there are, and the first of them by name."""
    named = "; ".join(", ".join(map(str, row)) for row in rows.select(key).head(_NAMED).iter_rows())
    more = "; …" if rows.height > _NAMED else ""
    return f"{rows.height:,} row{'' if rows.height == 1 else 's'} ({named}{more})"


def require_sound(database: pl.DataFrame) -> None:
    """Raise RankadjustError, which names rows, where a scale or offset does not follow from the moments of its row.

    It has to follow to the last bit, a variance must not be negative, and a reason is given for missing values.
    """
    anew = add_coefficients(database.drop(*SCALES)).select(pl.col(SCALES).name.suffix("_anew"))
    missing = pl.any_horizontal(pl.col("expectation", "variance", "index_scale", "z_scale").is_null())
    wrong = {f"{name} does not follow": pl.col(name).ne_missing(pl.col(f"{name}_anew")) for name in SCALES}
    wrong |= {f"{name} is wrong": ~(pl.col(name).is_finite() & (pl.col(name) >= 0)) for name in Z_OF_VARIANCE}
    wrong |= {"a value is missing without a reason": missing & pl.col("reason").is_null()}
    rows = pl.concat([database, anew], how="horizontal")
    lines = [
        f"{text} in {_rows(found, KEY)}"
        for text, where in wrong.items()
        if (found := rows.filter(where)).height
    ]
    if lines:
        raise RankadjustError(f"the constants of the database are not sound: {'; '.join(lines)}")


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
