"""Comparisons of models as text for the terminal and as tables for a paper."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.evaluate import magnified
from rankadjust.evaluation.tasks import POPULATIONS
from rankadjust.models.compare import LEVEL, Comparison
from rankadjust.output.adjusted_text import short_table
from rankadjust.output.terminal import filled_table, interval, number, p_value, sentences

_TWO = 2


def comparison(compared: Comparison, *, everything: bool = False) -> str:
    """Return the values, the differences and a sentence on each pair of models; both sides together, or every side."""
    sides = compared.values["side"].unique(maintain_order=True).to_list()
    shown = sides if everything or "both" not in sides else ["both"]
    are_alike = round(compared.worth) >= compared.clusters
    worth = "" if are_alike else f", which count like {compared.worth:,.0f} of equal size"
    head = (
        f"Intervals and p are for {POPULATIONS[compared.population]}\n{compared.tasks:,} tasks of "
        f"{compared.clusters:,} {compared.population}{worth}"
    )
    seeds = [] if compared.seeds_tested else ["This holds for these runs; other seeds were not tested."]
    return "\n\n".join([head, *(_side(compared, side) for side in shown), *seeds])


def _side(compared: Comparison, side: str) -> str:
    values, differences = compared.values.filter(side=side), compared.differences.filter(side=side)
    shown = _differences(differences, compared.models)
    known = [name for name in POPULATIONS if name != compared.population]
    others = [line for name in known for line in _disagreements(differences, name)]
    lines = [*_sentences(differences), *others, *_notes(values, differences)]
    return "\n\n".join([f"side {side}\n{_values(values)}", shown, sentences(*lines)])


def _values(values: pl.DataFrame) -> str:
    """Return the short table with a row for each metric and model."""
    absent = dict.fromkeys(("z", "z_random_scorer", "value_low", "value_high"))
    rows = [row | absent for row in values.iter_rows(named=True)]
    labels = values.select(pl.when(pl.col("metric").is_first_distinct()).then("metric")).to_series()
    names = ["" if key is None else resolve(key).label for key in labels]
    return short_table(rows, list(zip(names, values["model"], strict=True)), ("", ""))


def _differences(differences: pl.DataFrame, models: Sequence[str]) -> str:
    header = ["", "pair", "difference", "95 %", "p", "p (Holm)"]
    rows = [
        [
            resolve(row["metric"]).label,
            f"{row['first']} - {row['second']}" if len(models) > _TWO else "",
            number(row["difference"]),
            interval(row["difference_low"], row["difference_high"], digits=4),
            p_value(row["p"]),
            p_value(row["p_holm"]),
        ]
        for row in differences.iter_rows(named=True)
    ]
    return filled_table(header, rows, left=1 + (len(models) > _TWO))


def _sentences(differences: pl.DataFrame) -> list[str]:
    """Return one sentence for each pair of models and each of the findings about it."""
    lines = []
    for (first, second), part in differences.group_by(["first", "second"], maintain_order=True):
        for model, other in ((first, second), (second, first)):
            metrics = part.filter(better=model)["metric"].to_list()
            if metrics:
                lines.append(f"{model} is better than {other} by {_labels(metrics)}.")
        differs = (pl.col("p_holm") < LEVEL).fill_null(value=False)
        alike = part.filter(pl.col("p_holm").is_not_null() & ~differs)["metric"].to_list()
        if alike:
            lines.append(f"{first} and {second} cannot be told apart by {_labels(alike)}.")
    return lines


def _disagreements(differences: pl.DataFrame, population: str) -> list[str]:
    """Return a sentence for each pair of models where the verdict for another population differs."""
    lines, p = [], pl.col(f"p_{population}")
    known = differences.drop_nulls([f"p_{population}", "p_holm"])
    for (first, second), part in known.group_by(["first", "second"], maintain_order=True):
        for verdict, found in (
            ("cannot be told apart", part.filter(pl.col("p_holm") < LEVEL, p >= LEVEL)),
            ("differ", part.filter(pl.col("p_holm") >= LEVEL, pl.col("p") >= LEVEL, p < LEVEL)),
        ):
            cells = []
            for row in found.iter_rows(named=True):
                p_here = p_value(row[f"p_{population}"])
                said = f"p {'' if p_here.startswith('<') else '= '}{p_here}"
                if population == "relations" and row["relations"] < _TWO:
                    said += ", one relation decides"
                elif population == "relations":
                    said += f", {row['relations']:.0f} relations carry the difference"
                cells.append(f"{resolve(row['metric']).label} ({said})")
            if cells:
                where = POPULATIONS[population]
                lines.append(f"But for {where} {first} and {second} {verdict} by {listed(cells)}.")
    return lines


def _labels(metrics: Sequence[str]) -> str:
    return listed([resolve(key).label for key in metrics])


def _notes(values: pl.DataFrame, differences: pl.DataFrame) -> list[str]:
    notes = (
        pl.concat([differences.select("metric", "warning"), values.select("metric", warning=magnified())])
        .drop_nulls("warning")
        .group_by("warning", maintain_order=True)
        .agg(pl.col("metric").unique(maintain_order=True))
    )
    return [f"{_labels(metrics)}: {warning}" for warning, metrics in notes.iter_rows()]


def for_machines(compared: Comparison) -> dict[str, Any]:
    """Return everything that was found, for JSON."""
    facts = {name: getattr(compared, name) for name in Comparison.__dataclass_fields__}
    return facts | {"values": compared.values.to_dicts(), "differences": compared.differences.to_dicts()}
