"""Add up the candidates of the parts of one data set: the same files as if it had been counted as a whole."""

from collections.abc import Sequence

from scripts.job import run

from rankadjust.base.stages import CANDIDATES, PAIRS, part_of, read_product, write_product
from rankadjust.counting.candidates import Candidates, add_up, of_protocol, under_protocols
from rankadjust.counting.protocols import Protocol


def add_partitions(
    histograms: Sequence[str],
    pairs: Sequence[str],
    dataset: str,
    protocols: Sequence[Protocol],
    whole: str,
    whole_pairs: str,
) -> None:
    parts = []
    for part, (histogram, pair) in enumerate(zip(histograms, pairs, strict=True)):
        of = part_of(dataset, part, len(histograms))
        parts.append(Candidates(read_product(histogram, CANDIDATES, of), read_product(pair, PAIRS, of)))
    names = [protocol.name for protocol in protocols]
    tables = under_protocols({name: add_up(of_protocol(part, name) for part in parts) for name in names})
    write_product(tables.histogram, whole, CANDIDATES, dataset)
    write_product(tables.pairs, whole_pairs, PAIRS, dataset)


if __name__ == "__main__":
    run(
        snakemake,
        add_partitions,
        **dict(snakemake.input.items()),
        whole=snakemake.output.histograms,
        whole_pairs=snakemake.output.pairs,
    )
