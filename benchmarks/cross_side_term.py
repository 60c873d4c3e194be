"""Compute what the random_scorer variance leaves out: the negative that queries of different sides share.

    python benchmarks/cross_side_term.py results/triples/*.parquet

The tail task of (h, r, t) and the head task of (h', r, t') have the candidate (h, r, t') in common, a negative of both
unless it is known. docs/methods-random-scorer.md ("What is left out") derives the covariance of the two ranks:
with d_N(s) = E[f(r) | the shared negative has score s] - E f(r) and s uniform on (0, 1),

    Cov = integral_0^1 d_a(s) d_b(s) ds,
    d_N(s) = sum_{j=1}^{N-1} (f(j+1) - f(j)) (P(Binomial(N-1, 1-s) < j) - j/N) / (N-1),

for a and b candidates: the N - 1 others are ranked uniformly, and the shared negative moves the truth from place j to
j + 1 if it beats it. d is a polynomial, so that Gauss-Legendre quadrature is exact. Printed is by how many per cent the
standard deviation over both sides grows, protocol `filtered`, for every file with fewer than 1,000 entities and every
testing split. Seconds for all.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from scipy import special

from rankadjust.base.arrays import FloatArray
from rankadjust.base.vocabulary import TEST_SPLITS
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.random_scorer import random_scorer_variance
from rankadjust.counting.candidates import count_candidates

METRICS = ("mr", "mrr", "hits@1", "hits@3", "hits@10", "ndcg")
MOST_ENTITIES = 1000
GRAPHS = {
    "testing": ("facts", "training", "validation", "testing"),
    "inference_testing": ("inference", "inference_validation", "inference_testing"),
}
LABELS = ("head", "relation", "tail")


def shared_negatives(known: pl.DataFrame, evaluated: pl.DataFrame) -> pl.DataFrame:
    """Return how many pairs of a tail task and a head task share a negative, per numbers of candidates.

    known: distinct triples; evaluated: the tasks, with tail_candidates and head_candidates.
    """
    tails = evaluated.group_by("head", "relation", "tail_candidates").agg(tail_tasks=pl.len())
    heads = evaluated.group_by("tail", "relation", "head_candidates").agg(head_tasks=pl.len())
    return (
        tails.join(heads, on="relation")
        .join(known, on=LABELS, how="anti")
        .group_by("tail_candidates", "head_candidates")
        .agg(pairs=(pl.col("tail_tasks") * pl.col("head_tasks")).sum())
    )


def covariance_sums(metrics: Sequence[Metric], pairs: pl.DataFrame) -> list[float]:
    """Return for each metric the sum of the covariances of all pairs of tasks that share a negative."""
    if pairs.is_empty():
        return [0.0] * len(metrics)
    counts = np.unique(pairs.select("tail_candidates", "head_candidates").to_numpy()).tolist()
    nodes, weights = np.polynomial.legendre.leggauss(max(counts))
    scores, weights = (nodes + 1) / 2, weights / 2
    deviations = dict(zip(counts, (_deviations(metrics, count, scores) for count in counts), strict=True))
    sums = np.zeros(len(metrics))
    for tail, head, number in pairs.iter_rows():
        sums += number * ((deviations[tail] * deviations[head]) @ weights)
    return sums.tolist()


def _deviations(metrics: Sequence[Metric], count: int, scores: FloatArray) -> FloatArray:
    """Return d_N (metrics, q) at scores (q,) of the shared negative, for a task with N = count candidates."""
    places = np.arange(1.0, count)
    ranks = np.arange(1.0, count + 1)
    steps = np.stack([np.diff(metric.term(ranks, np.full(count, float(count)))) for metric in metrics])
    below = special.bdtr(places[:, None] - 1, count - 1, 1 - scores)
    moved: FloatArray = steps @ (below - places[:, None] / count) / (count - 1)
    return moved


def growth(triples: pl.DataFrame, split: str) -> tuple[int, int, int, list[float]]:
    """Return entities, tasks of a side, pairs, and the relative growth of the standard deviation of each metric."""
    graph = triples.filter(pl.col("split").is_in(GRAPHS[split]))
    known = graph.select(LABELS).unique()
    entities = pl.concat([known["head"], known["tail"]]).n_unique()
    evaluated = graph.filter(split=split).select(LABELS)
    for side, query in (("tail", ["head", "relation"]), ("head", ["relation", "tail"])):
        counted = known.group_by(query).agg(
            (entities + 1 - pl.len().cast(pl.Int64)).alias(f"{side}_candidates")
        )
        evaluated = evaluated.join(counted, on=query)
    pairs = shared_negatives(known, evaluated)
    candidates = count_candidates(triples, "filtered")
    counts = [frame.filter(split=split) for frame in (candidates.histogram, candidates.pairs)]
    metrics = [resolve(name) for name in METRICS]
    ratios = []
    for metric, covariances in zip(metrics, covariance_sums(metrics, pairs), strict=True):
        variance, _ = random_scorer_variance(metric, *counts, "both", "filtered")
        missing = 2 * covariances / (2 * evaluated.height) ** 2
        ratios.append(float(np.sqrt(1 + missing / variance)) - 1)
    return entities, evaluated.height, int(pairs["pairs"].sum()), ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", type=Path, nargs="+")
    print(f"{'data set':20}{'entities':>9}{'triples':>9}{'pairs':>11}", *(f"{name:>9}" for name in METRICS))
    for path in parser.parse_args().triples:
        triples = pl.read_parquet(path)
        if "split" not in triples.columns or "time" in triples.columns:
            continue  # the folder also has a file of labels
        for split in TEST_SPLITS:
            graph = triples.filter(pl.col("split").is_in(GRAPHS[split]))
            entities = pl.concat([graph["head"], graph["tail"]]).n_unique()
            if entities >= MOST_ENTITIES or split not in graph["split"]:
                continue
            *counts, ratios = growth(triples, split)
            label = f"{path.stem:20}{counts[0]:9,}{counts[1]:9,}{counts[2]:11,}"
            print(label, *(f"{100 * ratio:+8.3f}%" for ratio in ratios))


if __name__ == "__main__":
    main()
