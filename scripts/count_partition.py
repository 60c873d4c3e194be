"""Count the filtered candidates of a part of one data set's relations, within the memory of the job."""

import json
from collections.abc import Sequence
from pathlib import Path

from scripts.job import job

from rankadjust.base.files import write_parquet
from rankadjust.counting.candidates import count_blocks, under_protocols
from rankadjust.counting.memory import ASIDE
from rankadjust.counting.protocols import Protocol
from rankadjust.data.blocks import encoded_blocks


def count_partition(
    triples: str,
    summary: str,
    protocols: Sequence[Protocol],
    partition: int,
    partitions: int,
    memory: float,
    histograms: str,
    pairs: str,
) -> None:
    isolated = json.loads(Path(summary).read_text(encoding="utf-8"))["isolated_entities"]
    names = [protocol.name for protocol in protocols]
    counted = count_blocks(
        encoded_blocks(triples), protocols, memory - ASIDE, isolated, part=partition, parts=partitions
    )
    tables = under_protocols(dict(zip(names, counted, strict=True)))
    write_parquet(tables.histogram, histograms)
    write_parquet(tables.pairs, pairs)


if __name__ == "__main__":
    with job(snakemake):
        count_partition(
            snakemake.input.triples,
            snakemake.input.summary,
            snakemake.params.protocols,
            int(snakemake.wildcards.partition),
            snakemake.params.partitions,
            snakemake.resources.mem_mb * 1e6,
            snakemake.output.histograms,
            snakemake.output.pairs,
        )
