"""Write what is known of every task of one data set under one protocol, to be joined with ranks."""

from scripts.job import logged

from rankadjust.base.io import read_json, read_product, write_product
from rankadjust.baselines.tally import tasks_with_baselines
from rankadjust.counting.attributes import task_attributes
from rankadjust.counting.protocols import Protocol


def tasks(
    triples: str, labels: str, summary: str, protocol: Protocol, output: str, *, baselined: bool
) -> None:
    isolated = read_json(summary)["isolated_entities"]
    known, names = read_product(triples, "triples"), read_product(labels, "labels")
    listed = tasks_with_baselines if baselined else task_attributes
    write_product(listed(known, names, protocol, isolated), output, "tasks")


if __name__ == "__main__":
    with logged(snakemake):
        (protocol,) = snakemake.params.protocols
        tasks(
            **snakemake.input,
            protocol=protocol,
            output=snakemake.output[0],
            baselined=snakemake.params.baselined,
        )
