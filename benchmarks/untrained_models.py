"""Metrics of models with random initial weights, beside what the two null models say of them.

    python benchmarks/untrained_models.py results/triples/{Nations,Kinships,UMLS}.parquet

TransE, DistMult, ComplEx and RotatE with d = 32 dimensions are drawn and never trained. Every triple of the testing
split is ranked on both sides (protocol `filtered`, realistic ranks) by the scores of

    TransE    -||e_h + w_r - e_t||_2        weights uniform on +-6 / sqrt(d), relations of length 1 (Bordes et al. 2013)
    DistMult  sum e_h w_r e_t               weights standard normal
    ComplEx   Re sum e_h w_r conj(e_t)      real and imaginary parts standard normal
    RotatE    -sum |e_h exp(i w_r) - e_t|   real and imaginary parts standard normal, w_r uniform on +-pi

For each model and metric the table holds mean and standard error of z_random_scorer over the draws, the standard
deviation of the metric over that of each null, the share of draws with a z outside +-1.96, and the share of queries
whose best entity is their own anchor. Where a null describes a model, the first three are 0, 1 and 0.05. The same seed
gives the same file.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankadjust.base.arrays import ComplexArray, FloatArray, IntArray
from rankadjust.base.files import write_text
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.chance.random_scorer import random_scorer_variance
from rankadjust.counting.candidates import count_candidates

DIMENSIONS = 32
METRICS = ("arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_10")


@dataclass(frozen=True)
class Queries:
    """The tasks of one split, both sides. All arrays but `shape` and `filtered` have one value a task.

    anchor, relation, answer: of each task; is_tail: whether the tail is asked for. filtered: true for a known answer
    that is not the true one (tasks, entities). shape: numbers of entities and relations.
    """

    anchor: IntArray
    relation: IntArray
    answer: IntArray
    is_tail: NDArray[np.bool_]
    filtered: NDArray[np.bool_]
    shape: tuple[int, int]


def read_queries(path: Path) -> Queries:
    """Read results/triples/<dataset>.parquet; all its triples are known, and the `testing` triples are evaluated."""
    frame = pl.read_parquet(path)
    columns = ["head", "relation", "tail"]
    known = frame.select(columns).unique(maintain_order=True).cast(pl.Int64).to_numpy()
    head, relation, tail = frame.filter(split="testing").select(columns).cast(pl.Int64).to_numpy().T
    entities, relations = int(known[:, [0, 2]].max()) + 1, int(known[:, 1].max()) + 1
    is_known = np.zeros((entities, relations, entities), dtype=np.bool_)
    is_known[tuple(known.T)] = True
    filtered = np.concatenate([is_known[:, relation, tail].T, is_known[head, relation]])
    answer = np.concatenate([head, tail])
    filtered[np.arange(answer.size), answer] = False
    return Queries(
        anchor=np.concatenate([tail, head]),
        relation=np.concatenate([relation, relation]),
        answer=answer,
        is_tail=np.arange(answer.size) >= head.size,
        filtered=filtered,
        shape=(entities, relations),
    )


def transe(queries: Queries, rng: np.random.Generator) -> FloatArray:
    """Return scores (tasks, entities)."""
    bound = 6 / DIMENSIONS**0.5
    entities, relations = (rng.uniform(-bound, bound, (size, DIMENSIONS)) for size in queries.shape)
    relations /= np.linalg.norm(relations, axis=1, keepdims=True)
    sign = np.where(queries.is_tail, 1.0, -1.0)[:, None]
    return -distances(entities[queries.anchor] + sign * relations[queries.relation], entities)


def rotate(queries: Queries, rng: np.random.Generator) -> FloatArray:
    """Return scores (tasks, entities)."""
    entities = complex_normal(queries.shape[0], rng)
    angles = rng.uniform(-np.pi, np.pi, (queries.shape[1], DIMENSIONS))
    sign = np.where(queries.is_tail, 1.0, -1.0)[:, None]
    # |h exp(i w) - t| = |t exp(-i w) - h|: a head is sought around the tail that is turned back.
    turned = entities[queries.anchor] * np.exp(1j * sign * angles[queries.relation])
    return -np.stack([np.abs(each - entities).sum(axis=1) for each in turned])


def distmult(queries: Queries, rng: np.random.Generator) -> FloatArray:
    """Return scores (tasks, entities)."""
    entities, relations = (rng.standard_normal((size, DIMENSIONS)) for size in queries.shape)
    return (entities[queries.anchor] * relations[queries.relation]) @ entities.T


def complex_bilinear(queries: Queries, rng: np.random.Generator) -> FloatArray:
    """Return scores (tasks, entities) of ComplEx."""
    entities, relations = (complex_normal(size, rng) for size in queries.shape)
    anchor, relation = entities[queries.anchor], relations[queries.relation]
    # Of a tail t the score is Re(h w conj(t)); of a head h it is Re(w conj(t) h) = Re(conj(w) t conj(h)).
    left = anchor * np.where(queries.is_tail[:, None], relation, relation.conj())
    return (left @ entities.conj().T).real


def complex_normal(size: int, rng: np.random.Generator) -> ComplexArray:
    return rng.standard_normal((size, DIMENSIONS)) + 1j * rng.standard_normal((size, DIMENSIONS))


def distances(points: FloatArray, entities: FloatArray) -> FloatArray:
    """Return the Euclidean distances (tasks, entities)."""
    squares = (points**2).sum(axis=1)[:, None] + (entities**2).sum(axis=1) - 2 * points @ entities.T
    return np.sqrt(np.maximum(squares, 0.0))


MODELS: Mapping[str, Callable[[Queries, np.random.Generator], FloatArray]] = {
    "TransE": transe,
    "DistMult": distmult,
    "ComplEx": complex_bilinear,
    "RotatE": rotate,
}


def ranks(scores: FloatArray, queries: Queries) -> FloatArray:
    """Return the realistic rank of each task."""
    true_score = scores[np.arange(queries.answer.size), queries.answer][:, None]
    candidates = ~queries.filtered
    better = ((scores > true_score) & candidates).sum(axis=1)
    equal = ((scores == true_score) & candidates).sum(axis=1)
    return better + (equal + 1) / 2


def anchor_first(scores: FloatArray, queries: Queries) -> float:
    """Return how often the best of all entities is the query's own anchor."""
    return float((scores.argmax(axis=1) == queries.anchor).mean())


