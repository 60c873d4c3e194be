"""Count the filtered candidates of one data set under its protocols: a file of histograms, a file of pairs."""

from collections.abc import Sequence

from scripts.job import logged

from rankadjust.base.io import read_json, read_product, write_product
from rankadjust.counting.candidates import count_facts, count_protocols, under_protocols
from rankadjust.counting.protocols import Protocol


def count(triples: str, summary: str, protocols: Sequence[Protocol], histograms: str, pairs: str) -> None:
    isolated, rows = read_json(summary)["isolated_entities"], read_product(triples, "triples")
    if "position" in rows.columns:
        tables = count_facts(rows, protocols)
    else:
        counted = count_protocols(rows, protocols, isolated)
        names = [protocol.name for protocol in protocols]
        tables = under_protocols(dict(zip(names, counted, strict=True)))
    write_product(tables.histogram, histograms, "candidates")
    write_product(tables.pairs, pairs, "pairs")


if __name__ == "__main__":
    with logged(snakemake):
        count(**snakemake.input, protocols=snakemake.params.protocols, **snakemake.output)
