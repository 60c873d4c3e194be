"""Draw the figure of the case study: MRR as published, its adjusted index, and z."""

from scripts.job import logged

from rankadjust.base.io import read_product, write_text
from rankadjust.page.adjustment_figure import adjustment_figure


def figure(rescored: str, output: str) -> None:
    write_text(adjustment_figure(read_product(rescored, "rescored")), output)


if __name__ == "__main__":
    with logged(snakemake):
        figure(snakemake.input[0], snakemake.output[0])
