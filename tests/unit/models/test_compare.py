"""Models compared from their ranks: matching, clusters, values, intervals, runs, and what is refused."""

import numpy as np
import polars as pl
import pytest
from scipy import special

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.models.compare import compare
from rankadjust.models.paired import paired
from rankadjust.models.part import DIFFERENCES, VALUES
from rankadjust.output.comparison_text import comparison
from rankadjust.public_set import EvaluationSet

METRICS = ("mrr", "hits@1", "mr", "gmr")


def model(seed, shift=0.0, triples=60):
    """Return ranks of head and tail tasks of some triples, whose difficulty is the same for every seed."""
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(0).standard_normal((triples, 1))
    ranks = np.ceil(np.exp(1.5 + 1.2 * (hard + 0.7 * rng.standard_normal((triples, 2)) + shift)))
    return pl.DataFrame(
        {
            "triple": np.repeat(np.arange(triples), 2).astype(str),
            "side": ["head", "tail"] * triples,
            "rank": np.minimum(ranks.ravel(), 5000),
            "num_candidates": 5000,
        }
    )


def row(frame, metric, side="both", **where):
    rows = frame.filter(side=side, metric=resolve(metric).key, **where)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_values_are_those_of_evaluate():
    first, second = model(1), model(2, 0.3)
    found = compare({"A": first, "B": second.sample(fraction=1.0, shuffle=True, seed=1)}, metrics=METRICS)
    assert found.values.schema == VALUES
    assert found.differences.schema == DIFFERENCES
    for name, frame in (("A", first), ("B", second)):
        expected = evaluate(frame)
        for side in ("head", "tail", "both"):
            for metric in METRICS:
                known = row(expected, metric, side)
                mine = row(found.values, metric, side, model=name)
                assert mine["value"] == pytest.approx(known["value"], rel=1e-12)
                assert mine["index"] == pytest.approx(known["index"], rel=1e-9)


def test_p_and_interval_are_those_of_a_t_test():
    """Student's test of the means of the triples; what little skewness there is makes the difference."""
    first, second = model(1), model(2, 0.1)
    found = row(compare({"A": first, "B": second}, metrics="mrr").differences, "mrr")
    one, other = (frame["rank"].to_numpy().reshape(-1, 2) for frame in (first, second))
    means = (1 / one).mean(axis=1) - (1 / other).mean(axis=1)
    mean, error = means.mean(), means.std(ddof=1) / 60**0.5
    half = special.stdtrit(59, 0.975) * error
    assert found["p"] == pytest.approx(2 * special.stdtr(59, -abs(mean) / error), abs=0.03)
    assert 0.02 < found["p"] < 0.6
    assert found["difference_low"] == pytest.approx(mean - half, abs=0.2 * half)
    assert found["difference_high"] == pytest.approx(mean + half, abs=0.2 * half)
    assert found["error_triples"] == pytest.approx(error, rel=1e-9)


def test_a_better_model_is_found_and_equal_ones_are_not():
    found = compare({"A": model(1), "B": model(2, 0.6), "C": model(3)}, metrics=["mrr", "mr"])
    assert row(found.differences, "mrr", first="A", second="B")["better"] == "A"
    assert row(found.differences, "mr", first="B", second="C")["better"] == "C"
    assert row(found.differences, "mrr", first="A", second="C")["better"] is None
    best = dict(
        found.values.filter(side="both", metric="arithmetic_mean_rank").select("model", "best").iter_rows()
    )
    assert best == {"A": True, "B": False, "C": True}


def test_the_same_ranks_are_the_same():
    frames = {"A": model(1), "B": model(1), "C": model(2)}
    found = row(compare(frames, metrics="mrr").differences, "mrr", first="A", second="B")
    assert (found["difference"], found["p"], found["better"]) == (0.0, 1.0, None)
    assert "no length" in found["warning"]


