r"""Measure what counting the baselines of data sets costs in time and memory, each in a process of its own.

    python benchmarks/baselines.py results/triples/FB15k-237.parquet ...
    python benchmarks/large_graph.py FOLDER --write npy && python benchmarks/baselines.py FOLDER/large-graph.yaml

A file of integer triples as the workflow writes it is measured under all named protocols that apply, with the metrics
of the release but for order statistics; a graph of large_graph.py under `filtered`, with MR, MRR and Hits@k.
"""

import argparse
import resource
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from rankadjust.base.vocabulary import SPLITS
from rankadjust.baselines.table import METRICS, baselines_tables
from rankadjust.baselines.tally import count_standings
from rankadjust.chance.metrics import expand, resolve
from rankadjust.counting.protocols import applies, load_protocols

_RELEASED = ("mr", "mrr", "gmr", "igmr", "imr", "hmr", "hits@1", "hits@3", "hits@5", "hits@10", "ndcg", "auc")


def measured(path: Path) -> tuple[int, float, float, float, float]:
    """Return triples, CPU seconds of counting and of everything, wall seconds of everything, and most memory in GB."""
    is_large = path.suffix == ".yaml"
    triples = large_graph(path) if is_large else pl.read_parquet(path)
    present = [name for name in SPLITS if name in set(triples["split"].cast(pl.String).unique())]
    known = load_protocols()
    protocols = [known["filtered"]] if is_large else list(known.values())
    protocols = [one for one in protocols if not applies(one, triples.columns, present)]
    metrics = expand(METRICS, (1, 3, 5, 10)) if is_large else list(map(resolve, _RELEASED))
    start, began = time.process_time(), time.perf_counter()
    standings = count_standings(triples, protocols)
    counted = time.process_time() - start
    baselines_tables(standings, metrics, protocols)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return triples.height, counted, time.process_time() - start, time.perf_counter() - began, most


def large_graph(path: Path) -> pl.DataFrame:
    """Return a graph as `large_graph.py` writes it as npy."""
    files = yaml.safe_load(path.read_text(encoding="utf-8"))["large-graph"]["sources"][0]["files"]
    parts = (
        pl.DataFrame(
            np.load(path.parent / file).astype(np.uint32), schema=["head", "relation", "tail"]
        ).select(pl.lit(split, pl.Enum(SPLITS)).alias("split"), pl.all())
        for split, file in files.items()
    )
    return pl.concat(parts, rechunk=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    print("triples,CPU s of counting,CPU s,s,GB,file")
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for path, row in zip(arguments.files, pool.imap(measured, arguments.files), strict=True):
            triples, *numbers = row
            print(triples, *(f"{number:.3g}" for number in numbers), path, sep=",", flush=True)


if __name__ == "__main__":
    main()
