"""From ranks and scores to metrics: definitions, ties, and what fits the database."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import FAMILIES, expand, metric_value
from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import load_database
from rankadjust.evaluation.evaluate import RESULT, evaluate
from rankadjust.evaluation.score_files import rank_scores, read_scores
from rankadjust.public_set import EvaluationSet
from tests.release import DATA, make_release
from tests.searching import in_profile

FOLDER = DATA / "evaluation"
METRICS = [metric for metric in expand(list(FAMILIES), [1, 3, 5, 10]) if metric.key != "count"]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("release"))


def values(result, **where):
    """Return the values of the rows with these facts, by metric."""
    rows = result.filter(*(pl.col(name) == value for name, value in where.items()))
    assert rows["metric"].is_unique().all()
    return dict(rows.select("metric", "value").iter_rows())


# --- definitions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["optimistic", "realistic", "pessimistic"])
def test_pykeen_computes_the_same(kind):
    expected = json.loads((FOLDER / "pykeen.json").read_text())[kind]
    ranks = pl.read_csv(FOLDER / "reference-ranks.csv")
    found = values(evaluate(ranks.drop("weight", "side", "num_candidates")), rank_type=kind)
    for key, value in expected["values"].items():
        assert found[key] == pytest.approx(value, rel=1e-12), key
    result = evaluate(ranks.drop("weight", "side"), metrics=list(expected["adjusted"]))
    for key, adjusted in expected["adjusted"].items():
        row = result.row(by_predicate=(pl.col("rank_type") == kind) & (pl.col("metric") == key), named=True)
        for name, value in adjusted.items():
            # Here z is positive for better than chance in every metric, as it is in PyKEEN.
            assert row[name] == pytest.approx(value, rel=1e-9), (key, name)


# --- ranks from scores ----------------------------------------------------------------------------------------


def naive(scores, target, mask):
    """Rank one task after the other, one candidate after the other."""
    rows = []
    for row, true in enumerate(target):
        better = equal = 0
        for column, score in enumerate(scores[row]):
            if column != true and not mask[row][column]:
                better += score > scores[row][true]
                equal += score == scores[row][true]
        candidates = 1 + sum(not mask[row][c] for c in range(len(scores[row])) if c != true)
        rows.append((1 + better, 1 + better + equal, candidates))
    return rows


@st.composite
def scored(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 8)))
    kind = draw(st.sampled_from([np.float32, np.float64, np.int16]))
    # Few different values, so that ties are common; infinity is a score like others.
    pool = [-1, 0, 1, 2] + ([np.inf, 0.5] if kind != np.int16 else [])
    scores = draw(hnp.arrays(kind, shape, elements=st.sampled_from(pool)))
    target = draw(hnp.arrays(np.int64, shape[0], elements=st.integers(0, shape[1] - 1)))
    return scores, target, draw(hnp.arrays(np.bool_, shape))


@given(case=scored())
def test_ranks_are_those_of_a_naive_loop(case):
    scores, target, mask = case
    expected = naive(scores, target, mask)
    assert rank_scores(scores, target, mask).rows() == expected
    assert rank_scores(scores, target).rows() == naive(scores, target, np.zeros_like(mask))


def test_ties():
    # Three candidates with the best score: 1, 3, and 2 in between.
    ranks = rank_scores([[5, 5, 5, 1]], [0])
    assert ranks.rows() == [(1, 3, 4)]
    found = evaluate(ranks, metrics=["mr"])
    assert dict(found.select("rank_type", "value").iter_rows()) == {
        "optimistic": 1.0,
        "realistic": 2.0,
        "pessimistic": 3.0,
        "expected": 2.0,
    }


@given(case=scored())
@settings(max_examples=in_profile(40))
def test_expected_is_the_mean_over_all_orders_of_tied_candidates(case):
    """Each order that breaks the ties has integer ranks, and so metrics of its own; their mean is asked for."""
    ranks = rank_scores(*case)
    found = values(evaluate(ranks), rank_type="expected")
    best, worst, counts = (ranks[name].to_numpy() for name in ranks.columns)
    for metric in METRICS:
        if metric.additive:
            means = [
                np.mean([float(metric_value(metric, [rank], [count])) for rank in range(first, last + 1)])
                for first, last, count in zip(best, worst, counts, strict=True)
            ]
            present = [mean for mean in means if not math.isnan(mean)]
            expected = np.mean(present) if present else None
            assert (found[metric.key] is None) == (expected is None)
            if expected is not None:
                assert found[metric.key] == pytest.approx(expected, rel=1e-12), metric.key
        elif metric.term is None:
            # A median over orders is not the median of anything here: it is not defined, unless nothing is tied.
            assert (found[metric.key] is None) == (best < worst).any()


@pytest.mark.parametrize("sizes", [[2], [14], [135, 2, 77], [14_541, 40_943, 3, 3]])
def test_a_constant_scorer_is_at_chance_exactly(sizes):
    frame = pl.DataFrame({"optimistic": [1] * len(sizes), "pessimistic": sizes, "num_candidates": sizes})
    rows = evaluate(frame).filter(rank_type="expected")
    for metric in METRICS:
        index = rows.filter(metric=metric.key)["index"].item()
        if metric.additive and index is not None:
            assert abs(index) < 1e-12, metric.key
    assert rows.filter(metric="auc")["index"].item() is not None


def test_scores_are_ranked_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("rankadjust.evaluation.score_files._BLOCK", 30)
    rng = np.random.default_rng(5)
    scores, mask = rng.integers(0, 9, (20, 10)).astype(np.float32), rng.random((20, 10)) < 0.3
    target, side = rng.integers(0, 10, 20), np.array(["head", "tail"] * 10)
    np.savez(tmp_path / "x.npz", scores=scores, target=target, mask=mask, side=side)
    ranks = read_scores(tmp_path / "x.npz")
    assert ranks.select("optimistic", "pessimistic", "num_candidates").rows() == naive(scores, target, mask)
    assert ranks["side"].to_list() == side.tolist()
    assert set(evaluate(tmp_path / "x.npz", metrics=["mrr"])["side"]) == {"head", "tail", "both"}


def test_a_mask_that_leaves_nothing_but_the_true_answers_is_refused(tmp_path):
    """One that is true throughout, or that is inverted where no query has another answer: MRR would be 1."""
    scores, target = np.random.default_rng(1).random((4, 6)), np.arange(4)
    for mask in (np.ones((4, 6), dtype=bool), target[:, None] != np.arange(6)):
        np.savez(tmp_path / "x.npz", scores=scores, target=target, mask=mask)
        with pytest.raises(
            RankadjustError, match=r"x\.npz: the mask filters out all candidates but .* is it inverted\?$"
        ):
            evaluate(tmp_path / "x.npz")
    # A single task may have no other candidate, and a block of tasks that somebody ranks for himself.
    mask[0, 5] = False
    np.savez(tmp_path / "x.npz", scores=scores, target=target, mask=mask)
    warning = evaluate(tmp_path / "x.npz", metrics=["mrr"])["warning"][0]
    assert "3 of 4 tasks have no candidate but the true answer" in warning
    assert rank_scores(scores, target, np.ones((4, 6), dtype=bool))["num_candidates"].to_list() == [1] * 4


def test_an_honest_mask_has_no_warning(tmp_path):
    """Some known answers filtered out; or all but nine sampled negatives of a hundred candidates."""
    rng = np.random.default_rng(2)
    scores, target = rng.random((30, 100)), rng.integers(0, 100, 30)
    sampled = np.ones((30, 100), dtype=bool)
    np.put_along_axis(sampled, np.argsort(rng.random((30, 100)))[:, :9], values=False, axis=1)
    for mask in (rng.random((30, 100)) < 0.05, sampled):
        np.savez(tmp_path / "x.npz", scores=scores, target=target, mask=mask)
        assert not evaluate(tmp_path / "x.npz")["warning"].str.contains("mask").any()


def test_nan_names_task_and_column(monkeypatch):
    monkeypatch.setattr("rankadjust.evaluation.score_files._BLOCK", 12)
    scores = np.zeros((10, 6), dtype=np.float32)
    scores[7, 3] = np.nan
    with pytest.raises(RankadjustError, match=r"scores: the score of task 7, column 3 is NaN"):
        rank_scores(scores, np.zeros(10, dtype=int))
    # Programs write these over known answers, in place of a mask; other low scores are scores.
    for filling, is_refused in ((-np.inf, True), (-1e6, True), (-1e6 - 1, False), (-1000.0, False)):
        scores[7, 3] = filling
        if is_refused:
            with pytest.raises(
                RankadjustError, match=r"task 7, column 3 is -(inf|1e\+06) .*which a mask filters out"
            ):
                rank_scores(scores, np.zeros(10, dtype=int))
        else:
            assert rank_scores(scores, np.zeros(10, dtype=int)).height == 10
    scores[7, 3] = np.nan
    # What is filtered out is no candidate, whatever stands there; the true answer always is one.
    assert rank_scores(scores, np.zeros(10, dtype=int), np.isnan(scores)).height == 10
    with pytest.raises(RankadjustError, match="task 7, column 3"):
        rank_scores(scores, np.full(10, 3), np.isnan(scores))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"scores": np.zeros((2, 3))}, "there is no 'target'; it has scores"),
        ({"scores": np.zeros(3), "target": np.zeros(3, int)}, r"scores have the shape \(3,\), not"),
        ({"scores": np.zeros((2, 0)), "target": np.zeros(2, int)}, r"scores have the shape \(2, 0\), not"),
        ({"scores": np.zeros((2, 3)), "target": np.zeros(3, int)}, "it must be 2 whole numbers, one a task"),
        (
            {"scores": np.zeros((2, 3)), "target": np.array([0, 3])},
            "the target of task 1 is 3, but columns go",
        ),
        ({"scores": np.array([["a"]]), "target": np.zeros(1, int)}, "they must be numbers"),
        (
            {"scores": np.zeros((2, 3)), "target": np.zeros(2, int), "mask": np.zeros((3, 2), bool)},
            r"the mask is bool of the shape \(3, 2\)",
        ),
        (
            {"scores": np.zeros((2, 3)), "target": np.zeros(2, int), "side": np.array(["head"])},
            r"'side' has the shape \(1,\), not \(2,\)",
        ),
        (
            {"scores": np.zeros((2, 3)), "target": np.zeros(2, int), "side": np.array(["head", "end"])},
            "row 1: side is 'end', but it must be head or tail",
        ),
        (
            {"scores": np.zeros((2, 3)), "target": np.zeros(2, int), "mask": np.zeros((2, 3))},
            "the mask is float64",
        ),
        (
            {"scores": np.zeros((2, 3)), "target": np.zeros(2, int), "filter_indptr": [0, 1, 1]},
            "'filter_indptr' is not read; filter with the array mask",
        ),
    ],
)
def test_scores_that_do_not_fit_together_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "scores.npz", **arrays)
    with pytest.raises(RankadjustError, match=message):
        evaluate(tmp_path / "scores.npz")


# --- with the database ----------------------------------------------------------------------------------------


def nations_ranks(database, protocol="filtered"):
    """Return one rank a task of Nations: 1 + half of the others, rounded down."""
    histogram = pl.read_parquet(database.parent / "candidates.parquet").filter(
        pl.col("protocol") == protocol, pl.col("dataset") == "Nations"
    )
    counts = histogram.select("side", num_candidates=pl.col("num_candidates").repeat_by("tasks")).explode(
        "num_candidates"
    )
    return counts.with_columns(rank=1 + (pl.col("num_candidates") - 1) // 2)


def test_constants_come_from_the_database(database):
    frame = nations_ranks(database)
    result = evaluate(
        frame.drop("num_candidates"), dataset="nations", database=database, metrics=["mrr", "auc"]
    )
    assert result.schema == RESULT
    row = result.row(
        by_predicate=(pl.col("side") == "both") & (pl.col("metric") == "inverse_harmonic_mean_rank"),
        named=True,
    )
    # An independent implementation in extended precision: moments.Nations.json of the development data.
    assert row["expectation"] == pytest.approx(0.3844414082699486, rel=1e-12)
    assert row["z"] == pytest.approx(
        (row["value"] - row["expectation"]) / math.sqrt(1.8117984421965722e-04), rel=1e-9
    )
    assert abs(row["z_random_scorer"]) < abs(row["z"])
    auc = result.row(by_predicate=(pl.col("side") == "both") & (pl.col("metric") == "auc"), named=True)
    assert auc["value"] is None
    assert auc["reason"] == "the number of candidates of each task is not known"


def test_constants_computed_from_the_candidates_are_those_of_the_database(database):
    # Far from chance, where no p is drawn.
    frame = nations_ranks(database).with_columns(rank=1 + pl.col("rank") // 4)
    metrics = [metric.key for metric in METRICS if metric.additive and metric.k in (None, 3)]
    stored = evaluate(frame, dataset="Nations", database=database, metrics=[*metrics, "median"])
    computed = evaluate(frame, metrics=[*metrics, "median"])
    for name in ("value", "expectation", "ratio", "index", "z"):
        np.testing.assert_allclose(computed[name].cast(float), stored[name].cast(float), rtol=1e-9)
    assert computed["z_random_scorer"].null_count() == computed.height


def test_one_side_alone_can_be_evaluated(database):
    tail = nations_ranks(database).filter(pl.col("side") == "tail")
    result = evaluate(tail, dataset="Nations", database=database, metrics=["mrr"])
    assert result["side"].to_list() == ["tail"]
    assert result["z_random_scorer"].null_count() == 0


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda frame: frame.head(-1), {}, "has 201 tasks of side tail, but there are 200 ranks"),
        (lambda frame: frame.drop("side").head(-1), {}, "has 402 tasks of side both, .* give side"),
        # Nations has 199 validation triples.
        (
            lambda frame: frame.drop("side").head(398),
            {"database": None},
            "they fit --protocol filtered --split validation",
        ),
        (
            lambda frame: frame.drop("num_candidates").with_columns(rank=pl.lit(15)),
            {},
            "a rank of side head is 15, but Nations .* has at most 14 candidates there",
        ),
        (lambda frame: frame, {"protocol": "raw"}, "the mean of num_candidates of side head is"),
        (lambda frame: frame, {"dataset": "Nation"}, "did you mean Nations"),
        (lambda frame: frame, {"metrics": ["mrrr"]}, "unknown metric 'mrrr'; did you mean mrr"),
    ],
)
def test_ranks_that_do_not_fit_are_refused(database, change, options, message):
    given_options = {"dataset": "Nations", "database": database, **options}
    with pytest.raises(RankadjustError, match=message):
        evaluate(change(nations_ranks(database)), **given_options)


def test_a_task_twice_with_another_one_missing_is_pointed_out(database):
    """The number of tasks is right: head of triple 7 is there twice, head of triple 8 not at all."""
    frame = nations_ranks(database)
    frame = frame.with_columns(triple=pl.int_range(pl.len()).over("side"))
    given = {"dataset": "Nations", "database": database, "metrics": ["mrr"]}
    assert evaluate(frame, **given)["warning"].null_count() == 3
    is_wrong = (pl.col("triple") == 8) & (pl.col("side") == "head")
    wrong = frame.with_columns(triple=pl.when(is_wrong).then(7).otherwise(pl.col("triple")))
    assert "2 tasks share triple and side" in evaluate(wrong, **given)["warning"][0]


def test_tasks_that_share_what_their_user_calls_a_triple_are_no_mistake(database):
    """A test set may have a triple twice, on both sides; and the query of each side may be what is drawn as a whole."""
    given = {"dataset": "Nations", "database": database, "metrics": ["mrr"]}
    frame = nations_ranks(database)
    number = pl.int_range(pl.len()).over("side")
    for triple in (number // 2, pl.format("{} {}", "side", number // 3)):
        result = evaluate(frame.with_columns(triple=triple), **given)
        assert "share triple and side" in result["warning"][0]


def test_the_histogram_bounds_each_side_for_itself(database):
    """No head task of this histogram has more than 13 candidates, so that rank 14 cannot be."""
    frame = nations_ranks(database).drop("num_candidates")
    histogram = pl.read_parquet(database.parent / "candidates.parquet")
    smaller = histogram.filter((pl.col("side") == "tail") | (pl.col("num_candidates") < 14))
    worst = frame.with_columns(rank=pl.when(pl.col("side") == "head").then(14).otherwise("rank"))
    evaluate(worst, dataset="Nations", database=database, metrics=["mrr"])
    constants = Constants(load_database(database), Histograms(smaller))
    with pytest.raises(RankadjustError, match=r"a rank of side head is 14, .* has at most 13"):
        evaluate(worst, dataset="Nations", database=constants)


def test_without_candidates_and_data_set_nothing_is_adjusted():
    row = evaluate([1, 2], metrics=["mrr"]).row(0, named=True)
    assert row["value"] == 0.75
    assert row["expectation"] is None
    assert row["reason"] == "nothing says what chance reaches; give num_candidates or a data set"


# --- tables of ranks ------------------------------------------------------------------------------------------


def test_every_format_is_read(tmp_path):
    frame = pl.DataFrame({"rank": [1, 2, 4], "side": ["head", "tail", "tail"]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "a.parquet")
    for suffix in ("csv", "tsv", "parquet"):
        assert evaluate(tmp_path / f"a.{suffix}").equals(evaluate(frame))
    with pytest.raises(RankadjustError, match="this is a folder; give one file"):
        evaluate(tmp_path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"rank": []}, "there are no tasks"),
        ({"rank": [1, 0]}, "row 1: rank is 0, but it must be a rank"),
        ({"rank": [1.25]}, "row 0: rank is 1.25"),
        ({"rank": [math.nan]}, "row 0: rank is nan"),
        ({"rank": [math.inf]}, "row 0: rank is inf"),
        ({"rank": [1, None]}, "row 1: rank is empty"),
        ({"rank": ["first"]}, "row 0: rank is 'first'"),
        (
            {"optimistic": [2], "pessimistic": [1]},
            "pessimistic is 1, but it must be a whole number not below",
        ),
        ({"optimistic": [1.5], "pessimistic": [2]}, "optimistic is 1.5"),
        (
            {"rank": [2, 1], "optimistic": [1, 2], "pessimistic": [3, 2]},
            "row 1: rank is 1, but it must be a rank from optimistic to pessimistic",
        ),
        (
            {"rank": [4], "optimistic": [1], "pessimistic": [3]},
            "row 0: rank is 4, but it must be a rank from",
        ),
        ({"rank": [1], "optimistic": [2]}, "row 0: rank is 1, but it must be a rank from optimistic"),
        (
            {"optimistic": [1]},
            "there is no column rank, nor optimistic and pessimistic; the columns are optimistic",
        ),
        ({"rank": [3], "num_candidates": [2]}, "num_candidates is 2, but it must be .* not below the rank"),
        ({"rank": [1], "weight": [2.0]}, "the column weight is not read, because every task counts alike"),
        ({"rank": [1, 1], "group": ["r", "s"]}, "the column group is not read"),
        ({"rank": [1], "num_candidate": [2]}, "unknown column 'num_candidate'; did you mean num_candidates"),
        ({"rank": [0]}, "if your ranks count from 0, add 1 to each"),
        ({"rank": [math.nan]}, "look for scores of the model that are NaN"),
        ({"1": [2], "2": [3]}, "the columns are 1, 2; the first line must be the names of the columns"),
        ({"rank;side": ["1;head"]}, "the columns are rank;side; separate the columns by commas"),
    ],
)
def test_what_is_no_task_is_refused_with_its_row(columns, message):
    with pytest.raises(RankadjustError, match=message):
        evaluate(pl.DataFrame(columns, strict=False))


def test_a_file_with_nothing_or_with_a_column_twice_is_refused(tmp_path):
    for text, message in (
        ("", "there are no ranks, because it is empty"),
        ("rank,rank\n1,2\n", "there are two columns 'rank'"),
    ):
        (tmp_path / "ranks.csv").write_text(text)
        with pytest.raises(RankadjustError, match=rf"ranks\.csv: {message}"):
            evaluate(tmp_path / "ranks.csv")


def test_tasks_that_stand_twice_are_pointed_out():
    frame = pl.DataFrame({"rank": [1, 2, 3], "side": ["head", "tail", "head"], "triple": ["a", "a", "b"]})
    assert not evaluate(frame, metrics=["mrr"])["warning"].str.contains("share triple and side").any()
    twice = pl.concat([frame, frame.head(2)])
    repeated = (
        "4 tasks share triple and side with another task: are two runs in one table, or is a task there twice and "
        "another missing?"
    )
    assert evaluate(twice, metrics=["mrr"])["warning"].str.ends_with(f"; {repeated}").all()


@pytest.mark.parametrize(
    ("ranks", "num_candidates", "message"),
    [
        (["a"], None, "ranks must be a list of numbers"),
        ([[1, 2]], None, r"the array has the shape \(1, 2\); name its columns"),
        ([1, 2], [3, 4, 5], "num_candidates has 3 values for 2 tasks"),
        ([1, 5], 4, "row 1: num_candidates is 4"),
    ],
)
def test_arrays_that_are_no_ranks_are_refused(ranks, num_candidates, message):
    with pytest.raises(RankadjustError, match=message):
        evaluate(ranks, num_candidates=num_candidates)


def test_ranks_without_a_column_side_are_of_the_side_that_is_given():
    # A Countries split: as many head as tail tasks, so that nothing but the side tells them apart.
    tail = EvaluationSet.released("Countries-S1", side="tail")
    ranks = np.ones(tail.tasks)
    by_set, by_name = (
        tail.evaluate(ranks),
        evaluate(ranks, dataset="Countries-S1", side="tail"),
    )
    assert by_set.equals(by_name)
    both = EvaluationSet.released("Countries-S1")
    assert evaluate(ranks, dataset=both, side="tail").equals(by_set)
    assert by_set["side"].unique().to_list() == ["tail"]
    expected = tail.moments(["mrr"])["expectation"].item()
    assert by_set.filter(metric="inverse_harmonic_mean_rank")["expectation"].item() == pytest.approx(
        expected, rel=1e-12
    )
    with pytest.raises(RankadjustError, match=r"48 tasks of side both, but there are 24 ranks.* give side"):
        evaluate(ranks, dataset="Countries-S1")


def test_of_a_table_with_both_sides_only_the_side_that_is_given_is_evaluated():
    table = pl.DataFrame({"rank": [1, 2, 4, 8], "side": ["head", "tail", "head", "tail"]})
    whole = evaluate(table, num_candidates=10).filter(side="tail")
    assert evaluate(table, num_candidates=10, side="object").equals(whole)
    with pytest.raises(RankadjustError, match="none of the 2 ranks is of side head"):
        evaluate(table.filter(side="tail"), num_candidates=10, side="head")
