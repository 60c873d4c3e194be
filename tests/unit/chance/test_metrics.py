"""The registry of metrics: names, directions, ranges, values."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import FAMILIES, expand, metric_value, resolve

ALL = expand(list(FAMILIES), [1, 3, 10])
WITHOUT_DIRECTION = {"standard_deviation", "variance", "median_absolute_deviation", "count"}
DIRECTED = [metric for metric in ALL if metric.key not in WITHOUT_DIRECTION]


def by_key(metric):
    return metric.key


@pytest.mark.parametrize("metric", DIRECTED, ids=by_key)
def test_bounds_direction_and_optimum(metric):
    counts = np.array([1, 2, 5, 30, 200])
    best = metric_value(metric, np.ones(5), counts)
    worst = metric_value(metric, counts, counts)
    middle = metric_value(metric, (counts + 1) / 2, counts)
    assert best == pytest.approx(metric.optimum, rel=1e-15)
    assert (best > worst) == metric.increasing
    assert min(best, worst) <= middle <= max(best, worst)
    assert metric.lower <= min(best, worst) <= max(best, worst) <= metric.upper
    assert metric.optimum == (metric.upper if metric.increasing else metric.lower)
    # The ratio M / E is for metrics in [1, inf).
    assert metric.ratio == (metric.lower == 1 and math.isinf(metric.upper))
    assert metric.has_moments


@pytest.mark.parametrize("metric", ALL, ids=by_key)
def test_keys_and_labels_mean_the_metric(metric):
    assert resolve(metric.key) == metric
    assert resolve(metric.label) == metric
    assert metric.key.endswith(f"_at_{metric.k}") == (metric.k is not None)


def test_metrics_without_direction():
    for key in WITHOUT_DIRECTION:
        metric = resolve(key)
        assert not metric.has_moments
        assert not metric.ratio
        assert math.isnan(metric.optimum)


# Computed by hand from the definitions.
RANKS, COUNTS = [1, 2, 4, 10], [1, 5, 5, 10]
VALUES = {
    "mr": 17 / 4,
    "mrr": (1 + 1 / 2 + 1 / 4 + 1 / 10) / 4,
    "mrr@3": (1 + 1 / 2) / 4,
    "hits@2": 2 / 4,
    "precision@2": 1 / 4,
    "ndcg": (1 + 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(11)) / 4,
    "ndcg@2": (1 + 1 / math.log2(3)) / 4,
    "auc": (3 / 4 + 1 / 4 + 0) / 3,
    "gmr": 80**0.25,
    "igmr": 80**-0.25,
    "hmr": 4 / (1 + 1 / 2 + 1 / 4 + 1 / 10),
    "imr": 4 / 17,
    "median": 3,
    "inverse median": 1 / 3,
    "std": statistics.pstdev(RANKS),
    "variance": statistics.pvariance(RANKS),
    "mad": statistics.median([2, 1, 1, 7]) / statistics.NormalDist().inv_cdf(0.75),
    "count": 4,
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    assert metric_value(name, RANKS, COUNTS) == pytest.approx(VALUES[name], rel=1e-14)
    stacked = metric_value(name, [RANKS, RANKS[::-1]], [COUNTS, COUNTS[::-1]])
    assert stacked == pytest.approx([VALUES[name]] * 2, rel=1e-14)


def test_values_of_tied_ranks():
    assert metric_value("hits@2", [2.5, 2]) == 0.5
    assert metric_value("mrr", [1.5, 3]) == pytest.approx(0.5)


def test_auc_without_competitors_has_no_value():
    assert np.isnan(metric_value("auc", [1, 1], [1, 1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("mr", []), "at least one rank"), (("auc", [1, 2]), "number of candidates")],
)
def test_values_that_cannot_be_computed(arguments, message):
    with pytest.raises(RankadjustError, match=message):
        metric_value(*arguments)


SPELLINGS = [(name, family) for family in FAMILIES.values() for name in (family.key, *family.names)]


@given(
    spelling=st.sampled_from(SPELLINGS),
    k=st.integers(1, 10**6),
    at=st.sampled_from(["@", "_at_", " @ ", " at ", "-at-", " @", "@ "]),
    separator=st.sampled_from([" ", "_", "-", "", "  "]),
    case=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_aliases_resolve_whatever_the_spelling(spelling, k, at, separator, case):
    name, family = spelling
    base = name.removesuffix("_at_k").removesuffix("@k")
    # Two numbers need something between them: hits@10_50 is not hits@1050.
    between = separator or "_" if "10_5" in base else separator
    written = base.replace("_", between) + (f"{at}{k}" if family.needs_k else "")
    flips = (case * (1 + len(written) // 40))[: len(written)]
    written = "".join(letter.upper() if flip else letter for letter, flip in zip(written, flips, strict=True))
    assert resolve(f" {written} ") == family.metric(k if family.needs_k else None)


@given(st.text(max_size=30))
def test_any_text_is_a_metric_or_an_error_of_one_line(text):
    message = ""
    try:
        metric = resolve(text)
    except RankadjustError as error:
        message = str(error)
    assert len(message.splitlines()) == 1 if message else resolve(metric.key) == metric


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hitz@10", "did you mean hit@k or hits@k"),
        ("arithmetic_mean_rnk", "did you mean arithmetic_mean_rank"),
        ("hits_at_k", "needs a k: write for example 'hits_at_10'"),
        ("hits", "needs a k"),
        ("hits@0", "k must be 1 or more"),
        ("hits@ten", "unknown metric 'hits@ten'"),
        ("hits@010", "unknown metric"),
        ("mr@10", "unknown metric 'mr@10'"),
        ("", f"known: {next(iter(FAMILIES.values())).label}"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(RankadjustError) as error:
        resolve(name)
    assert message in str(error.value)


def test_expand_gives_each_metric_once_in_order():
    keys = [metric.key for metric in expand(["mrr", "hits_at_k", "hits@10", "MRR", "P@k", "hits@7"], [1, 10])]
    assert keys == [
        "inverse_harmonic_mean_rank",
        "hits_at_1",
        "hits_at_10",
        "precision_at_1",
        "precision_at_10",
        "hits_at_7",
    ]
