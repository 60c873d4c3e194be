"""How often a leaderboard of equally good models has a false verdict: one model is called better than another.

    python benchmarks/leaderboard_errors.py benchmarks/leaderboard_errors.csv

All ranks of a model are 1 or last, drawn alike for all models, over 2,000 triples. A query of several triples is won or
lost as a whole, which the bounds allow. In `one winner` every triple is won by exactly one of four models. In `best of`
the value of one of two models is the best of several runs, as where a table takes the best of several printed values.
Values are printed with all digits. The same seed gives the same file; it takes some five seconds of one core.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.base.files import write_text
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import Typed
from rankadjust.models.printed import BETTER, Judge
from rankadjust.models.shared_queries import Dependence, Squares, independent

SEED, TRIPLES, MODELS = 20261123, 2000, 10
ALONE = np.ones(TRIPLES)
TWENTY = np.repeat(20.0, TRIPLES // 20)
Draw = Callable[[np.random.Generator], FloatArray]


def power_law() -> FloatArray:
    """Return sizes of queries that follow a power law."""
    share = 1 / np.arange(1, 200) ** 0.7
    sizes = np.maximum(np.floor(share / share.sum() * TRIPLES), 1)
    sizes[0] += TRIPLES - sizes.sum()
    return sizes


def values(sizes: FloatArray, share: float, models: int = MODELS) -> Draw:
    """Return what draws the values of some models: whole queries of these sizes are won."""
    return lambda rng: (rng.random((models, sizes.size)) < share) @ sizes / TRIPLES


def best_of(runs: int) -> Draw:
    """Return what draws the value of a model that is the best of some runs, and of a model with one run."""
    return lambda rng: np.array([values(ALONE, 0.05, number)(rng).max() for number in (runs, 1)])


def one_winner(rng: np.random.Generator) -> FloatArray:
    """Return the values of four models, each triple being won by one of them."""
    return np.bincount(rng.integers(0, 4, TRIPLES), minlength=4) / TRIPLES


LAWS: dict[str, tuple[Draw, FloatArray, int]] = {
    **{
        f"{MODELS} models, Hits@1 {share}, independent": (values(ALONE, share), ALONE, 150)
        for share in (0.02, 0.1, 0.5, 0.95)
    },
    f"{MODELS} models, Hits@1 0.5, queries of 20": (values(TWENTY, 0.5), TWENTY, 150),
    f"{MODELS} models, Hits@1 0.5, power law": (values(power_law(), 0.5), power_law(), 150),
    "one winner": (one_winner, ALONE, 150),
    **{f"best of {runs}, Hits@1 0.05": (best_of(runs), ALONE, 400) for runs in (10, 50)},
}


def rows() -> Iterator[tuple[str, int, float]]:
    """Yield the law, how many boards were drawn, and the share of them with a false verdict."""
    for law, (draw, sizes, boards) in LAWS.items():
        clustered = Dependence(TRIPLES, [Squares.of_clusters(sizes, sizes**2)])
        judge = Judge(resolve("hits@1"), 0.0, 1.0, clustered, independent(TRIPLES))
        false = 0
        for board in range(boards):
            drawn = draw(np.random.default_rng([SEED, board, len(law)]))
            pairs = judge.pairs([Typed(str(model), float(value)) for model, value in enumerate(drawn)])
            false += any(pair.verdict == BETTER for pair in pairs)
        yield law, boards, false / boards


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    table = pl.DataFrame(list(rows()), schema=["law", "boards", "false_verdict"], orient="row")
    print(table.write_csv())
    write_text(table.with_columns(pl.col("false_verdict").round(4)).write_csv(), arguments.output)


if __name__ == "__main__":
    main()
