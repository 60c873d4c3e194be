"""Read the published files of one data set and write integer triples, labels and a one-page summary."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from scripts.job import job

from rankadjust.base.files import write_parquet, write_text
from rankadjust.base.progress import progress, told
from rankadjust.data.encoding import encode
from rankadjust.data.notices import in_one_line, warnings
from rankadjust.data.reading import read_entities, read_triples
from rankadjust.data.registry import ENTITIES, Dataset
from rankadjust.data.sources import published_names
from rankadjust.data.summary import check_expected, summarise


def encode_dataset(
    dataset: Dataset, folder: str, triples: str, labels: str, summary: str, tell: Callable[[str], None]
) -> None:
    names = published_names(Path(folder))
    paths = {split: Path(folder) / f"{split}.txt" for split in dataset.splits}
    sizes = [path.stat().st_size if path.exists() else 0 for path in paths.values()]
    with progress(f"reading {dataset.name}", sum(sizes), "bytes") as report:
        reading = (read_triples(path, dataset.format, names.get(split)) for split, path in paths.items())
        splits = dict(zip(paths, told(reading, sizes, report), strict=True))
    entities = dataset.entities and read_entities(
        Path(folder) / f"{ENTITIES}.txt", dataset.entities, names.get(ENTITIES)
    )
    encoded = encode(splits, entities)
    counts = summarise(encoded, dataset)
    tell(in_one_line(counts))
    known_difference = check_expected(counts, dataset)
    if known_difference:
        print(known_difference, file=sys.stderr)  # noqa: T201 - standard error is the job's log
    # They stay in the summary: the end of every run on this data set repeats them.
    counts["warnings"] = [f"{dataset.name}: {warning}" for warning in warnings(encoded, counts, dataset)]
    for warning in counts["warnings"]:
        tell(f"warning: {warning}")
    write_parquet(encoded.triples, triples)
    write_parquet(encoded.labels, labels)
    write_text(json.dumps(counts, indent=2) + "\n", summary)


if __name__ == "__main__":
    with job(snakemake) as tell:
        encode_dataset(
            snakemake.params.dataset,
            snakemake.input[0],
            snakemake.output.triples,
            snakemake.output.labels,
            snakemake.output.summary,
            tell,
        )