def test_nothing_can_be_tested_if_all_ranks_are_the_same():
    with pytest.raises(RankadjustError, match="A and B have the same rank in every task"):
        compare({"A": model(1), "B": model(1).sample(fraction=1.0, shuffle=True, seed=1)})
    # The same mean over the runs is another matter.
    runs = [model(1), model(2)]
    found = compare({"A": runs, "B": runs[::-1]}, metrics="mrr")
    assert row(found.differences, "mrr")["difference"] == 0


def test_runs_are_averaged_and_their_spread_is_told(tmp_path):
    runs = {"A": [model(1), model(2), model(3)], "B": [model(4, 0.2), model(5, 0.2)]}
    for name, frames in runs.items():
        (tmp_path / name).mkdir()
        for number, frame in enumerate(frames):
            frame.write_parquet(tmp_path / name / f"{number}.parquet")
    found = compare([tmp_path / "A", tmp_path / "B"], metrics=["mrr", "gmr"])
    of_runs = {name: [(1 / frame["rank"]).mean() for frame in frames] for name, frames in runs.items()}
    for name, values in of_runs.items():
        mine = row(found.values, "mrr", model=name)
        assert mine["value"] == pytest.approx(np.mean(values), rel=1e-12)
        assert mine["spread_of_runs"] == pytest.approx(np.std(values, ddof=1))
        assert mine["runs"] == len(values)
    pooled = np.concatenate([frame["rank"].to_numpy() for frame in runs["A"]])
    assert row(found.values, "gmr", model="A")["value"] == pytest.approx(np.exp(np.log(pooled).mean()))


def test_error_over_runs_and_tasks_is_that_of_the_variance_components():
    """By the analysis of variance: triples, runs, and triples x runs, of 1/r of 60 triples."""
    rng = np.random.default_rng(7)
    seeds = {"A": rng.normal(0, 0.4, 4), "B": rng.normal(0.3, 0.4, 3)}
    logs = {
        name: 1 + rng.standard_normal(60) + rng.standard_normal((found.size, 60)) + found[:, None]
        for name, found in seeds.items()
    }
    ranks = {name: np.ceil(np.exp(np.maximum(found, 0))) for name, found in logs.items()}
    found = row(compare({name: [*one] for name, one in ranks.items()}, metrics="mrr").differences, "mrr")
    terms = {name: 1 / one for name, one in ranks.items()}
    of_runs = {name: one.mean(axis=1).var(ddof=1) / len(one) for name, one in terms.items()}
    noise = sum(
        (one - one.mean(axis=0)).var(axis=1, ddof=1).sum() / 60 / (len(one) - 1) / len(one)
        for one in terms.values()
    )
    of_tasks = (terms["A"].mean(axis=0) - terms["B"].mean(axis=0)).var(ddof=1) / 60
    total = sum(of_runs.values())
    variance = of_tasks - noise + total
    share = (total / variance) ** 1.5
    freedom = 1 / ((1 - share) / 59 + share * (of_runs["A"] ** 2 / 3 + of_runs["B"] ** 2 / 2) / total**2)
    assert found["error_triples"] == pytest.approx(variance**0.5, rel=1e-9)
    assert found["freedom"] == pytest.approx(freedom, rel=1e-9)
    p = 2 * special.stdtr(freedom, -abs(terms["A"].mean() - terms["B"].mean()) / variance**0.5)
    assert found["p"] == pytest.approx(p, rel=0.05)


def test_two_runs_each_are_warned_of():
    runs = {
        name: [model(seed, triples=60) for seed in seeds] for name, seeds in (("A", (1, 2)), ("B", (3, 4)))
    }
    found = row(compare(runs, metrics="mrr").differences, "mrr")
    assert "runs" in found["warning"]
    alone = {name: each[0] for name, each in runs.items()}
    assert "runs" not in (row(compare(alone, metrics="mrr").differences, "mrr")["warning"] or "")


