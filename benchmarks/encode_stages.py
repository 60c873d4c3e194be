"""Measure the steps of the job that encodes a graph of text: reading, numbering, summary, warnings, writing.

    python benchmarks/large_graph.py /tmp/graph
    python benchmarks/encode_stages.py /tmp/graph

It takes a folder of `large_graph.py` and encodes the graph into a temporary folder, as rule `encode` does but without
the checks of fetched files. Each line has a step, its CPU seconds and its seconds by the clock; the last line has the
most memory.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from rankadjust.base.stages import LABELS, TRIPLES, write_product
from rankadjust.data.encoding import encode
from rankadjust.data.notices import warnings
from rankadjust.data.reading import read_triples
from rankadjust.data.registry import load_registry
from rankadjust.data.summary import summarise


class Stopwatch:
    """Prints the time since it was last asked."""

    def __init__(self) -> None:
        self.last = time.process_time(), time.perf_counter()

    def lap(self, step: str) -> None:
        """Print a step that has just ended."""
        now = time.process_time(), time.perf_counter()
        cpu, clock = (end - start for end, start in zip(now, self.last, strict=True))
        print(f"{step:10}{cpu:6.2f}{clock:8.2f}", flush=True)
        self.last = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    dataset = load_registry(folder / "large-graph.yaml")["large-graph"]
    watch = Stopwatch()
    splits = {name: read_triples(folder / f"{name}.txt", dataset.format) for name in dataset.splits}
    watch.lap("reading")
    encoded = encode(splits)
    watch.lap("numbering")
    counts = summarise(encoded, dataset)
    watch.lap("summary")
    warnings(encoded, counts, dataset)
    watch.lap("warnings")
    with tempfile.TemporaryDirectory() as written:
        write_product(encoded.triples, Path(written) / "triples.parquet", TRIPLES, dataset.name)
        write_product(encoded.labels, Path(written) / "labels.parquet", LABELS, dataset.name)
        watch.lap("writing")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
