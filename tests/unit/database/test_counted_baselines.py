"""Values held against counting baselines: which one is chosen, the gain over it, and what is said without one."""

import polars as pl
import pytest

from rankadjust import EvaluationSet, RankadjustError, adjust
from rankadjust.database.counted_baselines import add_gain, chosen
from rankadjust.database.store import BASELINES_SCHEMA
from rankadjust.output.adjusted_text import adjusted_values

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


def in_words(found, text, against=None):
    """Return every number of an adjusted value, as the command prints it, with its sentences in one line."""
    printed = adjusted_values([vars(found) | {"text": text}], everything=True, against=against)
    return printed.replace("\n  ", " ")


def rows(*given):
    """Return baselines of one data set: split, baseline, metric and value of each."""
    key = {
        "dataset": "D",
        "protocol": "filtered",
        "side": "both",
        "variance": 0.0,
        "tasks": 9,
        "reason": None,
    }
    return pl.DataFrame(
        [key | dict(zip(("split", "baseline", "metric", "value"), one, strict=True)) for one in given],
        schema=BASELINES_SCHEMA,
    )


def best(table, split="testing", against=None):
    found = chosen(table, against).filter(split=split)
    return {row["metric"]: (row["baseline"], row["baseline_value"]) for row in found.iter_rows(named=True)}


VALUES = [
    ("validation", "popularity", MRR, 0.4),
    ("validation", "rules", MRR, 0.3),
    ("testing", "popularity", MRR, 0.2),
    ("testing", "rules", MRR, 0.5),
    ("validation", "popularity", MR, 7.0),
    ("validation", "rules", MR, 5.0),
    ("testing", "popularity", MR, 4.0),
    ("testing", "rules", MR, 6.0),
]


def test_the_best_is_chosen_on_validation_and_valued_where_it_is_judged():
    """In testing the other one is better, of both metrics; low is good of the mean rank."""
    assert best(rows(*VALUES)) == {MRR: ("popularity", 0.2), MR: ("rules", 6.0)}
    assert best(rows(*VALUES), against="rules") == {MRR: ("rules", 0.5), MR: ("rules", 6.0)}
    # Nothing is chosen on the split that is judged.
    assert best(rows(*VALUES), split="validation") == {}
    assert best(rows(*(one for one in VALUES if one[0] == "testing"))) == {}


def test_a_baseline_that_knows_later_splits_is_never_the_best():
    table = rows(
        *[(split, "recurrency", MRR, 0.9) for split in ("validation", "testing")],
        *[(split, "recurrency-multi-step", MRR, 0.6) for split in ("validation", "testing")],
        *[(split, "popularity", MRR, 0.3) for split in ("validation", "testing")],
    )
    assert best(table) == {MRR: ("recurrency-multi-step", 0.6)}
    assert best(table, against="recurrency") == {MRR: ("recurrency", 0.9)}


def test_inductive_testing_is_chosen_on_its_own_validation_or_else_on_that_of_training():
    of_training = [("validation", "popularity", MRR, 0.9), ("validation", "rules", MRR, 0.1)]
    of_inference = [
        ("inference_validation", "popularity", MRR, 0.1),
        ("inference_validation", "rules", MRR, 0.9),
    ]
    judged = [("inference_testing", "popularity", MRR, 0.3), ("inference_testing", "rules", MRR, 0.4)]
    assert best(rows(*of_training, *judged), "inference_testing") == {MRR: ("popularity", 0.3)}
    assert best(rows(*of_training, *of_inference, *judged), "inference_testing") == {MRR: ("rules", 0.4)}


def gains(against=None, baselines=VALUES, **columns):
    names = {"dataset": "D", "protocol": "filtered", "split": "testing", "side": "both", "optimum": 1.0}
    found = add_gain(pl.DataFrame(names | columns), rows(*baselines), against)
    return [found[name].to_list() for name in ("gain", "gain_low", "gain_high")]


