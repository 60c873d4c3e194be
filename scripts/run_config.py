"""Write the configuration of the run as a file that makes the same run again."""

from scripts.job import job

from rankadjust.base.stages import CONFIGURATION, write_product_text

if __name__ == "__main__":
    with job(snakemake):
        write_product_text(snakemake.params.text, snakemake.output[0], CONFIGURATION, "results")
