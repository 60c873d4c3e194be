"""How often 95 % intervals hold the truth, and how often equally good models are told apart, for each population.

    OPENBLAS_NUM_THREADS=1 python benchmarks/populations.py results/triples [--output benchmarks/populations.csv]

The folder has the triples of a run, as results/triples/UMLS.parquet. Ranks are simulated on their structure: the
logarithm of a rank is a constant plus normal parts of the triple, of the task and of what the triples have in common
(`effects`): nothing, the query of either side, both entities, or the relation. The truth is the mean of the law, over
all queries, entities or relations. Coverage is that of one model's intervals; size is how often two models with equal
laws, and parts of their own, differ at 5 %, with 1, 3 or 5 runs whose seeds matter as much as the choice of triples.

Re-splits take real triples: test triples are drawn at random again, at most a tenth of the data set, a counting scorer
is trained on the others, and its intervals are held against the mean over all splits.

Columns: kind (coverage, size, re-splits), dataset, effects, population, triples, runs, metric, share, replications.
The same seed gives the same file. It takes some five minutes of two cores, and longer with more threads a product.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from scipy import special

from rankadjust import EvaluationSet, evaluate
from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.spread import Spread
from rankadjust.evaluation.tasks import POPULATIONS, tasks_of
from rankadjust.models.paired import Model
from rankadjust.models.part import Part

DATASETS = ("FB15k-237", "CoDEx-S", "WN18RR", "UMLS")
# For each number of triples how often coverage and size are drawn; how often each data set is split again.
TRIPLES = {500: (400, 200), 2000: (400, 100), 20_000: (200, 30)}
SPLITS = {"FB15k-237": 40, "CoDEx-S": 200, "UMLS": 200}
METRICS = [resolve(name) for name in ("mrr", "hits@1", "hits@10", "mr")]
# What triples have in common, and the population that is named for it.
EFFECTS = {"none": "triples", "query": "queries", "entity": "queries", "relation": "relations"}
RUNS = (1, 3, 5)
LEVEL, SEED, CANDIDATES = 0.05, 20261125, 14_541
# The logarithm of a rank: its mean, and the standard deviations of triple, task, and what is in common.
MEAN, OF_TRIPLE, OF_TASK, COMMON = 1.8, 1.0, 1.0, 0.6


class Structure:
    """Some triples of a data set, and the clusters of their tasks; heads first, then tails."""

    def __init__(self, triples: pl.DataFrame, number: int, rng: np.random.Generator) -> None:
        chosen = triples[np.sort(rng.permutation(triples.height)[:number])]
        self.head, self.relation, self.tail = (
            np.unique(chosen[name], return_inverse=True)[1] for name in ("head", "relation", "tail")
        )
        self.size = chosen.height
        triple, relation = (pl.Series(np.tile(each, 2)) for each in (np.arange(self.size), self.relation))
        asked = chosen.select(
            head=pl.format("?\t{}\t{}", "relation", "tail"), tail=pl.format("{}\t{}\t?", "head", "relation")
        )
        queries = [asked["head"], asked["tail"]]
        self.queries = [np.unique(query.to_numpy(), return_inverse=True)[1] for query in queries]
        frame = pl.DataFrame(
            {
                "triple": triple,
                "side": np.repeat(["head", "tail"], self.size),
                "query": pl.concat(queries),
                "relation": relation,
                "rank": pl.Series(np.ones(2 * self.size)),
            }
        )
        tasks = tasks_of(frame.with_columns(pl.col("triple", "query", "relation").cast(pl.String)))
        self.tasks = tasks
        self.triples = np.tile(np.arange(self.size), 2)
        self.ways = {
            name: each.ways("both", np.arange(2 * self.size)) for name, each in tasks.clusters.items()
        }

    def common(self, effects: str, rng: np.random.Generator) -> FloatArray:
        """Return what the tasks have in common (tasks,), with the variance COMMON^2."""

        def each(way: IntArray) -> FloatArray:
            return rng.standard_normal(int(way.max()) + 1)[way]

        match effects:
            case "query":
                parts = np.tile(np.sqrt(0.5) * (each(self.queries[0]) + each(self.queries[1])), 2)
            case "entity":
                parts = np.tile(np.sqrt(0.5) * (each(self.head) + each(self.tail)), 2)
            case "relation":
                parts = np.tile(each(self.relation), 2)
            case _:
                parts = np.zeros(2 * self.size)
        return COMMON * parts

    def hard(self, effects: str, rng: np.random.Generator) -> FloatArray:
        """Return how hard the tasks are (tasks,), without the luck of a run."""
        of_triple = np.tile(rng.standard_normal(self.size), 2)
        return self.common(effects, rng) + OF_TRIPLE * of_triple


def ranks_of(logs: FloatArray) -> FloatArray:
    """Return the ranks whose logarithms these are, before rounding."""
    return np.clip(np.rint(np.exp(logs)), 1, CANDIDATES)


@cache
def truths(effects: str) -> FloatArray:
    """Return each metric's mean under the law."""
    scale = np.sqrt(OF_TRIPLE**2 + OF_TASK**2 + (COMMON**2 if effects != "none" else 0))
    ranks = np.arange(1.0, CANDIDATES + 1)
    bounds = np.concatenate([[-np.inf], (np.log(ranks[:-1] + 0.5) - MEAN) / scale, [np.inf]])
    law = np.diff(special.ndtr(bounds))
    return np.array(
        [law @ metric.term(ranks, np.full(CANDIDATES, np.nan)) for metric in METRICS if metric.term]
    )


