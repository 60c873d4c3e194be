"""Evaluation sets: from triples, of a release, of a run, with constant candidates; and what they are asked for."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from rankadjust import EvaluationSet, adjust, check, compare, evaluate
from rankadjust.base.errors import RankadjustError
from rankadjust.counting.protocols import Protocol
from rankadjust.database.store import SCHEMA, load_database
from tests.release import make_release

TRAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "a"), ("a", "s", "d"), ("b", "s", "c")]
VALID = [("a", "r", "d")]
TEST = [("a", "r", "c"), ("b", "r", "a"), ("c", "s", "a")]
# Entities a to d; for (?, r, c) b is known, for (a, r, ?) b and d are, and so on: candidates by hand.
CANDIDATES = {"head": [3, 3, 4], "tail": [2, 3, 4]}


@pytest.fixture(scope="module")
def own():
    return EvaluationSet.from_triples(TRAIN, VALID, TEST)


def mean_rank(counts):
    return float(sum(Fraction(count + 1, 2) for count in counts) / len(counts))


@pytest.mark.parametrize("side", ["head", "tail", "both"])
def test_own_triples_have_the_expectation_of_their_candidates(own, side):
    counts = CANDIDATES["head"] + CANDIDATES["tail"] if side == "both" else CANDIDATES[side]
    of_side = own.of_side(side)
    row = of_side.moments(["mr"]).row(0, named=True)
    # Ranks are uniform on 1..N and, without a random scorer, independent: E = (N + 1) / 2, Var = (N^2 - 1) / 12.
    assert row["expectation"] == pytest.approx(mean_rank(counts), rel=1e-15)
    variance = sum(Fraction(count**2 - 1, 12) for count in counts) / len(counts) ** 2
    assert row["variance"] == pytest.approx(float(variance), rel=1e-15)
    assert row["variance_random_scorer"] is not None
    assert (of_side.tasks, of_side.largest_count) == (len(counts), max(counts))
    assert of_side.candidate_counts.counts.tolist() == sorted(set(counts))


def numbered(triples):
    ids = {label: number for number, label in enumerate("abcd")} | {"r": 0, "s": 1}
    return [[ids[word] for word in triple] for triple in triples]


FORMS = {
    "lists": lambda triples: [list(triple) for triple in triples],
    "array of labels": np.array,
    "array of integers": lambda triples: np.array(numbered(triples)),
    "array of objects": lambda triples: np.array(triples, dtype=object),
    "frame": lambda triples: pl.DataFrame(triples, schema=["head", "relation", "tail"], orient="row"),
    "frame of integers": lambda triples: pl.DataFrame(
        numbered(triples), ["head", "relation", "tail"], orient="row"
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_triples_may_be_of_any_form(own, form):
    found = EvaluationSet.from_triples(form(TRAIN), form(VALID), form(TEST))
    assert found.histogram.equals(own.histogram)
    assert found.moments(["mrr", "hits@1"]).equals(own.moments(["mrr", "hits@1"]))


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        (
            [["a", "r", float("nan")]],
            "split 'training': row 0 .from 0. has no tail; drop the row or fill it in",
        ),
        ([["a", "r", "b"], ["", "r", "b"]], "split 'training': row 1 .from 0. has no head"),
        (np.array([["a", None, "b"]], dtype=object), "split 'training': row 0 .from 0. has no relation"),
        ([(1, 2)], r"the triples for training must be an array or a list of the shape \(n, 3\)"),
        ([(1, 2), (1, 2, 3)], r"the triples for training must be an array or a list of the shape \(n, 3\)"),
        (5, r"the triples for training must be an array or a list of the shape \(n, 3\)"),
        (
            pl.DataFrame({"head": [1], "tail": [2]}),
            "the triples for training lack the column relation; they have he",
        ),
    ],
)
def test_what_are_no_triples_is_one_line(triples, message):
    with pytest.raises(RankadjustError, match=message):
        EvaluationSet.from_triples(triples, None, TEST)


def test_an_empty_split_is_no_split():
    for empty in ([], (), np.empty((0, 3))):
        without = EvaluationSet.from_triples(TRAIN, empty, TEST)
        assert without.histogram.equals(EvaluationSet.from_triples(TRAIN, None, TEST).histogram)


def test_splits_and_protocols_of_own_triples(own):
    assert EvaluationSet.from_triples(TRAIN, VALID, TEST, split="valid").tasks == 2
    raw = EvaluationSet.from_triples(TRAIN, VALID, TEST, protocol="raw")
    assert raw.histogram["num_candidates"].unique().to_list() == [4]
    # A protocol of one's own counts like the one that it is another name of.
    mine = EvaluationSet.from_triples(TRAIN, VALID, TEST, protocol=Protocol("mine"))
    assert mine.moments(["mrr"])["variance_random_scorer"].equals(
        own.moments(["mrr"])["variance_random_scorer"]
    )
    with pytest.raises(RankadjustError, match="there is no split 'inference' in the triples of own"):
        EvaluationSet.from_triples(TRAIN, VALID, TEST, split="inference")


def test_own_triples_give_an_adjusted_value_and_say_what_is_impossible(own):
    found = own.adjust(mr="2.0", mrr="0.2")
    value, impossible = found.iter_rows(named=True)
    expectation = mean_rank(CANDIDATES["head"] + CANDIDATES["tail"])
    assert value["index"] == pytest.approx((expectation - 2) / (expectation - 1), rel=1e-14)
    assert value["index_low"] < value["index"] < value["index_high"]
    assert (value["possible"], value["message"]) == (True, None)
    # No rank is above its number of candidates, so that MRR is at least the mean of 1/N: 0.3333.
    assert (impossible["possible"], impossible["index"]) == (False, None)
    assert "is at least 0.333333" in impossible["message"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mrr": "x"}, "'x' is not a value"),
        ({"mmr": "0.3"}, "unknown metric 'mmr'"),
        ({"variance": "3"}, "Variance cannot be adjusted, because its expectation"),
    ],
)
def test_what_is_no_number_or_metric_is_an_error(own, values, message):
    with pytest.raises(RankadjustError, match=message):
        own.adjust(values)


def test_values_come_by_name_or_in_a_mapping():
    nations = EvaluationSet.released("Nations")
    by_name = nations.adjust(mrr="0.43", hits_at_10=0.9)
    assert nations.adjust({"mrr": "0.43", "hits@10": 0.9}).equals(by_name)
    assert nations.adjust({"mrr": "0.43"}, hits_at_10=0.9).equals(by_name)
    assert nations.moments("mrr").equals(nations.moments(["mrr"]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mrrr": 0.3, "hits@10": 0.1}, "unknown metric 'mrrr'; did you mean mrr"),
        ({"mrr": float("nan")}, "the value is nan; give a finite number"),
        ({"mrr": "much"}, "'much' is not a value"),
        ({"mr": "170%"}, "MR is not a share, so '170%' cannot be its value"),
        ({"amri": "much"}, "'much' is not a value"),
    ],
)
def test_what_cannot_be_checked_is_an_error_and_no_empty_result(values, message):
    with pytest.raises(RankadjustError, match=message):
        EvaluationSet.released("Nations").check(values)


def test_a_name_is_text():
    with pytest.raises(RankadjustError, match="237 is not the name of a data set; give text such as"):
        EvaluationSet.released(237)


def test_frames_of_pandas_are_triples_and_ranks(own):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(part, columns=["head", "relation", "tail"]) for part in (TRAIN, VALID, TEST)]
    assert EvaluationSet.from_triples(*frames).histogram.equals(own.histogram)
    ranks = pandas.DataFrame(
        {"rank": [1, 2, 3, 5], "triple": ["p", "q", "r", "s"], "num_candidates": [9] * 4}
    )
    assert evaluate(ranks, metrics="mr")["value"].to_list() == [2.75]
    models = {"a": ranks, "b": ranks.assign(rank=[2, 2, 3, 5])}
    series = {"a": ranks["rank"], "b": pandas.Series([2, 2, 3, 5])}
    for each in (models, series):
        assert compare(each, metrics=["mr"]).differences["difference"].to_list() == [-0.25]


def test_ranks_on_own_triples(own):
    ranks = pl.DataFrame(
        {"side": ["head"] * 3 + ["tail"] * 3, "triple": list("xyz") * 2, "rank": [1, 2, 3, 2, 1, 1]}
    )
    found = own.evaluate(ranks, metrics="mr").filter(side="both").row(0, named=True)
    expectation = mean_rank(CANDIDATES["head"] + CANDIDATES["tail"])
    assert found["expectation"] == pytest.approx(expectation, rel=1e-14)
    assert found["z_random_scorer"] is not None
    with pytest.raises(
        RankadjustError, match=r"own \(filtered, testing\) has 3 tasks of side head, but there are 2"
    ):
        own.evaluate(ranks.head(2))
    too_bad = ranks.with_columns(rank=pl.when(pl.int_range(pl.len()) == 0).then(4).otherwise("rank"))
    assert own.evaluate(too_bad, metrics="mr").height
    with pytest.raises(RankadjustError, match="a rank of side head is 5, but own"):
        own.evaluate(too_bad.with_columns(pl.col("rank").replace(4, 5)))


def test_the_set_and_its_names_mean_the_same():
    fb = EvaluationSet.released("FB15k-237")
    assert adjust("0.338", dataset=fb, metric="mrr") == adjust("0.338", dataset="FB15k-237", metric="mrr")
    assert fb.moments(["mrr"]).equals(
        load_database()
        .filter(
            dataset="FB15k-237",
            protocol="filtered",
            split="testing",
            side="both",
            metric="inverse_harmonic_mean_rank",
        )
        .select(SCHEMA.names())
    )
    table = pl.DataFrame({"dataset": "FB15k-237", "metric": ["mrr", "hits@10"], "value": ["0.34", "0.1"]})
    mine = fb.check({"mrr": 0.34, "hits@10": 0.1})
    assert mine["message"].to_list() == check(table)["message"].to_list()
    assert mine["severity"].to_list() == ["impossible"]


def test_a_metric_that_the_database_lacks_is_computed_from_the_histogram():
    nations = EvaluationSet.released("Nations")
    row = nations.moments(["hits@2"]).row(0, named=True)
    histogram = nations.histogram
    hits = (pl.lit(2) / pl.col("num_candidates")).clip(upper_bound=1)
    expected = histogram.select((hits * pl.col("tasks")).sum() / pl.col("tasks").sum()).item()
    assert row["expectation"] == pytest.approx(expected, rel=1e-14)
    assert row["variance_random_scorer"] is None
    assert (
        row["reason_random_scorer"]
        == "there is no z of a random scorer, because nothing says which tasks share a query"
    )


def test_a_constant_number_of_candidates():
    sampled = EvaluationSet.constant(candidates=50, tasks=20_000)
    row = sampled.moments(["hits@10", "mr"])
    assert row["expectation"].to_list() == pytest.approx([0.2, 25.5], rel=1e-15)
    assert row["variance"].to_list() == pytest.approx(
        [0.2 * 0.8 / 20_000, (50**2 - 1) / 12 / 20_000], rel=1e-14
    )
    found = sampled.adjust(mr="50", mrr="0.0199")
    assert found["possible"].to_list() == [True, False]
    assert sampled.adjust(mr="51")["possible"].to_list() == [False]
    for wrong in (
        {"candidates": 1, "tasks": 5},
        {"candidates": 5, "tasks": 0},
        {"candidates": 50.5, "tasks": 5},
        {"candidates": 50, "tasks": "5"},
    ):
        with pytest.raises(RankadjustError, match="give a whole number from"):
            EvaluationSet.constant(**wrong)


def test_models_are_compared_on_a_set():
    rng = np.random.default_rng(5)
    worse = rng.integers(1, 51, 300)
    better = np.maximum(worse // 2, 1)
    sampled = EvaluationSet.constant(candidates=50, tasks=300)
    found = sampled.compare(better, worse, metrics=["mr"])
    row = found.differences.row(0, named=True)
    assert (row["first"], row["second"], row["better"]) == ("A", "B", "A")
    named = sampled.compare({"new": better, "old": worse}, metrics=["mr"])
    assert named.differences["p"].to_list() == found.differences["p"].to_list()
    with pytest.raises(RankadjustError, match=r"has 300 tasks of side both, but there are 299"):
        sampled.compare(better[1:], worse[1:])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"A": [1, 2, 3], "B": [1, 2]}, "B: 1 of the 3 tasks of A are missing"),
        ({"A": [1, 2], "B": []}, "B: there are no runs"),
        ({"A": [1, 2], "B": [0, 2]}, "B: row 0: rank is 0.0, but it must be a rank"),
        ([np.array([1, 2]), np.array([2, 1])], "models are given by name"),
        ({"A": [1, 2], "B": 3}, "B: 3 is not a list of ranks"),
        (
            {"A": np.ones((6, 2)), "B": [1, 2]},
            r"A: an array of the shape \(6, 2\) would be 6 runs of 2 tasks; a row holds the ranks of one run",
        ),
    ],
)
def test_ragged_input_is_one_clear_line(models, message):
    with pytest.raises(RankadjustError, match=message):
        compare(models)


# It takes half a gigabyte.
@pytest.mark.slow
def test_a_set_of_a_run_or_of_the_release_where_the_run_lacks_it(tmp_path):
    folder = tmp_path / "results" / "database"
    folder.mkdir(parents=True)
    make_release(folder)
    nations = EvaluationSet.of_run(tmp_path / "results", "nations", split="test")
    assert repr(nations) == "EvaluationSet('Nations', protocol='filtered', split='testing', side='both')"
    assert nations.tasks == 402
    assert nations.adjust(mr="25")["possible"].to_list() == [False]
    wordnet = EvaluationSet.of_run(tmp_path / "results", "wn18rr")
    assert wordnet.moments("mrr").equals(EvaluationSet.released("WN18RR").moments("mrr"))
    assert wordnet.adjust(mr="50000")["possible"].to_list() == [False]


def test_other_evaluations_of_a_data_set_are_those_that_a_number_of_tasks_and_a_rank_fit():
    nations = EvaluationSet.released("Nations")
    others = nations.under_others()
    assert {"raw", "pykeen"} <= {other.protocol for other in others}
    assert "filtered" not in {other.protocol for other in others}
    assert {other.evaluation[2:] for other in others} == {("testing", "both")}
    # Nations has 14 entities, and 201 triples in test and 199 in validation.
    assert nations.evaluations_of(402, 14)[0] == "--protocol filtered --split testing"
    assert nations.evaluations_of(398, 1)[0] == "--protocol filtered --split validation"
    assert nations.evaluations_of(402, 15) == []
