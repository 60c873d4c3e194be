"""The sections on printed results: the user's own beside the literature, what was found first, and problems."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import polars as pl

from rankadjust.base.vocabulary import KEY, SAMPLED
from rankadjust.chance.metrics import resolve, usual_name
from rankadjust.literature.single_values import SEVERITIES
from rankadjust.literature.summaries import comparable
from rankadjust.page.figures import headline_figure
from rankadjust.page.material import Material, all_values, place_of, refused_values, usable_values, values_of
from rankadjust.page.templating import Section, render

# The metrics between 0 and 1 that nearly every source prints.
_MRR_AND_HITS = "^(inverse_harmonic_mean_rank|hits_at_([1-9]|10))$"
# Chance explains a visible part of a value if there are fewer entities.
_MANY = 200
_PROBLEM_TEXTS = (
    *("model", "dataset", "protocol", "split", "side", "source", "source_url", "source_line"), "file",
)  # fmt: skip


def board_address(row: Mapping[str, Any]) -> str:
    """Return the address, within the page, of the board of a value."""
    return "#" + urlencode({"view": "leaderboard"} | {name: row[name] for name in KEY})


# --- the user's own results ---------------------------------------------------------------------------------


def own_section(material: Material) -> Section | None:
    """Return the section of the user's own results, None if a run has none."""
    values = all_values(material)
    if values.is_empty() or not values["own"].any():
        return None
    rows = placed(values)
    content = render("own.html.jinja", rows=rows, others=any(row["models"] > 1 for row in rows))
    return Section("own", "Your results", content)


