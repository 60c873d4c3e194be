"""How often a leaderboard of equally good models has a false verdict: one model is called better than another.

    python benchmarks/leaderboard_errors.py benchmarks/leaderboard_errors.csv

All ranks of a model are 1 or last, drawn alike for all models, over 2,000 triples. A query of several triples is won or
lost as a whole, which the bounds allow. In `one winner` every triple is won by exactly one of four models. In `best of`
the value of a model is the best of several runs, as where a table takes the best of several printed values. The column
`choice_ignored` is for verdicts that do not know of this choice.
Values are printed with all digits. The same seed gives the same file; it takes some twenty-five seconds of one core.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
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


def best_of(runs: Sequence[int]) -> Draw:
    """Return what draws the values of models, each of them the best of some runs."""
    return lambda rng: np.array([values(ALONE, 0.05, number)(rng).max() for number in runs])


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
}
# Each model has the best of so many runs.
CHOICES = {
    **{f"best of {runs}, Hits@1 0.05": (runs, 1) for runs in (10, 50)},
    "two models, best of 10 each": (10, 10),
    "three models, best of 50, 10 and 1": (50, 10, 1),
    "ten models, one the best of 50": (50, *[1] * 9),
}
LAWS |= {law: (best_of(runs), ALONE, 400) for law, runs in CHOICES.items()}


def rows() -> Iterator[tuple[str, int, float, float]]:
    """Yield the law, how many boards were drawn, and the share of them with a false verdict: as it is, and ignorant."""
    for law, (draw, sizes, boards) in LAWS.items():
        clustered = Dependence(TRIPLES, [Squares.of_clusters(sizes, sizes**2)])
        judge = Judge(resolve("hits@1"), 0.0, 1.0, clustered, independent(TRIPLES))
        false = np.zeros(2)
        for board in range(boards):
            drawn = draw(np.random.default_rng([SEED, board, len(law)]))
            runs = CHOICES.get(law, (1,) * drawn.size)
            for column, results in enumerate((runs, (1,) * drawn.size)):
                printed = [
                    Typed(str(model), float(value), results=number)
                    for model, (value, number) in enumerate(zip(drawn, results, strict=True))
                ]
                false[column] += any(pair.verdict == BETTER for pair in judge.pairs(printed))
        yield law, boards, *map(float, false / boards)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    table = pl.DataFrame(
        list(rows()), schema=["law", "boards", "false_verdict", "choice_ignored"], orient="row"
    )
    print(table.write_csv())
    write_text(
        table.with_columns(pl.col("false_verdict", "choice_ignored").round(4)).write_csv(), arguments.output
    )


if __name__ == "__main__":
    main()
