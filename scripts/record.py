"""Write PyKEEN's published constants beside ours, and draw by how much they differ and why."""

from pathlib import Path

from scripts.job import logged, tell

from rankadjust.base.io import write_csv, write_text
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.record import LACKING, compare_record, read_record
from rankadjust.output.pictures import record_picture


def record(published: str, database: str, released: str, comparison: str, figure: str) -> None:
    constants = Constants.from_files(database).over_file(released)
    compared = compare_record(
        read_record(Path(published, "metric_adjustments.txt")), constants, load_registry()
    )
    for reason, number in compared["reason"].value_counts(sort=True).iter_rows():
        tell(f"{number:,} constants: {reason}")
    lacking = compared.filter(reason=LACKING)["pykeen"].unique(maintain_order=True)
    if len(lacking):
        tell(f"{LACKING}: {', '.join(lacking)}")
    write_csv(compared, comparison)
    write_text(record_picture(compared), figure)


if __name__ == "__main__":
    with logged(snakemake):
        given = snakemake.input
        record(given.published, given.database[0], given.released[0], *snakemake.output)
