"""Text to candidate counts of one large graph: this library beside PyKEEN 1.11.1, time and memory of both.

    python benchmarks/large_graph.py /tmp/graph
    python benchmarks/scale_vs_pykeen.py /tmp/graph --pykeen FOLDER/bin/python [--repeats 3]

Both read the text of three splits and count the candidates of every task on both sides with known triples filtered,
in a process of their own, one after the other, --repeats times. --pykeen is the Python of an environment with PyKEEN
(`benchmarks/moments_vs_pykeen.py --venv FOLDER` makes one). PyKEEN's counts leave the true answer out and drop
triples with entities that training lacks, which changes the work little. Printed are medians; the exit code is 1
where this library is over a limit: --seconds, --gigabytes, --times as fast.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

COMMON = """
import json, resource, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
started = time.perf_counter()
def done(loaded):
    finished = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    seconds = {"load": loaded - started, "count": finished - loaded, "all": finished - started}
    print(json.dumps({**seconds, "peak": peak / 1e9}))
"""
OWN = """
import polars
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.encoding import encode
from rankadjust.data.reading import read_triples
from rankadjust.data.registry import Format
started = time.perf_counter()
texts = {split: read_triples(folder / f"{split}.txt", Format()) for split in ("training", "validation", "testing")}
triples = encode(texts).triples
del texts
loaded = time.perf_counter()
count_candidates(triples, "filtered")
done(loaded)
"""
THEIRS = """
import logging
logging.disable(logging.WARNING)
from pykeen.evaluation.evaluator import get_candidate_set_size
from pykeen.triples import TriplesFactory
started = time.perf_counter()
training = TriplesFactory.from_path(folder / "training.txt")
ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
others = [TriplesFactory.from_path(folder / f"{split}.txt", **ids) for split in ("validation", "testing")]
splits = [factory.mapped_triples for factory in (training, *others)]
loaded = time.perf_counter()
for number, split in enumerate(splits):
    known = splits[:number] + splits[number + 1 :]
    get_candidate_set_size(split, additional_filter_triples=known, num_entities=training.num_entities)
done(loaded)
"""


def run(python: str, code: str, folder: Path) -> dict[str, float]:
    command = [python, "-c", COMMON + code, str(folder)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--pykeen", help="Python of an environment with PyKEEN; without it only this library runs"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=22.0)
    parser.add_argument("--gigabytes", type=float, default=3.3)
    parser.add_argument("--times", type=float, default=15.0)
    given = parser.parse_args()
    programs = {"rankadjust": (sys.executable, OWN)}
    if given.pykeen:
        programs["PyKEEN"] = (given.pykeen, THEIRS)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for _ in range(given.repeats):
        for name, (python, code) in programs.items():
            runs[name].append(run(python, code, given.folder))
    print(f"{os.cpu_count()} cores, medians of {given.repeats}")
    medians = {
        name: {key: statistics.median(one[key] for one in found) for key in found[0]}
        for name, found in runs.items()
    }
    for name, found in medians.items():
        print(
            f"{name:11} load {found['load']:7.1f} s  count {found['count']:7.1f} s  "
            f"all {found['all']:7.1f} s  peak {found['peak']:5.2f} GB"
        )
    own = medians["rankadjust"]
    faster = medians["PyKEEN"]["all"] / own["all"] if given.pykeen else None
    if faster:
        print(f"{faster:.1f} times as fast")
    if own["all"] > given.seconds or own["peak"] > given.gigabytes or (faster and faster < given.times):
        sys.exit("error: over a limit")


if __name__ == "__main__":
    main()
