r"""How far the metrics of a random scorer are from a normal law: skewness, and how often z is large.

    python benchmarks/random_scorer_skewness.py \
        results/triples/{Nations,Kinships,UMLS,Countries-S1,Countries-S3}.parquet

Draws whole score tensors as random_scorer_simulation.py does, and prints for the testing split, protocol `filtered`,
both sides: the skewness of z (high is good), with its standard error by blocks of draws, and the share of draws with
z of at least 2 and of at least 3. A normal law has 0, 0.0228 and 0.0013. 20,000 draws take some 70 seconds of one core.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from random_scorer_simulation import METRICS, read_graph, simulate

from rankadjust.base.arrays import FloatArray
from rankadjust.base.files import write_text
from rankadjust.chance.metrics import resolve

BLOCKS = 20


def skewness(values: FloatArray) -> float:
    centred = values - values.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def rows(path: Path, draws: int, seed: int) -> list[dict[str, object]]:
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("triples", nargs="+", type=Path, help="results/triples/<dataset>.parquet")
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20220314)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    arguments = parser.parse_args()
    table = pl.DataFrame(
        [row for path in arguments.triples for row in rows(path, arguments.draws, arguments.seed)]
    )
    write_text(table.write_csv(), arguments.output)
    with pl.Config(tbl_rows=-1, tbl_cols=-1):
        print(table)


if __name__ == "__main__":
    main()
