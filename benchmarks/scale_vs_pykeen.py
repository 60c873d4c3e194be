"""Text to candidate counts of one large graph: this library beside PyKEEN 1.11.1, time and memory of both.

    python benchmarks/large_graph.py /tmp/graph
    python benchmarks/scale_vs_pykeen.py /tmp/graph --pykeen FOLDER/bin/python [--repeats 3]

Both read the text of three splits and count the candidates of every task on both sides with known triples filtered,
in turn, each in a process of its own; medians are printed. --pykeen is the Python of an environment with PyKEEN
(`python -m venv FOLDER`, `FOLDER/bin/pip install pykeen==1.11.1`). PyKEEN's counts leave the true answer out and drop
triples with entities that training lacks, which changes the work little.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

COMMON = """
import json, resource, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
def done(begun, loaded):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    ends = time.perf_counter(), time.process_time()
    print(json.dumps([loaded - begun[0], ends[0] - loaded, ends[0] - begun[0], ends[1] - begun[1], peak / 1e9]))
"""
OWN = """
import polars
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format
begun = time.perf_counter(), time.process_time()
texts = {split: read_triples(folder / f"{split}.txt", Format()) for split in ("training", "validation", "testing")}
triples = encode(texts).triples
del texts
loaded = time.perf_counter()
count_candidates(triples, "filtered")
done(begun, loaded)
"""
THEIRS = """
import logging
logging.disable(logging.WARNING)
from pykeen.evaluation.evaluator import get_candidate_set_size
from pykeen.triples import TriplesFactory
begun = time.perf_counter(), time.process_time()
training = TriplesFactory.from_path(folder / "training.txt")
ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
others = [TriplesFactory.from_path(folder / f"{split}.txt", **ids) for split in ("validation", "testing")]
splits = [factory.mapped_triples for factory in (training, *others)]
loaded = time.perf_counter()
for number, split in enumerate(splits):
    known = splits[:number] + splits[number + 1 :]
    get_candidate_set_size(split, additional_filter_triples=known, num_entities=training.num_entities)
done(begun, loaded)
"""


def measured(python: str, code: str, folder: Path) -> list[float]:
    command = [python, "-c", COMMON + code, str(folder)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    seconds: list[float] = json.loads(answer.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pykeen", required=True, help="Python of an environment with PyKEEN")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    programs = {"rankadjust": (sys.executable, OWN), "PyKEEN": (given.pykeen, THEIRS)}
    turns = [
        {name: measured(*program, given.folder) for name, program in programs.items()}
        for _ in range(given.repeats)
    ]
    for name in programs:
        load, count, whole, cpu, peak = map(
            statistics.median, zip(*(turn[name] for turn in turns), strict=True)
        )
        print(
            f"{name:11} load {load:7.1f} s  count {count:7.1f} s  together {whole:7.1f} s, {cpu:7.1f} CPU s  "
            f"peak {peak:5.2f} GB"
        )


if __name__ == "__main__":
    main()
