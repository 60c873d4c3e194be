"""The table that PyKEEN's own command writes, beside our constants, and why they differ.

    python benchmarks/pykeen_record.py MIRROR --python PYTHON [--output benchmarks/pykeen_record.csv]

MIRROR is a folder of upstream files, <host>/<path>; PYTHON the interpreter of an environment with pykeen==1.11.1.
There `python -m pykeen.datasets expected-metrics` runs over our verified data sets that PyKEEN knows by name, and reads
the same files as we do, so that nothing is fetched. Its simulation has no seed; here it is given one, so that the
table can be made again. It draws SAMPLES samples, since with its own 10,000 the training splits take hours.
docs/upstream.md shows what comes out.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from rankadjust.base.io import write_csv
from rankadjust.data.archives import extract
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.data.sources import Http
from rankadjust.database.constants import Constants
from rankadjust.database.record import compare_record, read_record, record_summary

SAMPLES = 200
SPLITS = ("training", "validation", "testing")

# Runs in PyKEEN's environment: the folder has a folder for each data set, by PyKEEN's name.
OTHER_SIDE = """
import sys
from pathlib import Path
import numpy
from pykeen.datasets import EagerDataset, cli
from pykeen.triples import TriplesFactory

unseeded = numpy.random.default_rng
numpy.random.default_rng = lambda seed=None: unseeded(0 if seed is None else seed)

def instances(**_):
    for folder in sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir()):
        training = TriplesFactory.from_path(folder / "training.tsv")
        ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
        others = [TriplesFactory.from_path(folder / f"{split}.tsv", **ids) for split in ("validation", "testing")]
        yield folder.name, EagerDataset(training, others[1], others[0])

cli.iter_dataset_instances = instances
# With a lower limit the command does not try to upload what it wrote.
cli.main(["expected-metrics", "--min-triples", "0", "--output-directory", sys.argv[2], "--samples", sys.argv[3]])
"""


def main(mirror: Path, python: str, output: Path) -> None:
    """Write and print how many rows of PyKEEN's table differ for which reason, and by how much at most."""
    registry = load_registry()
    chosen = [each for each in registry.values() if each.verified and each.pykeen]
    with tempfile.TemporaryDirectory() as scratch:
        given, written = Path(scratch, "given"), Path(scratch, "written")
        for dataset in chosen:
            write_splits(dataset, mirror, given / str(dataset.pykeen))
        subprocess.run([python, "-c", OTHER_SIDE, given, written, str(SAMPLES)], check=True)
        record = read_record(written / "metric_adjustments.tsv.gz")
    compared = compare_record(record, Constants.released(), registry, SAMPLES)
    write_csv(record_summary(compared).sort("pykeen", "reason"), output)
    print(output.read_text(encoding="utf-8"), end="")


def write_splits(dataset: Dataset, mirror: Path, folder: Path) -> None:
    """Write the splits of a data set as PyKEEN reads them, from the mirror's copy of its published files."""
    folder.mkdir(parents=True)
    for file in next(files for files in dataset.sources if isinstance(files[0].source, Http)):
        assert isinstance(file.source, Http)
        url = urlsplit(file.source.url)
        path = mirror / url.netloc / url.path.lstrip("/")
        extract(path, path.name, {folder / f"{split}.txt": member for split, member in file.members.items()})
    for split in SPLITS:
        triples = read_triples(folder / f"{split}.txt", dataset.format).select("head", "relation", "tail")
        triples.write_csv(folder / f"{split}.tsv", separator="\t", include_header=False, quote_style="never")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/pykeen_record.csv"))
    options = parser.parse_args()
    main(options.mirror, options.python, options.output)
