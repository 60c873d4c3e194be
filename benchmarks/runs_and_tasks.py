"""How often `rankadjust compare` finds a difference between two equally good models that were trained several times.

    python benchmarks/runs_and_tasks.py benchmarks/runs_and_tasks.csv

The logarithm of a rank is the difficulty of the triple for all models, plus its difficulty for this model, plus luck
of the run in the task, plus an effect of the seed on the whole run: all normal, the last with a standard deviation of
`seed` times the standard error over the triples. In `shared` about three triples have a query in common, which is hard
for all models, and for the model, too. The models have equal laws, so that at 5 % the test should reject in 5 % of the
cases (2 and 5 runs). 400 replications each, 300 triples, one side; the same seed gives the same file.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust import compare
from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.files import write_text

TRIPLES, REPLICATIONS, LEVEL, SEED = 300, 400, 0.05, 20261122
RUNS, SEEDS = (2, 5, 10), (0.0, 1.0, 2.0)
METRICS = ("mrr", "hits@10", "gmr")


def ranks(
    runs: int, seed: float, rng: np.random.Generator, shared: FloatArray, own: FloatArray
) -> FloatArray:
    """Return the ranks of one model's runs (runs, triples); own: the difficulty of the triples for it (triples,)."""
    luck = own + rng.standard_normal((runs, TRIPLES))
    of_run = seed / TRIPLES**0.5 * rng.standard_normal((runs, 1))
    return np.clip(np.ceil(np.exp(1.5 + shared + luck + of_run)), 1, 14_541)


def rejected(runs: int, seed: float, replications: int, *, shared: bool = False) -> dict[str, float]:
    """Return how often each metric differs, as a share of replications; shared: whether triples share queries."""
    rng = np.random.default_rng([SEED, runs, int(10 * seed), *([1] if shared else [])])
    count: dict[str, float] = {}
    for _ in range(replications):
        query = np.repeat(np.arange(TRIPLES), rng.geometric(1 / 3, TRIPLES))[:TRIPLES] if shared else None

        def hard(query: IntArray | None = query) -> FloatArray:
            of_triple = rng.standard_normal(TRIPLES)
            return of_triple if query is None else of_triple + rng.standard_normal(TRIPLES)[query]

        common = hard()
        models = {
            name: [
                pl.DataFrame({"triple": np.arange(TRIPLES), "side": "tail", "rank": one})
                if query is None
                else pl.DataFrame({"triple": np.arange(TRIPLES), "side": "tail", "rank": one, "query": query})
                for one in ranks(runs, seed, rng, common, hard())
            ]
            for name in "AB"
        }
        found = compare(models, metrics=METRICS, flips=1, draws=0).differences
        for metric, p in found.select("metric", "p").iter_rows():
            count[metric] = count.get(metric, 0.0) + (p <= LEVEL) / replications
    return count


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    arguments = parser.parse_args()
    rows = [
        (runs, seed, "queries" if shared else "triples", metric, round(share, 4))
        for shared in (False, True)
        for runs in (RUNS[:2] if shared else RUNS)
        for seed in SEEDS
        for metric, share in rejected(runs, seed, arguments.replications, shared=shared).items()
    ]
    table = pl.DataFrame(rows, schema=["runs", "seed", "clusters", "metric", "rejected"], orient="row")
    write_text(table.write_csv(), arguments.output)


if __name__ == "__main__":
    main()
