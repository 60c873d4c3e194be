"""How the negatives of an evaluation are drawn, among which candidates, and for how many tasks.

The user gives this by options, or names a data set. Then it comes from the histogram of the data set's candidates, or
from config/benchmarks.yaml if the histogram is missing.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.draw import Draw
from rankadjust.counting.protocols import Benchmark, load_benchmarks
from rankadjust.database.constants import Constants, Database
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.known_names import DATASET, known_name

WITHOUT, WITH = "without-replacement", "with-replacement"
NEGATIVES = (WITHOUT, WITH)

# Ways of drawing negatives that are not uniform: no bounds of the full ranking follow from them, for these reasons.
_NOT_UNIFORM = {
    "all": "all candidates are ranked, so the printed values are of the full ranking already",
    "by-degree": "some negatives are drawn by degree, and whether frequent entities beat the true answer more often "
    "than others is not known",
    "historical": "some negatives are earlier answers of the same query, and whether these beat the true answer more "
    "often than others is not known",
    "shared": "all tasks are ranked against one list, which has none of their own candidates",
    "typed": "the negatives have the type of the true answer, and no source says how many entities have it; give this "
    "number as --num-candidates, and the full ranking is the ranking among these entities",
}


@dataclass(frozen=True, eq=False)
class Setting:
    """An evaluation among sampled negatives.

    counts, times: how many tasks have how many candidates. assumed: all assumptions, in sentences.
    """

    draw: Draw
    counts: FloatArray
    times: FloatArray
    assumed: tuple[str, ...]


_RANKS = "both rankings break ties in the same way (optimistic, pessimistic or by one order), not by a mean"
_INDEPENDENT = (
    "every task has negatives of its own, drawn independently of the others; if the tasks of a batch share a list, "
    "--num-tasks is the number of lists"
)


@dataclass(frozen=True)
class Asked:
    """The options of `full_bounds` that describe the evaluation."""

    sampled: int
    negatives: str | None = None
    num_candidates: int | None = None
    tasks: int | None = None
    dataset: str | None = None
    protocol: str = "filtered"
    split: str | None = None
    side: str = "both"
    database: Database = None


def setting(asked: Asked) -> Setting:
    """Return the evaluation that the options describe.

    Raises RankadjustError if the options say too little, or if the negatives are not drawn uniformly.
    """
    _check(asked)
    why = [_RANKS, _INDEPENDENT]
    count = asked.num_candidates
    if asked.dataset is None:
        if count is None:
            raise RankadjustError("the number of candidates is missing; give --num-candidates or --dataset")
        if asked.negatives is None:
            why.append("the negatives are drawn uniformly, none of them twice")
        times = None if asked.tasks is None else np.array([asked.tasks])
        return _setting(Draw(asked.sampled, asked.negatives == WITH), np.array([count]), times, why)
    constants = Constants.given(asked.database)
    name, known = _benchmarks_of(constants, asked.dataset)
    drawn = _drawn(name, known, asked, count, why)
    # Benchmarks of a data set differ in the number of negatives, and have the same candidates and tasks.
    benchmark = next(iter(known), None)
    counts, times = _counted(constants, name, benchmark, asked, count, why)
    return _setting(Draw(asked.sampled, drawn == WITH), counts, times, why)


def _check(asked: Asked) -> None:
    for what, number, least in (
        ("sampled", asked.sampled, 1),
        ("num_candidates", asked.num_candidates, 2),
        ("tasks", asked.tasks, 1),
    ):
        if number is not None and number < least:
            raise RankadjustError(f"{what} is {number}; give a whole number from {least} on")
    if asked.negatives not in (None, *NEGATIVES):
        raise RankadjustError(f"negatives is '{asked.negatives}'; write {' or '.join(NEGATIVES)}")
    if asked.protocol.casefold().startswith("sampled-"):
        raise RankadjustError(
            f"{asked.protocol} is not a full ranking; --protocol is for the full ranking (filtered, raw), and "
            "--sampled for the number of negatives that the printed values have"
        )


def _setting(draw: Draw, counts: FloatArray, times: FloatArray | None, why: list[str]) -> Setting:
    if not draw.replacement and counts.max() <= draw.negatives:
        raise RankadjustError(
            f"{draw.negatives:,} different negatives cannot be drawn from {counts.max() - 1:,.0f} other "
            f"candidates; if an entity may be drawn twice, give --negatives {WITH}"
        )
    if times is None:
        raise RankadjustError("the number of tasks, on which the noise depends, is missing; give --num-tasks")
    return Setting(draw, counts.astype(np.float64), times.astype(np.float64), tuple(why))


@cache
def _benchmarks() -> list[Benchmark]:
    return load_benchmarks()


def _benchmarks_of(constants: Constants, dataset: str) -> tuple[str, list[Benchmark]]:
    """Return the name of a data set, and its benchmarks among sampled negatives."""
    sampled = [benchmark for benchmark in _benchmarks() if benchmark.protocol.negatives is not None]
    names = {*constants.table["dataset"].unique(), *(benchmark.dataset for benchmark in sampled)}
    name = known_name(DATASET, dataset, sorted(names), "the database", lambda: constants.registry)
    return name, [benchmark for benchmark in sampled if benchmark.dataset == name]


def _drawn(name: str, known: list[Benchmark], asked: Asked, count: int | None, why: list[str]) -> str:
    """Return how negatives are drawn, with or without replacement. known: the benchmarks of the data set."""
    same = [benchmark for benchmark in known if benchmark.protocol.negatives == asked.sampled]
    ways = sorted({benchmark.drawn for benchmark in same or known if benchmark.drawn is not None})
    if asked.negatives is not None:
        if same and ways not in ([], [asked.negatives]):
            why.append(f"the negatives are drawn as you say, not as {name} does it ({', '.join(ways)})")
        return asked.negatives
    if not ways:
        why.append("the negatives are drawn uniformly from the candidates of each task, none of them twice")
        return WITHOUT
    usual = " or ".join(sorted(f"{benchmark.protocol.negatives:,}" for benchmark in known))
    if ways in ([WITHOUT], [WITH]):
        if not same:
            how = "none of them twice" if ways == [WITHOUT] else "with replacement"
            why.append(
                f"{name} is evaluated with {usual} negatives; {asked.sampled:,} are drawn in the same way, uniformly "
                f"and {how}"
            )
        return ways[0]
    if ways == ["typed"] and count is not None:
        why.append(
            "the negatives have the type of the true answer, and so have the candidates of the full ranking"
        )
        return WITHOUT
    reasons = "; ".join(_NOT_UNIFORM[way] for way in ways if way in _NOT_UNIFORM)
    unlike = "" if same else f"it is evaluated with {usual} negatives, not {asked.sampled:,}, and there "
    raise RankadjustError(
        f"{name}: the full ranking has no bounds, because {unlike}{reasons}. If your negatives are drawn uniformly, "
        f"say so with --negatives {WITHOUT} or {WITH}"
    )


def _counted(
    constants: Constants,
    name: str,
    benchmark: Benchmark | None,
    asked: Asked,
    count: int | None,
    why: list[str],
) -> tuple[FloatArray, FloatArray | None]:
    """Return how many tasks have how many candidates.

    If a benchmark has no histogram, all its tasks have the same number of candidates.
    """
    split = asked.split or _split_of(benchmark)
    protocols = constants.table.filter(dataset=name)["protocol"].unique()
    of_set = known = None
    if asked.protocol in protocols or benchmark is None:
        known = EvaluationSet.of(constants, name, asked.protocol, split, asked.side)
        of_set = known.candidate_counts
    if of_set is not None and count is None:
        share = 1.0 if asked.tasks is None else asked.tasks / of_set.tasks.sum()
        return np.asarray(of_set.counts, np.float64), of_set.tasks * share
    ranked = None if known is None or known.tasks is None else float(known.tasks)
    if of_set is None and benchmark is not None and (triples := benchmark.tasks.get(split)) is not None:
        ranked = float(triples * (len(benchmark.sides) if asked.side == "both" else 1))
    number = ranked if asked.tasks is None else float(asked.tasks)
    entities = None if known is None else known.largest_count
    return np.array(
        [_entities_of(name, benchmark, count, entities, why)]
    ), None if number is None else np.array([number])


def _split_of(benchmark: Benchmark | None) -> str:
    # Benchmarks of inductive data sets evaluate on the inference graph.
    about = [] if benchmark is None else list(benchmark.tasks)
    return "inference_testing" if "inference_testing" in about else "testing"


def _entities_of(
    name: str, benchmark: Benchmark | None, count: int | None, entities: int | None, why: list[str]
) -> float:
    if count is not None:
        return float(count)
    if benchmark is None or benchmark.entities is None:
        all_entities = "" if entities is None else f" ({entities} if no known answer is left out)"
        raise RankadjustError(
            f"{name}: the number of candidates of a full ranking is not known; give --num-candidates{all_entities}"
        )
    why.append(
        f"every task has all {benchmark.entities:,} entities as candidates, because nobody counted how many known "
        "answers a filtered ranking leaves out"
    )
    return float(benchmark.entities)
