"""Count the filtered candidates of one data set under its protocols: a file of histograms, a file of pairs."""

from collections.abc import Sequence

from scripts.job import logged

from rankadjust.base.io import read_json, read_product, write_product
from rankadjust.counting.candidates import count_encoded
from rankadjust.counting.protocols import Protocol


def count(triples: str, summary: str, protocols: Sequence[Protocol], histograms: str, pairs: str) -> None:
    isolated = read_json(summary)["isolated_entities"]
    tables = count_encoded(read_product(triples, "triples"), protocols, isolated)
    write_product(tables.histogram, histograms, "candidates")
    write_product(tables.pairs, pairs, "pairs")


if __name__ == "__main__":
    with logged(snakemake):
        count(**snakemake.input, protocols=snakemake.params.protocols, **snakemake.output)