def draw(queries: Queries, model: str, draws: int, seed: int) -> Iterator[tuple[FloatArray, float]]:
    """Yield the ranks of each draw of a model, and how often its queries' best entity is the anchor."""
    for rng in np.random.default_rng([seed, list(MODELS).index(model)]).spawn(draws):
        scores = MODELS[model](queries, rng)
        yield ranks(scores, queries), anchor_first(scores, queries)


def nulls(path: Path) -> dict[str, tuple[float, float, float]]:
    """Return the expectation of each metric, and its standard deviation under both nulls, for both sides."""
    counted = count_candidates(pl.read_parquet(path), "filtered")
    histogram = counted.histogram.filter(split="testing")
    pairs = counted.pairs.filter(split="testing")
    found = {}
    for key in METRICS:
        moments = metric_moments(key, histogram["num_candidates"].to_numpy(), histogram["tasks"].to_numpy())
        random_scorer, _ = random_scorer_variance(key, histogram, pairs, "both", "filtered")
        found[key] = (moments.expectation, moments.variance**0.5, random_scorer**0.5)
    return found


def measure(path: Path, draws: int, seed: int) -> list[dict[str, object]]:
    """Return one row for each model and metric."""
    queries, chance = read_queries(path), nulls(path)
    rows = []
    for model in MODELS:
        drawn = list(draw(queries, model, draws, seed))
        anchors = float(np.mean([share for _, share in drawn]))
        all_ranks = np.stack([each for each, _ in drawn])
        for key in METRICS:
            metric = resolve(key)
            expectation, independent, random_scorer = chance[key]
            values = metric.term(all_ranks, np.full_like(all_ranks, np.nan)).mean(axis=1)
            sign = 1 if metric.increasing else -1
            z = sign * (values - expectation) / random_scorer
            sd = float(values.std(ddof=1))
            rows.append(
                {
                    "dataset": path.stem,
                    "model": model,
                    "metric": metric.label,
                    "mean_z": round(float(z.mean()), 2),
                    "mean_z_error": round(float(z.std(ddof=1)) / draws**0.5, 2),
                    "sd_over_independent": round(sd / independent, 2),
                    "sd_over_random_scorer": round(sd / random_scorer, 2),
                    # For normal values; the error of the other ratio is in proportion.
                    "sd_error": round(sd / random_scorer / (2 * (draws - 1)) ** 0.5, 2),
                    "outside_1.96": round(float((np.abs(z) > 1.96).mean()), 3),
                    "anchor_first": round(anchors, 3),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", nargs="+", type=Path, help="results/triples/<dataset>.parquet")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/untrained_models.csv"))
    arguments = parser.parse_args()
    frame = pl.DataFrame(
        [row for path in arguments.triples for row in measure(path, arguments.draws, arguments.seed)]
    )
    write_text(frame.write_csv(), arguments.output)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160):
        print(frame)


if __name__ == "__main__":
    main()
