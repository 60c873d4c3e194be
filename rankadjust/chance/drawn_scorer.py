"""A random scorer, drawn: how often it is at least as good as a value (docs/methods-random-scorer.md, "Drawn").

Every triple has a score of its own, uniform and independent. Of the N - 1 other candidates of a task, each has the
higher score with probability 1 - u where u is the score of the true answer, and tasks that share a query share these
candidates. The two tasks of a triple share u.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric

DRAWS = 10_000
MOST_TASKS = 2500
"""Of more tasks the normal law is nearly good enough, and drawing takes many seconds."""
FAR = 10
"""So many standard deviations from chance no random scorer comes."""
_SEED = 20261122
# Draws at a time, each piece with a seed of its own: so memory is bounded, and two cores can draw.
_PIECE = 500
# A value that equals a drawn one but for rounding is reached.
_ROUNDING = 1e-9

Rows = tuple[tuple[str, int, int, int], ...]
"""Side, number of candidates, tasks, and ordered pairs of these tasks that share a query."""


def draws_reaching(rows: Rows, metric: Metric, value: float, exact: float) -> int:
    """Return in how many of DRAWS draws a random scorer is at least as good as a value, always by the same draws.

    metric: a mean of a term over the tasks; exact: its standard deviation under a random scorer. How tasks share
    queries is not known, only how many pairs do: the largest queries that there can be are taken. Nor is it known which
    two tasks are of one triple; where the draws vary less than they should, their distances from the mean are made
    longer.
    """
    assert metric.term is not None
    ranks, candidates = drawn_ranks(rows)
    counts = candidates.astype(np.float64)
    values = np.concatenate(
        [
            metric.term(piece.astype(np.float64), np.broadcast_to(counts, piece.shape)).mean(axis=1)
            for piece in np.split(ranks, DRAWS // _PIECE)
        ]
    )
    mean, spread = values.mean(), values.std()
    stretched = mean + max(1.0, exact / spread if spread else 1.0) * (values - mean)
    lead = (stretched - value) * (1 if metric.increasing else -1)
    return int((lead >= -_ROUNDING * abs(value)).sum())


# For head, tail and both, which the next model on the same data needs again: at most 50 MB each.
@lru_cache(maxsize=3)
def drawn_ranks(rows: Rows) -> tuple[IntArray, IntArray]:
    """Return the ranks of a random scorer in n tasks, (DRAWS, n), and their numbers of candidates (n,)."""
    sides = [_queries(rows, side) for side in sorted({row[0] for row in rows})]
    # All tasks that have the same place in queries of one size follow each other.
    candidates = [
        np.concatenate([np.tile(of_query, size) for size, of_query in queries.items()]) for queries in sides
    ]
    triples = max(of_side.size for of_side in candidates)
    # Which head task and which tail task are of one triple is not known either.
    generator = np.random.default_rng(_SEED)
    orders = [generator.permutation(triples) for _ in sides]
    small = np.uint16 if max(row[1] for row in rows) < 2**16 else np.uint32

    def piece(number: int) -> IntArray:
        generator = np.random.default_rng([_SEED, number])
        scores = generator.random((_PIECE, triples))
        parts = [
            _ranks(scores[:, order], queries, generator) for order, queries in zip(orders, sides, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(small)

    # numpy draws without the lock of the interpreter.
    with ThreadPoolExecutor(2) as threads:
        ranks = np.concatenate([*threads.map(piece, range(DRAWS // _PIECE))])
    return ranks, np.concatenate(candidates)


def _queries(rows: Rows, side: str) -> dict[int, IntArray]:
    """Return the numbers of candidates of the queries of one side, by the number of tasks of a query, ascending."""
    queries = []
    for _, candidates, tasks, pairs in (row for row in rows if row[0] == side):
        left, shared = tasks, pairs
        while shared > 1 and left > 1:
            size = min(int((1 + (1 + 4 * shared) ** 0.5) / 2), left)
            queries.append((candidates, size, 1))
            left, shared = left - size, shared - size * (size - 1)
        if left:
            queries.append((candidates, 1, left))
    candidates, sizes, numbers = np.array(queries, dtype=np.int64).T
    alike = {int(size): sizes == size for size in np.unique(sizes)}
    return {size: np.repeat(candidates[chosen], numbers[chosen]) for size, chosen in alike.items()}


def _ranks(scores: FloatArray, queries: Mapping[int, IntArray], generator: "np.random.Generator") -> IntArray:
    """Return the ranks (d, n) of tasks whose true answers have scores (d, n or more)."""
    ranks, start = [], 0
    for size, of_query in queries.items():
        end = start + of_query.size * size
        # The best answers of each query first: the negatives above one are above the next.
        best_first = -np.sort(-scores[:, start:end].reshape(-1, of_query.size, size), axis=2)
        left, above = (
            np.broadcast_to(of_query - 1, best_first.shape[:2]),
            np.ones(best_first.shape[:2], np.int64),
        )
        last = np.ones(best_first.shape[:2])
        for place in range(size):
            score = best_first[:, :, place]
            between = generator.binomial(left, (last - score) / last)
            left, above, last = left - between, above + between, score
            ranks.append(above)
        start = end
    return np.concatenate(ranks, axis=1)
