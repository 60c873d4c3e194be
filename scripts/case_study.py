"""Hold the printed adjustments of the case study against what reproduces them and against the correct ones."""

from scripts.job import logged

from rankadjust.base.io import read_product, write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.case_study import audit


def case_study(rescored: str, database: str, output: str) -> None:
    write_csv(audit(read_product(rescored, "rescored"), Constants.from_files(database).table), output)


if __name__ == "__main__":
    with logged(snakemake):
        case_study(snakemake.input.rescored, snakemake.input.database[0], snakemake.output[0])
