"""How MRR follows from Hits@1, 3 and 10 in the published tables, and how often a row is unusual.

    python benchmarks/usual_mrr.py > benchmarks/usual_mrr.csv

A linear function is fitted to the shipped results that print all four, by least squares with Huber's weights (many
rows are wrong, and those shall not decide). Taken are the rows that `check` looks at: among at least as many candidates
as `literature.single_values` wants, and without a caveat (second-hand, or refuted). Each source is then judged with
the coefficients of all others, and rounding as `check` does. Printed are the coefficients, the standard deviation of
the residuals (from their median size), the share of rows that are flagged, and the share of rows that would be found if
their MRR were moved up or down by 0.02: of all, and of those whose MRR has at least three digits.
"""

import numpy as np
import polars as pl

from rankadjust import rescore
from rankadjust.base.arrays import BoolArray, FloatArray
from rankadjust.base.io import shipped
from rankadjust.literature.single_values import FAR, HITS, LEAST_CANDIDATES, MRR
from rankadjust.literature.tidy import read_tidy

ERROR = 0.02
# MRR with three digits or more.
_THREE_DIGITS = 0.0011
_ROUNDS = 30
_SAME = ["source", "model", "dataset", "protocol", "split", "side", "candidates"]
_ENDS = ("value", "value_low", "value_high")


def printed() -> pl.DataFrame:
    """Return source, and MRR and Hits@1, 3 and 10 with their rounding of each published result that has all four."""
    tables = [read_tidy(path) for path in sorted(shipped("resources/published").glob("*.csv"))]
    rows = rescore(pl.concat(tables, how="diagonal")).filter(
        pl.col("metric").is_in([MRR, *HITS]),
        pl.col("adjustment").is_null(),
        pl.col("value").is_not_null(),
        pl.col("caveat").is_null(),
        pl.col("entities").fill_null(LEAST_CANDIDATES) >= LEAST_CANDIDATES,
    )
    once = rows.filter(pl.struct(*_SAME, "metric").is_unique())
    wide = once.pivot("metric", index=_SAME, values=_ENDS)
    return wide.drop_nulls([f"value_{key}" for key in (MRR, *HITS)]).sort(_SAME)


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
    mrr, low, high = (rows[f"{end}_{MRR}"].to_numpy() for end in _ENDS)
    hits, least, most = (
        np.column_stack([np.ones(mrr.size), rows.select(f"{end}_{key}" for key in HITS).to_numpy()])
        for end in _ENDS
    )
    residuals, below, above = np.empty((3, mrr.size))
    for source in rows["source"].unique(maintain_order=True):
        own: BoolArray = (rows["source"] == source).to_numpy()
        found = fitted(hits[~own], mrr[~own])
        residuals[own] = mrr[own] - hits[own] @ found
        below[own], above[own] = (least @ found - high)[own], (low - most @ found)[own]
    figures: dict[str, float] = {
        "results": mrr.size,
        "sources": rows["source"].n_unique(),
        **dict(zip(("constant", *HITS), fitted(hits, mrr).round(5).tolist(), strict=True)),
        "residual": round(deviation(residuals), 5),
    }
    moved = np.concatenate([np.maximum(below - error, above + error) for error in (ERROR, -ERROR)])
    fine = high - low < _THREE_DIGITS
    for name, chosen in (("", np.full(mrr.size, fill_value=True)), (" with three digits", fine)):
        figures[f"judged{name}"] = chosen.sum()
        figures[f"flagged{name}"] = round(float((np.maximum(below, above) > FAR)[chosen].mean()), 4)
        figures[f"found{name}"] = round(float((moved > FAR)[np.tile(chosen, 2)].mean()), 4)
    return pl.DataFrame({"figure": [*figures], "value": [float(one) for one in figures.values()]})


if __name__ == "__main__":
    print(measured(printed()).write_csv(), end="")
