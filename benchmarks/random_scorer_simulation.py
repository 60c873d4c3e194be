r"""Simulate a random scorer with whole score tensors and measure the standard deviation of the metrics.

    python benchmarks/random_scorer_simulation.py results/triples/{Nations,Kinships}.parquet
    python benchmarks/random_scorer_simulation.py --skewness benchmarks/random_scorer_skewness.csv --draws 20000 \
        results/triples/{Nations,Kinships,UMLS,Countries-S1,Countries-S3}.parquet

Every draw gives each of the E x R x E triples an independent uniform score, ranks both ends of every triple of
the testing split against all entities (protocol `filtered`), and computes the metrics from the ranks. The null
takes no part in that. Standard deviations are stored with their standard errors, in the file that the tests of the
null read. 200,000 draws take seven minutes.

--skewness writes in place of that the skewness of z (high is good), with its standard error by blocks of draws, and
the share of draws with z of at least 2 and of at least 3. A normal law has 0, 0.0228 and 0.0013.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import resolve

METRICS = (
    "arithmetic_mean_rank",
    "inverse_harmonic_mean_rank",
    "hits_at_1",
    "hits_at_3",
    "hits_at_10",
    "ndcg",
)
# One batch of Kinships scores (270,400 triples) is 138 MB.
BATCH = 64
BLOCKS = 20


@dataclass(frozen=True)
class Graph:
    """Distinct known triples and evaluation triples as integer rows (head, relation, tail)."""

    shape: tuple[int, int, int]
    known: IntArray
    evaluated: IntArray


def read_graph(path: Path) -> Graph:
    """Read results/triples/<dataset>.parquet; all its triples are known, and the `testing` triples are evaluated."""
    frame = pl.read_parquet(path)
    columns = ["head", "relation", "tail"]
    known = frame.select(columns).unique(maintain_order=True).cast(pl.Int64).to_numpy()
    evaluated = frame.filter(split="testing").select(columns).cast(pl.Int64).to_numpy()
    entities = int(known[:, [0, 2]].max()) + 1
    return Graph((entities, int(known[:, 1].max()) + 1, entities), known, evaluated)


def draw_ranks(graph: Graph, draws: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield head ranks and tail ranks, each (evaluation triples, draws of the batch)."""
    scores = np.empty((*graph.shape, BATCH))
    for start in range(0, draws, BATCH):
        rng.random(out=scores)
        own = scores[tuple(graph.evaluated.T)]
        # A known triple must not be a negative: with a score below all others it is never counted.
        scores[tuple(graph.known.T)] = -1.0
        ranks = np.ones((2, *own.shape), dtype=np.int64)
        for i, (head, relation, tail) in enumerate(graph.evaluated):
            ranks[0, i] += np.add.reduce(scores[:, relation, tail] > own[i], axis=0, dtype=np.int16)
            ranks[1, i] += np.add.reduce(scores[head, relation] > own[i], axis=0, dtype=np.int16)
        kept = min(BATCH, draws - start)
        yield ranks[0, :, :kept], ranks[1, :, :kept]


def simulate(graph: Graph, draws: int, seed: int) -> dict[tuple[str, str], FloatArray]:
    """Return the value of each metric in each draw, keyed by (side, metric)."""
    lookup = np.arange(1, graph.shape[0] + 1, dtype=np.float64)
    terms = {key: resolve(key).term(lookup, np.full_like(lookup, np.nan)) for key in METRICS}
    sums = {(side, key): [] for side in ("head", "tail") for key in METRICS}
    for head_ranks, tail_ranks in draw_ranks(graph, draws, np.random.default_rng(seed)):
        for side, ranks in (("head", head_ranks), ("tail", tail_ranks)):
            for key, term in terms.items():
                sums[side, key].append(term[ranks - 1].mean(axis=0))
    values = {key: np.concatenate(batches) for key, batches in sums.items()}
    both = {("both", key): (values["head", key] + values["tail", key]) / 2 for key in METRICS}
    return values | both


def spread(values: FloatArray) -> dict[str, float]:
    """Return the standard deviation with its standard error, by the fourth moment."""
    draws, sd = values.size, float(values.std(ddof=1))
    kurtosis = float(((values - values.mean()) ** 4).mean() / sd**4)
    return {"sd": sd, "sd_error": sd * ((kurtosis - 1) / (4 * draws)) ** 0.5}


def measure(path: Path, draws: int, seed: int) -> dict[str, object]:
    """Return the simulation of one data set as it is stored."""
    graph = read_graph(path)
    results = [
        {"side": side, "metric": key, **spread(values)}
        for (side, key), values in simulate(graph, draws, seed).items()
    ]
    return {"dataset": path.stem, "triples": len(graph.evaluated), "results": results}


def skewness(values: FloatArray) -> float:
    centred = values - values.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def skewness_rows(path: Path, draws: int, seed: int) -> list[dict[str, object]]:
    """Return a row per metric for one data set."""
    graph = read_graph(path)
    simulated = simulate(graph, draws, seed)
    found = []
    for key in METRICS:
        metric = resolve(key)
        values = simulated["both", key] * (1.0 if metric.increasing else -1.0)
        z = (values - values.mean()) / values.std()
        of_blocks = [skewness(block) for block in np.array_split(values, BLOCKS)]
        found.append(
            {
                "dataset": path.stem,
                "tasks": 2 * len(graph.evaluated),
                "metric": metric.label,
                "skewness": round(skewness(values), 3),
                "standard_error": round(float(np.std(of_blocks, ddof=1)) / BLOCKS**0.5, 3),
                "share_z_2": round(float((z >= 2).mean()), 4),
                "share_z_3": round(float((z >= 3).mean()), 4),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", nargs="+", type=Path, help="results/triples/<dataset>.parquet")
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=20220314)
    parser.add_argument("--output", type=Path, default=Path("tests/data/nulls/simulation.json"))
    parser.add_argument("--skewness", type=Path)
    arguments = parser.parse_args()
    draws, seed = arguments.draws, arguments.seed
    if arguments.skewness:
        found = [row for path in arguments.triples for row in skewness_rows(path, draws, seed)]
        write_text(pl.DataFrame(found).write_csv(), arguments.skewness)
        return
    measured = [measure(path, draws, seed) for path in arguments.triples]
    stored = {"protocol": "filtered", "split": "testing", "draws": draws, "seed": seed, "datasets": measured}
    write_text(json.dumps(stored, indent=1) + "\n", arguments.output)


if __name__ == "__main__":
    main()
