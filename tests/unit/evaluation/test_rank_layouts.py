"""Ranks as other programs save them: two columns, no header, beyond a list, lists of answers, one list of negatives.

The expected values follow from the ranks by hand.
"""

import numpy as np
import polars as pl
import pytest

from rankadjust import evaluate
from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.rank_files import tasks_from


def mrr(ranks, **options):
    result = evaluate(ranks, metrics="mrr", **options)
    return {(row["side"], row["rank_type"]): row["value"] for row in result.iter_rows(named=True)}


TWO = {("head", "given"): (1 + 1 / 4) / 2, ("tail", "given"): (1 / 2 + 1 / 5) / 2}


@pytest.mark.parametrize("names", [("rank_head", "rank_tail"), ("head_rank", "tail_rank")])
def test_two_columns_of_ranks_are_the_heads_and_the_tails_of_the_same_triples(tmp_path, names):
    frame = pl.DataFrame({names[0]: [1, 4], names[1]: [2, 5]})
    frame.write_csv(tmp_path / "a.csv")
    np.save(tmp_path / "a.npy", frame.to_numpy())
    for source, options in (
        (frame, {}),
        (tmp_path / "a.csv", {}),
        (frame.to_numpy(), {"columns": names}),
        (tmp_path / "a.npy", {"columns": names}),
    ):
        found = mrr(source, num_candidates=10, **options)
        assert {key: found[key] for key in TWO} == pytest.approx(TWO)
    assert tasks_from(frame)["triple"].to_list() == ["1", "2", "1", "2"]


def test_an_array_of_two_columns_does_not_say_which_are_the_heads():
    with pytest.raises(
        RankadjustError, match=r"shape \(2, 2\); name its columns, .*--columns rank_head,rank_tail"
    ):
        evaluate([[1, 2], [3, 4]], num_candidates=10)
    with pytest.raises(RankadjustError, match=r"the ranks: row 1: rank is 0,"):
        evaluate(np.array([[1, 2], [3, 0]]), columns=["rank_head", "rank_tail"], num_candidates=10)


def test_triples_with_both_ranks_between_semicolons_have_no_header(tmp_path):
    (tmp_path / "a.csv").write_text("a;r;b;1;2\nc;r;b;4;5\n")
    tasks = tasks_from(tmp_path / "a.csv")
    assert tasks.select("triple", "side", "rank").rows() == [
        ("a\tr\tb", "head", 1.0),
        ("c\tr\tb", "head", 4.0),
        ("a\tr\tb", "tail", 2.0),
        ("c\tr\tb", "tail", 5.0),
    ]
    (tmp_path / "b.csv").write_text("a;r;b;1;2\nc;r;b;4;x\n")
    with pytest.raises(RankadjustError, match=r"b\.csv: row 2: rank is 'x'"):
        tasks_from(tmp_path / "b.csv")


