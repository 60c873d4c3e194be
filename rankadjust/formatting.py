"""Numbers and tables as text that people read."""

import polars as pl

# What a reader of a rescored table looks for; the Parquet and CSV files have every column.
_READABLE = (
    "dataset", "split", "side", "protocol", "model", "metric", "value_as_printed", "expectation", "ratio", "index", "z",
    "z_random_scorer", "status", "message",
)  # fmt: skip


def markdown_table(rescored: pl.DataFrame) -> str:
    """Return rescored rows as a Markdown table with the columns that people read."""
    names = [name for name in _READABLE if name in rescored.columns]
    cells = [
        [number(value).replace("|", "\\|") for value in row] for row in rescored.select(names).iter_rows()
    ]
    lines = [names, ["---"] * len(names), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: object) -> str:
    """Return a number for people: four significant digits, thousands apart, empty for null."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
