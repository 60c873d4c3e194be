"""Exact moments against enumeration, high precision, simulation, and values obtained independently.

Tolerances are relative. 1e-12 is the accuracy promised for all metrics but the median (expectation 1e-9, variance
1e-6); where the test cases are small the tests are stricter.
"""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import special

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import FAMILIES, expand, resolve
from rankadjust.chance.moments import metric_moments, moments_table
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import load_registry
from tests.mirror import mirrored_files

DATA = Path(__file__).parents[2] / "data" / "moments"
FAMILY_NAMES = [family.key for family in FAMILIES.values() if family.has_moments]
METRICS = expand(FAMILY_NAMES, [1, 2, 4])
MEDIANS = ("median_rank", "inverse_median_rank")
INTEGRALS = (
    "geometric_mean_rank",
    "inverse_geometric_mean_rank",
    "harmonic_mean_rank",
    "inverse_arithmetic_mean_rank",
)


def by_key(metric):
    return metric.key


def of(metric, histogram):
    return metric_moments(metric, list(histogram), list(histogram.values()))


def table(histogram, metrics):
    """Return {metric: row} of the pooled histogram; the moments of all metrics at once."""
    frame = pl.DataFrame(
        {
            "split": "testing",
            "side": "tail",
            "entities": max(histogram),
            "num_candidates": list(histogram),
            "tasks": list(histogram.values()),
        }
    )
    rows = moments_table(frame, metrics).filter(pl.col("side") == "both")
    return {row["metric"]: row for row in rows.iter_rows(named=True)}


# --- all rank vectors, exactly ------------------------------------------------------------------------------


