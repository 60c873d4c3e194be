"""How many wrong mean ranks nobody can find, since plausible ranks have them and all other printed values.

    python benchmarks/wrong_mean_rank.py [--models 12] [--output benchmarks/wrong_mean_rank.csv]

Models are drawn and printed as in benchmarks/power.py, with MR as it is, half, double, or taken from the next model
drawn for the data set. benchmarks/plausible.py looks for ranks. The output has, for each composition, error and factor
of the wrong MR, the number of models and the share of them with such ranks. Some ten seconds; the same seed gives the
same file.
"""

import argparse
from pathlib import Path

import polars as pl

from benchmarks.plausible import is_plausible, read_components
from benchmarks.power import COMPOSITIONS, ERRORS, MR_ERRORS, RANGES, candidates_of, draw_model, table
from rankadjust.base.files import write_text


def how_wrong(error: str, factor: float) -> str:
    """Return the class of a wrong mean rank by the greater over the lesser of it and the true one."""
    if error != "MR of another model":
        return "all"
    return "below 1.25" if factor < 1.25 else "1.25 to 2" if factor < 2 else "above 2"


def plausible(dataset: str, number: int) -> list[tuple[object, ...]]:
    """Return composition, error, the factor of the wrong mean rank, and whether plausible ranks have all values."""
    counts = candidates_of(dataset)
    components = read_components(counts)
    models = [draw_model(counts, RANGES[dataset], seed) for seed in range(number)]
    lines: list[tuple[object, ...]] = []
    for composition in (name for name in COMPOSITIONS if name.startswith("MR,")):
        for error in ("none", *MR_ERRORS):
            rows = table(dataset, composition, error, models)
            for place, own in enumerate(models):
                wrong = ERRORS[error](own, models[(place + 1) % number])
                factor = wrong["both", "mr"] / own["both", "mr"]
                shown = dict(rows.filter(model=str(place)).select("metric", "value").iter_rows())
                lines.append(
                    (
                        composition,
                        error,
                        how_wrong(error, max(factor, 1 / factor)),
                        is_plausible(shown, components),
                    )
                )
    return lines


def main() -> None:
    """Look at all data sets, write the shares and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/wrong_mean_rank.csv"))
    arguments = parser.parse_args()
    lines = [line for dataset in RANGES for line in plausible(dataset, arguments.models)]
    whole = pl.DataFrame(lines, schema=["composition", "error", "factor", "plausible"], orient="row")
    shares = (
        whole.group_by("error", "factor", "composition")
        .agg(pl.len().alias("models"), pl.col("plausible").mean().round(4))
        .sort("error", "factor", "composition")
    )
    write_text(shares.write_csv(), arguments.output)
    with pl.Config(tbl_rows=-1, fmt_str_lengths=60):
        print(shares)


if __name__ == "__main__":
    main()
