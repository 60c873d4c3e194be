"""How often intervals hold the truth, and tests err, where triples share queries or a few ranks are very bad.

    python benchmarks/clusters.py benchmarks/clusters.csv

`coverage`: the 95 % intervals of `evaluate`. `size`: how often `compare` finds a difference at 5 % between two models
with equal laws; `power`: the same where the logarithms of the second model's ranks are larger by 0.4. Triples share
queries in three ways: about three of them the tail query (`tail side`), the same on both sides with queries that cross
(`both sides`), and crossing queries whose sizes follow a power law (`few large`). The logarithm of a rank is a
constant, plus what is hard about the two queries, the triple and the task, all normal; in `independent` both sides
share queries, but these do not matter, and in `ties` ranks have few different values, the middles of ranges of tied
candidates. Clusters are triples, connected components of triples that share a query, and queries (the default, alone
with 3,000 triples in `size` and `power`).

`equal MR` and `equal median`: two models with equal values that are not exchangeable, on triples that share nothing:
swaps alone (without bootstrap samples for the median), and the verdict of `compare`. The same seed gives the same file.
It takes some ten minutes of one core.

    python benchmarks/clusters.py clusters_again.csv --again

The rule of large queries was chosen on test sets that are partly in the table above. `--again` draws others with
another seed, and shapes that were not used then: sizes by Zipf's law with other exponents, and the queries of the test
triples of Kinships. `warned` is the share of the sets where the command warns that an interval may be too short. It
takes some fifteen minutes of one core.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

from rankadjust import compare
from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.files import write_text
from rankadjust.chance.metrics import Metric, metric_value, resolve
from rankadjust.evaluation.clusters import clusters_of
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.evaluation.values import metric_values
from rankadjust.models.means import ClusterMeans
from rankadjust.models.paired import Model, Paired
from rankadjust.models.part import Part
from rankadjust.models.sign_flips import flip_means

SEED = 20261123
LEVEL = 0.05
REPLICATIONS = {100: 200, 300: 200, 3000: 100}
METRICS = ("mrr", "hits@10", "gmr")
SHARED = ("tail side", "both sides", "few large", "independent")
LAWS = (*SHARED, "ties")
# Where 0.90 and 0.95 have to differ visibly.
MORE = {("independent", 3000): 400}
CANDIDATES = 14_541
SHIFT = 0.4

AGAIN = SEED + 7
METRICS_AGAIN = ("mrr", "hits@10", "gmr", "mr")
KINSHIPS = Path("tests/data/compare/kinships-tasks.parquet")
ZIPF = {"few large": 0.7, "Zipf, exponent 1": 1.0, "Zipf, exponent 1.2": 1.2}
# Of the confirmation: how the triples share queries, and how many there are.
SETS_AGAIN = [
    *(("both sides", triples) for triples in (300, 1000)),
    *(("few large", triples) for triples in (100, 300, 1000, 3000)),
    *(("Zipf, exponent 1", triples) for triples in (300, 1000, 3000)),
    *(("Zipf, exponent 1.2", triples) for triples in (1000, 3000)),
    ("Kinships", 1074),
]

DIFFERENCES_AGAIN = [
    ("Zipf, exponent 1", 3000),
    ("few large", 1000),
    ("few large", 3000),
    ("both sides", 1000),
    ("Kinships", 1074),
]

Row = tuple[str, str, int, str, str, int, float]


def queries(triples: int, law: str, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the head and the tail query of each triple (n,)."""
    if law == "Kinships":
        tasks = pl.read_parquet(KINSHIPS, columns=["triple", "side", "query"]).sort("side", "triple")
        of_side = pl.col("query").rank("dense").over("side").cast(pl.Int64) - 1
        head, tail = tasks.select(of_side).to_series().to_numpy().reshape(2, triples)
        return head, tail
    if law in ZIPF:
        share = 1 / np.arange(1, triples // 3 + 1) ** ZIPF[law]
        head, tail = rng.choice(share.size, (2, triples), p=share / share.sum())
        return head, tail
    tail = np.repeat(np.arange(triples), rng.geometric(1 / 3, triples))[:triples]
    return (np.arange(triples) if law == "tail side" else rng.permutation(tail)), tail


def ranks(
    asked: tuple[IntArray, IntArray], law: str, rng: np.random.Generator, models: int, shift: float = 0.0
) -> FloatArray:
    """Return the ranks of models on the tasks of both sides (models, 2, triples)."""
    triples = asked[0].size
    logs = 1.5 + np.arange(models)[:, None, None] * shift
    for query in asked:
        hard = 0.8 * rng.standard_normal((models + 1, 1, triples))
        hard = hard if law == "independent" else hard[:, :, query]
        # If there are two models, half of the difficulty is common to both.
        logs = logs + (hard[:models] if models == 1 else np.sqrt(0.5) * (hard[:models] + hard[models:]))
    logs = logs + 0.7 * (
        rng.standard_normal((models, 1, triples)) + rng.standard_normal((models, 2, triples))
    )
    if law == "ties":
        # Steps of a factor of e: from 3 to 7 ranks are tied, from 8 to 20, ...
        logs = np.maximum(np.round(logs), 0) + 0.2
        return np.clip(np.round(2 * np.exp(logs)) / 2, 1, CANDIDATES)
    found: FloatArray = np.clip(np.ceil(np.exp(logs)), 1, CANDIDATES)
    return found


def frame(one: FloatArray, query: IntArray | None, asked: tuple[IntArray, IntArray]) -> pl.DataFrame:
    """Return the tasks of a model (2, triples) with a query, or with the queries of both sides."""
    triples = one.shape[1]
    return pl.DataFrame(
        {
            "triple": np.tile(np.arange(triples), 2),
            "side": np.repeat(["head", "tail"], triples),
            "rank": one.ravel(),
            "query": np.concatenate(asked) if query is None else np.tile(query, 2),
        }
    )


def clusters(asked: tuple[IntArray, IntArray]) -> dict[str, IntArray | None]:
    """Return the clusters of the triples by their kind; None: the queries of both sides."""
    head, tail = asked
    links = sparse.coo_array((np.ones(head.size), (head, tail + head.size)), shape=(2 * head.size,) * 2)
    component = sparse.csgraph.connected_components(links, directed=False)[1][head]
    return {"triples": np.arange(head.size), "components": component, "queries": None}


def truth() -> dict[str, float]:
    """Return the metrics of two million independent tasks."""
    rng = np.random.default_rng(SEED)
    law = np.clip(
        np.ceil(np.exp(1.5 + (2 * (0.8**2 + 0.7**2)) ** 0.5 * rng.standard_normal(2_000_000))), 1, CANDIDATES
    )
    return {metric: float(metric_value(metric, law)) for metric in METRICS_AGAIN}


def coverage(triples: int, law: str, replications: int, known: dict[str, float]) -> Iterator[Row]:
    """Yield the share of intervals that contain the true value, for each metric and kind of cluster."""
    rng = np.random.default_rng([SEED, triples, SHARED.index(law), 1])
    held: dict[tuple[str, str], list[bool]] = {}
    for replication in range(replications):
        asked = queries(triples, law, rng)
        (one,) = ranks(asked, law, rng, models=1)
        for kind, query in clusters(asked).items():
            if query is not None and replication >= REPLICATIONS[triples]:
                continue
            names = METRICS if query is None else METRICS[:1]
            tasks = tasks_of(frame(one, query, asked))
            metrics = [resolve(name) for name in names]
            found = metric_values(metrics, tasks, 200, replication).filter(side="both")
            for name, low, high in zip(names, found["value_low"], found["value_high"], strict=True):
                held.setdefault((name, kind), []).append(low is not None and low <= known[name] <= high)
    for (name, kind), each in held.items():
        yield "coverage", law, triples, name, kind, len(each), float(np.mean(each))


def again(replications: int = 500) -> Iterator[tuple[str, str, int, str, int, float, float]]:
    """Yield how often the intervals of `evaluate` over queries hold the truth, and have a warning, for each metric."""
    known, metrics = truth(), [resolve(name) for name in METRICS_AGAIN]
    limits = np.array([known[name] for name in METRICS_AGAIN])
    for law, triples in SETS_AGAIN:
        rng = np.random.default_rng([AGAIN, triples, len(law)])
        held = []
        for replication in range(replications):
            asked = queries(triples, law, rng)
            (one,) = ranks(asked, law, rng, models=1)
            rows = metric_values(metrics, tasks_of(frame(one, None, asked)), 200, AGAIN + replication)
            low, high, warning = rows.filter(side="both").select("value_low", "value_high", "warning")
            holds = (low.to_numpy() <= limits) & (limits <= high.to_numpy())
            held.append([holds, warning.is_not_null().to_numpy()])
        for name, share, warned in zip(METRICS_AGAIN, *np.mean(held, axis=0), strict=True):
            yield "evaluate", law, triples, name, replications, float(share), float(warned)


def differences_again(replications: int = 250) -> Iterator[tuple[str, str, int, str, int, float, float]]:
    """Yield how often the intervals of `compare` hold 0, the true difference of two models with equal laws."""
    metrics = [resolve(name) for name in METRICS_AGAIN]
    for law, triples in DIFFERENCES_AGAIN:
        rng, held = np.random.default_rng([78, triples, len(law)]), []
        for replication in range(replications):
            rows = differences_of_pair(triples, law, rng, metrics, flips=19, draws=200, seed=replication)
            low, high, warning = rows.select("difference_low", "difference_high", "warning")
            held.append([(low <= 0) & (high >= 0), warning.is_not_null()])
        for name, share, warned in zip(rows["metric"], *np.mean(held, axis=0), strict=True):
            yield "compare", law, triples, name, replications, float(share), float(warned)


def differences_of_pair(
    triples: int,
    law: str,
    rng: np.random.Generator,
    metrics: Sequence[Metric],
    *,
    flips: int,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """Return the differences of two models with equal laws, over queries; a row for each metric."""
    asked = queries(triples, law, rng)
    both = ranks(asked, law, rng, models=2)
    tasks = frame(both[0], None, asked)
    models = [Model(name, of_model.reshape(1, -1)) for name, of_model in zip("AB", both, strict=True)]
    places = np.arange(2 * triples)
    ways = clusters_of(tasks, "query").ways("both", places)
    part = Part("both", places, Paired(tasks, models), ways, metrics, queries=True)
    return part.results(flips, draws, seed)[1]


def rejections(what: str, triples: int, law: str, replications: int) -> Iterator[Row]:
    """Yield the share of pairs of models that the test distinguishes, for each metric and kind of cluster."""
    rng = np.random.default_rng([SEED, triples, LAWS.index(law), 2])
    found: dict[tuple[str, str], list[bool]] = {}
    for replication in range(replications):
        asked = queries(triples, law, rng)
        both = ranks(asked, law, rng, models=2, shift=SHIFT if what == "power" else 0.0)
        for kind, query in clusters(asked).items():
            if query is not None and (what == "power" or triples > 300 or not query.any()):
                continue
            models = {name: frame(one, query, asked) for name, one in zip("AB", both, strict=True)}
            names = METRICS if query is None else METRICS[:1]
            rows = compare(models, metrics=names, flips=199, draws=0, seed=replication).differences
            for key, p in rows.filter(side="both").select("metric", "p").iter_rows():
                found.setdefault((key, kind), []).append(p is not None and p <= LEVEL)
    for (key, kind), each in found.items():
        yield what, law, triples, key, kind, len(each), float(np.mean(each))


def many(triples: int, law: str, replications: int) -> Iterator[Row]:
    """Yield the size over queries from many pairs, without the way through tables of ranks."""
    rng = np.random.default_rng([SEED + 2, triples, LAWS.index(law)])
    metrics, p = [resolve(name) for name in METRICS], []
    for replication in range(replications):
        rows = differences_of_pair(triples, law, rng, metrics, flips=199, draws=0, seed=replication)
        p.append(rows["p"].to_numpy())
    for metric, share in zip(metrics, np.mean(np.array(p) <= LEVEL, axis=0), strict=True):
        yield "size", law, triples, metric.key, "queries", replications, float(share)


def _lognormal(rng: np.random.Generator, triples: int) -> FloatArray:
    return np.minimum(np.exp(2.156 + 2.6 * rng.standard_normal(triples)), CANDIDATES)


_MEAN = float(_lognormal(np.random.default_rng(SEED), 4_000_000).mean())
# Ranks of two models with the same mean, or the same median.
UNLIKE: dict[str, dict[str, Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]]] = {
    "mr": {
        "equal MR, 1 % at 5,001": lambda rng, n: (1 + 5000.0 * (rng.random(n) < 0.01), np.full(n, 51.0)),
        "equal MR, log-normal": lambda rng, n: (_lognormal(rng, n), _MEAN + rng.normal(0, 5, n)),
        "equal MR, 2 % bad": lambda rng, n: (
            10 + np.where(rng.random(n) < 0.02, np.exp(6 + rng.standard_normal(n)), 0.0),
            10 + 0.02 * np.exp(6.5) + rng.normal(0, 2, n),
        ),
    },
    "median": {
        "equal median, dense and wide": lambda rng, n: (
            np.rint(rng.normal(500, 20, n)),
            rng.integers(1, 1000, n).astype(np.float64),
        ),
        "equal median, dense and two humps": lambda rng, n: (
            np.rint(rng.normal(500, 5, n)),
            np.rint(np.where(rng.random(n) < 0.5, rng.normal(300, 60, n), rng.normal(700, 60, n))),
        ),
    },
}


def unlike(triples: int, metric: str, law: str, replications: int) -> Iterator[Row]:
    """Yield the share of pairs of models with equal values that the test distinguishes."""
    rng = np.random.default_rng([SEED, triples, list(UNLIKE[metric]).index(law), 3])
    count = {"swaps": 0, "default": 0}
    for replication in range(replications):
        both = UNLIKE[metric][law](rng, triples)
        models = {name: np.maximum(np.rint(2 * one) / 2, 1) for name, one in zip("AB", both, strict=True)}
        (p,) = compare(models, metrics=metric, flips=199, draws=200, seed=replication).differences["p"]
        count["default"] += p <= LEVEL
        count["swaps"] += _swaps(metric, models, replication) <= LEVEL
    for kind, number in count.items():
        yield "size", law, triples, metric, kind, replications, number / replications


def _swaps(metric: str, models: dict[str, FloatArray], seed: int) -> float:
    if metric == "median":
        return float(compare(models, metrics=metric, flips=199, draws=0, seed=seed).differences["p"].item())
    one, other = (
        ClusterMeans([resolve(metric)], ranks[None], np.ones((1, ranks.size))) for ranks in models.values()
    )
    return float(flip_means(one, other, 199, seed)[0])


def rows() -> Iterator[Row]:
    """Yield all rows."""
    known = truth()
    for triples, number in REPLICATIONS.items():
        for law in SHARED:
            yield from coverage(triples, law, MORE.get((law, triples), number), known)
    for triples, number in REPLICATIONS.items():
        for metric, laws in UNLIKE.items() if triples <= 300 else ():
            for law in laws:
                yield from unlike(triples, metric, law, number)
        for law in ("both sides", "independent", "ties"):
            yield from (
                rejections("size", triples, law, number) if triples < 3000 else many(triples, law, 1000)
            )
        yield from rejections("power", triples, "both sides", number)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--again", action="store_true", help="confirm the coverage on other sets")
    arguments = parser.parse_args()
    schema = ["what", "law", "triples", "metric", "clusters", "replications", "share"]
    if arguments.again:
        schema = ["command", "law", "triples", "metric", "replications", "share", "warned"]
    found = []
    for row in chain(again(), differences_again()) if arguments.again else rows():
        print(*row, flush=True)
        found.append(row)
    table = pl.DataFrame(found, schema=schema, orient="row").with_columns(
        metric=pl.col("metric").map_elements(lambda key: resolve(key).label, return_dtype=pl.String),
        share=pl.col("share").round(4),
        error=(pl.col("share") * (1 - pl.col("share")) / pl.col("replications")).sqrt().round(4),
    )
    write_text(table.write_csv(), arguments.output)


if __name__ == "__main__":
    main()
