"""What became of the verdicts on the values of leaderboards: the rule before the bounds, and the rule of now.

    python benchmarks/leaderboard_verdicts.py benchmarks/leaderboard_verdicts.csv

The rule before took all triples as independent, judged each pair of the best value and another by itself, and compared
z with 1.96. A value was `worse` if the z of the difference was larger even with the largest variance that any ranks
with these values have, `not separable` if it was smaller even with the smallest variance that a single run has, and
else `cannot be known`. Both rules judge the published results that ship with the project. The same tables give the
same file; it takes some forty seconds of one core.
"""

import argparse
from pathlib import Path

import polars as pl

from rankadjust import Constants, check, rescore
from rankadjust.base.files import shipped, write_text
from rankadjust.chance.metrics import hit, resolve
from rankadjust.chance.typed import Typed
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.literature.comparison import ranked_results
from rankadjust.literature.tidy import read_tidy
from rankadjust.models.leaderboards import BEST, leaderboards
from rankadjust.models.printed import Judge

CRITICAL = 1.959963984540054
BOARD = ("dataset", "protocol", "split", "side", "metric")


def boards() -> pl.DataFrame:
    """Return the leaderboards of the published results."""
    tables = [read_tidy(path) for path in sorted(shipped("resources/published").glob("*.csv"))]
    rescored = rescore(pl.concat(tables, how="diagonal"))
    return leaderboards(ranked_results(rescored, check(rescored)), Constants.released())


def before(judge: Judge, best: Typed, other: Typed, step: float) -> str:
    """Return the verdict of the rule before.

    step: the least difference above 0 that a triple can make, as a share of the largest one.
    """
    ends = (
        sorted((end - judge.worst) / (judge.best - judge.worst) for end in one.ends) for one in (best, other)
    )
    (low, high), (other_low, other_high) = ends
    least, most = max(low - other_high, 0.0), max(high - other_low, 0.0)
    total = min(max(1.0, low + other_low), high + other_high)
    critical = CRITICAL**2 / judge.alone.triples
    if least > 0 and least**2 >= critical * (min(total, 2 - total) - least**2):
        return "worse"
    if most**2 < critical * max(step * most - most**2, 0.0) or not most:
        return "not separable"
    return "cannot be known"


def verdicts(board: pl.DataFrame) -> pl.DataFrame:
    """Return the verdicts, before and now, on the values of a board behind the best one."""
    dataset, protocol, split, side, key = board.select(BOARD).row(0)
    metric = resolve(key)
    judge = Judge.of(metric, EvaluationSet.released(dataset, protocol=protocol, split=split, side=side))
    sides = 2 if side == "both" else 1
    step = 0.5 / max(abs(judge.best - judge.worst), 1.0)
    if metric.increasing:
        step = 1.0 if metric.shape is hit else 0.0
    best, *others = (
        Typed(*row) for row in board.select("model", "value", "value_low", "value_high").iter_rows()
    )
    return board.filter(pl.col("to_best") != BEST).select(
        before=pl.Series([before(judge, best, other, step / sides) for other in others], dtype=pl.String),
        now="to_best",
    )


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    parts = boards().partition_by(BOARD, maintain_order=True)
    counted = pl.concat(map(verdicts, parts)).group_by("before", "now").len("values").sort("before", "now")
    print(len(parts), "leaderboards")
    write_text(counted.write_csv(), arguments.output)


if __name__ == "__main__":
    main()
