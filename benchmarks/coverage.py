"""How often the 95 % intervals of `evaluate` hold the truth, for ranks whose law is known.

    python benchmarks/coverage.py [--replications 500] [--output benchmarks/coverage.csv]

Each triple has a difficulty that its head and its tail task share in part: with independent standard normal a, b, c
the two ranks are exp(m + s x) with x = sqrt(1/2) a + sqrt(1/2) b and x = sqrt(1/2) a + sqrt(1/2) c, rounded and kept
within 1..14,541. With m = 2.156 and s = 2.6 the metrics are as good as a good model's on FB15k-237 (MR 184, MRR 0.34,
Hits@1 0.25, Hits@10 0.53); with s = 1.8 bad ranks are rarer (MR 44). Each replication draws the ranks of some triples
and asks whether the interval holds the metric of the law.

Compared are the intervals that `evaluate` gives, with the column triple and without it, and the quantiles of the same
bootstrap samples of triples. The same seed gives the same file.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from scipy import special

from rankadjust.base.arrays import FloatArray
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.evaluation.intervals import bootstrap_counts
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.evaluation.values import metric_values
from rankadjust.evaluation.weighting import RankedTasks, Weighted

CANDIDATES = 14_541
LAWS = {"long tail": (2.156, 2.6), "shorter tail": (2.156, 1.8)}
TRIPLES = (10, 24, 150, 1000)
METRICS = [resolve(name) for name in ("mr", "gmr", "mrr", "ndcg", "hits@1", "hits@10", "median")]
DRAWS = 1000


def draw_ranks(triples: int, law: str, rng: np.random.Generator) -> FloatArray:
    """Return the ranks of head and tail tasks (2, triples)."""
    location, scale = LAWS[law]
    normal = np.sqrt(0.5) * (rng.standard_normal(triples) + rng.standard_normal((2, triples)))
    return np.clip(np.rint(np.exp(location + scale * normal)), 1, CANDIDATES)


def truth(metric: Metric, law: str) -> float:
    """Return the metric of infinitely many tasks: with one run for each rank, weighted by its probability."""
    location, scale = LAWS[law]
    ranks = np.arange(1.0, CANDIDATES + 1)
    bounds = np.concatenate([[-np.inf], (np.log(ranks[:-1] + 0.5) - location) / scale, [np.inf]])
    tasks = RankedTasks(ranks, ranks, np.full(CANDIDATES, np.nan), np.ones(CANDIDATES))
    weighted = Weighted([metric], tasks, np.arange(CANDIDATES))
    return float(weighted.at(np.diff(special.ndtr(bounds))[:, None])[0, 0])


def intervals(ranks: FloatArray, seed: int) -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """Yield each kind of interval with its ends for each metric."""
    triples = ranks.shape[1]
    frame = pl.DataFrame(
        {
            "rank": ranks.ravel(),
            "side": ["head"] * triples + ["tail"] * triples,
            "triple": [*range(triples)] * 2,
        }
    )
    for name, table in (("evaluate", frame), ("evaluate, no triples", frame.drop("triple"))):
        found = metric_values(METRICS, tasks_of(table), DRAWS, seed).filter(side="both")
        yield name, {key: (low, high) for key, low, high in found["metric", "value_low", "value_high"].rows()}
    tasks = tasks_of(frame)
    weighted = Weighted(METRICS, tasks.ranked("given", "both"), tasks.units)
    samples = [weighted.at(counts) for counts in bootstrap_counts(tasks.strata, DRAWS, seed)]
    ends = np.quantile(np.concatenate(samples, axis=1), [0.025, 0.975], axis=1).T.tolist()
    yield "percentile", {metric.key: tuple(pair) for metric, pair in zip(METRICS, ends, strict=True)}


def measure(law: str, triples: int, replications: int, seed: int) -> list[dict[str, object]]:
    """Return coverage, misses on either side and median length of each kind of interval and metric."""
    rng = np.random.default_rng([seed, list(LAWS).index(law), triples])
    known = {metric.key: truth(metric, law) for metric in METRICS}
    ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for replication in range(replications):
        for kind, found in intervals(draw_ranks(triples, law, rng), seed=replication):
            for key, pair in found.items():
                ends.setdefault((kind, key), []).append(pair)
    rows = []
    for (kind, key), pairs in ends.items():
        low, high = np.array(pairs).T
        below, above = float(np.mean(known[key] < low)), float(np.mean(known[key] > high))
        coverage = 1 - below - above
        rows.append(
            {
                "law": law,
                "triples": triples,
                "metric": key,
                "interval": kind,
                "replications": replications,
                "coverage": round(coverage, 4),
                "error": round((coverage * (1 - coverage) / replications) ** 0.5, 4),
                "truth_below": round(below, 4),
                "truth_above": round(above, 4),
                "median_length": float(f"{np.median(high - low):.4g}"),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument("--triples", type=int, nargs="+", default=TRIPLES)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/coverage.csv"))
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        parts = [
            pool.submit(measure, law, triples, arguments.replications, arguments.seed)
            for law in LAWS
            for triples in arguments.triples
        ]
    frame = pl.DataFrame([row for part in parts for row in part.result()])
    write_text(frame.write_csv(), arguments.output)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160):
        print(frame.pivot("interval", index=["law", "triples", "metric"], values="coverage"))


if __name__ == "__main__":
    main()
