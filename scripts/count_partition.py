"""Count the filtered candidates of a part of one data set's relations, within the memory of the job."""

from collections.abc import Sequence

from scripts.job import run

from rankadjust.base.stages import (
    CANDIDATES,
    PAIRS,
    SUMMARY,
    TRIPLES,
    check_product,
    part_of,
    read_product_json,
    write_product,
)
from rankadjust.counting.candidates import count_blocks, under_protocols
from rankadjust.counting.memory import ASIDE
from rankadjust.counting.protocols import Protocol
from rankadjust.data.blocks import encoded_blocks


def count_partition(
    triples: str,
    summary: str,
    dataset: str,
    protocols: Sequence[Protocol],
    part: tuple[int, int],
    memory: float,
    histograms: str,
    pairs: str,
) -> None:
    """Count one part. part: its number from 0 on, and how many there are."""
    isolated = read_product_json(summary, SUMMARY, dataset)["isolated_entities"]
    check_product(triples, TRIPLES, dataset)
    names = [protocol.name for protocol in protocols]
    counted = count_blocks(
        encoded_blocks(triples), protocols, memory - ASIDE, isolated, part=part[0], parts=part[1]
    )
    tables = under_protocols(dict(zip(names, counted, strict=True)))
    of = part_of(dataset, *part)
    write_product(tables.histogram, histograms, CANDIDATES, of)
    write_product(tables.pairs, pairs, PAIRS, of)


if __name__ == "__main__":
    part = int(snakemake.wildcards.partition), snakemake.params.partitions
    run(snakemake, count_partition, part=part, memory=snakemake.resources.mem_mb * 1e6)
