"""Write what is known of every task of one data set under one protocol, to be joined with ranks."""

from scripts.job import run

from rankadjust.base.stages import (
    LABELS,
    SUMMARY,
    TASKS,
    TRIPLES,
    read_product,
    read_product_json,
    write_product,
)
from rankadjust.baselines.tasks import tasks_with_baselines
from rankadjust.counting.attributes import task_attributes
from rankadjust.counting.protocols import Protocol


def tasks(
    triples: str, labels: str, summary: str, dataset: str, protocol: Protocol, baselines: bool, table: str
) -> None:
    isolated = read_product_json(summary, SUMMARY, dataset)["isolated_entities"]
    known, names = read_product(triples, TRIPLES, dataset), read_product(labels, LABELS, dataset)
    listed = tasks_with_baselines if baselines else task_attributes
    attributes = listed(known, names, protocol, isolated)
    write_product(attributes, table, TASKS, f"{dataset} ({protocol.name})")


if __name__ == "__main__":
    run(snakemake, tasks, table=snakemake.output[0])