def coverage(structure: Structure, effects: str, rng: np.random.Generator) -> FloatArray:
    """Return whether the intervals of one sample hold the truth (m,)."""
    logs = MEAN + structure.hard(effects, rng) + OF_TASK * rng.standard_normal(2 * structure.size)
    ranks = ranks_of(logs)
    unknown = np.full(ranks.size, np.nan)
    terms = np.stack([metric.term(ranks, unknown) for metric in METRICS if metric.term])
    means = terms.mean(axis=1)
    ways = structure.ways[EFFECTS[effects]]
    spread = Spread.of((terms - means[:, None]) / ranks.size, ways, structure.triples)
    low, high = spread.ends(means).T
    known = truths(effects)
    return ((low <= known) & (known <= high)).astype(np.float64)


def size(structure: Structure, effects: str, runs: int, rng: np.random.Generator) -> FloatArray:
    """Return whether two models with equal laws differ (m,)."""
    hard, population = structure.hard(effects, rng), EFFECTS[effects]
    seed = 0.0 if runs == 1 else OF_TRIPLE / np.sqrt(structure.size)
    models = [
        Model(
            name,
            ranks_of(
                MEAN
                + hard
                + structure.common(effects, rng)
                + OF_TASK * rng.standard_normal((runs, 2 * structure.size))
                + seed * rng.standard_normal((runs, 1))
            ),
        )
        for name in "AB"
    ]
    clusters = {name: structure.tasks.clusters[name] for name in {"triples", population}}
    part = Part("both", replace(structure.tasks, clusters=clusters), models, population, METRICS)
    p: FloatArray = part.results()[1]["p"].to_numpy()
    return (p < LEVEL).astype(np.float64)


def cell(folder: Path, dataset: str, number: int, effects: str) -> list[dict[str, object]]:
    """Return the rows of a data set, a number of triples and a kind of effects."""
    triples = pl.read_parquet(folder / f"{dataset}.parquet").select("head", "relation", "tail")
    if triples.height < number:
        return []
    of_coverage, of_size = TRIPLES[number]
    rng = np.random.default_rng([SEED, DATASETS.index(dataset), number, [*EFFECTS].index(effects)])
    structure = Structure(triples, number, rng)
    about = {"dataset": dataset, "effects": effects, "population": EFFECTS[effects], "triples": number}
    found = {("coverage", 1): [coverage(structure, effects, rng) for _ in range(of_coverage)]}
    for runs in RUNS:
        found["size", runs] = [size(structure, effects, runs, rng) for _ in range(of_size)]
    return [
        {"kind": kind, **about, "runs": runs, "metric": metric.label, "share": round(float(share), 4)}
        | {"replications": len(shares)}
        for (kind, runs), shares in found.items()
        for metric, share in zip(METRICS, np.mean(shares, axis=0), strict=True)
    ]


def resplits(folder: Path, dataset: str) -> list[dict[str, object]]:
    """Return how often the intervals of each population hold the mean of a counting scorer over all splits."""
    triples = (
        pl.read_parquet(folder / f"{dataset}.parquet")
        .select("head", "relation", "tail")
        .unique(maintain_order=True)
    )
    numbers = [number for number in TRIPLES if 10 * number <= triples.height]
    rng = np.random.default_rng([SEED, len(dataset)])
    found: dict[tuple[str, int], list[FloatArray]] = {}
    for _ in range(SPLITS[dataset]):
        shuffled = triples[rng.permutation(triples.height)]
        test, train = shuffled[: numbers[-1]], shuffled[numbers[-1] :]
        rank = pl.mean_horizontal("popularity_optimistic", "popularity_pessimistic")
        tasks = EvaluationSet.from_triples(train, None, test).each_task().with_columns(rank=rank)
        ranks = tasks.select("line", "triple", "side", "query", "relation", "rank")
        for population, number in product(POPULATIONS, numbers):
            first = ranks.filter(pl.col("line") <= number).drop("line")
            rows = evaluate(first, metrics=[metric.key for metric in METRICS], population=population)
            values = rows.filter(side="both").select("value", "value_low", "value_high")
            found.setdefault((population, number), []).append(values.to_numpy())
    rows = []
    for (population, number), each in found.items():
        values, low, high = np.moveaxis(np.array(each), 2, 0)
        inside = np.mean((low <= values.mean(axis=0)) & (values.mean(axis=0) <= high), axis=0)
        rows += [
            {"kind": "re-splits", "dataset": dataset, "effects": "real", "population": population}
            | {"triples": number, "runs": 1, "metric": metric.label, "share": round(float(share), 4)}
            | {"replications": len(each)}
            for metric, share in zip(METRICS, inside, strict=True)
        ]
    return rows


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/populations.csv"))
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        parts = [pool.submit(resplits, arguments.triples, name) for name in SPLITS]
        # The longest first.
        parts += [
            pool.submit(cell, arguments.triples, name, number, effects)
            for number in sorted(TRIPLES, reverse=True)
            for name in DATASETS
            for effects in EFFECTS
        ]
    rows = [row for part in parts for row in part.result()]
    write_text(
        pl.DataFrame(rows).sort("kind", "dataset", "effects", "triples", maintain_order=True).write_csv(),
        arguments.output,
    )


if __name__ == "__main__":
    main()
