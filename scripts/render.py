"""Write the report: one HTML page that opens without network."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

from rankadjust.base.io import read_product, write_text
from rankadjust.database.constants import Constants
from rankadjust.page.material import Material, read_comparison
from rankadjust.page.report import report_page


def render(
    rescored: Sequence[str],
    own: Sequence[str],
    literature: Sequence[str],
    contradictions: Sequence[str],
    databases: tuple[str, str],
    output: str,
) -> None:
    """Write the page. databases: that of the run, and the released one."""
    database, released = databases
    page = report_page(
        Material(
            tables={Path(path).stem: read_product(path, "rescored") for path in rescored},
            own=frozenset(own),
            literature=read_product(literature[0], "rescored") if literature else None,
            contradictions=read_comparison(contradictions[0]) if contradictions else None,
            constants=Constants.from_files(database).over_file(released),
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
            given.contradictions,
            (given.database[0], given.released[0]),
            snakemake.output[0],
        )
