"""How MRR follows from Hits@1, 3 and 10 in the published tables, and how often a row is unusual.

    python benchmarks/usual_mrr.py benchmarks/usual_mrr.csv

A linear function is fitted to the shipped results that print all four, by least squares with Huber's weights (many
rows are wrong, and those shall not decide). Each source is then judged with the coefficients of all others. Written
are the coefficients, the standard deviation of the residuals (from their median size), the share of rows that are
further off than the limit, and the share of rows that would be if their MRR were moved up or down by 0.02.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust import rescore
from rankadjust.base.arrays import BoolArray, FloatArray
from rankadjust.base.files import shipped, write_text
from rankadjust.literature.tidy import read_tidy
from rankadjust.literature.usual import FAR, HITS, MRR

ERROR = 0.02
_ROUNDS = 30


def printed() -> pl.DataFrame:
    """Return source, and MRR and Hits@1, 3 and 10 of each published result that has all four."""
    tables = [read_tidy(path) for path in sorted(shipped("resources/published").glob("*.csv"))]
    rows = rescore(pl.concat(tables, how="diagonal"))
    key = ["source", "model", "dataset", "protocol", "split", "side", "candidates"]
    rows = rows.filter(
        pl.col("metric").is_in([MRR, *HITS]), pl.col("adjustment").is_null(), pl.col("value").is_not_null()
    )
    once = rows.filter(pl.struct(*key, "metric").is_unique())
    return once.pivot("metric", index=key, values="value").drop_nulls([MRR, *HITS]).sort(key)


def fitted(columns: FloatArray, mrr: FloatArray) -> FloatArray:
    """Return the coefficients (4,) for columns (n, 4) of ones and Hits."""
    weights = np.ones_like(mrr)
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        found: FloatArray = np.linalg.lstsq(columns * root[:, None], mrr * root, rcond=None)[0]
        sizes = np.abs(mrr - columns @ found)
        weights = np.minimum(1.0, 1.5 * deviation(sizes) / np.maximum(sizes, 1e-12))
    return found


def deviation(residuals: FloatArray) -> float:
    """Return the standard deviation of normal residuals with this median size."""
    return 1.4826 * float(np.median(np.abs(residuals)))


def measured(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what was found, a row for each figure."""
    mrr = rows[MRR].to_numpy()
    columns = np.column_stack([np.ones(mrr.size), rows.select(HITS).to_numpy()])
    residuals = np.empty_like(mrr)
    for source in rows["source"].unique(maintain_order=True):
        own: BoolArray = (rows["source"] == source).to_numpy()
        residuals[own] = mrr[own] - columns[own] @ fitted(columns[~own], mrr[~own])
    moved = np.concatenate([residuals + ERROR, residuals - ERROR])
    return pl.DataFrame(
        {
            "figure": ["results", "sources", "constant", *HITS, "residual", "flagged", "found"],
            "value": [
                float(mrr.size),
                float(rows["source"].n_unique()),
                *fitted(columns, mrr).round(5).tolist(),
                round(deviation(residuals), 5),
                round(float((np.abs(residuals) > FAR).mean()), 4),
                round(float((np.abs(moved) > FAR).mean()), 4),
            ],
        }
    )


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    write_text(measured(printed()).write_csv(), parser.parse_args().output)


if __name__ == "__main__":
    main()
