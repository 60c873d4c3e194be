"""One printed value: its rounding interval, its range, and what it is adjusted with."""

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import expand, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.chance.typed import typed_value
from rankadjust.counting.candidates import count_candidates
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.store import assemble, load_candidates, load_database
from rankadjust.evaluation.one_value import adjust
from rankadjust.output.adjusted_text import adjusted_values, meaning
from tests.release import make_release


def in_words(found, text, against=None):
    """Return every number of an adjusted value, as the command prints it."""
    return adjusted_values([vars(found) | {"text": text}], everything=True, against=against)


def meaning_of(found):
    return meaning(vars(found))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return Constants(load_database(make_release(tmp_path_factory.mktemp("release"))))


def nations(value, metric="mrr", **options):
    return adjust(value, dataset="Nations", metric=metric, **options)


def test_the_case_study(database):
    """ComplEx on Nations in Hoyt et al. (2022), with correct constants.

    manuscript_16_runs_published_vs_correct.tsv of the development data; the protocol there is pykeen, whose
    candidates on Nations are those of filtered.
    """
    found = nations(0.4304182897159709, database=database)
    assert found.index == pytest.approx(0.07469131625115082, rel=1e-9)
    assert found.z == pytest.approx(3.415738142048021, rel=1e-9)
    # The simulated standard deviation of a real random scorer is 0.01775 (docs/methods-random-scorer.md).
    assert found.z_random_scorer == pytest.approx((found.value - found.expectation) / 0.01775, rel=2e-3)
    assert found.ratio is None
    assert found.tasks == 402
    mean_rank = nations(4.196517467498779, "mr", database=database)
    assert mean_rank.index == pytest.approx(0.08082974110550113, rel=1e-9)
    assert mean_rank.ratio == pytest.approx(4.196517467498779 / 4.477611940298507, rel=1e-12)


def test_the_ends_are_swapped_where_low_is_better(database):
    found = nations("4.2", "mr", database=database)
    assert (found.value_low, found.value_high) == (4.15, 4.25)
    assert found.index_low < found.index < found.index_high


def test_a_number_has_no_printed_digits(database):
    found = nations(0.338, database=database)
    assert found.value_low is found.value_high is found.index_low is None
    assert found.index == nations("0.338", database=database).index


@given(digits=st.integers(0, 10**6), places=st.integers(0, 6))
def test_the_value_of_text_is_the_nearest_float(digits, places):
    fraction = digits / 10 ** max(places, 6)
    text = f"{fraction:.{places}f}"
    found = typed_value(text, resolve("mrr"))
    assert found.value == float(text)
    percent = typed_value(f"{digits / 10**4:.4f}%", resolve("mrr"))
    assert percent.value == float(f"{digits / 10**6:.6f}")
    assert found.high - found.low <= 10.0**-places * (1 + 1e-9)


@pytest.mark.parametrize(
    ("value", "metric", "message"),
    [
        ("much", "mrr", "'much' is not a value"),
        ("", "mrr", "'' is not a value"),
        ("0.33 0.34", "mrr", "is not a value"),
        ("1.234,5", "mr", "'1.234,5' is not a value"),
        ("nan", "mrr", "'nan' is not a value"),
        (math.nan, "mrr", "the value is nan; give a finite number"),
        (math.inf, "mr", "the value is inf"),
        ("33.8", "mrr", "from 0 to 1, so 33.8 cannot be its value; if it is a percentage, write 33.8%"),
        ("-0.1", "mrr", "from 0 to 1, so -0.1 cannot be its value$"),
        ("101%", "hits@10", "from 0 to 1, so 101% cannot be its value$"),
        (50, "precision@10", "from 0 to 0.1, so 50 cannot be its value$"),
        ("0.9", "mr", "MR is 1 or more"),
        ("45%", "mr", "not a share, so '45%' cannot be its value; leave out the %"),
        ("3", "rank_std", "its expectation under chance is not known"),
        ("0.3", "hits@4", "Hits@4 is not in the database for Nations .*; did you mean Hits@"),
    ],
)
def test_impossible_values_are_refused(database, value, metric, message):
    with pytest.raises(RankadjustError, match=message):
        nations(value, metric, database=database)


