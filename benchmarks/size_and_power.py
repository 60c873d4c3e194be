"""How often `rankadjust compare` finds a difference where there is none, and where there is one.

    python benchmarks/size_and_power.py benchmarks/size_and_power.csv

Ranks of two models are drawn for n triples with a head and a tail task each. Triples come in queries: as many share a
tail query as a geometric law with mean 3 says. The logarithm of a rank is a constant, plus what both models find hard
about the query and the triple, plus what the model itself finds hard about the query, the triple and the task, all
normal; the second model has a shift besides. A shift of 0 makes the two models equally good: the test should then
reject at 5 % in 5 % of the cases. Clusters are queries (which is right here), triples, and single tasks. Each number is
the share of 10,000 replications (2,000 for 5,000 triples), 499 swaps each, with its standard error. The same seed gives
the same file. It takes some three minutes of one core.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.evaluation.weighting import UnitMeans
from rankadjust.models.p_values import flip_means

# How many pairs of models are drawn for each number of triples.
REPLICATIONS = {50: 10_000, 500: 10_000, 5000: 2000}
SHIFTS = (0.0, 0.05, 0.1, 0.2, 0.4)
METRICS = ("mrr", "hits@10", "gmr")
FLIPS = 499
SEED = 20261121
LEVEL = 0.05
_CANDIDATES = 14541


def draw(triples: int, shift: float, rng: np.random.Generator) -> tuple[FloatArray, dict[str, IntArray]]:
    """Return the ranks of both models (2, 2 n), and the clusters of the tasks (2 n,) by their kind."""
    query = np.repeat(np.arange(triples), rng.geometric(1 / 3, triples))[:triples]
    queries = int(query.max()) + 1
    shared = rng.standard_normal(queries)[query] + rng.standard_normal(triples)
    own = 0.6 * rng.standard_normal((2, queries))[:, query] + 0.5 * rng.standard_normal((2, triples))
    tasks = 0.5 * rng.standard_normal((2, 2, triples))
    logs = 1.5 + shared + own[:, None] + tasks + np.array([0.0, shift])[:, None, None]
    ranks = np.clip(np.ceil(np.exp(logs)), 1, _CANDIDATES).reshape(2, -1)
    clusters = {
        "query": np.tile(query, 2),
        "triple": np.tile(np.arange(triples), 2),
        "task": np.arange(2 * triples),
    }
    return ranks, clusters


def p_values(metrics: list[Metric], ranks: FloatArray, clusters: IntArray, seed: int) -> FloatArray:
    """Return p of each metric (m,) where these clusters are swapped."""
    weights = np.bincount(clusters).astype(np.float64)
    unknown = np.full(ranks.shape[1], np.nan)
    first, second = (
        UnitMeans(
            metrics,
            np.stack([np.bincount(clusters, metric.term(own, unknown)) for metric in metrics if metric.term]),
            np.tile(weights, (len(metrics), 1)),
        )
        for own in ranks
    )
    return flip_means(first.minus(second), FLIPS, seed)


def table(sizes: Mapping[int, int]) -> pl.DataFrame:
    """Return the share of rejections for each shift, kind of cluster and metric; sizes: replications by triples."""
    metrics = [resolve(name) for name in METRICS]
    rows = []
    for triples, replications in sizes.items():
        for shift in SHIFTS:
            rng = np.random.default_rng([SEED, triples, int(1000 * shift)])
            kinds = ("query", "triple", "task") if shift == 0 else ("query",)
            rejected = {kind: np.zeros(len(metrics)) for kind in kinds}
            for replication in range(replications):
                ranks, clusters = draw(triples, shift, rng)
                for kind in kinds:
                    rejected[kind] += p_values(metrics, ranks, clusters[kind], replication) <= LEVEL
            for kind, count in rejected.items():
                for metric, share in zip(metrics, count / replications, strict=True):
                    error = (share * (1 - share) / replications) ** 0.5
                    rows.append((triples, shift, kind, metric.label, round(share, 4), round(error, 4)))
            print(triples, shift, flush=True)
    schema = ["triples", "shift", "cluster", "metric", "rejected", "standard_error"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    write_text(table(REPLICATIONS).write_csv(), arguments.output)


if __name__ == "__main__":
    main()
