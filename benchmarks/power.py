"""How often `check` finds an error that was planted into the printed results of a model.

    python benchmarks/power.py [--models 4] [--datasets FB15k-237 ...] [--output benchmarks/power.csv]

Models are drawn for five data sets with the released numbers of candidates of every task. The score of a true answer
is m + s x standard deviations above the mean of the negatives, which are standard normal, with a normal x of its own
for each task; on the head side m is less by d. A share h of the tasks is hopeless: its rank is uniform. (m, s, d, h)
are drawn at random, and a model is kept where its MRR and its mean rank are in the range of the printed results of
the data set (`RANGES`). A quarter of the models has ties: ranks above 3 are halves in one of ten tasks.

Each model is printed as tables do, MRR and Hits with three decimals, mean ranks with three digits or more, in five
compositions of metrics. An error is planted into one value (or two, where columns are swapped), and `check` looks at
each model alone. The output has, for each composition, data set and error, the share of models with a finding
(`found`), with one that no ranks can explain (`impossible`), and how many models were looked at. The error `none` is
the share of false alarms. A minute of one core for four models; the same seed gives the same file.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from scipy import special

from rankadjust.base.arrays import FloatArray
from rankadjust.base.files import write_text
from rankadjust.chance.metrics import metric_value
from rankadjust.database.beside import load_candidates
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import rescore

# A model has to have an MRR and a mean rank in these ranges. The ranges of FB15k-237, WN18RR and Kinships are about
# the 5 % to 95 % quantiles of resources/published; papers print few mean ranks for the other data sets.
RANGES = {
    "FB15k-237": ((0.22, 0.40), (150, 570)),
    "WN18RR": ((0.20, 0.50), (1000, 12600)),
    "CoDEx-S": ((0.35, 0.48), (40, 200)),
    "Kinships": ((0.30, 0.88), (1.7, 6.0)),
    "UMLS": ((0.60, 0.94), (1.1, 6.0)),
}
HITS = ("hits@1", "hits@3", "hits@10")
COMPOSITIONS = {
    "MRR, Hits": ("mrr", *HITS),
    "MR, MRR, Hits": ("mr", "mrr", *HITS),
    "MR, MRR, Hits, GMR": ("mr", "mrr", *HITS, "gmr"),
    "MR, MRR, Hits, median": ("mr", "mrr", *HITS, "median"),
    "MR, MRR, Hits, AMRI": ("mr", "mrr", *HITS, "amri"),
    "MRR, Hits of both sides and each": ("mrr", *HITS),
}
SIDES = {"MRR, Hits of both sides and each": ("both", "head", "tail")}

Values = dict[tuple[str, str], float]
"""The values of one model by side and metric."""


def scaled(metric: str, factor: float) -> Callable[[Values, Values], Values]:
    """Return an error: a metric of both sides times a factor, at most 1 where it is a share."""

    def plant(own: Values, _: Values) -> Values:
        value = factor * own["both", metric]
        return own | {("both", metric): value if metric == "mr" else min(value, 1.0)}

    return plant


def swapped(first: str, second: str) -> Callable[[Values, Values], Values]:
    """Return an error: two columns in the wrong order."""
    return lambda own, _: own | {("both", first): own["both", second], ("both", second): own["both", first]}


def from_another(metric: str) -> Callable[[Values, Values], Values]:
    """Return an error: the value of another model."""
    return lambda own, other: own | {("both", metric): other["both", metric]}


def from_the_tail(metric: str) -> Callable[[Values, Values], Values]:
    """Return an error: the value of the tail side in place of the value of both sides."""
    return lambda own, _: own | {("both", metric): own["tail", metric]}


ERRORS: Mapping[str, Callable[[Values, Values], Values]] = {
    "none": lambda own, _: own,
    "MRR x 0.8": scaled("mrr", 0.8),
    "MRR x 0.9": scaled("mrr", 0.9),
    "MRR x 1.1": scaled("mrr", 1.1),
    "MRR of another model": from_another("mrr"),
    "MRR of the tail side": from_the_tail("mrr"),
    "MRR / 100": scaled("mrr", 0.01),
    "Hits@1 x 1.1": scaled("hits@1", 1.1),
    "Hits@10 x 1.1": scaled("hits@10", 1.1),
    "Hits@10 of another model": from_another("hits@10"),
    "Hits@3, Hits@10 swapped": swapped("hits@3", "hits@10"),
    "MRR, Hits@1 swapped": swapped("mrr", "hits@1"),
    "MR x 0.5": scaled("mr", 0.5),
    "MR x 2": scaled("mr", 2.0),
    "MR of another model": from_another("mr"),
}


MR_ERRORS = ("MR x 0.5", "MR x 2", "MR of another model")
PLANTED = {
    "MRR, Hits": tuple(error for error in ERRORS if not error.startswith("MR ")),
    "MR, MRR, Hits": ("none", *MR_ERRORS, "Hits@10 x 1.1"),
    "MR, MRR, Hits, GMR": ("none", *MR_ERRORS, "MRR x 1.1", "Hits@10 x 1.1"),
    "MR, MRR, Hits, median": ("none", *MR_ERRORS),
    "MR, MRR, Hits, AMRI": ("none", *MR_ERRORS),
    "MRR, Hits of both sides and each": ("none", "MRR x 1.1", "MRR of the tail side", "Hits@10 x 1.1"),
}


def draw_model(
    counts: Mapping[str, FloatArray], ranges: tuple[tuple[float, float], ...], seed: int
) -> Values:
    """Return all values of a model whose MRR and mean rank are in the ranges; counts: N of each task by side."""
    rng = np.random.default_rng(seed)
    while True:
        location, spread = rng.uniform(0.5, 4.0), rng.uniform(0.5, 2.5)
        below, hopeless = rng.uniform(0.0, 1.5), rng.choice([0.0, rng.uniform(0.0, 0.3)])
        ranks = {}
        for side, shift in (("head", below), ("tail", 0.0)):
            lead = location - shift + spread * rng.standard_normal(counts[side].size)
            beaten_by = np.where(rng.random(lead.size) < hopeless, rng.random(lead.size), special.ndtr(-lead))
            ranks[side] = 1.0 + rng.binomial(counts[side].astype(np.int64) - 1, beaten_by)
        if rng.random() < 0.25:
            for side, each in ranks.items():
                tied = (each > 3) & (each < counts[side]) & (rng.random(each.size) < 0.1)
                ranks[side] = each + 0.5 * tied
        ranks["both"] = np.concatenate([ranks["head"], ranks["tail"]])
        values = {
            (side, metric): float(metric_value(metric, each))
            for side, each in ranks.items()
            for metric in ("mr", "mrr", *HITS, "gmr", "median")
        }
        if all(
            low <= values["both", metric] <= high
            for metric, (low, high) in zip(("mrr", "mr"), ranges, strict=True)
        ):
            most = np.concatenate([counts["head"], counts["tail"]]).mean()
            values["both", "amri"] = 1 - (values["both", "mr"] - 1) / ((most + 1) / 2 - 1)
            return values


def printed(metric: str, value: float) -> str:
    """Return a value as tables print it."""
    if metric in ("mr", "gmr", "median"):
        return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{value:.4f}" if metric == "amri" else f"{value:.3f}"


def table(dataset: str, composition: str, error: str, models: list[Values]) -> pl.DataFrame:
    """Return the printed rows of all models in one composition with one error."""
    plant = ERRORS[error]
    planted = [plant(own, models[(number + 1) % len(models)]) for number, own in enumerate(models)]
    rows = [
        (dataset, str(number), side, metric, printed(metric, values[side, metric]))
        for number, values in enumerate(planted)
        for side in SIDES.get(composition, ("both",))
        for metric in COMPOSITIONS[composition]
    ]
    return pl.DataFrame(rows, schema=["dataset", "model", "side", "metric", "value"], orient="row")


def power(dataset: str, models: list[Values]) -> Iterator[tuple[object, ...]]:
    """Yield composition, dataset, error, found, impossible and the number of models."""
    for composition, errors in PLANTED.items():
        for error in errors:
            flagged = check(rescore(table(dataset, composition, error, models)))
            # The first `check` had no severities: each finding was impossible, or possible with ties only.
            proofs = flagged.filter(severity="impossible") if "severity" in flagged.columns else flagged
            shares = (found["model"].n_unique() / len(models) for found in (flagged, proofs))
            yield composition, dataset, error, *shares, len(models)


def candidates_of(dataset: str) -> dict[str, FloatArray]:
    """Return the number of candidates of every task of the test split, by side."""
    rows = load_candidates().filter(dataset=dataset, protocol="filtered", split="testing")
    return {
        side: np.repeat(
            *(rows.filter(side=side)[name].to_numpy() for name in ("num_candidates", "tasks"))
        ).astype(float)
        for side in ("head", "tail")
    }


def main() -> None:
    """Measure all data sets, print the shares over all of them, and write every line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--datasets", nargs="+", choices=RANGES, default=list(RANGES))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/power.csv"))
    arguments = parser.parse_args()
    lines: list[tuple[object, ...]] = []
    for dataset in arguments.datasets:
        counts = candidates_of(dataset)
        models = [draw_model(counts, RANGES[dataset], seed) for seed in range(arguments.models)]
        lines += power(dataset, models)
    columns = ["composition", "dataset", "error", "found", "impossible", "models"]
    whole = pl.DataFrame(lines, schema=columns, orient="row")
    write_text(whole.with_columns(pl.col("found", "impossible").round(4)).write_csv(), arguments.output)
    over_all = whole.group_by("composition", "error", maintain_order=True).agg(
        pl.col("found", "impossible").mean().round(3)
    )
    with pl.Config(tbl_rows=-1, tbl_width_chars=120, fmt_str_lengths=60):
        print(over_all)


if __name__ == "__main__":
    main()
