"""The head of the page: the share of a printed value that chance explains, and three findings."""

from dataclasses import dataclass
from urllib.parse import urlencode

import polars as pl

from rankadjust.base.vocabulary import EVALUATION, SAMPLED
from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import comparable
from rankadjust.page.figure_section import headline_figure
from rankadjust.page.hidden import first_known
from rankadjust.page.material import Material
from rankadjust.page.results import usable_values, values_of
from rankadjust.page.templating import Section, render

# The metrics between 0 and 1 that nearly every source prints.
_MRR_AND_HITS = "^(inverse_harmonic_mean_rank|hits_at_([1-9]|10))$"
# Chance explains a visible part of a value if there are fewer entities.
_MANY = 200


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
    content = render(
        "findings.html.jinja", findings=findings(values, material), figure=headline_figure(material)
    )
    return Section("findings", "At a glance", content)


def headline(share: pl.DataFrame | None) -> str | None:
    """Return a sentence on the largest and the smallest share of a printed value that chance explains.

    share: rows of `rankadjust.literature.comparison.chance_share`, the largest share first.
    """
    if share is None or share.is_empty():
        return None
    texts = [
        f"{100 * row['share']:.2g} % where {_ranked(row['candidates'])}"
        for row in (share.row(0, named=True), share.row(-1, named=True))
    ]
    shares = " and ".join(dict.fromkeys(texts))
    return f"Of a printed MRR or Hits@k, chance explains in the median {shares}."


def counting(values: pl.DataFrame, below: pl.DataFrame | None) -> str | None:
    """Return a sentence on the share of a value that counting explains, and on the values below counting.

    values: rows of `all_values`. below: rows of `rankadjust.literature.comparison.below_baselines`.
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
    """Return the findings: largest change by adjustment, contradictions, results not above chance, hidden orders."""
    return [
        finding
        for finding in (
            _largest_change(values),
            _contradictions(material.comparison.get("contradictions")),
            _near_chance(material.comparison.get("not-above-chance")),
            _hidden(material),
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
    view = {"view": "leaderboard"} | {name: row[name] for name in (*EVALUATION, "metric")}
    label = resolve(row["metric"]).label
    return Finding(
        f"Adjustment changes most what {row['model']} has on {row['dataset']} ({row['protocol']}, {row['side']}): a "
        f"{label} of {row['value']:.3f} has the index {row['index']:.3f}; chance gives {row['expectation']:.3f}.",
        f"#{urlencode(view)}",
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


def _hidden(material: Material) -> Finding | None:
    text = first_known(material)
    return None if text is None else Finding(text, "#sampling")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' if number != 1 else ''}"
