"""Write the configuration of the run as a file that makes the same run again."""

from scripts.job import logged

from rankadjust.base.io import write_text

if __name__ == "__main__":
    with logged(snakemake):
        write_text(snakemake.params.text, snakemake.output[0])
