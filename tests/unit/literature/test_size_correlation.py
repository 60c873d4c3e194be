"""Correlations of results with the size of data sets, on sets small enough to rank by eye."""

import polars as pl
import pytest

from rankadjust.literature.size_correlation import observations, size_correlation
from tests.unit.literature.results import MR, results


def test_correlation_by_hand():
    # Values fall with size; the index of the third is out of order: Spearman 1 - 6 sum d^2 / (n (n^2 - 1)) with
    # d = 0, 1, 1, 0.
    rows = results(
        ("a", "A", 0.9, 0.4, 10), ("b", "A", 0.8, 0.2, 20), ("c", "A", 0.7, 0.3, 30), ("d", "A", 0.6, 0.1, 40)
    )
    (found,) = size_correlation(rows).to_dicts()
    assert (found["sets"], found["results"], found["datasets"]) == ("all", 4, 4)
    assert found["printed"] == pytest.approx(-1)
    assert found["adjusted"] == pytest.approx(-(1 - 6 * 2 / (4 * 15)))


def test_equal_values_share_their_ranks():
    # Ranks of the values 1.5, 1.5, 3, of the entities 1, 2, 3: covariance 1.5, squares 1.5 and 2.
    rows = results(("a", "A", 0.5, 0.1, 10), ("b", "A", 0.5, 0.2, 20), ("c", "A", 0.9, 0.3, 30))
    assert size_correlation(rows)["printed"].item() == pytest.approx(1.5 / (1.5 * 2) ** 0.5)


def test_a_data_set_is_one_observation_and_a_model_counts_once():
    # Nine models on a, of which one is high, and the good one printed for three machines.
    many = [("a", str(i), 1.0 if i == 0 else 0.1, 0.1, 10) for i in range(8)]
    machines = [("a", f"0 [{name} training]", 1.0, 0.1, 10) for name in ("8-GPU", "One-GPU", "Multi-CPU")]
    rows = results(*many, *machines, ("b", "A", 0.15, 0.8, 20), ("c", "A", 0.5, 0.5, 30))
    sets = observations(rows).to_dicts()
    # The result that two lines print alike, without and with a machine, are different lines.
    assert [(row["dataset"], row["models"], row["merit"]) for row in sets] == [
        ("a", 8, 0.1),
        ("b", 1, 0.15),
        ("c", 1, 0.5),
    ]
    assert size_correlation(rows)["printed"].item() == pytest.approx(1)


def test_printed_mean_ranks_are_turned_so_that_high_is_good():
    rows = results(
        *[(name, "A", 10.0 * n, 0.5 + n / 10, 10 * n) for n, name in enumerate("abc", 1)], metric=MR
    )
    (found,) = size_correlation(rows).to_dicts()
    assert (found["printed"], found["adjusted"]) == (pytest.approx(-1), pytest.approx(1))


def test_raw_filtered_and_sampled_rankings_stay_apart():
    rows = pl.concat(
        results(
            *[(name, "A", 0.5 + n / 10, 0.5, 10 * n) for n, name in enumerate("abc", 1)], protocol=protocol
        )
        for protocol in ("raw", "filtered", "sampled-500")
    )
    found = size_correlation(rows)
    assert found.select("ranking", "datasets").rows() == [("filtered", 3), ("raw", 3)]
    # Where nothing differs there is no correlation.
    assert found["adjusted"].null_count() == 2


def test_tiny_sets_are_left_out_beside():
    large = [(name, "A", 0.1 * n, 0.1 * n, 1000 * n) for n, name in enumerate("abcd", 1)]
    found = size_correlation(results(("tiny", "A", 0.9, 0.05, 14), *large))
    assert found.select("sets", "datasets").rows() == [("all", 5), ("not tiny", 4)]
    all_sets, others = found["printed"]
    assert (all_sets, others) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1))


def test_intervals_are_those_of_resampled_data_sets():
    sets = [(str(n), "A", 0.01 * n, 0.01 * ((7 * n) % 12), 100 * n + 100) for n in range(12)]
    found, again = (size_correlation(results(*rows)).row(0, named=True) for rows in (sets, sets[::-1]))
    # In perfect order every resample is; 12 values in the order of 7 n modulo 12 leave room on both sides.
    assert (found["printed_low"], found["printed_high"]) == (pytest.approx(1), pytest.approx(1))
    assert -1 <= found["adjusted_low"] < found["adjusted"] < found["adjusted_high"] <= 1
    assert again == found
    # Three sets are too few.
    assert size_correlation(results(*sets[:3]))["printed_low"].to_list() == [None]
