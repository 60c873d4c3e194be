"""How wide the bounds of the full ranking are that a value among sampled negatives leaves.

python benchmarks/sampled.py > benchmarks/sampled.csv
"""

import polars as pl

from rankadjust import full_bounds


def widths() -> pl.DataFrame:
    """Return bounds of MRR and Hits@10 for a printed MRR of 0.784, by the numbers of negatives and tasks."""
    rows = []
    for sampled in (20, 50, 100, 500, 1000):
        for tasks in (1000, 20_000):
            found = full_bounds(
                {"mrr": "0.784"},
                sampled=sampled,
                num_candidates=2757,
                tasks=tasks,
                metrics=["mrr", "hits@10", "auc"],
            )
            row: dict[str, object] = {"negatives": sampled, "tasks": tasks}
            for name, bounds in found.full.items():
                row |= {f"{name}_low": round(bounds.low, 4), f"{name}_high": round(bounds.high, 4)}
            rows.append(row)
    return pl.DataFrame(rows)


if __name__ == "__main__":
    print(widths().write_csv(), end="")