def released_counts(dataset):
    """Return (N, tasks) of the released histogram, side both."""
    rows = load_candidates().filter(dataset=dataset, protocol="filtered", split="testing")
    return rows.group_by("num_candidates").agg(pl.col("tasks").sum()).sort("num_candidates").rows()


@pytest.mark.parametrize(
    ("dataset", "metric", "value", "last"),
    [
        ("Nations", "mr", "25", lambda n: n),
        ("Nations", "mr", "7.97", lambda n: n),
        ("Nations", "mrr", "0.166", lambda n: Fraction(1, n)),
        ("Nations", "hits@10", "0.2", lambda n: int(n <= 10)),
        ("Nations", "hits@10", "20%", lambda n: int(n <= 10)),
        ("Nations", "hits@10", 0.2, lambda n: int(n <= 10)),
        ("FB15k-237", "mr", "30,000", lambda n: n),
        ("FB15k-237", "mrr", "0.00001", lambda n: Fraction(1, n)),
    ],
)
def test_no_rank_is_above_the_number_of_candidates(dataset, metric, value, last):
    """The bound is the mean over the tasks of the term at rank N, as a fraction from the released histogram."""
    counts = released_counts(dataset)
    bound = sum(last(n) * tasks for n, tasks in counts) / Fraction(sum(tasks for _, tasks in counts))
    with pytest.raises(RankadjustError) as error:
        adjust(value, dataset=dataset, metric=metric)
    way = "at most" if metric == "mr" else "at least"
    # Without a filter Nations has 14 candidates in every task.
    fits = "; it can be under raw" if dataset == "Nations" and value not in (25, "25") else ""
    assert str(error.value) == (
        f"{resolve(metric).label} of {dataset}, filtered, testing, side both, is {way} {float(bound):.6g}, which is "
        f"reached if every true answer ranks last among its candidates ({counts[0][0]:,} to {counts[-1][0]:,}), "
        f"so {value} cannot be its value{fits}"
    )


# On Nations the mean N is 7.95522, the mean of 1 / N 0.167127, and 71.8905 % of the N are at most 10.
@pytest.mark.parametrize(
    ("metric", "value"),
    [("mr", "7.96"), ("mr", "8"), ("mrr", "0.167"), ("mrr", "0.2"), ("hits@10", "72%"), ("hits@10", "0.7")],
)
def test_a_value_is_possible_where_its_rounding_interval_reaches_the_bound(metric, value):
    assert adjust(value, dataset="Nations", metric=metric).value_low is not None


def test_a_number_without_printed_digits_has_no_interval():
    assert adjust(7.95522, dataset="Nations", metric="mr").value == 7.95522
    with pytest.raises(RankadjustError, match=r"so 7\.96 cannot be its value"):
        adjust(7.96, dataset="Nations", metric="mr")


def test_the_true_answer_counts_under_a_protocol_that_leaves_it_out():
    found = adjust("7.9", dataset="Nations", metric="mr", protocol="pykeen-published")
    # Its expectation is that of one candidate less: (6.95522 + 1) / 2.
    assert found.expectation == pytest.approx(3.97761, abs=1e-5)
    with pytest.raises(RankadjustError, match=r"is at most 7\.95522, .* so 8\.1 cannot be its value"):
        adjust("8.1", dataset="Nations", metric="mr", protocol="pykeen-published")


def test_without_histograms_only_the_range_is_known(database):
    assert nations("25", "mr", database=database).index < 0


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            "1.0",
            "MRR 1 is 100.0 % of the way from chance (0.3844) to perfect (1), 34.7 standard deviations above",
        ),
        (
            "0.39",
            "MRR 0.39 is 0.9 % of the way from chance (0.3844) to perfect (1), which luck alone may explain",
        ),
        ("0.38", "MRR 0.38 is worse than chance (0.3844), which luck alone may explain"),
        ("0.20", "MRR 0.2 is worse than chance (0.3844), 10.4 standard deviations below a random scorer."),
    ],
)
def test_one_sentence_says_what_it_means(database, value, sentence):
    assert meaning_of(nations(value, database=database)).startswith(sentence)


