"""A metric is added in one place: from its family alone it has moments, an evaluation, adjustments, documentation."""

import doctest
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import polars as pl
import pytest

from harness.metrics_table import metrics_tables
from rankadjust import adjust, evaluate, metric_moments
from rankadjust.base.errors import RankadjustError
from rankadjust.chance import metrics
from rankadjust.chance.metrics import Family, metric_value, register, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.chance.terms import mean_and_variance
from rankadjust.database.constants import Constants
from rankadjust.database.store import assemble

LARGE = np.array([2.0, 3.0, 40.0, 41.0, 300.0, 14_541.0, 10.0**6, 10.0**8])


@pytest.fixture(autouse=True)
def registry():
    """Leave the registry as it was."""
    tables = (metrics._FAMILIES, metrics._PLAIN, metrics._AT_K)
    before = [dict(table) for table in tables]
    yield
    for table, content in zip(tables, before, strict=True):
        table.clear()
        table.update(content)


def new(key="new", **facts):
    register(Family(key, "New", "f = 1/√r", (), **({"increasing": True} | facts)))
    return resolve(key.replace("_k", "_2") if key.endswith("_k") else key)


def inverse_root(ranks, _):
    return 1 / np.sqrt(ranks)


# A copy of each term that is shipped: without the closed forms that are known of the term itself.
COPIES = {
    "mr": {"term": lambda ranks, _: 1.0 * ranks, "increasing": False, "lower": 1.0, "upper": np.inf},
    "mrr": {"term": lambda ranks, _: 1 / ranks},
    "ndcg": {"term": lambda ranks, _: 1 / np.log2(1 + ranks)},
    "gmr": {"term": lambda ranks, _: np.log(ranks), "increasing": False, "link": np.exp, "upper": np.inf},
    "auc": {
        "term": lambda ranks, counts: (counts - ranks) / np.where(counts > 1, counts - 1, np.nan),
        "needs_candidates": True,
    },
}


@pytest.mark.parametrize("name", COPIES)
def test_what_is_computed_from_the_term_alone_is_what_the_closed_forms_give(name):
    copy, shipped = new(**COPIES[name]), resolve(name)
    assert copy.least_candidates == shipped.least_candidates
    for found, expected in zip(
        mean_and_variance(copy, LARGE), mean_and_variance(shipped, LARGE), strict=True
    ):
        assert found == pytest.approx(expected, rel=1e-13)


def exact(values):
    """Return the mean and the variance of equally likely floats, without rounding."""
    values = [Fraction(value) for value in values]
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / len(values)


def exact_covariance(first, second):
    """Return C(a, b) from f(1)..f(a) and f(1)..f(b): the sum of Beta integrals of test_terms."""
    a, b = len(first), len(second)
    total = sum(
        Fraction(f) * Fraction(g) * Fraction(comb(a - 1, i) * comb(b - 1, j), comb(a + b - 2, i + j))
        for i, f in enumerate(first)
        for j, g in enumerate(second)
    )
    return total / (a + b - 1) - exact(first)[0] * exact(second)[0]


NEW = {
    "inverse root": ("new", {"term": inverse_root}),
    "inverse root up to k": ("new_at_k", {"term": inverse_root, "scale": lambda k: 1.0 / k}),
    "rank in candidates": ("new", {"term": lambda r, n: 1 - (r - 1) / n, "needs_candidates": True}),
    "rank in candidates up to k": (
        "new_at_k",
        {"term": lambda r, n: 1 - (r - 1) / n, "needs_candidates": True},
    ),
}


