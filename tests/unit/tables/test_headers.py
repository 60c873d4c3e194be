"""Words of headers, labels and keys. Expected readings are by eye."""

import pytest

from rankadjust.tables.facts import Facts
from rankadjust.tables.headers import (
    Names,
    is_difference,
    metric_key,
    read_header,
    read_stack,
    role_of,
    within,
)

NAMES = Names(
    {
        "fb15k": "FB15k",
        "fb15k237": "FB15k-237",
        "fb15k237v1": "FB15k-237-v1",
        "wn18rr": "WN18RR",
        "nations": "Nations",
    }
)
MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


def told(facts: Facts) -> dict[str, str]:
    said = {name: fact.value for name, fact in facts.stated()}
    return said | {name: text for name in ("rest", "unknown") if (text := getattr(facts, name)) is not None}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("MRR ↑", {"metric": MRR}),
        ("**MRR**", {"metric": MRR}),
        ("Hits @ 10", {"metric": "hits_at_10"}),
        ("H@10 (%)", {"metric": "hits_at_10", "unit": "percent"}),
        ("Hits@10 [%]", {"metric": "hits_at_10", "unit": "percent"}),
        ("Hits@10%", {"metric": "hits_at_10", "unit": "percent"}),
        ("MRR (×100)", {"metric": MRR, "unit": "percent"}),
        ("MRR\n(%)", {"metric": MRR, "unit": "percent"}),
        ("MeanRank(Raw)", {"metric": MR, "protocol": "raw"}),
        ("Filt. Hits10", {"metric": "hits_at_10", "protocol": "filtered"}),
        ("Filter Mean Reciprocal Rank (Filter MRR)", {"metric": MRR, "protocol": "filtered"}),
        ("Time-aware filtered MRR", {"metric": MRR, "protocol": "time-aware"}),
        ("Validation MRR*", {"metric": MRR, "split": "validation"}),
        ("Test-dev MRR", {"metric": MRR, "split": "test-dev"}),
        ("head.realistic.hits_at_1", {"metric": "hits_at_1", "side": "head", "ties": "realistic"}),
        (
            "metrics.hits_at_k.both.realistic.10",
            {"metric": "hits_at_10", "side": "both", "ties": "realistic"},
        ),
        ("metrics.tail.pessimistic.mr", {"metric": MR, "side": "tail", "ties": "pessimistic"}),
        ("FB15k-237_MRR", {"dataset": "FB15k-237", "metric": MRR}),
        ("test/mrr", {"split": "testing", "metric": MRR}),
        ("val_hits@10", {"split": "validation", "metric": "hits_at_10"}),
        ("hits@10_filtered", {"metric": "hits_at_10", "protocol": "filtered"}),
        ("mean_rank_filtered_with_test", {"metric": MR, "protocol": "filtered"}),
        ("metrics.test_hits_at_10", {"split": "testing", "metric": "hits_at_10"}),
        ("Test MRR (subset)", {"split": "test-subset", "metric": MRR}),
        # The name of a metric beside words that say nothing known, or two things, is told with them.
        ("raw filtered MRR", {"metric": MRR, "unknown": "raw filtered MRR"}),
        ("Best MRR", {"metric": MRR, "unknown": "Best"}),
        ("fil_mrr", {"metric": MRR, "unknown": "fil"}),
        ("l-MRR", {"metric": MRR, "side": "l"}),
        ("MRR_2", {"metric": MRR, "unknown": "2"}),
        ("HITS@10_50", {"metric": "hits_at_10_50"}),
        ("Hits@1-3", {"metric": "hits_at_1", "unknown": "3"}),
        ("WikiPeople MRR", {"metric": MRR, "rest": "WikiPeople"}),
        ("MRR@10", {"metric": f"{MRR}_at_10"}),
        ("nDCG_at_10", {"metric": "ndcg_at_10"}),
        ("user_attrs_avg.hits_at_10", {"metric": "hits_at_10", "unknown": "user attrs avg"}),
        ("命中率@10", {"metric": "hits_at_10"}),
        ("Head 1-N", {"side": "head", "task": "prediction by relation category"}),
        ("Relation prediction MRR", {"metric": MRR, "task": "relation prediction"}),
        ("Link prediction", {"task": "entity prediction"}),
        ("train/loss", {"rest": "train/loss"}),
        ("MRRa", {"rest": "MRRa"}),
        ("HITS@10 (50 samples)", {"metric": "hits_at_10"}),
        ("AMRI", {"metric": "adjusted_arithmetic_mean_rank_index"}),
        # Of ranks or of classification.
        ("AUC", {"rest": "AUC"}),
        ("z_mrr", {"metric": f"z_{MRR}"}),
        ("FB15k-237 MRR", {"dataset": "FB15k-237", "metric": MRR}),
        ("FB15K237 (paper)", {"dataset": "FB15k-237"}),
        ("Nations", {"dataset": "Nations"}),
        ("Avg.", {"rest": "Avg."}),
        ("avg. MRR", {"metric": MRR, "unknown": "avg"}),
        ("avg.mean_rank", {"metric": MR, "unknown": "avg"}),
        ("mrr_mean", {"metric": MRR}),
        ("mrr_std", {"rest": "mrr_std"}),
        ("value", {}),
        ("Valid", {"split": "validation"}),
        ("tail prediction", {"side": "tail"}),
        ("Test time", {"rest": "Test time"}),
        ("With rules", {"rest": "With rules"}),
        ("5", {"rest": "5"}),
        ("std", {"rest": "std"}),
        ("", {}),
    ],
)
def test_headers(text, facts):
    assert told(read_header(text, NAMES)) == facts