def exact_value(metric, ranks, counts):
    """Return a metric by its definition, as a Fraction or, where it is irrational, with 40 digits."""
    n, k = len(ranks), metric.k
    middle = sorted(ranks)[(n - 1) // 2], sorted(ranks)[n // 2]
    shares = [Fraction(c - r, c - 1) for r, c in zip(ranks, counts, strict=True) if c > 1]
    gains = [mp.log(2) / mp.log(1 + r) if k is None or r <= k else mpf(0) for r in ranks]
    definitions = {
        "arithmetic_mean_rank": lambda: Fraction(sum(ranks), n),
        "inverse_harmonic_mean_rank": lambda: sum(Fraction(1, r) for r in ranks) / n,
        "inverse_harmonic_mean_rank_at_k": lambda: sum(Fraction(1, r) for r in ranks if r <= k) / Fraction(n),
        "hits_at_k": lambda: Fraction(sum(r <= k for r in ranks), n),
        "precision_at_k": lambda: Fraction(sum(r <= k for r in ranks), n * k),
        "ndcg": lambda: sum(gains) / n,
        "ndcg_at_k": lambda: sum(gains) / n,
        "auc": lambda: sum(shares) / len(shares),
        **{f"hits_at_10_{q + 1}": partial(expected_hits, q, ranks, counts) for q in (49, 50)},
        "geometric_mean_rank": lambda: mp.root(math.prod(ranks), n),
        "inverse_geometric_mean_rank": lambda: 1 / mp.root(math.prod(ranks), n),
        "harmonic_mean_rank": lambda: n / sum(Fraction(1, r) for r in ranks),
        "inverse_arithmetic_mean_rank": lambda: Fraction(n, sum(ranks)),
        "median_rank": lambda: Fraction(sum(middle), 2),
        "inverse_median_rank": lambda: Fraction(2, sum(middle)),
    }
    return definitions[metric.family]()


def expected_hits(negatives, ranks, counts):
    """Return the mean of P(Binomial(q, (r - 1) / (N - 1)) <= 9), 1 where there is no other candidate."""
    shares = [Fraction(rank - 1, max(count - 1, 1)) for rank, count in zip(ranks, counts, strict=True)]
    chosen = [math.comb(negatives, j) for j in range(10)]
    return sum(
        chosen[j] * share**j * (1 - share) ** (negatives - j) for share in shares for j in range(10)
    ) / len(ranks)


def enumerated(metric, histogram):
    """Return E and Var from all rank vectors, each as likely as the others."""
    counts = [count for count, tasks in histogram.items() for _ in range(tasks)]
    with mp.workdps(40):
        vectors = itertools.product(*(range(1, count + 1) for count in counts))
        values = [exact_value(metric, ranks, counts) for ranks in vectors]
        total = sum(values)
        variance = sum(value * value for value in values) / len(values) - total * total / len(values) ** 2
        return float(total / len(values)), float(variance) if abs(variance) > 1e-35 else 0.0


TINY = (
    {1: 1},
    {2: 1},
    {30: 1},
    {1: 3},
    {1: 1, 4: 1},
    {30: 1, 20: 1},
    {2: 2, 3: 1},
    {1: 2, 9: 1},
    {4: 4},
    {1: 2, 9: 2},
    {2: 1, 3: 1, 4: 1, 5: 1},
    {2: 4, 5: 1},
)


@pytest.mark.parametrize("metric", METRICS, ids=by_key)
def test_enumeration_of_all_rank_vectors(metric):
    for histogram in TINY:
        found = of(metric, histogram)
        if metric.key == "auc" and set(histogram) == {1}:
            assert found.expectation is found.variance is None
            assert found.reason == "every task has one candidate"
            continue
        expectation, variance = enumerated(metric, histogram)
        assert found.expectation == pytest.approx(expectation, rel=1e-12), histogram
        # Where nothing varies the variance is 0, not nearly 0.
        assert found.variance == pytest.approx(variance, rel=1e-12, abs=0), histogram


# --- 50 digits ----------------------------------------------------------------------------------------------


HIGH_PRECISION = json.loads((DATA / "high_precision.json").read_text())


@pytest.mark.parametrize(
    "case", HIGH_PRECISION, ids=[f"{case['metric']}-{index}" for index, case in enumerate(HIGH_PRECISION)]
)
def test_high_precision(case):
    """The values come from tests/data/moments/high_precision.py, which says how."""
    histogram = {int(count): tasks for count, tasks in case["histogram"].items()}
    found = of(case["metric"], histogram)
    tolerance = 1e-10 if case["metric"] in MEDIANS else 1e-12
    assert abs(mpf(found.expectation) / mpf(case["expectation"]) - 1) < tolerance
    assert abs(mpf(found.variance) / mpf(case["variance"]) - 1) < tolerance


@pytest.mark.parametrize("counts", [(7, 7), (1, 10**6), (100, 10**5), (10**8, 10**8)])
def test_the_median_of_two_tasks_is_their_mean(counts):
    histogram = Counter(counts)
    assert_same(of("median", histogram), of("mr", histogram), 1e-11)
    # The variance of the inverse loses digits where the smaller of the two ranks is very small.
    found, expected = of("imedr", histogram), of("imr", histogram)
    assert found.expectation == pytest.approx(expected.expectation, rel=1e-9)
    assert found.variance == pytest.approx(expected.variance, rel=1e-6)


def assert_same(found, expected, tolerance):
    assert found.expectation == pytest.approx(expected.expectation, rel=tolerance)
    assert found.variance == pytest.approx(expected.variance, rel=tolerance, abs=0)


# --- the median ---------------------------------------------------------------------------------------------


def test_median_between_two_groups():
    """1000 ranks are at most 21, the median is the mean of 21 and the smallest of 1000 others, or 21.

    That a rank of the first group is needed beyond 21, or that one of them is not 21, has a probability below 1e-20.
    """
    x = np.arange(100_000.0)
    survival = np.where(x < 21, 1.0, (1 - x / 100_000) ** 1000)
    mean = survival.sum()
    variance = ((2 * x + 1) * survival).sum() - mean**2
    found = of("median", {21: 1000, 100_000: 1000})
    assert found.expectation == pytest.approx((21 + mean) / 2, rel=1e-12)
    assert found.variance == pytest.approx(variance / 4, rel=1e-9)
    assert found.method == "Poisson-binomial"
    # One task more in the first group, and the median is 21.
    found = of("median", {21: 1001, 100_000: 1000})
    assert found.expectation == pytest.approx(21, rel=1e-15)
    assert 0 < found.variance < 1e-18


@pytest.mark.parametrize(("count", "tasks"), [(10**4, 100_001), (10**3, 1001), (2, 10**7 + 1)])
def test_median_of_constant_counts_has_binomial_tails(count, tasks):
    """For odd n and one N: P(median > x) = P(Binomial(n, x / N) <= (n - 1) / 2), by the incomplete beta function."""
    x = np.arange(count)
    half = (tasks + 1) // 2
    survival = special.betainc(tasks - half + 1, half, 1 - x / count)
    centre = (count + 1) // 2
    steps = np.where(x < centre, survival - 1, survival)
    mean = centre + steps.sum()
    variance = ((2 * (x - centre) + 1) * steps).sum() - (mean - centre) ** 2
    found = of("median", {count: tasks})
    assert found.expectation == pytest.approx(mean, rel=1e-9)
    assert found.variance == pytest.approx(variance, rel=1e-8)


@pytest.mark.parametrize(("tasks", "tolerance"), [(5000, 1e-7), (188, 1e-9)], ids=["roughly", "exactly"])
def test_median_of_constant_counts_and_many_tasks_even(tasks, tolerance):
    """For even n and one N: P(X <= x, Y > y) = C(n, n/2) (x / N)^(n/2) (1 - y / N)^(n/2) of the middle ranks."""
    count = 700
    half = tasks // 2
    x, y = np.meshgrid(np.arange(1.0, count), np.arange(1.0, count), indexing="ij")
    logs = (
        special.gammaln(tasks + 1)
        - 2 * special.gammaln(half + 1)
        + half * (np.log(x / count) + np.log1p(-y / count))
    )
    both = np.exp(np.where(x <= y, logs, -np.inf))
    squared_gap = 2 * both.sum() - np.trace(both)
    survival = [
        special.betainc(tasks - order + 1, order, 1 - np.arange(count) / count) for order in (half, half + 1)
    ]
    # By symmetry the median has the mean (N + 1) / 2, and its two middle ranks have the same variance.
    centre = (count + 1) / 2
    squares = sum(((2 * (np.arange(count) - centre) + 1) * tail).sum() + centre**2 for tail in survival) / 2
    found = of("median", {count: tasks})
    assert found.expectation == pytest.approx(centre, rel=1e-12)
    assert found.variance == pytest.approx(squares - squared_gap / 4, rel=tolerance)


def convolved(histogram):
    """Return E and Var of median and inverse median by adding one task at a time to the laws of the counts.

    P(k ranks <= a and the others > b) for all a <= b, from which the joint law of the two middle ranks follows.
    """
    counts = np.repeat(list(histogram), list(histogram.values()))
    n, top = counts.size, int(counts.max())
    half = (n + 1) // 2
    grid = np.arange(top + 1.0)
    lower, upper = np.meshgrid(grid, grid, indexing="ij")
    law = np.zeros((n + 1, top + 1, top + 1))
    law[0] = 1.0
    for count in counts:
        inside, beyond = np.minimum(lower / count, 1), 1 - np.minimum(upper / count, 1)
        law[1:] = law[1:] * beyond + law[:-1] * inside
        law[0] *= beyond
    at_least = [law[k:, grid.astype(int), grid.astype(int)].sum(axis=0) for k in (half, n // 2 + 1)]
    between = law[half] if n % 2 == 0 else np.zeros_like(lower)
    both = np.where(lower <= upper, at_least[0][:, None] - between, at_least[1][None, :])
    if n % 2:
        both = at_least[0][np.minimum(lower, upper).astype(int)]
    joint = np.diff(np.diff(both, axis=0), axis=1)
    middle = (lower[1:, 1:] + upper[1:, 1:]) / 2
    results = []
    for values in (middle, 1 / middle):
        mean = (joint * values).sum()
        results.append((mean, (joint * (values - mean) ** 2).sum()))
    return results


@pytest.mark.parametrize(
    "histogram",
    [
        {70: 20, 41: 7, 13: 5, 2: 2},
        {70: 20, 41: 7, 13: 5, 2: 3},
        {150: 9, 149: 1, 148: 2, 20: 10},
        {60: 40, 45: 1},
        {5: 14, 90: 14},
        {1: 9, 90: 11},
        dict.fromkeys(range(3, 130, 3), 1),
        {3: 1, 21: 1},
    ],
    ids=str,
)
def test_median_against_convolution(histogram):
    rows = table(histogram, [resolve(key) for key in MEDIANS])
    for key, (mean, variance) in zip(MEDIANS, convolved(histogram), strict=True):
        assert rows[key]["expectation"] == pytest.approx(mean, rel=1e-11)
        assert rows[key]["variance"] == pytest.approx(variance, rel=1e-8)


# --- values obtained independently --------------------------------------------------------------------------


def test_reference_values():
    """Nations, Kinships and UMLS, two protocols, three splits, three sides.

    reference.tsv holds values of an independent implementation, histograms.tsv counts by a plain Python loop.
    """
    keys = ["dataset", "protocol"]
    histograms = pl.read_csv(DATA / "histograms.tsv", separator="\t")
    reference = pl.read_csv(DATA / "reference.tsv", separator="\t")
    metrics = [resolve(key) for key in reference["metric"].unique(maintain_order=True)]
    found = pl.concat(
        moments_table(part, metrics).with_columns(dataset=pl.lit(dataset), protocol=pl.lit(protocol))
        for (dataset, protocol), part in histograms.group_by(keys, maintain_order=True)
    )
    joined = reference.join(found, on=[*keys, "split", "side", "metric"], how="left", suffix="_found")
    assert joined.height == 648
    for row in joined.iter_rows(named=True):
        tolerance = 1e-10 if row["metric"] in INTEGRALS else 1e-12
        assert row["expectation_found"] == pytest.approx(row["expectation"], rel=tolerance), row
        assert row["variance_found"] == pytest.approx(row["variance"], rel=tolerance, abs=0), row


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["CoDEx-S", "Countries-S1", "FB15k-237", "Kinships", "Nations", "UMLS", "WN18RR"]
)
def test_moments_of_an_independent_program(name, shared, tmp_path):
    """Every value of moments.<name>.json: numbers of candidates, and two moments of twelve metrics."""
    reference = json.loads((shared / f"data/reference/moments.{name}.json").read_text(encoding="utf-8"))
    entry = load_registry()[name]
    files = mirrored_files(entry, shared / "data" / "mirror", tmp_path)
    triples = encode({split: read_triples(path, entry.format) for split, path in files.items()}).triples
    histograms = {
        protocol: count_candidates(triples, protocol, isolated=0).histogram
        for protocol in ("filtered", "pykeen")
    }
    for place, expected in reference.items():
        protocol, split = place.split("/")
        histogram = histograms[protocol].filter(split=split)
        assert histogram["entities"].max() == expected["entities"], place
        for side in SIDES:
            values = dict(expected[side])
            part = histogram.filter((pl.col("side") == side) | pl.lit(side == "both"))
            counts, tasks = part["num_candidates"], part["tasks"]
            assert tasks.sum() == values.pop("n")
            assert (counts.min(), counts.max()) == (
                values.pop("min_candidates"),
                values.pop("max_candidates"),
            )
            assert (counts * tasks).sum() / tasks.sum() == pytest.approx(values.pop("mean_candidates"))
            for metric, moments in values.items():
                found = metric_moments(metric, counts, tasks)
                tolerance = 1e-10 if metric in INTEGRALS else 1e-12
                assert [found.expectation, found.variance] == pytest.approx(moments, rel=tolerance, abs=0), (
                    place,
                    side,
                    metric,
                )


# --- extremes, degenerate cases, mistakes -------------------------------------------------------------------


EXTREMES = [
    *({count: tasks} for count in (1, 2, 10**4, 10**8) for tasks in (1, 2, 10**7, 10**7 + 1)),
    {1: 1, 10**8: 10**7},
    {1: 10**7, 10**8: 1},
    {1: 10**6, 2: 1},
    {3: 5, 10**3: 10**5, 10**8: 10**6},
    dict.fromkeys(range(1, 100), 1),
]


@pytest.mark.parametrize("histogram", EXTREMES, ids=lambda histogram: str(histogram)[:40])
def test_extremes_have_moments_within_bounds(histogram):
    """No warning (they are errors here), no overflow, nothing negative, and nothing constant but what is."""
    rows = table(histogram, METRICS)
    for metric in METRICS:
        row = rows[metric.key]
        if metric.key == "auc" and set(histogram) == {1}:
            assert row["expectation"] is None
            continue
        slack = 1e-12
        assert metric.lower * (1 - slack) <= row["expectation"] <= metric.upper * (1 + slack)
        assert (row["expectation"] == metric.optimum) == constant(metric, histogram)
        assert (row["variance"] == 0) == constant(metric, histogram)
        if math.isfinite(metric.upper - metric.lower):
            assert row["variance"] <= (metric.upper - metric.lower) ** 2 / 4 * (1 + slack)


def constant(metric, histogram):
    """Return whether every rank vector gives the optimum, or so nearly all that the rest is beyond float64."""
    if metric.key in MEDIANS and histogram.get(1, 0) > sum(histogram.values()) / 2 + 1:
        return True
    if metric.k is not None and metric.family in ("hits_at_k", "precision_at_k"):
        return max(histogram) <= metric.k
    return set(histogram) == {1}


@given(
    k=st.integers(1, 200),
    counts=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 10**6)), min_size=1, max_size=30),
)
def test_what_does_not_vary_has_the_optimum_itself_as_expectation(k, counts):
    """Not a sum that is rounded: precision@3 of the typed protocol once was one unit in the last place off."""
    within = {max(1, math.ceil(share * k)): tasks for share, tasks in counts}
    for name in (f"hits@{k}", f"precision@{k}"):
        found = of(name, within)
        assert (found.expectation, found.variance) == (resolve(name).optimum, 0.0)
    for metric in METRICS:
        found = of(metric, {1: sum(within.values())})
        if metric.key != "auc":
            assert (found.expectation, found.variance) == (metric.optimum, 0.0)