def placed(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the user's own values that have an index, each with its place among the models of the literature.

    values: rows of `all_values`. The place is among the models with a value of the same metric in the same evaluation
    that has no caveat; each model counts with its best value, and the user's model is included. A row has the columns
    of the value, name (of the metric), models (their number), place, and best and worst (the places that rounding
    allows).
    """
    usable = usable_values(values).filter(pl.col("model").is_not_null())
    others = usable.filter(~pl.col("own"), pl.col("caveat").is_null())
    rows = []
    for row in usable.filter("own").iter_rows(named=True):
        metric = resolve(row["metric"])
        same = others.filter(pl.col(name) == row[name] for name in KEY)
        # A higher index is better, whatever the metric.
        best = same.group_by("model").agg(
            pl.col("index", "index_low", "index_high").get(pl.col("index").arg_max())
        )
        places = {
            "place": best.filter(pl.col("index") > row["index"]).height + 1,
            "best": best.filter(pl.col("index_low") > row["index_high"]).height + 1,
            "worst": best.filter(pl.col("index_high") > row["index_low"]).height + 1,
        }
        rows.append(
            row
            | places
            | {"name": metric.label, "models": best.height + 1}
            | {"address": board_address(row), "evaluation": _evaluation(row)}
        )
    return rows


def _evaluation(row: dict[str, Any]) -> str:
    """Return an evaluation in words; the usual split, side and protocol are left out."""
    usual = {"split": "testing", "side": "both"}
    unusual = [row[name] for name in usual if row[name] != usual[name]]
    return ", ".join([row["dataset"], row["protocol"], *unusual])


# --- at a glance ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """A sentence, and the address within the page of the details."""

    text: str
    address: str


def finding_section(material: Material) -> Section | None:
    """Return the findings of a run, None if it has no printed results."""
    values = values_of(material)
    if values.is_empty():
        return None
    figure = headline_figure(material.figures)
    content = render("findings.html.jinja", findings=findings(values, material), figure=figure)
    return Section("findings", "At a glance", content)


def headline(share: pl.DataFrame | None) -> str | None:
    """Return a sentence on the largest and the smallest share of a printed value that chance explains.

    share: rows of `rankadjust.literature.summaries.chance_share`, the largest share first.
    """
    if share is None or share.is_empty():
        return None
    texts = [
        f"{100 * row['share']:.2g} % where {_ranked(row['candidates'])}"
        for row in (share.row(0, named=True), share.row(-1, named=True))
    ]
    shares = " and ".join(dict.fromkeys(texts))
    return f"Of a printed MRR or Hits@k, chance explains in the median {shares}."


def counting_headline(values: pl.DataFrame, below: pl.DataFrame | None) -> str | None:
    """Return a sentence on the share of a value that counting explains, and on the values below counting.

    values: rows of `all_values`. below: rows of `rankadjust.literature.summaries.below_baselines`.
    """
    share = None if values.is_empty() else counting_share(values)
    if below is None or below.is_empty() or share is None:
        return None
    return (
        f"A scorer that only counts training triples reaches {100 * share:.0f} % of the median value of rankings among "
        f"200 entities or more, and {below['below'].sum():,} of {below['results'].sum():,} published values lie "
        "below it."
    )


def counting_share(values: pl.DataFrame) -> float | None:
    """Return the median of baseline / value for MRR and Hits@k of data sets with 200 entities or more."""
    rows = comparable(values).filter(
        pl.col("gain").is_not_null(),
        pl.col("metric").str.contains(_MRR_AND_HITS),
        pl.col("entities") >= _MANY,
        pl.col("value") > 0,
    )
    share: float | None = rows.select((pl.col("baseline_value") / pl.col("value")).median()).item()
    return share


def _ranked(candidates: str) -> str:
    """Return a class of `chance_share` in words."""
    sampled = pl.select(pl.lit(candidates).str.extract(SAMPLED, 1)).item()
    if sampled is not None:
        return f"the true answer is ranked among {int(sampled):,} sampled negatives"
    return f"{candidates} are ranked" if "entities" in candidates else f"{candidates} entities are ranked"


def findings(values: pl.DataFrame, material: Material) -> list[Finding]:
    """Return the findings: largest change by adjustment, contradictions, results not above chance."""
    return [
        finding
        for finding in (
            _largest_change(values),
            _contradictions(material.comparison.get("contradictions")),
            _near_chance(material.comparison.get("not-above-chance")),
        )
        if finding is not None
    ]


def _largest_change(values: pl.DataFrame) -> Finding | None:
    rows = usable_values(values).filter(
        pl.col("metric").str.contains(_MRR_AND_HITS), pl.col("status") == "ok", pl.col("model").is_not_null()
    )
    if rows.is_empty():
        return None
    row = rows.sort((pl.col("value") - pl.col("index")).abs(), descending=True, maintain_order=True).row(
        0, named=True
    )
    label = resolve(row["metric"]).label
    return Finding(
        f"Adjustment changes most what {row['model']} has on {row['dataset']} ({row['protocol']}, {row['side']}): a "
        f"{label} of {row['value']:.3f} has the index {row['index']:.3f}; chance gives {row['expectation']:.3f}.",
        board_address(row),
    )


def _contradictions(contradictions: pl.DataFrame | None) -> Finding | None:
    if contradictions is None or contradictions.is_empty():
        return None
    impossible = contradictions.filter(severity="impossible").height
    clause = f"; in {impossible} no ranks have all of the values" if impossible else ""
    return Finding(
        f"Printed values contradict each other in {_count(contradictions.height, 'case')}{clause}.",
        "#contradictions",
    )


def _near_chance(near: pl.DataFrame | None) -> Finding | None:
    if near is None or near.is_empty():
        return None
    # Values below chance are worse than a random scorer: count them apart.
    below = near.filter(chance="below").height
    at = near.height - below
    those = "that" if at == 1 else "those"
    texts = [f"{_count(at, 'printed value')} could be {those} of a random scorer"] if at else []
    if below:
        verb = "is" if below == 1 else "are"
        texts.append(f"{f'{below:,}' if at else _count(below, 'printed value')} {verb} worse than chance")
    return Finding(f"{'; '.join(texts)}.", "#near-chance")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' if number != 1 else ''}"


# --- problems ------------------------------------------------------------------------------------------------


def problem_section(material: Material) -> Section | None:
    """Return the section of the problems of printed results, None if a run has no printed results."""
    values = values_of(material)
    if values.is_empty():
        return None
    refused = refused_values(values)
    contradictions = _problem_rows(material.comparison.get("contradictions"), values)
    content = render(
        "problems.html.jinja",
        contradictions=contradictions,
        severities=severities(contradictions),
        near_chance=_problem_rows(material.comparison.get("not-above-chance"), values),
        refused=_problem_rows(refused, values),
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


def _problem_rows(problems: pl.DataFrame | None, values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows for the template, with the metric, and the address of the source by file and line."""
    if problems is None or problems.is_empty():
        return []
    lines = ["file", "file_line"]
    if "source_url" not in problems.columns and set(lines) <= set(problems.columns):
        places = values.select(*lines, "source_url").unique(lines, keep="first", maintain_order=True)
        problems = problems.join(places, on=lines, how="left", maintain_order="left")
    absent = [name for name in _PROBLEM_TEXTS if name not in problems.columns]
    rows = problems.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    rows = rows.with_columns(pl.col("source_line").cast(pl.String))
    return [
        row | {"name": usual_name(row["metric"] or ""), "url": place_of(row)}
        for row in rows.iter_rows(named=True)
    ]
