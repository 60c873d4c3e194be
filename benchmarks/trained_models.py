"""Two small models, trained with numpy: the rank files that docs/compare.md compares.

    python benchmarks/trained_models.py results/triples/Kinships.parquet tests/data/compare
    python benchmarks/trained_models.py results/triples/Nations.parquet tests/data/compare-datasets/nations --seeds 1
    python benchmarks/trained_models.py results/triples/Kinships.parquet tests/data/compare-datasets/kinships --seeds 1

DistMult (sum e_h w_r e_t) and ComplEx (Re sum e_h w_r conj(e_t)) with 32 real numbers an entity, relations with their
inverses, trained by Adam on the cross entropy of all entities (Lacroix et al. 2018), 12 epochs. Every triple of the
testing split is ranked on both sides under the protocol `filtered`; ranks are realistic. For each model and seed a
table is written: triple (its place in the split, from 1), side, rank. The same seeds give the same ranks on one
machine; another machine may round sums differently, so that single ranks may differ there.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.untrained_models import Queries, read_queries
from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.files import write_parquet

NUMBERS = 32
EPOCHS = 12
BATCH = 256
RATE = 0.02
SEEDS = (1, 2, 3)
# Penalty on the third power of the weights (N3).
PENALTY = 0.002


def complex_products(entities: FloatArray, relations: FloatArray) -> FloatArray:
    """Return e_h w_r as real numbers (b, NUMBERS): the first half are real parts, the second imaginary ones."""
    half = NUMBERS // 2
    real = entities[:, :half] * relations[:, :half] - entities[:, half:] * relations[:, half:]
    imaginary = entities[:, :half] * relations[:, half:] + entities[:, half:] * relations[:, :half]
    return np.concatenate([real, imaginary], axis=1)


def conjugate(numbers: FloatArray) -> FloatArray:
    """Return the complex conjugates of numbers (b, NUMBERS)."""
    half = NUMBERS // 2
    return np.concatenate([numbers[:, :half], -numbers[:, half:]], axis=1)


def scores(
    model: str, entities: FloatArray, relations: FloatArray, anchor: IntArray, relation: IntArray
) -> FloatArray:
    """Return the score of every entity as the answer of each query (b, entities)."""
    if model == "distmult":
        return (entities[anchor] * relations[relation]) @ entities.T
    return complex_products(entities[anchor], relations[relation]) @ entities.T


def train(model: str, triples: IntArray, shape: tuple[int, int], seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the weights of entities (n, NUMBERS) and of relations with their inverses (2 k, NUMBERS).

    triples: (t, 3) of the training split.
    """
    rng = np.random.default_rng(seed)
    number, kinds = shape
    weights = [0.1 * rng.standard_normal((number, NUMBERS)), 0.1 * rng.standard_normal((2 * kinds, NUMBERS))]
    first, second = ([np.zeros_like(part) for part in weights] for _ in range(2))
    head, relation, tail = triples.T
    anchor = np.concatenate([head, tail])
    asked = np.concatenate([relation, relation + kinds])
    answer = np.concatenate([tail, head])
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(anchor.size)
        for start in range(0, anchor.size, BATCH):
            batch = order[start : start + BATCH]
            step += 1
            gradients = _gradients(model, weights, anchor[batch], asked[batch], answer[batch])
            for place, gradient in enumerate(gradients):
                first[place] += 0.1 * (gradient - first[place])
                second[place] += 0.001 * (gradient**2 - second[place])
                scale = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
                weights[place] -= RATE * first[place] / (1 - 0.9**step) / scale
    return weights[0], weights[1]


def _gradients(
    model: str, weights: list[FloatArray], anchor: IntArray, asked: IntArray, answer: IntArray
) -> list[FloatArray]:
    """Return the gradients of the mean cross entropy and of the penalty."""
    entities, relations = weights
    found = scores(model, entities, relations, anchor, asked)
    found -= found.max(axis=1, keepdims=True)
    likely = np.exp(found)
    likely /= likely.sum(axis=1, keepdims=True)
    likely[np.arange(answer.size), answer] -= 1
    likely /= answer.size
    back = likely @ entities
    left, right = entities[anchor], relations[asked]
    if model == "distmult":
        product, of_anchor, of_asked = left * right, back * right, back * left
    else:
        product = complex_products(left, right)
        of_anchor, of_asked = (
            complex_products(back, conjugate(right)),
            complex_products(back, conjugate(left)),
        )
    of_entities = likely.T @ product
    of_relations = np.zeros_like(relations)
    np.add.at(of_entities, anchor, of_anchor + PENALTY * 3 * np.abs(left) * left / answer.size)
    np.add.at(of_relations, asked, of_asked + PENALTY * 3 * np.abs(right) * right / answer.size)
    return [of_entities, of_relations]


def ranked(model: str, weights: tuple[FloatArray, FloatArray], queries: Queries) -> pl.DataFrame:
    """Return triple, side and rank of every task."""
    kinds = queries.shape[1]
    asked = np.where(queries.is_tail, queries.relation, queries.relation + kinds)
    found = scores(model, *weights, queries.anchor, asked)
    own = found[np.arange(queries.answer.size), queries.answer]
    found[queries.filtered] = -np.inf
    better = (found > own[:, None]).sum(axis=1)
    alike = (found == own[:, None]).sum(axis=1) - 1
    triples = queries.answer.size // 2
    return pl.DataFrame(
        {
            "triple": np.tile(np.arange(1, triples + 1), 2),
            "side": np.where(queries.is_tail, "tail", "head"),
            "rank": 1 + better + alike / 2,
        }
    ).with_columns(pl.col("triple").cast(pl.Int32), pl.col("rank").cast(pl.Float32))


def main() -> None:
    """Train every model with every seed, and write its ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    arguments = parser.parse_args()
    queries = read_queries(arguments.triples)
    training = pl.read_parquet(arguments.triples).filter(split="training")
    triples = training.select("head", "relation", "tail").cast(pl.Int64).to_numpy()
    for model in ("distmult", "complex"):
        for seed in arguments.seeds:
            table = ranked(model, train(model, triples, queries.shape, seed), queries)
            path = arguments.folder / model / f"seed-{seed}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(table, path)
            mrr = (1 / table["rank"].cast(pl.Float64)).mean()
            print(f"{model}, seed {seed}: MRR {mrr:.4f}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
