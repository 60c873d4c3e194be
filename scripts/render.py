"""Write the report: one HTML page that opens without network."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

from rankadjust.base.io import read_product, write_text
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.page.figures import read_figures
from rankadjust.page.material import Material, read_comparison, read_counts
from rankadjust.page.report import report_page


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
            comparison={Path(path).stem: read_comparison(path) for path in comparison},
            figures=read_figures(Path(figures)),
            constants=Constants.from_files(database).over_file(released),
            datasets=read_counts(database, released),
            licences={name: dataset.licence for name, dataset in known.items() if dataset.licence},
        )
    )
    write_text(page, output)


if __name__ == "__main__":
    with logged(snakemake):
        given = snakemake.input
        render(
            given.rescored,
            snakemake.params.own,
            given.literature,
            given.comparison,
            given.figures,
            (given.database[0], given.released[0]),
            given.registry,
            snakemake.output[0],
        )
