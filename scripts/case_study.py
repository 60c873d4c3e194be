"""Hold the printed adjustments of the case study against what reproduces them and against the correct ones."""

from pathlib import Path

from scripts.job import run

from rankadjust.base.io import SUM, write_csv, write_sums
from rankadjust.base.stages import RESCORED, check_sums, read_product
from rankadjust.database.constants import Constants
from rankadjust.literature.case_study import audit


def case_study(rescored: str, database: str, csv: str) -> None:
    check_sums(database)
    audited = audit(
        read_product(rescored, RESCORED, Path(rescored).stem), Constants.from_files(database).table
    )
    write_csv(audited, csv)
    write_sums([csv], f"{csv}{SUM}")


if __name__ == "__main__":
    run(snakemake, case_study)
