"""Make pykeen.json: metrics of reference-ranks.csv as PyKEEN 1.11.1 computes them.

Run in an environment of its own:

    python -m venv env && env/bin/pip install torch==2.13.0 && env/bin/pip install pykeen==1.11.1
    env/bin/python tests/data/evaluation/pykeen_values.py

num_candidates is given as it is, the true answer included; PyKEEN's own counts leave it out.
"""

import csv
import json
from pathlib import Path

import numpy as np
from pykeen.metrics import ranking

FOLDER = Path(__file__).parent
METRICS = {
    "arithmetic_mean_rank": ranking.ArithmeticMeanRank(),
    "inverse_arithmetic_mean_rank": ranking.InverseArithmeticMeanRank(),
    "geometric_mean_rank": ranking.GeometricMeanRank(),
    "inverse_geometric_mean_rank": ranking.InverseGeometricMeanRank(),
    "harmonic_mean_rank": ranking.HarmonicMeanRank(),
    "inverse_harmonic_mean_rank": ranking.InverseHarmonicMeanRank(),
    "median_rank": ranking.MedianRank(),
    "inverse_median_rank": ranking.InverseMedianRank(),
    "standard_deviation": ranking.StandardDeviation(),
    "variance": ranking.Variance(),
    "median_absolute_deviation": ranking.MedianAbsoluteDeviation(),
    "count": ranking.Count(),
    **{f"hits_at_{k}": ranking.HitsAtK(k=k) for k in (1, 3, 5, 10)},
}
ADJUSTED = {
    "arithmetic_mean_rank": {
        "ratio": ranking.AdjustedArithmeticMeanRank(),
        "index": ranking.AdjustedArithmeticMeanRankIndex(),
        "z": ranking.ZArithmeticMeanRank(),
    },
    "inverse_harmonic_mean_rank": {
        "index": ranking.AdjustedInverseHarmonicMeanRank(),
        "z": ranking.ZInverseHarmonicMeanRank(),
    },
    "hits_at_10": {"index": ranking.AdjustedHitsAtK(k=10), "z": ranking.ZHitsAtK(k=10)},
}
WEIGHTED = ("arithmetic_mean_rank", "geometric_mean_rank", "inverse_harmonic_mean_rank", "hits_at_3")


def main() -> None:
    """Read the ranks, write the values."""
    with (FOLDER / "reference-ranks.csv").open() as file:
        rows = list(csv.DictReader(file))
    counts = np.array([int(row["num_candidates"]) for row in rows])
    weights = np.array([float(row["weight"]) for row in rows])
    values = {}
    for kind in ("optimistic", "realistic", "pessimistic"):
        ranks = np.array([float(row[kind]) for row in rows])
        values[kind] = {
            "values": {key: float(metric(ranks, counts)) for key, metric in METRICS.items()},
            "weighted": {key: float(METRICS[key](ranks, counts, weights)) for key in WEIGHTED},
            "adjusted": {
                key: {name: float(metric(ranks, counts)) for name, metric in metrics.items()}
                for key, metrics in ADJUSTED.items()
            },
        }
    (FOLDER / "pykeen.json").write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()