def test_seeds_that_differ_much_are_no_difference_of_models():
    """Two models with equal laws whose runs differ by their seeds: the swaps of tasks alone see a sure difference."""
    rng = np.random.default_rng(11)
    shared = rng.standard_normal(300)
    levels = {"A": (0.0, 0.9), "B": (0.7, 1.6)}
    runs = {
        name: [np.ceil(np.exp(np.maximum(shared + rng.standard_normal(300) + level, 0))) for level in both]
        for name, both in levels.items()
    }
    found = row(compare(runs, metrics="mrr").differences, "mrr")
    assert found["p"] > 0.2
    one = row(compare({name: both[0] for name, both in runs.items()}, metrics="mrr").differences, "mrr")
    assert one["p"] < 0.001


def test_a_folder_of_runs_has_tables_and_scores(tmp_path):
    """Two tasks, the true answer of each at rank 2 in a table and 3 by scores."""
    (tmp_path / "A").mkdir()
    rows = {"triple": ["0,0,1", "2,0,3"], "side": ["tail", "tail"]}
    pl.DataFrame({**rows, "rank": [2, 2]}).write_csv(tmp_path / "A" / "1.csv")
    arrays = {"scores": np.array([[3.0, 2.0, 1.0]] * 2), "target": np.array([2, 2])}
    np.savez(tmp_path / "A" / "2.npz", **arrays, **rows)
    pl.DataFrame({**rows, "rank": [4, 4]}).write_csv(tmp_path / "B.csv")
    found = compare([tmp_path / "A", tmp_path / "B.csv"], metrics="mr")
    assert row(found.values, "mr", "tail", model="A")["runs"] == 2
    assert row(found.values, "mr", "tail", model="A")["value"] == (2 + 3) / 2
    (tmp_path / "C").mkdir()
    with pytest.raises(RankadjustError, match=r"the folder holds no \.csv"):
        compare([tmp_path / "A", tmp_path / "C"])


