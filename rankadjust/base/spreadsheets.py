"""CSV and TSV that a spreadsheet may open: a cell from somebody else's table is never a formula.

A spreadsheet computes a cell that begins with =, +, -, @, a tab or an end of line, and some of its formulas start
programs or send what other cells hold. Following OWASP ("CSV Injection"), such a cell gets an apostrophe before it:
=1+1 is written '=1+1. Numbers stay numbers, and a dash stays a dash: -0.3, +12 % and - are written as they are.
`without_guards` takes the apostrophe away again, so that what was written is read back unchanged; a cell that had
apostrophes before such a sign gets one more. docs/tables.md explains it to users.
"""

import polars as pl

# The signs, the wide ones of Japanese keyboards among them, which spreadsheets take for the narrow ones.
_SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
_HARMLESS = r"^-+$|^[+-]?(?:[0-9][0-9,]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ ]?%?$"
_DANGEROUS = rf"^'*{_SIGNS}"
_GUARDED = rf"^''*{_SIGNS}"
_MARK = "'"


def to_csv(frame: pl.DataFrame, separator: str = ",") -> str:
    """Return a frame as CSV; text and names of columns that a spreadsheet would compute are guarded."""
    names = pl.Series("", frame.columns, dtype=pl.String).to_frame().select(_guarded(pl.first())).to_series()
    text = [column.name for column in frame if column.dtype in (pl.String, pl.Categorical, pl.Enum)]
    guarded = frame.with_columns(_guarded(pl.col(name).cast(pl.String)).alias(name) for name in text)
    return guarded.rename(dict(zip(frame.columns, names, strict=True))).write_csv(separator=separator)


def without_guards(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of text, as read from a file that `to_csv` wrote, with its cells and names as they were."""
    cells = frame.with_columns(_unguarded(pl.col(pl.String)))
    names = (
        pl.Series("", frame.columns, dtype=pl.String).to_frame().select(_unguarded(pl.first())).to_series()
    )
    # Two names of another file's columns may be the same without their apostrophes.
    return cells.rename(dict(zip(frame.columns, names, strict=True))) if names.is_unique().all() else cells


def _guarded(cell: pl.Expr) -> pl.Expr:
    is_formula = cell.str.contains(_DANGEROUS) & ~cell.str.contains(_HARMLESS)
    return pl.when(is_formula).then(_MARK + cell).otherwise(cell)


def _unguarded(cell: pl.Expr) -> pl.Expr:
    return pl.when(cell.str.contains(_GUARDED)).then(cell.str.slice(1)).otherwise(cell)
