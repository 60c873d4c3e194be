"""Count the filtered candidates of one data set under its protocols: a file of histograms, a file of pairs."""

from collections.abc import Sequence

from scripts.job import run

from rankadjust.base.stages import (
    CANDIDATES,
    PAIRS,
    SUMMARY,
    TRIPLES,
    read_product,
    read_product_json,
    write_product,
)
from rankadjust.counting.candidates import count_protocols, under_protocols
from rankadjust.counting.protocols import Protocol


def count(
    triples: str, summary: str, dataset: str, protocols: Sequence[Protocol], histograms: str, pairs: str
) -> None:
    isolated = read_product_json(summary, SUMMARY, dataset)["isolated_entities"]
    names = [protocol.name for protocol in protocols]
    counted = count_protocols(read_product(triples, TRIPLES, dataset), protocols, isolated)
    tables = under_protocols(dict(zip(names, counted, strict=True)))
    write_product(tables.histogram, histograms, CANDIDATES, dataset)
    write_product(tables.pairs, pairs, PAIRS, dataset)


if __name__ == "__main__":
    run(snakemake, count)