def test_queries_of_both_sides_are_two_ways_of_clustering():
    """Triples 0 and 1 ask for the same tail, 1 and 2 for the same head; 3 is alone."""
    tasks = pl.DataFrame(
        {
            "triple": ["0", "0", "1", "1", "2", "2", "3", "3"],
            "side": ["head", "tail"] * 4,
            "query": ["?rx", "ar?", "?ry", "ar?", "?ry", "cr?", "?rz", "dr?"],
            "rank": [1.0] * 8,
        }
    )
    by_head, by_tail, by_both = (way.tolist() for way in tasks_of(tasks).ways("queries", "both"))
    assert {tuple(by_head), tuple(by_tail)} == {(0, 0, 0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 1, 1, 2, 2)}
    assert by_both == [0, 0, 1, 1, 2, 2, 3, 3]
    (only,) = tasks_of(tasks).ways("queries", "head")
    assert only.tolist() == [0, 1, 1, 2]
    # What is asked on one side is a part of what is asked on the other: that adds nothing.
    nested = tasks.with_columns(query=pl.when(pl.col("side") == "head").then("triple").otherwise("query"))
    (only,) = tasks_of(nested).ways("queries", "both")
    assert only.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert tasks_of(tasks).ways("triples", "both")[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_attributes_come_from_a_table_of_tasks():
    first, second = model(1, triples=12), model(2, triples=12)
    tasks = first.select("triple", "side", "num_candidates").with_columns(
        relation=(pl.col("triple").cast(pl.Int64) % 3).cast(pl.String)
    )
    found = compare(
        {"A": first.drop("num_candidates"), "B": second.drop("num_candidates")},
        tasks=tasks,
        population="relations",
        metrics="mrr",
    )
    assert (found.population, found.clusters, found.worth) == ("relations", 3, pytest.approx(3))
    assert row(found.differences, "mrr")["freedom"] == pytest.approx(2)
    assert row(found.values, "mrr", model="A")["index"] is not None
    with pytest.raises(RankadjustError, match=r"2 of 24 tasks are not in it, such as triple 0, side head"):
        compare({"A": first, "B": second}, tasks=tasks.filter(pl.col("triple") != "0"))
    with pytest.raises(RankadjustError, match="has 4,000 candidates there, but 5,000 in the ranks"):
        compare({"A": first, "B": second}, tasks=tasks.with_columns(num_candidates=4000))


def test_a_metric_that_has_no_value_is_told_and_leaves_the_others_alone():
    """AUC needs the numbers of candidates."""
    frames = {
        name: model(seed, shift).drop("num_candidates") for name, seed, shift in (("A", 1, 0), ("B", 2, 0.8))
    }
    found = compare(frames, metrics=["auc", "mrr"])
    auc = row(found.differences, "auc")
    assert (auc["difference"], auc["p"], auc["better"]) == (None, None, None)
    assert row(found.differences, "mrr")["better"] == "A"
    # Two tests, not three: 0.005 is multiplied by 2 at most.
    assert row(found.differences, "mrr")["p_holm"] <= 2 * row(found.differences, "mrr")["p"]
    text = comparison(found)
    assert "A is better than B by MRR." in text
    with pytest.raises(RankadjustError, match="standard_deviation is not a function of a mean"):
        compare(frames, metrics=["std"])


MISTAKES = {
    "another task": (
        lambda frame: frame.with_columns(triple=pl.col("triple").replace({"7": "x"})),
        r"B: 2 of the 120 tasks of A are missing, such as triple 7, side head",
    ),
    "fewer tasks": (lambda frame: frame.head(118), "B: 2 of the 120 tasks of A are missing"),
    "more tasks": (
        lambda frame: pl.concat([frame, frame.head(1).with_columns(triple=pl.lit("z"))]),
        "A: 1 of the 121 tasks of B are missing, such as triple z, side head",
    ),
    "a task twice": (
        lambda frame: pl.concat([frame, frame.head(1)]),
        "2 rows share triple and side, such as triple 0, side head in rows 1 and 121",
    ),
    "other candidates": (
        lambda frame: frame.with_columns(num_candidates=6000),
        "has 6,000 candidates there, but 5,000 in A",
    ),
    "no triple": (lambda frame: frame.drop("triple"), "no column triple"),
    "weights": (
        lambda frame: frame.with_columns(weight=pl.int_range(1, 121)),
        "the column weight is not read",
    ),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_what_cannot_be_compared(kind):
    change, message = MISTAKES[kind]
    with pytest.raises(RankadjustError, match=message):
        compare({"A": model(1), "B": change(model(2))})


def test_what_cannot_be_clustered():
    frames = {"A": model(1), "B": model(2)}
    with pytest.raises(RankadjustError, match="one model"):
        paired({"A": model(1)})
    with pytest.raises(RankadjustError, match="the query of each task is not known"):
        compare(frames, population="queries")
    one = {name: frame.with_columns(relation=pl.lit("r")) for name, frame in frames.items()}
    with pytest.raises(RankadjustError, match="all tasks are in one cluster"):
        compare(one, population="relations")
    with pytest.raises(RankadjustError, match="given twice"):
        compare(["a.csv", "a.csv"])


def test_queries_that_cross_make_a_difference_less_sure():
    """One model wins a head query as a whole: with swaps of triples that looks sure, with queries it does not."""
    rng = np.random.default_rng(5)
    head, tail = np.arange(300) // 30, rng.integers(60, size=300)
    wins = np.where(head < 7, 0.4, -0.3)
    ranks = {"A": np.full(300, 10.0), "B": np.ceil(10 * np.exp(wins + 0.2 * rng.standard_normal(300)))}
    frames = {
        name: pl.DataFrame(
            {
                "triple": np.tile(np.arange(300), 2),
                "side": np.repeat(["head", "tail"], 300),
                "rank": np.tile(own, 2),
                "query": np.concatenate([head, tail]),
            }
        )
        for name, own in ranks.items()
    }
    found = compare(frames, metrics="gmr")
    assert (found.population, found.clusters) == ("queries", 10)
    together = row(found.differences, "gmr")
    alone = compare(frames, metrics="gmr", population="triples")
    apart = row(alone.differences, "gmr")
    assert apart["p"] < 0.01
    assert together["p"] > 0.05
    assert together["difference_high"] - together["difference_low"] > 2 * (
        apart["difference_high"] - apart["difference_low"]
    )
    assert "too short" in together["warning"]
    assert "But for other queries A and B cannot be told apart by GMR (p = " in comparison(alone)
    assert apart["p_queries"] == together["p"]


def test_models_with_equal_mr_are_not_told_apart_because_few_ranks_are_bad():
    """One model is at 51 throughout; the other at 1, and at 5,001 in 1 % of the tasks: here in one of 300."""
    first, second = np.full(300, 51.0), np.where(np.arange(300) < 1, 5001.0, 1.0)
    found = row(compare({"A": first, "B": second}, metrics="mr").differences, "mr")
    assert found["p"] > 0.05
    assert found["difference_low"] < 0 < found["difference_high"]


def test_the_interval_of_mr_is_that_of_evaluate():
    """Against a model that is at 1 throughout, the difference of MR is MR - 1."""
    first = model(1, triples=150).drop("num_candidates")
    perfect = first.with_columns(rank=pl.lit(1.0))
    found = row(compare({"A": first, "B": perfect}, metrics="mr").differences, "mr")
    alone = row(evaluate(first, metrics="mr"), "mr")
    assert found["difference_low"] == pytest.approx(alone["value_low"] - 1, rel=1e-9)
    assert found["difference_high"] == pytest.approx(alone["value_high"] - 1, rel=1e-9)


def test_one_relation_that_decides_is_told():
    """A wins one relation of ten by much, and all else is alike: sure for other triples, not for other relations."""
    rng = np.random.default_rng(4)
    names = [f"{n}\tr{n % 10}\t{n + 1000}" for n in range(400)]
    common = rng.integers(1, 5, 800)
    ranks = {"A": common, "B": common + rng.integers(0, 2, 800) * rng.integers(0, 2, 800)}
    ranks["A"] = common + rng.integers(0, 2, 800) * rng.integers(0, 2, 800)
    ranks["B"] = ranks["B"] + 40 * (np.repeat(np.arange(400), 2) % 10 == 3)
    frames = {
        name: pl.DataFrame({"triple": np.repeat(names, 2), "side": ["head", "tail"] * 400, "rank": own})
        for name, own in ranks.items()
    }
    found = compare(frames, metrics="mrr", population="triples")
    known = row(found.differences, "mrr")
    assert known["better"] == "A"
    assert known["p_relations"] > 0.1
    assert known["relations"] < 2
    text = comparison(found)
    assert text.startswith(
        "Intervals and p are for other test triples of this split\n800 tasks of 400 triples"
    )
    assert "But for other relations A and B cannot be told apart by MRR (p = " in text
    assert ", one relation decides)." in " ".join(text.split())
    assert text.endswith("This holds for these runs; other seeds were not tested.")
    assert "< 1e-4" in text
    runs = {name: [frame, frame.with_columns(rank=pl.col("rank") + 1)] for name, frame in frames.items()}
    assert "seeds were not tested" not in comparison(compare(runs, metrics="mrr", population="triples"))


def test_a_set_of_one_side_compares_ranks_of_this_side():
    tail = EvaluationSet.released("Countries-S1", side="tail")
    ranks = np.arange(1, tail.tasks + 1)
    compared = tail.compare(ranks, ranks[::-1] + 1, metrics=["mrr"])
    assert compared.values["side"].unique().to_list() == ["tail"]
    by_name = compare(
        {"A": ranks, "B": ranks[::-1] + 1}, dataset="Countries-S1", side="tail", metrics=["mrr"]
    )
    assert by_name.values.equals(compared.values)
    index = compared.values.filter(model="A")["index"].item()
    adjusted = tail.adjust(mrr=float(np.mean(1 / ranks)))["index"].item()
    assert index == pytest.approx(adjusted, rel=1e-12)