@pytest.mark.parametrize(
    ("dataset", "metric", "deviations", "share"),
    [
        ("Nations", "mrr", 2, 0.0243),
        ("Nations", "mr", 2, 0.0225),
        ("Countries-S1", "hits@1", 3, 0.0534),
        ("Countries-S1", "mrr", 3, 0.0151),
        ("Countries-S1", "hits@10", 2, 0.0551),
        # Thousands of tasks: seconds of drawing.
        pytest.param("UMLS", "mrr", 3, 0.0025, marks=pytest.mark.slow),
        pytest.param("Kinships", "hits@1", 3, 0.0029, marks=pytest.mark.slow),
    ],
)
def test_a_drawn_scorer_reaches_what_whole_tensors_of_scores_reach(dataset, metric, deviations, share):
    """The shares are those of 20,000 draws of whole tensors, benchmarks/random_scorer_skewness.csv."""
    constants = EvaluationSet.released(dataset).moments([metric]).row(0, named=True)
    sign = 1 if resolve(metric).increasing else -1
    value = constants["expectation"] + sign * deviations * constants["variance_random_scorer"] ** 0.5
    found = adjust(value, dataset=dataset, metric=metric)
    # Three standard errors of either share.
    error = (share * (1 - share) * (1 / 10_000 + 1 / 20_000)) ** 0.5
    assert found.draws_reaching / 10_000 == pytest.approx(share, abs=3 * error)
    assert found.p_random_scorer == (1 + found.draws_reaching) / 10_001
    assert found == adjust(value, dataset=dataset, metric=metric)


def test_of_metrics_that_are_not_means_nothing_is_drawn():
    found = adjust("6", dataset="Nations", metric="median")
    assert (found.p_random_scorer, found.draws_reaching) == (None, None)
    assert found.reason_random_scorer.startswith("not a mean over the tasks")


def test_nothing_is_drawn_where_the_number_of_tasks_is_not_known():
    adjusted = adjust("0.338", dataset="Freebase-DGL-KE", protocol="sampled-1000", metric="mrr")
    assert (adjusted.tasks, adjusted.p_random_scorer) == (None, None)
    assert adjusted.index is not None


def test_the_sentence_says_p_where_it_is_drawn():
    """Two hits in the 48 tasks of Countries-S1 are 3 standard deviations from chance, and come in 1 of 20 cases."""
    found = adjust("0.0417", dataset="Countries-S1", metric="hits@1")
    assert found.z_random_scorer > 3
    assert 0.04 < found.p_random_scorer < 0.07
    assert meaning_of(found).endswith(
        f"a random scorer is at least as good in {found.draws_reaching:,} of 10,000 draws."
    )
    assert "p, random scorer" in in_words(found, "0.0417")
    far = adjust("0.9", dataset="Nations", metric="mrr")
    assert (far.draws_reaching, far.p_random_scorer) == (None, None)
    assert "standard deviations above" in meaning_of(far)
    # With a z of 4,163 nobody doubts that it is above chance.
    assert meaning_of(adjust("0.3", dataset="FB15k-237", metric="mrr")).endswith("to perfect (1).")


def test_what_does_not_exist_is_none_with_a_reason(database):
    # With 14 candidates at most, Hits@14 is always 1.
    certain = database.table.filter(
        pl.col("dataset") == "Nations", pl.col("metric") == "hits_at_10", pl.col("protocol") == "filtered"
    ).with_columns(
        expectation=pl.lit(1.0),
        variance=pl.lit(0.0),
        index_scale=pl.lit(None, pl.Float64),
        index_offset=pl.lit(None, pl.Float64),
        z_scale=pl.lit(None, pl.Float64),
        z_random_scorer_scale=pl.lit(None, pl.Float64),
        reason=pl.lit("chance already reaches the optimum: no index and no z"),
    )
    found = nations("1.0", "hits@10", database=Constants(certain))
    assert (found.index, found.z, found.z_random_scorer) == (None, None, None)
    assert found.reason == "chance already reaches the optimum: no index and no z"
    assert meaning_of(found) == "There is no index, because chance already gives a perfect value."


def test_names_may_be_aliases_in_any_case(database):
    exact = adjust("0.3", dataset="FB15k-237", metric="inverse_harmonic_mean_rank", database=database)
    assert adjust("0.3", dataset="fb237", metric="MRR", protocol="Filtered", database=database) == exact


# Two times: the query (a, p, ?) is asked at both, and its answer b is the same.
TEMPORAL = pl.DataFrame(
    [("training", "b", "q", "c", "1"), ("testing", "a", "p", "b", "1"), ("testing", "a", "p", "b", "2")],
    schema=["split", "head", "relation", "tail", "time"],
    orient="row",
)


