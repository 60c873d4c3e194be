"""Leaderboards of printed values: letters and verdicts are those of the pairs."""

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.models.leaderboards import leaderboards
from rankadjust.models.printed import BETTER, IF_INDEPENDENT, LEVEL, UNKNOWN, compare_printed

SET = {"dataset": "FB15k-237", "protocol": "filtered", "split": "testing", "side": "both"}


def results(metric, *values, **cells):
    """Return the results of an evaluation from (model, printed value), the best first; three digits are printed."""
    half = 0.0005 if values[0][1] < 1 else 0.5
    rows = [(place, name, value, value - half, value + half) for place, (name, value) in enumerate(values, 1)]
    schema = {
        "place": pl.Int64,
        "model": pl.String,
        "value": pl.Float64,
        "value_low": pl.Float64,
        "value_high": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").select(
        *(pl.lit(text).alias(name) for name, text in (SET | {"metric": metric} | cells).items()), pl.all()
    )


def boards(*parts):
    return leaderboards(pl.concat(parts), Constants.released())


@pytest.mark.parametrize(
    ("metric", "texts"),
    [
        ("inverse_harmonic_mean_rank", ["0.415", "0.388", "0.384", "0.370", "0.369", "0.350"]),
        ("hits_at_10", ["0.599", "0.560", "0.559", "0.540"]),
        ("arithmetic_mean_rank", ["114", "118", "170", "171", "400"]),
    ],
)
def test_verdicts_are_those_of_the_pairs(metric, texts):
    found = boards(results(metric, *((text, float(text)) for text in texts)))
    assert found["model"].to_list() == texts
    assert found["triples"].unique().to_list() == [20_466]
    pairs = compare_printed(texts, dataset="FB15k-237", metric=metric)
    for column, told_apart in (
        ("letters", lambda pair: pair.verdict == BETTER),
        ("letters_if_independent", lambda pair: pair.p_if_independent <= LEVEL),
    ):
        letters = dict(found.select("model", column).iter_rows())
        for pair in pairs:
            shared = set(letters[pair.better.text]) & set(letters[pair.worse.text])
            assert bool(shared) != told_apart(pair)
    against = {pair.worse.text: pair.verdict for pair in pairs if pair.better.text == texts[0]}
    words = {BETTER: "worse", IF_INDEPENDENT: "worse only if triples are independent", UNKNOWN: UNKNOWN}
    assert found["to_best"].to_list() == ["best", *(words[against[text]] for text in texts[1:])]
    assert {pair.verdict for pair in pairs} >= {IF_INDEPENDENT, UNKNOWN}


def test_equal_mean_ranks_have_a_verdict():
    found = boards(results("arithmetic_mean_rank", ("A", 114.0), ("B", 114.0)))
    assert found["to_best"].to_list() == ["best", UNKNOWN]


def test_what_is_no_leaderboard_is_left_out():
    board = results("hits_at_10", ("A", 0.5), ("B", 0.4))
    others = [
        results("hits_at_10", ("A", 0.5), side="tail"),
        results("hits_at_10", ("A", 0.5), ("B", 0.4), split="validation"),
        results("median_rank", ("A", 10.0), ("B", 12.0)),
        results("hits_at_10", ("A", 0.5), ("B", 0.4), dataset="thgl-myket", protocol="sampled-20"),
        results("hits_at_10", ("A", 0.5), ("B", 0.4), dataset="unknown"),
    ]
    found = boards(board, *others)
    assert found.select("model", "letters_if_independent", "to_best").rows() == [
        ("A", "a", "best"),
        ("B", "b", "worse only if triples are independent"),
    ]
    nothing = boards(*others)
    assert nothing.height == 0
    assert nothing.schema == found.schema


def test_without_rounding_the_value_counts():
    exact = pl.lit(None, pl.Float64)
    board = results("hits_at_10", ("A", 0.5), ("B", 0.49)).with_columns(value_low=exact, value_high=exact)
    (found,) = boards(board)["to_best"].to_list()[1:]
    (pair,) = compare_printed([0.5, 0.49], dataset="FB15k-237", metric="hits@10")
    assert found == pair.verdict


def test_a_spread_over_a_stated_number_of_runs_is_used_and_no_other():
    board = results("hits_at_10", ("A", 0.5), ("B", 0.4))

    def verdict(spread, runs):
        found = boards(board.with_columns(spread=pl.lit(spread), runs=pl.lit(runs, pl.Int64)))
        return found["to_best"][1], found["assumption"][1]

    plain = verdict(None, None)
    assert plain[0] == "worse only if triples are independent"
    assert plain == verdict(0.05, None) == (boards(board)["to_best"][1], boards(board)["assumption"][1])
    assert verdict(0.05, 5)[0] == UNKNOWN
    assert verdict(0.001, 5)[0] == plain[0]
    assert "± is over 5 runs" in verdict(0.001, 5)[1]


def test_p_is_multiplied_by_the_results_of_the_better_model():
    board = results("hits_at_10", ("A", 0.5), ("B", 0.47))
    (pair,) = compare_printed(["0.500", "0.470"], dataset="FB15k-237", metric="hits@10")
    enough = int(LEVEL / pair.p_if_independent)
    assert enough > 1

    def verdict(*counts):
        found = boards(board.with_columns(results=pl.Series(counts, dtype=pl.Int64)))
        return found["to_best"][1], found["corrected_for"][1]

    independent = "worse only if triples are independent"
    assert verdict(1, 1) == verdict(1, 10**6) == verdict(None, None) == (independent, "1 pair of models")
    assert verdict(enough, 1) == (independent, f"1 pair of models; the best of {enough} results of A")
    assert verdict(enough + 1, 1)[0] == UNKNOWN


def test_with_a_spread_the_results_of_both_models_count():
    """The best result of the worse model may have a smaller ± than its other results."""
    board = results("hits_at_10", ("A", 0.5), ("B", 0.3)).with_columns(runs=pl.lit(5, pl.Int64))
    counts = board.with_columns(results=pl.Series([2, 10**9]))
    assert boards(counts)["to_best"][1] != UNKNOWN
    found = boards(counts.with_columns(spread=pl.lit(0.001)))
    assert found["to_best"][1] == UNKNOWN
    assert found["corrected_for"][1].endswith(
        "the best of 2 results of A; the best of 1000000000 results of B"
    )


def test_a_model_of_the_user_may_have_the_name_of_a_published_one():
    values = (0.9, 0.5, 0.499)
    same, other = (
        boards(results("hits_at_10", *zip(names, values, strict=True))) for names in ("AAB", "ACB")
    )
    assert same.drop("model").equals(other.drop("model"))
    assert same["to_best"].to_list() == ["best", "worse", "worse"]
