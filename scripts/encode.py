"""Read the published files of one data set and write integer triples, labels and a summary of one page."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.job import run

from rankadjust.base.progress import progress, reporting
from rankadjust.base.stages import LABELS, SUMMARY, TRIPLES, write_product, write_product_json
from rankadjust.data.encode import Encoded, encode
from rankadjust.data.read import read_entities, read_triples
from rankadjust.data.registry import ENTITIES, Dataset
from rankadjust.data.sources import published_names
from rankadjust.data.summary import check_expected, in_one_line, summarise, warnings


def encode_dataset(
    dataset: Dataset,
    folder: str,
    triples: str,
    labels: str,
    summary: str,
    tell: Callable[[str], None],
) -> None:
    counts, problems = encode_text(dataset, Path(folder), triples, labels, tell)
    # They stay in the summary: the end of every run on this data set repeats them.
    counts["warnings"] = [f"{dataset.name}: {warning}" for warning in problems]
    for warning in counts["warnings"]:
        tell(f"warning: {warning}")
    write_product_json(counts, summary, SUMMARY, dataset.name)


def encode_text(
    dataset: Dataset, folder: Path, triples: str, labels: str, tell: Callable[[str], None]
) -> tuple[dict[str, Any], list[str]]:
    encoded = read_text(dataset, folder)
    counts = summarise(encoded, dataset)
    accept(counts, dataset, tell)
    problems = warnings(encoded, counts, dataset)
    write_product(encoded.triples, triples, TRIPLES, dataset.name)
    write_product(encoded.labels, labels, LABELS, dataset.name)
    return counts, problems


def read_text(dataset: Dataset, folder: Path) -> Encoded:
    names = published_names(folder)
    paths = {split: folder / f"{split}.txt" for split in dataset.splits}
    sizes = [path.stat().st_size if path.exists() else 0 for path in paths.values()]
    with progress(f"reading {dataset.name}", sum(sizes), "bytes") as report:
        reading = (read_triples(path, dataset.format, names.get(split)) for split, path in paths.items())
        splits = dict(zip(paths, reporting(reading, sizes, report), strict=True))
    entities = dataset.entities and read_entities(
        folder / f"{ENTITIES}.txt", dataset.entities, names.get(ENTITIES)
    )
    return encode(splits, entities)


def accept(counts: Mapping[str, Any], dataset: Dataset, tell: Callable[[str], None]) -> None:
    """Say what was read, and raise where the registry expects something else."""
    tell(in_one_line(counts))
    known_difference = check_expected(counts, dataset)
    if known_difference:
        print(known_difference, file=sys.stderr)  # noqa: T201 - standard error is the job's log


if __name__ == "__main__":
    run(snakemake, encode_dataset, folder=snakemake.input[0])
