"""Problems of printed results: contradictions, results at or below chance, and values that cannot be adjusted."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from rankadjust.chance.metrics import usual_name
from rankadjust.literature.findings import SEVERITIES
from rankadjust.page.material import Material
from rankadjust.page.results import NOT_ADJUSTED, place_of, values_of
from rankadjust.page.templating import Section, render

_SHOWN = ("model", "dataset", "protocol", "split", "side", "source", "source_url", "source_line")


def problem_section(material: Material) -> Section | None:
    """Return the section of the problems of printed results, None if a run has no printed results."""
    values = values_of(material)
    if values.is_empty():
        return None
    refused = values.filter(pl.col("kind") == NOT_ADJUSTED)
    contradictions = _rows(material.comparison.get("contradictions"), values)
    content = render(
        "problems.html.jinja",
        contradictions=contradictions,
        severities=severities(contradictions),
        near_chance=_rows(material.comparison.get("not-above-chance"), values),
        refused=_rows(refused, values),
        reasons=refused["status"]
        .value_counts(sort=True, name="values")
        .sort("values", "status", descending=[True, False])
        .rows(),
        values=values.height,
    )
    return Section("problems", "Problems", content)


def severities(contradictions: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return what each severity of these contradictions means, the worst first."""
    severities = {row["severity"] for row in contradictions}
    return {name: meaning for name, meaning in SEVERITIES.items() if name in severities}


def _rows(problems: pl.DataFrame | None, values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows for the template, with the metric, and the address of the source by file and line."""
    if problems is None or problems.is_empty():
        return []
    lines = ["file", "file_line"]
    if "source_url" not in problems.columns and set(lines) <= set(problems.columns):
        places = values.select(*lines, "source_url").unique(lines, keep="first", maintain_order=True)
        problems = problems.join(places, on=lines, how="left", maintain_order="left")
    absent = [name for name in (*_SHOWN, "file") if name not in problems.columns]
    rows = problems.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    rows = rows.with_columns(pl.col("source_line").cast(pl.String))
    return [
        row | {"name": usual_name(row["metric"] or ""), "url": place_of(row)}
        for row in rows.iter_rows(named=True)
    ]
