"""Measure bounds of the full ranking from values among sampled negatives: how wide they are, how often they hold.

    python benchmarks/sampled.py widths
    python benchmarks/sampled.py figure docs/figures/sampled-widths.svg
    python benchmarks/sampled.py coverage results/triples/{Nations,Kinships,UMLS}.parquet
    python benchmarks/sampled.py falling

`widths` prints benchmarks/sampled.csv, which `figure` draws. `coverage` prints benchmarks/sampled_coverage.csv: in how
many of 1,000 draws the bounds hold, for ranks of known laws, of counting baselines and of trained models. `falling`
prints which rank files of tests/data fulfil the assumption.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

from rankadjust import full_bounds, to_sampled
from rankadjust.base.files import write_text
from rankadjust.baselines.tally import count_standings
from rankadjust.chance.metrics import metric_value, resolve
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.page.charts.drawing import PANEL_HEIGHT, PANEL_WIDTH, by_class, inline, side_by_side
from rankadjust.page.charts.figure import Figure, svg_of
from rankadjust.sampling.law import Draw
from rankadjust.sampling.noise import Printed, SampledMean
from rankadjust.sampling.protocols import WITH, WITHOUT
from rankadjust.sampling.shares import Tasks

SEED, DRAWS, LEVEL = 31, 1000, 0.95
PANELS = {"mrr": "full MRR", "hits@10": "full Hits@10", "auc": "full AUC"}
TESTS = Path(__file__).parents[1] / "tests" / "data"
LAWS = {
    "half first, half at 2 %": lambda generator, n: np.where(generator.random(n) < 0.5, 0.0, 0.02),
    "all at 1 %": lambda _, n: np.full(n, 0.01),
    "uniform": lambda generator, n: generator.random(n),
    "97 % first, 3 % last": lambda generator, n: np.where(generator.random(n) < 0.97, 0.0, 1.0),
    "power law": lambda generator, n: generator.random(n) ** 6,
}


def widths() -> pl.DataFrame:
    """Return bounds of MRR and Hits@10 for a printed MRR of 0.784, by the numbers of negatives and tasks."""
    rows = []
    for sampled in (20, 50, 100, 500, 1000):
        for tasks in (1000, 20_000):
            found = full_bounds(
                {"mrr": "0.784"},
                sampled=sampled,
                num_candidates=2757,
                tasks=tasks,
                metrics=["mrr", "hits@10", "auc"],
            )
            row: dict[str, object] = {"negatives": sampled, "tasks": tasks}
            for name, bounds in found.full.items():
                row |= {f"{name}_low": round(bounds.low, 4), f"{name}_high": round(bounds.high, 4)}
            rows.append(row)
    return pl.DataFrame(rows)


def draw_widths(widths: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel per metric, with a bar from lower to upper bound for each number of negatives and of tasks.

    widths: rows of benchmarks/sampled.csv.
    """
    cases = [f"{tasks:,} tasks" for tasks in widths["tasks"].unique().sort()]
    rows = widths.with_columns(
        case=pl.col("tasks").map_elements(lambda tasks: f"{tasks:,} tasks", return_dtype=pl.String)
    )
    panels = []
    for name, title in PANELS.items():
        ends = rows.select("negatives", "case", low=f"{name}_low", high=f"{name}_high")
        colours = by_class("case", cases)
        bars = (
            alt.Chart(inline(ends))
            .mark_bar(height={"band": 0.9})
            .encode(
                x=alt.X("low:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False)),
                x2="high:Q",
                y=alt.Y("negatives:O", title="sampled negatives"),
                yOffset=alt.YOffset("case:N", sort=cases),
                color=colours["color"],
            )
        )
        panels.append(bars.properties(width=PANEL_WIDTH / 2, height=PANEL_HEIGHT / 1.4))
    return side_by_side(panels, columns=3)


def figure() -> str:
    """Return the bounds of benchmarks/sampled.csv as SVG."""
    rows = pl.read_csv(Path(__file__).with_suffix(".csv"))
    title = "Bounds of the full ranking for MRR 0.784 among sampled negatives, 2,757 candidates"
    said = "A bar runs from the least to the greatest full value that the printed MRR allows, at level 0.95."
    specification = draw_widths(rows).to_dict()
    specification.pop("config", None)
    return svg_of(
        Figure("sampled-widths", title, said, f"{rows.height} bars in three panels.", 100, specification)
    )


def coverage(triples: Sequence[Path]) -> pl.DataFrame:
    """Return in how many draws the true ranks fulfil the linear program's rows for the printed value, at level 0.95.

    Where they do, the bounds hold for every metric at once. MRR and Hits@3 are printed with three digits. without_noise
    says whether the true ranks have the expected values, as printed.
    """
    rows = []
    for name, ranks, candidates in (*_of_laws(), *_of_baselines(triples), *_of_files()):
        for sampled in (5, 20):
            for replacement in (False, True):
                if candidates.min() > sampled:
                    draw = Draw(sampled, replacement)
                    found = _covered(ranks.astype(np.float64), candidates.astype(np.float64), draw)
                    rows.append({"ranks": name, "tasks": ranks.size, "negatives": sampled} | found)
    return pl.DataFrame(rows)


_Ranks = Iterator[tuple[str, np.ndarray, np.ndarray]]


def _of_laws() -> _Ranks:
    for law, places in LAWS.items():
        for tasks in (50, 1000):
            generator = np.random.default_rng([SEED, tasks, len(law)])
            yield law, 1 + np.floor(places(generator, tasks) * 299), np.full(tasks, 300)


def _of_baselines(triples: Sequence[Path]) -> _Ranks:
    for path in triples:
        (standings,) = count_standings(pl.read_parquet(path), ["filtered"])
        table = standings.table.filter(pl.col("split") == "testing")
        for baseline, part in table.group_by("baseline", maintain_order=True):
            above, tied, candidates, tasks = (
                part[name].to_numpy() for name in ("above", "tied", "candidates", "tasks")
            )
            generator = np.random.default_rng([SEED, part.height])
            ranks = np.repeat(above, tasks) + generator.integers(1, np.repeat(tied, tasks) + 1)
            # Each task of these data sets has more than 20 candidates, except some tasks of Nations.
            enough = (counts := np.repeat(candidates, tasks)) > 20
            enough = enough if enough.mean() > 0.5 else counts > 5
            yield f"{path.stem}, {baseline[0]}", ranks[enough], counts[enough]


def _of_files() -> _Ranks:
    for file in rank_files():
        ranks = np.floor(tasks_from(file)["rank"].to_numpy())
        name = f"{file.parent.name}/{file.stem}"
        yield name, ranks, np.full(ranks.size, 14 if "nations" in file.parts else 104)


def _covered(ranks: np.ndarray, candidates: np.ndarray, draw: Draw) -> dict[str, object]:
    counts, times = np.unique(candidates, return_counts=True)
    tasks = Tasks(counts, times, (10.0,))
    ends = np.array([group.most for group in tasks.groups])
    owner = np.searchsorted(ends, candidates)
    # With so few candidates, every rank has a column.
    column = np.searchsorted(tasks.owner, owner) + ranks.astype(np.int64) - 1
    shares = np.bincount(column, minlength=tasks.owner.size) / ranks.size
    metrics = [resolve(name) for name in ("mrr", "hits@3")]
    means = [SampledMean(metric, draw, tasks) for metric in metrics]
    terms = np.stack([metric.term(np.arange(1.0, draw.negatives + 2), 0.0) for metric in metrics], axis=1)
    surprise = float(np.log(2 * len(metrics) / (1 - LEVEL)))

    def has(values: np.ndarray, allowed: float | None) -> bool:
        printed = [
            Printed(one, round(v, 3) - 5e-4, round(v, 3) + 5e-4)
            for one, v in zip(metrics, values, strict=True)
        ]
        rows = [mean.rows(one, allowed) for mean, one in zip(means, printed, strict=True)]
        return all(bool(np.all(one.weights @ shares <= one.room)) for one in rows)

    generator = np.random.default_rng([SEED, ranks.size, draw.negatives])
    better = (
        generator.binomial(draw.negatives, (ranks - 1) / (candidates - 1), (DRAWS, ranks.size))
        if draw.replacement
        else generator.hypergeometric(
            (ranks - 1).astype(np.int64),
            (candidates - ranks).astype(np.int64),
            draw.negatives,
            (DRAWS, ranks.size),
        )
    )
    drawn = terms[better].mean(axis=1)
    return {
        "negatives_drawn": WITH if draw.replacement else WITHOUT,
        "draws": DRAWS,
        "held": sum(has(values, surprise) for values in drawn),
        "without_noise": has(draw.means(ranks, candidates, terms).mean(axis=0), None),
    }


def falling() -> pl.DataFrame:
    """Return for each rank file whether its shares fall, the greatest rise, and whether the bounds hold anyway.

    All tasks are taken to have as many candidates as there are entities, and the values are the expected ones.
    """
    rows = []
    for file in rank_files():
        candidates = 14 if "nations" in file.parts else 104
        ranks = np.floor(tasks_from(file)["rank"].to_numpy())
        steps = np.bincount(np.floor(np.log2(ranks)).astype(np.int64)) / ranks.size
        rise = float(np.max(np.diff(steps), initial=0.0))
        rows.append(
            {
                "file": str(file.relative_to(TESTS)),
                "tasks": ranks.size,
                "falls": rise <= 0,
                "greatest rise": round(rise, 4),
                "bounds hold": _hold_if_they_fall(ranks, candidates),
            }
        )
    return pl.DataFrame(rows)


def _hold_if_they_fall(ranks: np.ndarray, candidates: int) -> bool:
    sampled = candidates // 4
    metrics = ["mrr", "hits@3"]
    expected = to_sampled(ranks, sampled=sampled, num_candidates=candidates, metrics=metrics)
    values = {name: f"{value:.3f}" for name, value in expected.select("metric", "expectation").iter_rows()}
    full = full_bounds(
        values,
        sampled=sampled,
        num_candidates=candidates,
        tasks=ranks.size,
        assume=["falling"],
        metrics=["mrr", "hits@10"],
    ).full
    return all(full[name].low <= metric_value(name, ranks) <= full[name].high for name in ("mrr", "hits@10"))


def rank_files() -> Iterator[Path]:
    """Yield the rank files of trained models that come with the tests."""
    for folder in ("compare", "compare-datasets"):
        for file in sorted((TESTS / folder).rglob("*.*")):
            if file.suffix in (".parquet", ".csv") and "tasks" not in file.name:
                yield file


def main() -> None:
    """Print one of the tables, or write the figure."""
    what, *rest = sys.argv[1:] or ["widths"]
    if what == "figure":
        write_text(figure(), Path(rest[0]))
        return
    tables = {"widths": widths, "falling": falling, "coverage": lambda: coverage([Path(one) for one in rest])}
    print(tables[what]().write_csv(), end="")


if __name__ == "__main__":
    main()
