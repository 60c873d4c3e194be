"""Check all rescored tables for contradictions, and show what adjustment changes across data sets."""

from collections.abc import Collection, Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_product, write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check, check_against
from rankadjust.literature.full_ranking import what_sampling_hides
from rankadjust.literature.summaries import (
    below_baselines,
    best_results,
    chance_share,
    not_above_chance,
    protocol_effect,
    surprising,
)


def compare(
    rescored: Sequence[str],
    literature: Sequence[str],
    database: str,
    released: str,
    folder: Path,
    own: Collection[str] = (),
) -> None:
    """Write the tables; own: names of the tables that are the user's, whose models have places of their own."""
    constants = Constants.from_files(database).over_file(released)
    parts = {Path(path).stem: path for path in rescored}
    results = pl.concat(
        [
            read_product(path, "rescored").with_columns(own=pl.lit(name in own))
            for name, path in parts.items()
        ],
        how="diagonal",
    )
    beside = [read_product(path, "rescored").with_columns(own=False) for path in literature]
    findings = [check(results, constants), *(check_against(results, others) for others in beside)]
    contradictions = pl.concat(findings, how="diagonal")
    tables = {
        "contradictions": contradictions,
        "chance-share": chance_share(results),
        "protocol-effect": protocol_effect(results),
        "best-results": best_results(results, contradictions=contradictions),
        "not-above-chance": not_above_chance(results, contradictions),
        "below-baselines": below_baselines(results),
        "what-sampling-hides": what_sampling_hides(results),
        "below-baselines-most": surprising(results, contradictions),
    }
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv")


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0]).parent
        compare(
            given.rescored,
            given.literature,
            given.database[0],
            given.released[0],
            folder,
            snakemake.params.own,
        )
