"""How often `rankadjust compare` finds a difference between two equally good models that were trained several times.

    python benchmarks/runs_and_tasks.py benchmarks/runs_and_tasks.csv

The logarithm of a rank is a sum of normal parts: how hard the triple is for all models and for this model, luck of the
run in the task, and an effect of the seed on the whole run, with a standard deviation of `seed` times the standard
error over the triples. In `queries` about three triples have a query in common, which is hard for all models, and for
this model, too. The models are equally good, so that at 5 % the test should reject in 5 % of the
cases. 3,000 replications each, one side; the same seed gives the same file. It takes some three minutes
of one core.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.intervals import jackknife, jackknife_variance
from rankadjust.evaluation.weighting import UnitMeans
from rankadjust.models.p_values import Runs, p_over_runs_and_tasks
from rankadjust.models.paired import Model, Paired
from rankadjust.models.part import Part

LEVEL, SEED = 0.05, 20261124
REPLICATIONS = 3000
TRIPLES, RUNS = (300,), (2, 3, 5, 10)
# Of the first and of the second model.
SEEDS = ((0.0, 0.0), (1.0, 1.0), (3.0, 3.0), (10.0, 10.0), (0.0, 3.0))
METRICS = [resolve(name) for name in ("mrr", "hits@10", "gmr")]


def ranks(
    runs: int, seed: float, rng: np.random.Generator, shared: FloatArray, own: FloatArray
) -> FloatArray:
    """Return the ranks of one model's runs (runs, triples); own: the difficulty of the triples for it (triples,)."""
    luck = own + rng.standard_normal((runs, own.size))
    of_run = seed / own.size**0.5 * rng.standard_normal((runs, 1))
    return np.clip(np.ceil(np.exp(1.5 + shared + luck + of_run)), 1, 14_541)


def draw(
    triples: int, runs: int, seeds: tuple[float, float], rng: np.random.Generator, *, queries: bool
) -> tuple[FloatArray, IntArray]:
    """Return the ranks of two models (2, runs, triples), and the cluster of each triple; queries: whether by query."""
    query: IntArray = np.arange(triples)
    if queries:
        query = np.repeat(query, rng.geometric(1 / 3, triples))[:triples]

    def hard() -> FloatArray:
        of_triple = rng.standard_normal(triples)
        return of_triple + rng.standard_normal(triples)[query] if queries else of_triple

    common = hard()
    return np.stack([ranks(runs, seed, rng, common, hard()) for seed in seeds]), query


def p_values(both: FloatArray, query: IntArray) -> FloatArray:
    """Return p of each metric (m,), as `Part` computes it, but all runs of both models at once."""
    models, runs, triples = both.shape
    clusters = int(query.max()) + 1
    unknown = np.full(triples, np.nan)
    # A row for each model, run and metric; then one for each model and metric, the mean over its runs.
    terms = np.array(
        [
            np.bincount(query, each.term(one, unknown))
            for one in both.reshape(-1, triples)
            for each in METRICS
            if each.term
        ]
    ).reshape(models, runs, len(METRICS), clusters)
    every = np.concatenate([terms, terms.mean(axis=1, keepdims=True)], axis=1)
    weights = np.broadcast_to(np.bincount(query).astype(np.float64), (every[..., 0].size, clusters))
    means = UnitMeans(METRICS * (models * (runs + 1)), every.reshape(-1, clusters), weights)
    shape = (models, runs + 1, len(METRICS), -1)
    values = means.at(np.ones((clusters, 1))).reshape(shape)[..., 0]
    left_out = jackknife([np.arange(clusters)], means.at)[0].reshape(shape)
    found = [
        Runs.of([*value[:runs, :, None]], [*each[:runs]])
        for value, each in zip(values, left_out, strict=True)
    ]
    of_tasks = jackknife_variance([left_out[0, runs] - left_out[1, runs]])
    return p_over_runs_and_tasks(values[0, runs] - values[1, runs], of_tasks, clusters, found)


def checked(both: FloatArray, query: IntArray) -> None:
    """Check that `p_values` agrees with `compare`."""
    models = [Model(name, one) for name, one in zip("AB", both, strict=True)]
    places = np.arange(query.size)
    part = Part(
        "tail", places, Paired(pl.DataFrame({"triple": places}), models), [query], METRICS, queries=True
    )
    np.testing.assert_allclose(p_values(both, query), part.results(1, 0, 0)[1]["p"], rtol=1e-9)


def cell(triples: int, runs: int, seeds: tuple[float, float], *, queries: bool) -> FloatArray:
    """Return how often each metric differs, as a share of the replications."""
    rng = np.random.default_rng([SEED, triples, runs, *map(int, seeds), int(queries)])
    checked(*draw(triples, runs, seeds, rng, queries=queries))
    found = [p_values(*draw(triples, runs, seeds, rng, queries=queries)) for _ in range(REPLICATIONS)]
    shares: FloatArray = np.mean(np.array(found) <= LEVEL, axis=0)
    return shares


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for queries, triples, runs, seeds in product((False, True), TRIPLES, RUNS, SEEDS):
        kind = "queries" if queries else "triples"
        for metric, share in zip(METRICS, cell(triples, runs, seeds, queries=queries), strict=True):
            rows.append((triples, runs, *seeds, kind, metric.label, REPLICATIONS, round(float(share), 4)))
        print(*rows[-len(METRICS) :], sep="\n", flush=True)
    schema = ["triples", "runs", "seed", "seed_of_second", "clusters", "metric", "replications", "rejected"]
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        error=(pl.col("rejected") * (1 - pl.col("rejected")) / pl.col("replications")).sqrt().round(4)
    )
    write_text(table.write_csv(), arguments.output)


if __name__ == "__main__":
    main()