def test_the_gain_is_0_at_the_baseline_and_1_at_the_optimum():
    values = {"value": [0.2, 1.0, 0.1, 3.5], "metric": [MRR, MRR, MRR, MR]}
    found = gains(**values, value_low=[0.15, 0.95, None, 3.0], value_high=[0.25, 1.0, None, 4.0])
    assert found[0] == pytest.approx([0.0, 1.0, -0.125, 0.5])
    for ends, expected in zip(found[1:], ([-0.0625, 0.9375, 0.4], [0.0625, 1.0, 0.6]), strict=True):
        assert ends[2] is None
        assert [*ends[:2], ends[3]] == pytest.approx(expected)
    # A perfect baseline leaves nothing to gain.
    perfect = [("testing", "popularity", MRR, 1.0)]
    one = {"value": [0.9], "value_low": [0.85], "value_high": [0.95], "metric": [MRR]}
    assert gains("popularity", perfect, **one) == [[None]] * 3


# What is released: popularity has 0.2345 and rules 0.2209 on FB15k-237 (data/reference/baselines.json).


def test_one_value_is_held_against_the_best_baseline():
    found = adjust("0.338", dataset="FB15k-237", metric="mrr")
    assert found.baseline == "popularity"
    assert found.baseline_value == pytest.approx(0.2345, abs=5e-5)
    assert found.gain == pytest.approx((0.338 - found.baseline_value) / (1 - found.baseline_value), rel=1e-12)
    assert found.gain_low < found.gain < found.gain_high
    assert found.reason_gain is None
    assert (
        "Counting training triples alone reaches 0.2345 (popularity): MRR 0.338 takes 13.5 % of the headroom"
        in (in_words(found, "0.338"))
    )


def test_an_unknown_baseline_is_refused_with_what_it_may_have_meant():
    with pytest.raises(RankadjustError, match=r"has no baseline 'poplarity'; did you mean popularity\?"):
        adjust("0.3", dataset="FB15k-237", metric="mrr", against="poplarity")
    assert adjust("0.3", dataset="FB15k-237", metric="mrr", against="Rules").baseline == "rules"


@pytest.mark.parametrize(
    ("dataset", "split", "metric", "reason"),
    [
        ("FB15k", "testing", "mrr", "no counting baseline is known"),
        ("FB15k-237", "validation", "mrr", "cannot judge validation"),
        ("FB15k-237", "testing", "median_rank", "the law of an order statistic"),
        ("FB15k-237", "testing", "hits@7", "hits_at_7 was not computed"),
    ],
)
def test_where_there_is_no_gain_a_reason_is_given(dataset, split, metric, reason):
    value = "0.9" if metric in ("mrr", "hits@7") else "30"
    found = adjust(value, dataset=dataset, split=split, metric=metric)
    assert (found.baseline, found.gain) == (None, None)
    assert reason in found.reason_gain
    # Who asks for a baseline is told why there is none.
    assert reason in in_words(found, value, "best")
    assert reason not in in_words(found, value)


def test_an_evaluation_set_of_own_triples_has_its_baselines():
    """By hand: b is the only tail of r in training, and nothing else is known, so that the others are tied."""
    train = [("a", "r", "b"), ("c", "r", "b")]
    own = EvaluationSet.from_triples(train, [("b", "r", "a")], [("b", "r", "c")])
    tail = own.of_side("tail").baselines(["mrr", "hits@2"])
    found = {(row["baseline"], row["metric"]): row["value"] for row in tail.iter_rows(named=True)}
    # Filtered, the candidates for (b, r, ?) are b and c; b was an answer and c never was.
    assert found["popularity", MRR] == pytest.approx(1 / 2)
    # c is linked with b: where r holds in one direction, it never holds in the other. So both are tied.
    assert found["redundancy", MRR] == pytest.approx((1 + 1 / 2) / 2)
    assert found["popularity", "hits_at_2"] == 1
    assert own.adjust(mrr="0.9")["gain"].is_not_null().all()
    assert own.adjust(mrr="0.9", against="redundancy")["baseline"].to_list() == ["redundancy"]


def test_constant_candidates_have_none():
    constant = EvaluationSet.constant(candidates=50, tasks=100)
    assert constant.baselines().is_empty()
    assert constant.adjust(mrr="0.5")["gain"].to_list() == [None]