def test_semicolons_go_with_decimal_commas_and_names_may_be_given(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffside;rank\nhead;1\ntail;2,5\n", encoding="utf-8")
    assert tasks_from(tmp_path / "a.csv")["rank"].to_list() == [1.0, 2.5]
    (tmp_path / "b.tsv").write_text("x\t3\ny\t4\n")
    assert mrr(tmp_path / "b.tsv", columns=["triple", "rank"])["both", "given"] == pytest.approx(
        (1 / 3 + 1 / 4) / 2
    )
    with pytest.raises(RankadjustError, match=r"b\.tsv: 2 columns, but 1 names: rank"):
        evaluate(tmp_path / "b.tsv", columns=["rank"])


@pytest.mark.parametrize("beyond", ["inf", "0", "-1", "MISS_12", ""])
def test_ranks_beyond_the_answers_that_were_kept_give_bounds(tmp_path, beyond):
    (tmp_path / "a.csv").write_text(f"triple,rank\n1,1\n2,3\n3,{beyond}\n4,2\n")
    found = mrr(tmp_path / "a.csv", beyond=50, num_candidates=1000)
    rest = 1 + 1 / 3 + 1 / 2
    assert found == pytest.approx(
        {("both", "optimistic"): (rest + 1 / 51) / 4, ("both", "pessimistic"): (rest + 1 / 1000) / 4}
    )
    hits = evaluate(tmp_path / "a.csv", beyond=50, num_candidates=1000, metrics="hits@10")
    assert hits["value"].to_list() == [0.75, 0.75]


@pytest.mark.parametrize(
    ("rank", "options", "message"),
    [
        ("inf", {"num_candidates": 9}, r"row 3: rank is 'inf', .*give --beyond k"),
        (
            "-1",
            {"beyond": 5},
            "a rank beyond 5 may be as large as the number of candidates, .*; give num_candidates",
        ),
        ("7", {"beyond": 5, "num_candidates": 9}, "a rank is '7', but the list of answers ends at 5"),
        ("inf", {"beyond": 5, "num_candidates": 4}, "a rank is 'inf', but the task has fewer candidates"),
        ("inf", {"beyond": 0, "num_candidates": 4}, "beyond is 0; give the number of answers that were kept"),
    ],
)
def test_what_is_missing_for_a_bound_is_said(tmp_path, rank, options, message):
    (tmp_path / "a.csv").write_text(f"rank\n1\n{rank}\n")
    with pytest.raises(RankadjustError, match=message):
        evaluate(tmp_path / "a.csv", **options)


def test_lists_of_answers_are_filtered_by_the_known_triples(tmp_path):
    # Among the heads y is known, so that a is second; among the tails b has the same score as d.
    (tmp_path / "a.txt").write_text("a r b\nHeads: x\t0.9\ty\t0.8\ta\t0.7\t\nTails: d\t0.8\tb\t0.8\t\n")
    (tmp_path / "known.txt").write_text("y\tr\tb\na\tr\tb\n")
    found = mrr(tmp_path / "a.txt", known=[tmp_path / "known.txt"], num_candidates=5)
    assert found["head", "optimistic"] == found["head", "pessimistic"] == 1 / 2
    assert (found["tail", "optimistic"], found["tail", "pessimistic"]) == (1, 1 / 2)
    with pytest.raises(RankadjustError, match="give the known triples"):
        evaluate(tmp_path / "a.txt", num_candidates=5)


def test_an_answer_that_is_not_in_its_list_has_bounds(tmp_path):
    (tmp_path / "a.txt").write_text("a\tr\tb\nHeads: x\t0.9\ty\t0.9\nTails:\n")
    (tmp_path / "known.txt").write_text("a r b\n")
    found = mrr(tmp_path / "a.txt", known=[tmp_path / "known.txt"], num_candidates=8)
    assert (found["head", "optimistic"], found["head", "pessimistic"]) == (1 / 3, 1 / 8)
    assert (found["tail", "optimistic"], found["tail", "pessimistic"]) == (1, 1 / 8)
    with pytest.raises(RankadjustError, match="a r b: the head is not among the answers"):
        evaluate(tmp_path / "a.txt", known=[tmp_path / "known.txt"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a r\nHeads: a\t1\n", "line 1: not a triple of head, relation and tail: a r"),
        ("a r b\nHeads: a\tx\n", "line 2: not answers and scores with tabs"),
        ("a r b\nHeads: a\n", "line 2: not answers and scores with tabs"),
    ],
)
def test_a_wrong_line_of_answers_is_named(tmp_path, text, message):
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "known.txt").write_text("a\tr\tb\n")
    with pytest.raises(RankadjustError, match=message):
        evaluate(tmp_path / "a.txt", known=[tmp_path / "known.txt"], num_candidates=5)


def test_dictionaries_of_scores_have_a_row_of_negatives_for_each_task_or_one_list():
    rows = {"y_pred_pos": [0.5, 0.2], "y_pred_neg": [[0.1, 0.6], [0.2, 0.1]]}
    assert tasks_from(rows).select("optimistic", "pessimistic", "num_candidates").rows() == [
        (2, 2, 3),
        (1, 2, 3),
    ]
    one = {"y_pred_pos": np.array([0.5]), "y_pred_neg": np.array([0.1, 0.6, 0.7])}
    assert tasks_from(one).select("optimistic", "num_candidates").rows() == [(3, 4)]
    scores = {"scores": [[0.1, 0.7, 0.7]], "target": [1]}
    assert tasks_from(scores).select("optimistic", "pessimistic").rows() == [(1, 2)]
    with pytest.raises(RankadjustError, match=r"the scores|the ranks: .*y_pred_neg \(2, 2\)|shape \(2, 2\)"):
        tasks_from({"y_pred_pos": [0.5, 0.2, 0.1], "y_pred_neg": [[0.1, 0.6], [0.2, 0.1]]})
    with pytest.raises(RankadjustError, match="rows of different lengths"):
        tasks_from({"y_pred_pos": [0.5, 0.2], "y_pred_neg": [[0.1, 0.6], [0.2]]})
    with pytest.raises(RankadjustError, match="NaN"):
        tasks_from({"y_pred_pos": [0.5, 0.2], "y_pred_neg": [np.nan, 0.6, 0.1]})


def test_one_list_of_negatives_makes_ranks_depend_on_each_other():
    # The example of OGB's issue 256: ranks 1, 1, 4, 3, 4 of 6 candidates.
    positive, negative = np.array([0.9, 0.8, 0.3, 0.5, 0.35]), np.array([0.7, 0.6, 0.4, 0.2, 0.1])
    [hits] = (
        evaluate({"y_pred_pos": positive, "y_pred_neg": negative}, metrics="hits@3")
        .filter(rank_type="realistic")
        .to_dicts()
    )
    assert (hits["value"], hits["expectation"], hits["z"], hits["z_random_scorer"]) == (0.6, 0.5, None, None)
    assert "one list of negatives" in hits["reason"]