@pytest.mark.parametrize(
    ("metric", "histogram", "reason"),
    [
        ("mr", {}, "there are no tasks"),
        ("mr", {5: 0}, "there are no tasks"),
        ("hmr", {0: 1, 5: 3}, "some tasks have no candidates"),
        ("auc", {1: 3}, "every task has one candidate"),
        ("variance", {5: 3}, "no exact moments are known for this metric"),
    ],
)
def test_degenerate_cases_have_a_reason(metric, histogram, reason):
    found = of(metric, histogram)
    assert (found.expectation, found.variance, found.reason) == (None, None, reason)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mr", [3, -1]), r"num_candidates\[1\] is -1; it must be a whole number"),
        (("mr", [3.5]), r"num_candidates\[0\] is 3.5"),
        (("mr", [math.nan]), r"num_candidates\[0\] is nan"),
        (("mr", ["3"]), "num_candidates must be a list of whole numbers"),
        (("mr", [[3]]), "num_candidates must be a list of whole numbers"),
        (("mr", [3, 4], [1]), "must be lists of the same length"),
        (("mr", [3], [-2]), r"tasks\[0\] is -2"),
        (("mrx", [3]), "unknown metric 'mrx'"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(RankadjustError, match=message):
        metric_moments(*arguments)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int32, np.int64, np.float64])
