"""Simulate random scorers that see times, and that do not, on a small temporal graph, with whole score tensors.

    python benchmarks/static_scorer_simulation.py

The graph is drawn with a seed: 70 triples of 30 entities and 4 relations hold at 300 of their 70 x 6 times, 120 of
which are evaluated, so that the same query and the same triple occur at several times. Each draw gives every triple
one score at every time (per_time) or one for all times (static), and ranks both ends of the evaluation triples under
a filter of all times (time-static) and of the same time (time-aware). The null takes no part in that. Printed are the
standard deviations with their standard errors, beside the null's where it is derived. Minutes.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.chance.metrics import resolve
from rankadjust.chance.random_scorer import random_scorer_variance, without_times
from rankadjust.counting.candidates import count_candidates

ENTITIES, RELATIONS, TIMES = 30, 4, 6
DISTINCT, TRIPLES, EVALUATED = 70, 300, 120
METRICS = ("mr", "mrr", "hits@1", "hits@10")
BATCH = 50


@dataclass(frozen=True)
class Task:
    """One ranking task: the places of its true triple and its negatives in a tensor of scores."""

    side: str
    truth: tuple[int, ...]
    negatives: tuple[IntArray, ...]


def temporal_graph(rng: np.random.Generator) -> pl.DataFrame:
    """Return distinct triples with times, the last of them in the split testing."""
    triples = pl.DataFrame(
        {
            "head": rng.integers(0, ENTITIES, DISTINCT),
            "relation": rng.integers(0, RELATIONS, DISTINCT),
            "tail": (ENTITIES * rng.random(DISTINCT) ** 2).astype(np.int64),
        }
    ).unique(maintain_order=True)
    at_times = triples.join(pl.DataFrame({"time": [str(time) for time in range(TIMES)]}), how="cross")
    chosen = at_times[rng.permutation(at_times.height)[:TRIPLES]]
    place = pl.int_range(pl.len()) + EVALUATED >= pl.len()
    return chosen.with_columns(split=pl.when(place).then(pl.lit("testing")).otherwise(pl.lit("training")))


def tasks_of(graph: pl.DataFrame, protocol: str, scores: str) -> list[Task]:
    """Return the tasks by their definition: every entity is a candidate unless it makes a known triple."""
    rows = [(*row[:3], int(row[3])) for row in graph.select("head", "relation", "tail", "time").rows()]
    known = defaultdict(set)
    for head, relation, tail, time in rows:
        when = time if protocol == "time-aware" else None
        known["head", relation, tail, when].add(head)
        known["tail", relation, head, when].add(tail)
    tasks = []
    for head, relation, tail, time in rows[-EVALUATED:]:
        when = time if protocol == "time-aware" else None
        for side, query in (("head", tail), ("tail", head)):
            others = np.array(sorted({*range(ENTITIES)} - known[side, relation, query, when]), np.int64)
            fixed = np.full_like(others, query)
            ends = (others, fixed) if side == "head" else (fixed, others)
            at = (np.full_like(others, time),) if scores == "per_time" else ()
            truth = (head, relation, tail, *((time,) if scores == "per_time" else ()))
            tasks.append(Task(side, truth, (ends[0], np.full_like(others, relation), ends[1], *at)))
    return tasks


def simulate(tasks: list[Task], scores: str, draws: int, seed: int) -> dict[tuple[str, str], FloatArray]:
    """Return the value of each metric in each draw, by side and metric."""
    rng = np.random.default_rng(seed)
    shape = (ENTITIES, RELATIONS, ENTITIES, *((TIMES,) if scores == "per_time" else ()))
    places = np.arange(1.0, ENTITIES + 1)
    terms = {name: resolve(name).term(places, np.full_like(places, np.nan)) for name in METRICS}
    sums = defaultdict(list)
    for _ in range(0, draws, BATCH):
        tensor = rng.random((*shape, BATCH))
        ranks = {side: [] for side in TASK_SIDES}
        for task in tasks:
            above = tensor[task.negatives] > tensor[task.truth]
            ranks[task.side].append(1 + above.sum(axis=0))
        for name, term in terms.items():
            values = {side: term[np.array(ranks[side]) - 1].mean(axis=0) for side in TASK_SIDES}
            for side in TASK_SIDES:
                sums[side, name].append(values[side])
            sums["both", name].append((values["head"] + values["tail"]) / 2)
    return {key: np.concatenate(parts) for key, parts in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20220314)
    arguments = parser.parse_args()
    graph = temporal_graph(np.random.default_rng(arguments.seed))
    # Candidates are the entities that occur.
    assert pl.concat([graph["head"], graph["tail"]]).n_unique() == ENTITIES
    print(
        f"{'filter':12}{'scores':10}{'metric':8}{'side':6}{'simulated':>11}{'error':>10}{'null':>10}{'apart':>8}"
    )
    for protocol in ("time-static", "time-aware"):
        found = count_candidates(graph, protocol)
        timed = [frame.filter(split="testing") for frame in (found.histogram, found.pairs)]
        for scores in ("per_time", "static"):
            counts = timed if scores == "per_time" else [without_times(frame) for frame in timed]
            values = simulate(tasks_of(graph, protocol, scores), scores, arguments.draws, arguments.seed)
            for (side, name), drawn in values.items():
                sd = float(drawn.std(ddof=1))
                kurtosis = float(((drawn - drawn.mean()) ** 4).mean() / sd**4)
                error = sd * ((kurtosis - 1) / (4 * drawn.size)) ** 0.5
                variance, _ = random_scorer_variance(name, *counts, side, protocol)
                null = (
                    "" if variance is None else f"{variance**0.5:10.5f}{(sd - variance**0.5) / error:+8.1f}"
                )
                print(f"{protocol:12}{scores:10}{name:8}{side:6}{sd:11.5f}{error:10.5f}{null}", flush=True)


if __name__ == "__main__":
    main()
