"""Repair rows that lost a cell when they were pasted from a web page, so that their texts are too far to the left."""

from dataclasses import replace

from rankadjust.tables.cells import is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.tokens import metric_key, role_of


def moved_back(grid: Grid) -> Grid:
    """Return the grid with such rows moved to the right, and a remark that says so.

    Such a row begins with a metric where the header has a label, and its last cells are empty. Its metric goes below
    the header of metrics. A row of nothing but metrics goes to the right of the labels.
    """
    roles = list(map(role_of, grid.rows[0])) if grid.rows else []
    labels = next((column for column, role in enumerate(roles) if role in (None, "other")), 0)
    by = roles.index("metric") if "metric" in roles else labels
    rows = [_moved(row, by) if by and _is_left_of(row, by, "metric" in roles) else row for row in grid.rows]
    moved = [str(number) for number, row in enumerate(rows, start=1) if row is not grid.rows[number - 1]]
    if not moved:
        return grid
    remark = f"rows {', '.join(moved)} begin with a metric below a label: moved {by} to the right"
    return replace(grid, rows=tuple(rows), remarks=(*grid.remarks, remark))


def _is_left_of(row: tuple[str, ...], by: int, has_values: bool) -> bool:
    if not metric_key(label(row[0])) or any(row[-by:]):
        return False
    if has_values:
        return any(map(is_numeric, row)) and metric_key(label(row[by])) is None
    return all(metric_key(label(text)) for text in row if text)


def _moved(row: tuple[str, ...], by: int) -> tuple[str, ...]:
    return ("",) * by + row[:-by]
