"""Measure what sealing and checking the files between the stages costs, in CPU seconds, on a large graph.

    python benchmarks/large_graph.py FOLDER --write npy
    python benchmarks/seal_cost.py FOLDER

Encodes and counts the graph under one protocol, as a whole and as the first of 4 and of 16 parts, and says which share
of each was spent on the seals (rankadjust/base/stages.py). Text, more protocols and the moments make the share smaller.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.count import count
from scripts.count_partition import count_partition
from scripts.encode import encode_dataset

from rankadjust.base import stages
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.download import fetch_dataset
from rankadjust.data.registry import load_registry

NAME = "large-graph"
MEMORY = 8e9


class Clock:
    """CPU seconds spent in some functions."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed."""

        def measured(*arguments: Any) -> Any:  # noqa: ANN401
            start = time.process_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.process_time() - start

        return measured


def measure(folder: Path, made: Path) -> None:
    clock = Clock()
    stages._wrong, stages._stamp = clock.timed(stages._wrong), clock.timed(stages._stamp)
    dataset = load_registry(folder / f"{NAME}.yaml")[NAME]
    fetch_dataset(NAME, dataset.sources, made / "bytes", cache=made / "cache", mirror=None, offline=True)
    triples, labels, summary, histograms, pairs = (str(made / name) for name in "tlshp")
    protocols = [get_protocol("filtered")]
    steps: dict[str, Callable[[], None]] = {
        "encode": lambda: encode_dataset(
            dataset, str(made / "bytes"), triples, labels, summary, MEMORY, print
        ),
        "count": lambda: count(triples, summary, NAME, protocols, histograms, pairs),
    }
    for parts in (4, 16):
        steps[f"count part 0 of {parts}"] = lambda parts=parts: count_partition(
            triples, summary, NAME, protocols, (0, parts), MEMORY / 4, histograms, pairs
        )
    for name, step in steps.items():
        clock.seconds, start = 0.0, time.process_time()
        step()
        spent = time.process_time() - start
        print(f"{name}: {spent:.2f} s, seals take {clock.seconds:.2f} s of it, {clock.seconds / spent:.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of large_graph.py")
    with tempfile.TemporaryDirectory() as made:
        measure(parser.parse_args().folder, Path(made))
