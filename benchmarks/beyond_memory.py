"""Count a graph that is larger than the memory it may use: time and memory, under a limit that the system enforces.

    python benchmarks/large_graph.py /tmp/graph --triples 100000000 --write npy
    python benchmarks/beyond_memory.py /tmp/graph --gigabytes 4

Counts all splits and sides under --protocol from npy or Parquet files, whose triples are gone through once for each
group of relations that fits. The limit is on the data of the process (RLIMIT_DATA): memory beyond it is refused, and
the process fails. --compare counts without a limit first, as a whole, and compares the histograms.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import polars as pl

from rankadjust.counting.candidates import count_blocks, count_candidates
from rankadjust.data.blocks import integer_blocks

# What a process takes besides counting: Python and its libraries, a block, and tables over entities.
ASIDE = 0.7e9


def count(folder: Path, protocol: str, limit: float) -> None:
    """Count under a limit, and print what it took."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
    started = time.perf_counter()
    (candidates,) = count_blocks(partial(integer_blocks, files(folder)), [protocol], limit - ASIDE)
    seconds = time.perf_counter() - started
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    peak = int(line.split()[1]) * 1024 / 1e9
    print(
        json.dumps(
            {"seconds": seconds, "peak": peak, "counts": fingerprint(candidates.histogram, candidates.pairs)}
        )
    )


def fingerprint(*tables: pl.DataFrame) -> str:
    return "-".join(str(table.hash_rows().sum()) for table in tables)


def files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".npy", ".parquet")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--protocol", default="filtered")
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        count(given.folder, given.protocol, given.gigabytes * 1e9)
        return
    triples = sum(block.height for block in integer_blocks(files(given.folder)))
    command = [sys.executable, *sys.argv, "--child"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(answer.stdout)
    print(f"{os.cpu_count()} cores, {triples:,} triples, {given.protocol}, at most {given.gigabytes:g} GB")
    print(f"{found['seconds']:.0f} s, peak {found['peak']:.2f} GB")
    if given.compare:
        whole = count_candidates(pl.concat(integer_blocks(files(given.folder))), given.protocol)
        same = fingerprint(whole.histogram, whole.pairs) == found["counts"]
        print("the same counts as in memory" if same else "error: other counts than in memory")
        sys.exit(not same)


if __name__ == "__main__":
    main()
