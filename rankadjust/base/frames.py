"""Frames that people hand over: polars frames are taken, others are refused with what to do. Text made of columns."""

from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError

_REMEDIES = {
    "pandas.DataFrame": "convert it with polars.from_pandas(frame)",
    "pyarrow.Table": "convert it with polars.from_arrow(table)",
    "polars.LazyFrame": "collect it with frame.collect()",
}


def require_frame(given: Any, what: str) -> pl.DataFrame:  # noqa: ANN401 - whatever a user gives
    """Return a polars frame as it is; anything else is a RankadjustError. what: the argument, for the message."""
    if isinstance(given, pl.DataFrame):
        return given
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}".removeprefix("builtins.")
    remedy = _REMEDIES.get(kind, "make one with polars.DataFrame(...)")
    raise RankadjustError(f"{what}: a polars frame is needed, and this is a {kind}; {remedy}")


def is_foreign_frame(given: Any) -> bool:  # noqa: ANN401
    """Tell whether an object is a table of another library, or not collected yet, rather than an array."""
    return not isinstance(given, pl.DataFrame) and hasattr(type(given), "columns")


def filled(template: str, *values: str | pl.Expr) -> pl.Expr:
    """Return a text for each row: a template in which each {} stands for a value of the row; null where one is null.

    Like other expressions it is named after its first column.

    `pl.format` would do the same, but panics on a column whose first chunk is empty, as filters leave them (polars
    2.0 and 2.1).

    Parameters
    ----------
    template
        The text with as many {} as there are values.
    *values
        Names of columns, or expressions.

    """
    first, *rest = template.split("{}")
    others = [part for value, text in zip(values, rest, strict=True) for part in (value, pl.lit(text))]
    named = pl.col(values[0]) if isinstance(values[0], str) else values[0]
    return pl.concat_str([pl.lit(first), *others]).alias(named.meta.output_name())
