r"""Write a knowledge graph of any size: entities whose degrees follow a power law, three splits, always the same bytes.

    python benchmarks/large_graph.py FOLDER [--triples 22000000]

FOLDER gets training, validation and testing as tab-separated labels like Wikidata's (Q104 P12 Q2600), and
large-graph.yaml, a registry file with the graph as the data set `large-graph`:

    snakemake --cores 2 results/candidates/large-graph.parquet \
        --config registry=FOLDER/large-graph.yaml datasets=large-graph protocols=filtered

Numbers of entities and relations default to the proportions of Wikidata5M. Triples
are drawn one by one, so that a few in a thousand occur twice, as they do in real data sets.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import yaml
from polars.io.plugins import register_io_source

from rankadjust.base.frames import filled
from rankadjust.base.io import write_text

SPLITS = {"training": 0.98, "validation": 0.01, "testing": 0.01}
RELATIONS = 822
TRIPLES_PER_ENTITY = 22 / 4.57
# An entity drawn as entities * u^power, with u uniform, has a degree that falls like rank^(1/power - 1).
HEAD_POWER, RELATION_POWER, TAIL_POWER = 1.5, 3.0, 3.0
BLOCK = 1 << 22
# Multiplying ids by this prime spreads the entities of high degree over all ids. The prime is too large to divide the
# number of entities, so different entities keep different ids.
SPREAD = 2_654_435_761


def write_graph(folder: Path, triples: int, entities: int, relations: int, seed: int) -> None:
    """Write the three splits of a graph as text."""
    folder.mkdir(parents=True, exist_ok=True)
    first = 0
    sizes, files = {}, {}
    for split, share in SPLITS.items():
        rows = range(first, first + round(triples * share))
        first = rows.stop
        sizes[split], files[split] = len(rows), f"{split}.txt"
        write_split(folder / files[split], rows, entities, relations, seed)
    entry: dict[str, object] = {
        "sources": [{"kind": "local", "files": files}],
        "expected": {"triples": sizes},
    }
    write_text(yaml.safe_dump({"large-graph": entry}, sort_keys=False), folder / "large-graph.yaml")


def write_split(path: Path, rows: range, entities: int, relations: int, seed: int) -> None:
    def source(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        assert predicate is None
        assert limit is None
        yield from (frame.select(columns or pl.all()) for frame in blocks(rows, entities, relations, seed))

    schema = pl.Schema(dict.fromkeys(("head", "relation", "tail"), pl.Int32))
    graph = register_io_source(source, schema=schema, is_pure=True)
    # Wikidata's ids of entities have up to nine digits.
    entity = pl.col("head", "tail").cast(pl.Int64) * 26
    labels = graph.with_columns(entity, filled("P{}", "relation").alias("relation")).with_columns(
        filled("Q{}", name).alias(name) for name in ("head", "tail")
    )
    labels.sink_csv(path, separator="\t", include_header=False, maintain_order=True)


def blocks(rows: range, entities: int, relations: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the triples of these rows, block by block; each block has its own random generator."""
    for first in range(rows.start - rows.start % BLOCK, rows.stop, BLOCK):
        drawn = np.random.default_rng([seed, first]).random((3, BLOCK))
        columns = {
            "head": spread(drawn[0] ** HEAD_POWER * entities, entities),
            "relation": (drawn[1] ** RELATION_POWER * relations).astype(np.int32),
            "tail": spread(drawn[2] ** TAIL_POWER * entities, entities),
        }
        inside = slice(max(rows.start - first, 0), min(rows.stop - first, BLOCK))
        yield pl.DataFrame({name: column[inside] for name, column in columns.items()})


def spread(drawn: np.ndarray, entities: int) -> np.ndarray:
    return (drawn.astype(np.int64) * SPREAD % entities).astype(np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--triples", type=int, default=22_000_000)
    parser.add_argument("--entities", type=int, help="default: 1 for about 5 triples, as in Wikidata5M")
    parser.add_argument("--relations", type=int, default=RELATIONS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    entities = given.entities or max(1, round(given.triples / TRIPLES_PER_ENTITY))
    write_graph(given.folder, given.triples, entities, given.relations, given.seed)


if __name__ == "__main__":
    main()