def test_narrow_integers_do_not_overflow(dtype):
    counts = np.array([65535, 40000], dtype=dtype)
    assert metric_moments("mr", counts, counts) == of("mr", {65535: 65535, 40000: 40000})


def test_table_has_a_row_for_each_split_side_and_metric():
    histogram = pl.DataFrame(
        [
            ("training", "head", 9, 4, 3),
            ("training", "tail", 9, 4, 1),
            ("training", "tail", 9, 9, 2),
            ("testing", "head", 8, 0, 1),
            ("testing", "tail", 8, 7, 1),
        ],
        schema={
            "split": pl.Enum(["training", "testing"]),
            "side": pl.String,
            "entities": pl.Int64,
            "num_candidates": pl.Int64,
            "tasks": pl.Int64,
        },
        orient="row",
    )
    found = moments_table(histogram, expand(["mr", "hits@1"], []))
    assert found.columns == [
        "split", "side", "metric", "entities", "tasks", "expectation", "variance", "method", "reason",
    ]  # fmt: skip
    keys = found.select("split", "side", "metric", "entities", "tasks").rows()
    sizes = {("training", "head"): (9, 3), ("training", "tail"): (9, 3), ("training", "both"): (9, 6)}
    sizes |= {("testing", "head"): (8, 1), ("testing", "tail"): (8, 1), ("testing", "both"): (8, 2)}
    assert keys == [
        (split, side, metric, *size)
        for (split, side), size in sizes.items()
        for metric in ("arithmetic_mean_rank", "hits_at_1")
    ]
    assert found["expectation"].to_list()[:6] == pytest.approx(
        [2.5, 0.25, 12.5 / 3, (0.25 + 2 / 9) / 3, 10 / 3, 0.25 * 4 / 6 + 2 / 54]
    )
    assert found["expectation"].to_list()[6:] == [None, None, 4.0, 1 / 7, None, None]
    assert found["reason"].to_list()[6:8] == ["some tasks have no candidates"] * 2


@pytest.mark.parametrize(
    ("protocol", "candidates", "expected"),
    [
        # The rank is 2, 3 or 4: of mean 3 and variance 2 / 3, and 2 at best.
        ("filtered-graph-twice", 3, (3.0, 2 / 3, 2.0, None, None)),
        # The one other candidate is above the true answer or not, and is drawn 49 times: rank 50 or 1.
        ("nodepiece", 2, (25.5, 24.5**2, 1.0, None, None)),
        # Of two entities, none or one is above the true answer (1 or 1 + 49 / 2), or one or both are, if a draw of the
        # true answer counts against it (1 + 49 / 2 or 50).
        ("grail", 2, (None, None, 1.0, 13.25, 37.75)),
    ],
)
def test_ranks_of_other_laws_have_moments_of_their_own(protocol, candidates, expected):
    columns = {
        "split": ["testing"],
        "side": ["tail"],
        "entities": [9],
        "num_candidates": [candidates],
        "tasks": [1],
    }
    found = moments_table(pl.DataFrame(columns), [resolve("mr")], protocol).filter(side="tail")
    names = ("expectation", "variance", "optimum", "expectation_low", "expectation_high")
    assert found.select(names).row(0) == pytest.approx(expected)
