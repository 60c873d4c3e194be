"""Write the report: one HTML page that opens without network."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_csv, without_guards, write_text
from rankadjust.base.stages import read_product
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.page.figures import read_figures
from rankadjust.page.material import Material
from rankadjust.page.report import report_page

# Names stay text, even where all of them are numbers.
_NAMES = dict.fromkeys(("file", "model", "dataset", "source", "source_line", "table"), pl.String)


def render(
    rescored: Sequence[str],
    own: Sequence[str],
    literature: Sequence[str],
    comparison: Sequence[str],
    figures: str,
    databases: tuple[str, str],
    registry: Sequence[str],
    output: str,
) -> None:
    """Write the page. databases: that of the run, and the released one."""
    database, released = databases
    known = load_registry(*registry)
    page = report_page(
        Material(
            tables={Path(path).stem: read_product(path, "rescored") for path in rescored},
            own=frozenset(own),
            literature=read_product(literature[0], "rescored") if literature else None,
            comparison={Path(path).stem: compared(path) for path in comparison},
            figures=read_figures(Path(figures)),
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
    with logged(snakemake):
        render(
            snakemake.input.rescored,
            snakemake.params.own,
            snakemake.input.literature,
            snakemake.input.comparison,
            snakemake.input.figures,
            (snakemake.input.database[0], snakemake.input.released[0]),
            snakemake.input.registry,
            snakemake.output[0],
        )