@pytest.mark.parametrize("kind", NEW)
def test_moments_and_random_scorer_against_fractions(kind):
    """Two triples, of which the tail tasks share a query: head N = 5, 9, tail N = 7."""
    key, facts = NEW[kind]
    metric = new(key, **facts)
    terms = {n: metric.term(np.arange(1.0, n + 1), np.full(n, float(n))) for n in (5, 7, 9)}
    one = {n: exact(values) for n, values in terms.items()}
    expectation = (one[5][0] + one[9][0] + 2 * one[7][0]) / 4
    independent = (one[5][1] + one[9][1] + 2 * one[7][1]) / 16
    # Tasks of one query covary by v / (N + 1), the two sides of a triple by C: each pair counts twice.
    cross = exact_covariance(terms[5], terms[7]) + exact_covariance(terms[9], terms[7])
    shared = independent + 2 * (one[7][1] / 8 + cross) / 16

    histogram = pl.DataFrame(
        {
            "split": "testing",
            "side": ["head", "head", "tail"],
            "entities": 9,
            "num_candidates": [5, 9, 7],
            "tasks": [1, 1, 2],
            "shared_pairs": [0, 0, 2],
            "repeated_pairs": [0, 0, 0],
        }
    )
    pairs = pl.DataFrame(
        {
            "split": "testing",
            "head_candidates": [5, 9],
            "tail_candidates": [7, 7],
            "tasks": [1, 1],
            "linked_pairs": [1, 1],
        }
    )
    table = moments_table(histogram, [metric]).join(
        nulls_table(histogram, pairs, "filtered", [metric]), on=["split", "side", "metric"]
    )
    row = table.row(by_predicate=pl.col("side") == "both", named=True)
    assert row["expectation"] == pytest.approx(float(expectation), rel=1e-13)
    assert row["variance"] == pytest.approx(float(independent), rel=1e-13)
    assert row["method"] == "sum over ranks"
    # How such a term covaries is known up to a rank k.
    known = kind == "inverse root up to k"
    if known:
        assert row["variance_random_scorer"] == pytest.approx(float(shared), rel=1e-12)
    else:
        assert "is not derived" in row["reason_random_scorer"]

    # Adjusted like any other: with the database, and with the numbers of candidates.
    database = assemble(
        [table.with_columns(pl.lit("Mine").alias("dataset"), pl.lit("filtered").alias("protocol"))]
    )
    adjusted = adjust(0.5 * metric.optimum, dataset="Mine", metric=metric.key, database=Constants(database))
    sd = sqrt(shared if known else independent)
    z = adjusted.z_random_scorer if known else adjusted.z
    assert z == pytest.approx((metric.optimum / 2 - float(expectation)) / sd, rel=1e-9)
    ranks, counts = [2, 4, 1, 3], [5, 9, 7, 7]
    found = evaluate(ranks, num_candidates=counts, metrics=[metric.key]).row(0, named=True)
    value = sum(terms[n][r - 1] for r, n in zip(ranks, counts, strict=True)) / 4
    assert found["value"] == pytest.approx(value, rel=1e-14)
    assert metric_value(metric.key, ranks, counts) == pytest.approx(value, rel=1e-14)
    assert found["z"] == pytest.approx((value - float(expectation)) / sqrt(independent), rel=1e-12)
    index = (value - float(expectation)) / (metric.optimum - float(expectation))
    assert found["index"] == pytest.approx(index, rel=1e-12)


def test_a_new_metric_has_a_row_in_the_table_of_metrics():
    before = metrics_tables()["metrics"]
    new("mine_at_k", term=inverse_root, scale=lambda k: 1.0 / k)
    after = metrics_tables()["metrics"]
    assert after == before + "| `mine_at_k` | New@k |  | f = 1/√r | high | 0.1 for k = 10 |\n"


def test_the_page_on_extending_shows_what_happens(project):
    tried = doctest.testfile(str(project / "docs" / "extend.md"), module_relative=False)
    assert tried.attempted
    assert not tried.failed


@pytest.mark.parametrize(
    ("key", "names", "taken"),
    [("auc", (), "'auc'"), ("mine", ("Mean Rank",), "'Mean Rank'"), ("mine_at_k", ("H@k",), "'H@k'")],
)
def test_a_name_that_is_taken_is_an_error(key, names, taken):
    with pytest.raises(RankadjustError, match=f"the name {taken} already belongs to"):
        register(Family(key, "Mine", "", names, term=inverse_root))
    with pytest.raises(RankadjustError, match="unknown metric 'mine"):
        resolve("mine_at_3")


def test_without_a_term_that_depends_on_n_no_numbers_of_candidates_are_needed():
    metric = new(term=inverse_root)
    assert metric_value(metric.key, [1, 4]) == 0.75
    needing = new("needing", term=lambda r, n: r / n, needs_candidates=True)
    with pytest.raises(RankadjustError, match="needs the number of candidates"):
        metric_value(needing.key, [1, 4])
    assert metric_moments("needing", [4]).expectation == pytest.approx(2.5 / 4)
