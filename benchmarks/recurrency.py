r"""Measure what each difference between the recurrency baselines of Gastinger et al. (2024) and ours changes.

    python benchmarks/recurrency.py train.txt valid.txt test.txt > benchmarks/recurrency.csv

The files are the splits of ICEWS14-forecasting: head, relation, tail and time as integers. Every candidate gets its
score, so that the first row is also a check of `recurrency`: single-step, under `time-aware`, testing, both sides.
Their score of a candidate that held at the times s before the time t is alpha * sum(2^(lambda * (s - t))) / (the same
sum over all times) + (1 - alpha) * popularity. They choose lambda, then alpha, for each relation and side by the MRR
on validation, and rank candidates in float32, the tied in the order of their ids. Two minutes of one core.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

LAMBDAS = (0, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.5, 0.9, 1.0001)
NAMES = ("head", "relation", "tail", "time")
ALPHAS = (0, 0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1)
# What they use for a relation that validation lacks, and instead of alpha = 1.
UNTUNED = (1.0001, 0.99999)
# The score of a candidate that never held is its popularity minus this, where it has to be below all that ever held.
BELOW = 2.0

Array = np.ndarray


@dataclass(frozen=True)
class Moment:
    """The tasks of one relation, side and time, and the past of their candidates.

    Candidates that the relation has as answers are columns; `rest` others never held and are not popular. row, answer:
    the query and the column of the true answer of each task. known: the answers at this time (queries, columns). last:
    the latest time at which a candidate held, 0 if it never did. decayed: for each lambda the sums of their score.
    early: popularity among the distinct training pairs. late: popularity among all triples before this time. lines: the
    place of each task in its file. ids: the entity of each column.
    """

    row: Array
    answer: Array
    known: Array
    last: Array
    decayed: Array
    early: Array
    late: Array
    rest: int
    lines: Array
    ids: Array


Score = Callable[[Moment, float, float], tuple[Array, float]]


def moments(
    triples: pl.DataFrame, entities: int, split: str
) -> Iterator[tuple[tuple[str, int], list[Moment]]]:
    """Yield for each relation and side its moments of a split, in the order of times."""
    for side, other in (("tail", "head"), ("head", "tail")):
        for (relation,), own in triples.partition_by("relation", as_dict=True, maintain_order=True).items():
            if split in own["split"]:
                yield (side, relation), list(of_relation(own, side, other, entities, split))


def of_relation(own: pl.DataFrame, side: str, other: str, entities: int, split: str) -> Iterator[Moment]:
    query = np.unique(own[other].to_numpy(), return_inverse=True)[1]
    ids, column = np.unique(own[side].to_numpy(), return_inverse=True)
    columns, time = int(column.max()) + 1, own["when"].to_numpy()
    asked = (own["split"] == split).to_numpy()
    training = (own["split"] == "training").to_numpy()
    pairs = np.unique(np.stack([query, column])[:, training], axis=1)
    early = np.bincount(pairs[1], minlength=columns) / max(np.unique(pairs[0]).size, 1)
    events = np.unique(np.stack([time, query, column]), axis=1)
    for now in np.unique(time[asked]):
        tasks = np.flatnonzero(asked & (time == now))
        queries, row = np.unique(query[tasks], return_inverse=True)
        known = np.zeros((queries.size, columns), bool)
        present = np.flatnonzero((time == now) & np.isin(query, queries))
        known[np.searchsorted(queries, query[present]), column[present]] = True
        past = events[:, events[0] < now]
        mine = past[:, np.isin(past[1], queries)]
        cell = np.searchsorted(queries, mine[1]) * columns + mine[2]
        last = np.zeros(known.size, np.int64)
        np.maximum.at(last, cell, mine[0])
        steps = np.arange(past[0].min(), past[0].max()) if past.size else np.zeros(0)
        decayed = np.stack(
            [
                np.bincount(cell, 2.0 ** (decay * (mine[0] - now)), known.size)
                / max(np.sum(2.0 ** (decay * (steps - now))), 1e-15)
                for decay in LAMBDAS
            ]
        )
        late = np.bincount(past[2], minlength=columns) / max(past.shape[1], 1)
        shape = known.shape
        yield Moment(
            row, column[tasks], known, last.reshape(shape), decayed.reshape(-1, *shape), early, late,
            entities - columns, tasks, ids,
        )  # fmt: skip


# The scores: of every column, and of a candidate that never held and is not popular.


def recent(popularity: str) -> Score:
    """Return ours: the latest time, and popularity below all that ever held."""

    def score(moment: Moment, _decay: float, _weight: float) -> tuple[Array, float]:
        return np.where(moment.last > 0, moment.last, getattr(moment, popularity) - BELOW), -BELOW

    return score


def decayed_first(moment: Moment, decay: float, _weight: float) -> tuple[Array, float]:
    """Return their sums instead of the latest time, and our popularity below all that ever held."""
    sums = moment.decayed[LAMBDAS.index(decay)]
    return np.where(moment.last > 0, sums, moment.early - BELOW), -BELOW


def decayed_alone(moment: Moment, decay: float, _weight: float) -> tuple[Array, float]:
    return moment.decayed[LAMBDAS.index(decay)], 0.0


def mixed(popularity: str) -> Score:
    """Return their weighted sum."""

    def score(moment: Moment, decay: float, weight: float) -> tuple[Array, float]:
        sums = moment.decayed[LAMBDAS.index(decay)]
        return weight * sums + (1 - weight) * getattr(moment, popularity), 0.0

    return score


# The ranks


def terms(moment: Moment, score: tuple[Array, float], harmonic: Array) -> Array:
    """Return E[1 / rank] and P(rank <= 10) of each task, over all orders of the tied (2, tasks)."""
    values, least = score
    own = values[moment.row, moment.answer][:, None]
    others = ~moment.known[moment.row]
    above = np.sum(others & (values[moment.row] > own), axis=1)
    tied = 1 + np.sum(others & (values[moment.row] == own), axis=1) + moment.rest * (own[:, 0] == least)
    first = np.clip(10 - above, 0, tied) / tied
    return np.stack([(harmonic[above + tied] - harmonic[above]) / tied, first])


def by_id(moment: Moment, score: tuple[Array, float]) -> Array:
    """Return 1 / rank and rank <= 10 of each task as their program ranks: in float32, the tied in the order of ids."""
    values, least = 1000 * score[0].astype(np.float32), np.float32(1000 * score[1])
    answer = moment.answer[:, None]
    own = np.take_along_axis(values[moment.row], answer, axis=1)
    others = ~moment.known[moment.row]
    before = (values[moment.row] == own) & (np.arange(values.shape[1]) < answer)
    above = np.sum(others & ((values[moment.row] > own) | before), axis=1)
    lower = moment.ids[moment.answer] - moment.answer
    rank = 1 + above + lower * (own[:, 0] == least)
    return np.stack([1 / rank, rank <= 10])


def chosen(
    validation: Mapping[tuple[str, int], list[Moment]], score: Score, harmonic: Array, alphas: bool
) -> dict[tuple[str, int], tuple[float, float]]:
    """Return lambda and alpha of each relation and side, by the MRR on validation."""

    def mrr(of_relation: list[Moment], one: Score, decay: float, weight: float) -> float:
        found = [terms(moment, one(moment, decay, weight), harmonic)[0] for moment in of_relation]
        return float(np.concatenate(found).mean())

    best = {}
    for key, of_relation in validation.items():
        first = decayed_alone if alphas else score
        # max takes the first of equals, as their program does.
        decay = max(LAMBDAS, key=lambda one: mrr(of_relation, first, one, 1.0))
        weights = ALPHAS if alphas else (1.0,)
        weight = max(weights, key=lambda one: mrr(of_relation, score, decay, one))
        best[key] = decay, min(weight, UNTUNED[1])
    return best


def stale(of_relation: list[Moment]) -> list[Moment]:
    """Return the moments as their first program has them: a query without a past keeps the sums of the task before."""
    kept, found = None, []
    for moment in of_relation:
        sums = moment.decayed[:, moment.row].copy()
        has_past = moment.last[moment.row].max(axis=1) > 0
        for task in np.argsort(moment.lines, kind="stable"):
            if not has_past[task] and kept is not None:
                sums[:, task] = kept
            kept = sums[:, task]
        found.append(
            Moment(
                np.arange(moment.row.size), moment.answer, moment.known[moment.row], moment.last[moment.row],
                sums, moment.early, moment.late, moment.rest, moment.lines, moment.ids,
            )
        )  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs=3, type=Path, help="train.txt, valid.txt and test.txt")
    triples = pl.concat(
        pl.read_csv(path, separator="\t", has_header=False)
        .select(pl.nth(place).alias(name) for place, name in enumerate(NAMES))
        .with_columns(split=pl.lit(split))
        for split, path in zip(("training", "validation", "testing"), parser.parse_args().files, strict=True)
    ).with_columns(when=pl.col("time").rank("dense").cast(pl.Int64))
    entities = pl.concat([triples["head"], triples["tail"]]).n_unique()
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1.0, entities + 1)))
    validation, testing = (dict(moments(triples, entities, split)) for split in ("validation", "testing"))
    untuned = dict.fromkeys(testing, UNTUNED)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["scorer", "mrr", "hits@10"])

    def write(
        name: str,
        score: Score,
        best: Mapping[tuple[str, int], tuple[float, float]],
        ids: bool = False,
        kept: bool = False,
    ) -> None:
        found = []
        for key, of_relation in testing.items():
            for moment in stale(of_relation) if kept else of_relation:
                one = score(moment, *best.get(key, UNTUNED))
                found.append(by_id(moment, one) if ids else terms(moment, one, harmonic))
        writer.writerow([name, *(f"{value:.10f}" for value in np.concatenate(found, axis=1).mean(axis=1))])
        sys.stdout.flush()

    ours = recent("early")
    write("recurrency", ours, untuned)
    write("with popularity in all that was before", recent("late"), untuned)
    write("with tuned decay", decayed_first, chosen(validation, decayed_first, harmonic, alphas=False))
    best = chosen(validation, mixed("early"), harmonic, alphas=True)
    write("with tuned decay and weight of popularity", mixed("early"), best)
    write("with ties in the order of ids", ours, untuned, ids=True)
    best = chosen(validation, mixed("late"), harmonic, alphas=True)
    write("theirs but for ties", mixed("late"), best)
    write("theirs", mixed("late"), best, ids=True)
    write("theirs with sums kept from the task before", mixed("late"), best, ids=True, kept=True)
    write("theirs without popularity", decayed_alone, best, ids=True)
    write("theirs without popularity with sums kept", decayed_alone, best, ids=True, kept=True)


if __name__ == "__main__":
    main()