@pytest.fixture(scope="module")
def temporal():
    metrics = expand(["mr"], [])
    tables = []
    for protocol in ("time-static", "time-aware"):
        found = count_candidates(TEMPORAL, protocol)
        table = moments_table(found.histogram, metrics).join(
            nulls_table(found.histogram, found.pairs, protocol, metrics), on=["split", "side", "metric"]
        )
        names = {"dataset": pl.lit("Times"), "protocol": pl.lit(protocol)}
        tables.append(table.with_columns(**names))
    return assemble(tables)


def times(database, **options):
    return adjust("1.5", dataset="Times", metric="mr", side="tail", database=Constants(database), **options)


def test_scores_decide_what_z_is_of_a_random_scorer_in_temporal_data(temporal):
    # Three candidates in both tasks: E = 2, v = 2/3. A static scorer gives both the same rank: Var = v, not v/2.
    per_time = times(temporal, protocol="time-static", scores="per-time")
    static = times(temporal, protocol="time-static", scores="static")
    assert per_time.z_random_scorer == pytest.approx(0.5 / math.sqrt(1 / 3), rel=1e-12)
    assert static.z_random_scorer == pytest.approx(0.5 / math.sqrt(2 / 3), rel=1e-12)
    assert (per_time.scores_used, static.scores_used) == ("per_time", "static")
    unsaid = times(temporal, protocol="time-static")
    assert unsaid.z_random_scorer == static.z_random_scorer
    text = in_words(unsaid, "1.5")
    assert "z, static scorer" in text
    assert "Note: the data have times, but nothing says" in text
    assert "Note" not in in_words(static, "1.5")
    assert "z, random scorer" in in_words(per_time, "1.5")


def test_a_static_scorer_under_a_filter_by_time_has_a_reason_instead_of_z(temporal):
    found = times(temporal, protocol="time-aware", scores="static")
    assert found.z_random_scorer is None
    assert f"Note: {found.reason_random_scorer}." in " ".join(in_words(found, "1.5").split())
    assert "only part of their candidates" in found.reason_random_scorer


def test_a_random_scorer_without_variance_has_a_reason(database):
    found = nations("0.43", protocol="raw", database=database)
    assert found.z is not None
    assert found.z_random_scorer is None
    assert "Note: without a filter true triples are negatives" in in_words(found, "0.43")


def test_unknown_scores_are_one_line(database):
    with pytest.raises(RankadjustError, match=r"unknown scores 'both'; allowed are per_time and static"):
        nations("0.43", scores="both", database=database)


def test_a_value_of_a_data_set_with_bounds(database):
    nations = database.table.filter(
        dataset="Nations",
        protocol="filtered",
        split="testing",
        side="both",
        metric="inverse_harmonic_mean_rank",
    )
    none = pl.lit(None, pl.Float64)
    within = nations.with_columns(
        pl.selectors.ends_with("_scale", "_offset") * none,
        expectation=none,
        variance=none,
        reason=pl.lit("bounds only"),
        expectation_low=pl.lit(0.1),
        expectation_high=pl.lit(0.2),
        variance_low=pl.lit(0.0004),
        variance_high=pl.lit(0.01),
    )
    found = adjust("0.50", dataset="Nations", metric="mrr", database=Constants(within))
    # (0.495 - 0.2) / 0.8, (0.505 - 0.1) / 0.9 and the middle, (0.5 - 0.15) / 0.85; z as for re-scored rows.
    assert (found.index_low, found.index, found.index_high) == pytest.approx((0.36875, 0.35 / 0.85, 0.45))
    assert (found.z_low, found.z, found.z_high) == (pytest.approx(2.95), None, pytest.approx(20.25))
    assert (found.status, found.expectation_low, found.expectation_high) == ("bounded", 0.1, 0.2)
    text = in_words(found, "0.50")
    assert "expectation                 0.15  [0.1, 0.2]" in text
    assert "MRR 0.5 is 36.9 to 45.0 % of the way from chance to perfect (1)." in text
    exact = adjust("0.50", dataset="Nations", metric="mrr", database=Constants(nations))
    assert (exact.status, exact.expectation_low, exact.z_low) == ("ok", None, None)