def test_what_is_not_understood_in_brackets_is_kept():
    assert read_header("HITS@10 (50 samples)", NAMES).notes == "50 samples"


@pytest.mark.parametrize(
    "text", ["MRR / MR", "Hits@1/10", "Hits@{1,3}", "MR (raw/filtered)", "valid/test", "w/o rules", "a/b"]
)
def test_headers_that_say_two_things_are_not_understood(text):
    said = read_header(text, NAMES)
    assert said.unknown if said.metric else told(said) == {"rest": text}


@pytest.mark.parametrize(
    ("texts", "facts"),
    [
        (["FB15k", "MRR"], {"dataset": "FB15k", "metric": MRR}),
        (["MyKG", "MRR"], {"metric": MRR, "rest": "MyKG"}),
        (["Hits@", "1"], {"metric": "hits_at_1"}),
        (["WN18RR", "Hits@k (%)", "10"], {"dataset": "WN18RR", "metric": "hits_at_10", "unit": "percent"}),
        (["HITS@10 (50)", "v1"], {"metric": "hits_at_10", "rest": "v1"}),
        (["Test", "head", "MR"], {"split": "testing", "side": "head", "metric": MR}),
        (["rank", "5"], {"rest": "rank 5"}),
    ],
)
def test_headers_above_each_other(texts, facts):
    assert told(read_stack(tuple(texts), NAMES)) == facts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tool_fb15k237_v1", ["FB15k-237-v1"]),
        ("tool_wn18rr_v1", ["wn18rr_v1"]),
        ("run_fb15k_12", ["FB15k"]),
        ("On WN18RR and FB15k-237.", ["WN18RR", "FB15k-237"]),
        ("FB15k-237是Freebase的子集", ["FB15k-237"]),
        ("many nations", []),
        ("Nations", ["Nations"]),
        ("nothing", []),
    ],
)
def test_data_sets_within_a_text(text, found):
    assert list(within("dataset", text, NAMES)) == found


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Models", "model"),
        ("Data set", "dataset"),
        ("#Params", "other"),
        ("Rank", "other"),
        ("MRR", None),
        ("", None),
    ],
)
def test_roles(header, role):
    assert role_of(header) == role


def test_differences_are_told_by_their_label():
    assert all(map(is_difference, ("Improvement (%)", "Improv.", "Δ", "Rel. gain", "Difference to TransE")))
    assert not any(map(is_difference, ("DiffE", "Diff-E", "Improved TransE", "DeltaNet", "Ours")))


def test_a_spread_is_no_metric():
    assert metric_key("std") is None
    assert metric_key("standard_deviation") == "standard_deviation"
