"""Constants of PyKEEN 1.11.1 beside ours, for its data sets whose files are here, and why they differ.

    python benchmarks/upstream_constants.py MIRROR --python PYTHON [--output benchmarks/upstream_constants.csv]

MIRROR is a folder of upstream files, <host>/<path>; PYTHON the interpreter of an environment with pykeen==1.11.1.
Both sides read the same files, and nothing is fetched. PyKEEN computes what `pykeen datasets expected-metrics` does:
the sizes of the candidate sets of the testing split from `get_candidate_set_size`, and from them expectation and
variance, with 10,000 samples (the default there) where it has no closed form; here its generator is seeded, so that
the table can be made again. Ours is the protocol `pykeen`, and `pykeen-published`, which leaves the true answer out as
that function does. docs/upstream.md shows the table.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import Moments, metric_moments
from rankadjust.counting.candidates import count_protocols
from rankadjust.data.archives import extract
from rankadjust.data.reading import read_triples
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.data.sources import Http

SAMPLES = 10_000
SPLITS = ("training", "validation", "testing")
METRICS = {
    "arithmetic_mean_rank": "ArithmeticMeanRank",
    "inverse_harmonic_mean_rank": "InverseHarmonicMeanRank",
    "hits_at_10": "HitsAtK",
    "geometric_mean_rank": "GeometricMeanRank",
    "inverse_geometric_mean_rank": "InverseGeometricMeanRank",
    "harmonic_mean_rank": "HarmonicMeanRank",
    "inverse_arithmetic_mean_rank": "InverseArithmeticMeanRank",
    "median_rank": "MedianRank",
    "inverse_median_rank": "InverseMedianRank",
}

# Runs in PyKEEN's environment: reads the folder of a data set, prints {metric: [E, Var, closed]} and the counts.
OTHER_SIDE = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np
from pathlib import Path
from pykeen.evaluation.evaluator import get_candidate_set_size
from pykeen.metrics import ranking
from pykeen.triples import TriplesFactory

given = json.load(sys.stdin)
folder = Path(given["folder"])
training = TriplesFactory.from_path(folder / "training.tsv")
others = [
    TriplesFactory.from_path(
        folder / f"{split}.tsv", entity_to_id=training.entity_to_id, relation_to_id=training.relation_to_id
    )
    for split in ("validation", "testing")
]
sizes = get_candidate_set_size(
    others[1].mapped_triples, additional_filter_triples=[training.mapped_triples, others[0].mapped_triples]
)
counts = sizes[["head_candidates", "tail_candidates"]].values.ravel()
found = {}
for key, name in given["metrics"].items():
    metric = getattr(ranking, name)()
    if metric.closed_expectation:
        moments = metric.expected_value(num_candidates=counts), metric.variance(num_candidates=counts)
    else:
        # What expected_value and variance do, with the same samples for both.
        values = metric.get_sampled_values(
            num_candidates=counts,
            num_samples=given["samples"],
            generator=np.random.default_rng(0),
            memory_intense=False,
        )
        moments = values.mean(), values.var(ddof=1)
    found[key] = [*map(float, moments), bool(metric.closed_expectation)]
json.dump({"tasks": int(counts.size), "least": int(counts.min()), "metrics": found}, sys.stdout)
"""


def main(mirror: Path, python: str, output: Path) -> None:
    """Write the table, a row per data set and metric, and print it."""
    rows = [row for dataset in chosen() for row in compared(dataset, mirror, python)]
    table = pl.DataFrame(rows, infer_schema_length=None)
    table.write_csv(output)
    print(markdown(table))


def markdown(table: pl.DataFrame) -> str:
    """Return the relative differences of the expectations in per cent: a row per data set, a column per metric."""
    header = ("data set", "tasks", *(resolve(key).label for key in METRICS))
    lines = [header, ("---",) * len(header)]
    for (name, tasks), rows in table.group_by("dataset", "tasks", maintain_order=True):
        found = dict(rows.select("metric", "difference").iter_rows())
        lines.append((str(name), f"{tasks:,}", *(f"{100 * found[key]:+.3g}" for key in METRICS)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def chosen() -> list[Dataset]:
    """Return the data sets that are here and that PyKEEN resolves by name."""
    return [dataset for dataset in load_registry().values() if dataset.verified and dataset.pykeen]


def compared(dataset: Dataset, mirror: Path, python: str) -> list[dict[str, Any]]:
    """Return the constants of both sides for the testing split, both sides together."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        frames = triples_of(dataset, mirror, folder)
        for split, frame in frames.items():
            frame.write_csv(
                folder / f"{split}.tsv", separator="\t", include_header=False, quote_style="never"
            )
        given = {"folder": scratch, "metrics": METRICS, "samples": SAMPLES}
        done = subprocess.run(
            [python, "-c", OTHER_SIDE], input=json.dumps(given), capture_output=True, text=True, check=True
        )
    theirs = json.loads(done.stdout)
    ours, published = (
        candidates.histogram.filter(split="testing")
        for candidates in count_protocols(frames, ["pykeen", "pykeen-published"])
    )
    assert theirs["tasks"] == ours["tasks"].sum(), dataset.name
    rows = []
    for key, (expectation, variance, closed) in theirs["metrics"].items():
        exact = moments_of(key, ours)
        without_truth = moments_of(key, published)
        rows.append(
            {
                "dataset": dataset.name,
                "pykeen": dataset.pykeen,
                "metric": key,
                "tasks": theirs["tasks"],
                "expectation_pykeen": expectation,
                "expectation": exact.expectation,
                "difference": expectation / exact.expectation - 1,
                "variance_pykeen": variance,
                "variance": exact.variance,
                "reason": reason(expectation, without_truth, theirs, closed=closed),
            }
        )
    return rows


def triples_of(dataset: Dataset, mirror: Path, folder: Path) -> dict[str, pl.DataFrame]:
    """Return the splits of a data set, read from the mirror's copy of its published files."""
    files = next(files for files in dataset.sources if isinstance(files[0].source, Http))
    for file in files:
        assert isinstance(file.source, Http)
        url = urlsplit(file.source.url)
        path = mirror / url.netloc / url.path.lstrip("/")
        extract(
            path, path.name, {folder / f"{split}.txt": member for split, member in file.members.items()}, {}
        )
    return {
        split: read_triples(folder / f"{split}.txt", dataset.format).select("head", "relation", "tail")
        for split in SPLITS
    }


def moments_of(key: str, histogram: pl.DataFrame) -> Moments:
    return metric_moments(resolve(key), histogram["num_candidates"], histogram["tasks"])


def reason(expectation: float, without_truth: Moments, theirs: dict[str, Any], *, closed: bool) -> str:
    """Return what explains PyKEEN's expectation, checked by reproducing it.

    Without the true answer, its closed forms are ours; what it simulates is within five standard errors.
    """
    if theirs["least"] == 0:
        return "the true answer left out: tasks with 0 candidates"
    assert without_truth.expectation is not None
    assert without_truth.variance is not None
    off = abs(expectation - without_truth.expectation)
    if closed and off <= 1e-9 * without_truth.expectation:
        return "the true answer left out"
    if not closed and off <= 5 * (without_truth.variance / SAMPLES) ** 0.5:
        return "the true answer left out; simulated"
    return "not explained"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/upstream_constants.csv"))
    options = parser.parse_args()
    main(options.mirror, options.python, options.output)
