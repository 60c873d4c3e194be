r"""Time and memory of every stage, from text to moments, for graphs of growing size; or beside PyKEEN 1.11.1.

    python benchmarks/scaling.py [--millions 1 2 5 10 22] [--repeats 3]
    python benchmarks/scaling.py --millions 22 --pykeen FOLDER/bin/python
    python benchmarks/scaling.py --millions 22 --write FOLDER

The first writes benchmarks/scaling.csv. Each stage is a process of its own: read (three text files), encode (their
labels), count (the protocol filtered, from integers) and moments (the metrics and nulls of the default configuration,
from histograms). Seconds are measured without the start of Python; peak memory is measured for the process, which
for encode holds the text too. Shown are medians of --repeats runs.

The second counts the candidates of every task from text, here and in PyKEEN, in turn. --pykeen is the Python of an
environment with pykeen==1.11.1. PyKEEN's counts leave the true answer out and drop triples with entities that training
lacks, which changes the work little.

The third only writes a graph: three splits, tab-separated labels like Wikidata's (Q104 P12 Q2600), entities whose
degrees follow a power law, and the registry file large-graph.yaml for the workflow:

    snakemake --cores 2 results/candidates/large-graph.parquet \
        --config registry=FOLDER/large-graph.yaml datasets=large-graph protocols=filtered

The same size gives the same bytes. Triples are drawn one by one, so that a few in a thousand occur twice, as they do
in real data sets.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from rankadjust.base.io import write_text

SPLITS = {"training": 0.98, "validation": 0.01, "testing": 0.01}
# Relations, and triples for each entity, as in Wikidata5M.
RELATIONS, TRIPLES_PER_ENTITY = 822, 22 / 4.57
# An entity drawn as entities * u^power, with u uniform, has a degree that falls like rank^(1/power - 1).
POWERS = (1.5, 3.0, 3.0)
BLOCK = 1 << 22
# Multiplying ids by this prime spreads the entities of high degree over all ids. The prime is too large to divide the
# number of entities, so different entities keep different ids.
SPREAD = 2_654_435_761

# A program gets the folder of the graph; `done` prints what was measured since `begun`, on Linux.
BEGIN = """
import json, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
def done():
    seconds, cpu = time.perf_counter() - begun[0], time.process_time() - begun[1]
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "peak_gigabytes": int(peak) * 1024 / 1e9}))
"""
START = "begun = time.perf_counter(), time.process_time()\n"
IMPORTS = """
import polars as pl
from rankadjust.base.io import write_parquet
from rankadjust.chance.metrics import expand
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format
triples, histogram, pairs = (folder / f"{name}.parquet" for name in ("triples", "histogram", "pairs"))
keys = ["arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_k", "geometric_mean_rank"]
metrics = expand([*keys, "inverse_geometric_mean_rank"], (1, 3, 5, 10))
"""
READ = """
texts = {split: read_triples(folder / f"{split}.txt", Format()) for split in ("training", "validation", "testing")}
"""
# Each stage keeps what the next one reads.
STAGES = {
    "read": [IMPORTS, START, READ, "done()"],
    "encode": [
        *(IMPORTS, READ, START, "encoded = encode(texts)\n"),
        "done()\nwrite_parquet(encoded.triples, triples)",
    ],
    "count": [
        *(
            IMPORTS,
            "given = pl.read_parquet(triples)\n",
            START,
            "found = count_candidates(given, 'filtered')\n",
        ),
        "done()\nwrite_parquet(found.histogram, histogram)\nwrite_parquet(found.pairs, pairs)",
    ],
    "moments": [
        *(IMPORTS, "given = pl.read_parquet(histogram), pl.read_parquet(pairs)\n", START),
        "moments_table(given[0], metrics)\nnulls_table(*given, 'filtered', metrics)\ndone()",
    ],
}
OWN = [
    IMPORTS,
    START,
    READ,
    "found = encode(texts).triples\ndel texts\ncount_candidates(found, 'filtered')\ndone()",
]
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
for number, split in enumerate(splits):
    known = splits[:number] + splits[number + 1 :]
    get_candidate_set_size(split, additional_filter_triples=known, num_entities=training.num_entities)
done()
"""


def write_graph(folder: Path, triples: int) -> None:
    """Write the three splits of a graph as text, and its registry file."""
    entities = max(1, round(triples / TRIPLES_PER_ENTITY))
    sizes = {split: round(triples * share) for split, share in SPLITS.items()}
    first = 0
    for split, size in sizes.items():
        with (folder / f"{split}.txt").open("wb") as file:
            for block in blocks(range(first, first + size), entities):
                # Wikidata's ids of entities have up to nine digits.
                block.select(
                    pl.format("Q{}", pl.col("head") * 26),
                    pl.format("P{}", "relation"),
                    pl.format("Q{}", pl.col("tail") * 26),
                ).write_csv(file, separator="\t", include_header=False)
        first += size
    files = {split: f"{split}.txt" for split in SPLITS}
    entry = {"sources": [{"kind": "local", "files": files}], "expected": {"triples": sizes}}
    write_text(yaml.safe_dump({"large-graph": entry}, sort_keys=False), folder / "large-graph.yaml")


def blocks(rows: range, entities: int) -> Iterator[pl.DataFrame]:
    """Yield the triples of these rows, block by block; each block has its own random generator."""
    for first in range(rows.start - rows.start % BLOCK, rows.stop, BLOCK):
        drawn = np.random.default_rng([0, first]).random((3, BLOCK))
        head, relation, tail = (
            (each**power * number).astype(np.int64)
            for each, power, number in zip(drawn, POWERS, (entities, RELATIONS, entities), strict=True)
        )
        columns = {"head": head * SPREAD % entities, "relation": relation, "tail": tail * SPREAD % entities}
        inside = slice(max(rows.start - first, 0), min(rows.stop - first, BLOCK))
        yield pl.DataFrame({name: column[inside] for name, column in columns.items()})


def measured(python: str, program: list[str], folder: Path) -> dict[str, float]:
    """Return what a program prints of itself."""
    command = [python, "-c", "".join([BEGIN, *program]), str(folder)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 2, 5, 10, 22])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pykeen", help="Python of an environment with PyKEEN")
    parser.add_argument("--write", type=Path, help="a folder for the graph")
    given = parser.parse_args()
    programs = {name: (sys.executable, program) for name, program in STAGES.items()}
    if given.pykeen:
        programs = {"rankadjust": (sys.executable, OWN), "PyKEEN": (given.pykeen, [THEIRS])}
    rows: list[dict[str, object]] = []
    for millions in given.millions:
        with tempfile.TemporaryDirectory() as scratch:
            folder = given.write or Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            write_graph(folder, round(millions * 1e6))
            if given.write:
                continue
            turns = [
                {name: measured(*program, folder) for name, program in programs.items()}
                for _ in range(given.repeats)
            ]
        for name in programs:
            medians = {key: statistics.median(turn[name][key] for turn in turns) for key in turns[0][name]}
            rows.append({"million_triples": millions, "stage": name, **medians})
            print(f"{millions:5g} M {name:10}", *(f"{value:8.2f} {key}" for key, value in medians.items()))
    if not (given.pykeen or given.write):
        write_text(pl.DataFrame(rows).write_csv(float_precision=2), "benchmarks/scaling.csv")


if __name__ == "__main__":
    main()
