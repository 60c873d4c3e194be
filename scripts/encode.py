"""Read the published files of one data set and write integer triples, labels and a summary of one page."""

import json
import sys
from pathlib import Path

from scripts.job import logged, tell

from rankadjust.base.io import shipped, write_product, write_text
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import ENTITIES, SHIPPED, Dataset
from rankadjust.data.sources import fetched_files, published_names
from rankadjust.data.summary import check_expected, in_one_line, summarise, warnings


def encode_dataset(dataset: Dataset, folder: Path, triples: str, labels: str, summary: str) -> None:
    names = published_names(folder)
    splits = {
        split: read_triples(folder / f"{split}.txt", dataset.format, names.get(split))
        for split in dataset.splits
    }
    listed = folder / f"{ENTITIES}.txt"
    entities = None
    if dataset.entities:
        entities = read_triples(listed, dataset.entities, names.get(ENTITIES))["entity"]
    encoded = encode(splits, entities)
    counts = summarise(encoded, dataset)
    tell(in_one_line(counts))
    known_difference = check_expected(counts, dataset)
    if known_difference:
        print(known_difference, file=sys.stderr)  # noqa: T201 - standard error is the job's log
    # They stay in the summary: the end of every run on this data set repeats them.
    counts["warnings"] = [f"{dataset.name}: {warning}" for warning in warnings(encoded, counts, dataset)]
    # Whoever reads a registered data set first may send its summary (CONTRIBUTING.md).
    if not dataset.verified and dataset.origin == shipped(SHIPPED):
        counts["files"] = fetched_files(folder)
    for warning in counts["warnings"]:
        tell(f"warning: {warning}")
    write_product(encoded.triples, triples, "triples")
    write_product(encoded.labels, labels, "labels")
    write_text(json.dumps(counts, indent=2) + "\n", summary)


if __name__ == "__main__":
    with logged(snakemake):
        encode_dataset(snakemake.params.dataset, Path(snakemake.input[0]), **snakemake.output)
