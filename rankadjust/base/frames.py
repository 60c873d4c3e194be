"""Frames that people hand over, of polars, pandas, pyarrow and other libraries. Text made of columns."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from rankadjust.base.errors import RankadjustError

if TYPE_CHECKING:
    import narwhals as nw


def require_frame(given: Any, what: str) -> pl.DataFrame:  # noqa: ANN401 - whatever a user gives
    """Return a frame of any library as one of polars; anything else is a RankadjustError.

    Cells that pandas holds for missing are null. what: the argument, for the message.
    """
    if isinstance(given, pl.DataFrame):
        return given
    if isinstance(given, pl.LazyFrame):
        raise RankadjustError(f"{what}: this is a polars.LazyFrame; collect it with frame.collect()")
    names = [name for name in getattr(getattr(given, "index", None), "names", ()) if name is not None]
    if names and not set(names).intersection(given.columns):
        # Of a table by model, pandas has the models in its index.
        given = given.reset_index()
    # Only frames of other libraries need it.
    import narwhals  # noqa: PLC0415

    frame = narwhals.from_native(given, eager_only=True, pass_through=True)
    if isinstance(frame, narwhals.DataFrame):
        return pl.DataFrame([_column(series) for series in frame.iter_columns()])
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}".removeprefix("builtins.")
    raise RankadjustError(
        f"{what}: a frame of polars, pandas or pyarrow is needed, and this is a {kind}; make one with "
        "polars.DataFrame(...), or relation.pl() of DuckDB"
    )


def _column(series: "nw.Series[Any]") -> pl.Series:
    values = zip(series.to_list(), series.is_null().to_list(), strict=True)
    return pl.Series(f"{series.name}", [None if gone else value for value, gone in values], strict=False)


def is_frame(given: Any) -> bool:  # noqa: ANN401
    """Return whether an object is a table of any library, rather than an array or a list."""
    return isinstance(given, pl.DataFrame) or hasattr(type(given), "columns")


def filled(template: str, *values: str | pl.Expr) -> pl.Expr:
    """Return a text for each row: a template with a {} for each value of the row; null where a value is null.

    values: names of columns, or expressions; the result is named after the first. `pl.format` would do the same, but
    panics on a column whose first chunk is empty, as filters leave them (polars 2.0 and 2.1).
    """
    first, *rest = template.split("{}")
    others = [part for value, text in zip(values, rest, strict=True) for part in (value, pl.lit(text))]
    named = pl.col(values[0]) if isinstance(values[0], str) else values[0]
    return pl.concat_str([pl.lit(first), *others]).alias(named.meta.output_name())


def mapped_together(
    function: Callable[[pl.DataFrame], pl.DataFrame], frames: Sequence[pl.DataFrame]
) -> list[pl.DataFrame]:
    """Return the function of each frame; frames with the same columns go through it as one, which saves time.

    function: it keeps the rows of a frame in their order, with all their columns, and may add columns.
    """
    alike: dict[tuple[tuple[str, pl.DataType], ...], list[int]] = {}
    for place, frame in enumerate(frames):
        alike.setdefault(tuple(frame.schema.items()), []).append(place)
    results: dict[int, pl.DataFrame] = {}
    for places in alike.values():
        whole = function(pl.concat(frames[place].with_columns(_frame=pl.lit(f"{place}")) for place in places))
        results |= {place: whole.filter(_frame=f"{place}").drop("_frame") for place in places}
    return [results[place] for place in range(len(frames))]
