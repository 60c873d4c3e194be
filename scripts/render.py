"""Write the report: one HTML page that opens without network."""

from pathlib import Path

from scripts.job import run

import polars as pl

from rankadjust.base.io import read_csv, without_guards, write_text
from rankadjust.base.stages import RESCORED, check_sums, read_product
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.store import CANDIDATES, DATASETS, beside_database
from rankadjust.page.figures import read_figures, read_pictures
from rankadjust.page.material import BESIDE, Material
from rankadjust.page.report import report_page

# Names stay text, even where all of them are numbers.
_NAMES = dict.fromkeys(("file", "model", "dataset", "source", "source_line", "table"), pl.String)


def render(
    rescored: list[str],
    own: list[str],
    literature: list[str],
    comparison: list[str],
    figures: str,
    databases: list[str],
    registry: list[str],
    output: str,
) -> None:
    """Write the page; databases: that of the run, and the released one, each with its tables beside it."""
    database, released = databases
    known = load_registry(*registry)
    beside = (beside_database(database, name) for name in (CANDIDATES, DATASETS))
    check_sums(database, *beside, *comparison)
    by_name = {Path(path).stem: path for path in rescored}
    page = report_page(
        Material(
            tables={name: read_product(path, RESCORED, name) for name, path in by_name.items()},
            own=frozenset(own),
            literature=read_product(literature[0], RESCORED, BESIDE) if literature else None,
            comparison={Path(path).stem: compared(path) for path in comparison},
            charts=read_figures(Path(figures)),
            figures=read_pictures(Path(figures)),
            constants=Constants.from_files(database).over_file(released),
            datasets=_datasets(database, released),
            licences={name: dataset.licence for name, dataset in known.items() if dataset.licence},
        )
    )
    write_text(page, output)


def compared(path: str | Path) -> pl.DataFrame:
    """Read a table of results/comparison, with names that a spreadsheet would take for formulas as they were."""
    return without_guards(
        read_csv(path, infer_schema=True, infer_schema_length=None, schema_overrides=_NAMES)
    )


def _datasets(database: str, released: str) -> pl.DataFrame:
    """Return the counts of the run's data sets, and of the released data sets that the run lacks."""
    paths = [Path(path).with_name("datasets.tsv") for path in (database, released)]
    own, *others = [read_csv(path, separator="\t", infer_schema=True) for path in paths if path.exists()]
    missing = [other.join(own, on="dataset", how="anti", maintain_order="left") for other in others]
    return pl.concat([own, *missing], how="diagonal_relaxed")


if __name__ == "__main__":
    databases = [snakemake.input.database, snakemake.params.released]
    run(snakemake, render, databases=databases)
