"""Bounds of the full ranking from values among sampled negatives: how wide they are, and how often they hold.

    python benchmarks/sampled.py widths
    python benchmarks/sampled.py coverage [draws, 1000 unsaid]
    python benchmarks/sampled.py falling
    python benchmarks/sampled.py leaderboards

`widths` prints benchmarks/sampled.csv, `coverage` the share of draws in which the true full values are within the
bounds for ranks of known laws, and `falling` what of the rank files of tests/data fulfils the assumption.
`leaderboards` prints benchmarks/sampled_leaderboards.csv: of each published leaderboard among sampled negatives the
best model with its bounds.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust import Constants, full_bounds, rescore, to_sampled
from rankadjust.chance.metrics import metric_value
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.results import read_results

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


def coverage(draws: int) -> pl.DataFrame:
    """Return how often the true full values are within the bounds at level 0.95."""
    rows = []
    for law, places in LAWS.items():
        for tasks in (50, 1000):
            generator = np.random.default_rng([31, tasks, len(law)])
            ranks = 1 + np.floor(places(generator, tasks) * 299).astype(np.int64)
            held = sum(_hold(generator, ranks) for _ in range(draws))
            rows.append({"law": law, "tasks": tasks, "draws": draws, "held": held})
    return pl.DataFrame(rows)


def _hold(generator: np.random.Generator, ranks: np.ndarray) -> bool:
    candidates, sampled = 300, 10
    better = generator.hypergeometric(ranks - 1, candidates - ranks, sampled)
    values = {name: f"{metric_value(name, better + 1.0):.3f}" for name in ("mrr", "hits@3")}
    found = full_bounds(
        values, sampled=sampled, num_candidates=candidates, tasks=ranks.size, metrics=["mrr", "hits@10"]
    )
    truth = {name: metric_value(name, ranks) for name in found.full}
    return all(found.full[name].low <= value <= found.full[name].high for name, value in truth.items())


def falling() -> pl.DataFrame:
    """Return for each rank file whether its shares fall, the greatest rise, and whether the bounds hold nonetheless.

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


def published() -> pl.DataFrame:
    """Return all published values with their bounds; this takes some minutes."""
    constants = Constants.released()
    tables = sorted((TESTS.parents[1] / "resources" / "published").glob("*.csv"))
    rows = pl.concat([read_results(table, constants.registry).rows for table in tables], how="diagonal")
    return add_full_bounds(rescore(rows, constants), constants)


def leaderboards(bounded: pl.DataFrame) -> pl.DataFrame:
    """Return for each data set, protocol and metric the best printed value, its bounds, and how many pairs are known.

    A pair of models is known where their bounds do not overlap.
    """
    rows = []
    sure = bounded.filter(pl.col("status") != "assumed")
    shown = sure.filter(pl.col("full_mrr_low").is_not_null(), pl.col("split").str.ends_with("testing"))
    for name, key in (("mrr", "inverse_harmonic_mean_rank"), ("hits@10", "hits_at_10")):
        of_metric = shown.filter(pl.col("metric") == key).unique(("source", "model", *_EVALUATION))
        for (dataset, protocol), part in of_metric.group_by(*_EVALUATION, maintain_order=False):
            best = part.sort("value", "model").row(-1, named=True)
            low, high = (part[f"full_{name}_{end}"].to_numpy() for end in ("low", "high"))
            rows.append(
                {
                    "dataset": dataset,
                    "protocol": protocol,
                    "metric": name,
                    "models": part.height,
                    "best": best["value"],
                    "full_low": round(best[f"full_{name}_low"], 4),
                    "full_high": round(best[f"full_{name}_high"], 4),
                    "pairs": part.height * (part.height - 1) // 2,
                    "known": int((low[:, None] > high[None]).sum()),
                }
            )
    return pl.DataFrame(rows).sort("metric", "dataset", "protocol")


_EVALUATION = ("dataset", "protocol")


def rank_files() -> Iterator[Path]:
    """Yield the rank files of trained models that come with the tests."""
    for folder in ("compare", "compare-datasets"):
        for file in sorted((TESTS / folder).rglob("*.*")):
            if file.suffix in (".parquet", ".csv") and "tasks" not in file.name:
                yield file


def main() -> None:
    """Print one of the tables."""
    what, *rest = sys.argv[1:] or ["widths"]
    tables = {
        "widths": widths,
        "falling": falling,
        "coverage": lambda: coverage(int(*rest or ["1000"])),
        "leaderboards": lambda: leaderboards(published()),
    }
    print(tables[what]().write_csv(), end="")


if __name__ == "__main__":
    main()
