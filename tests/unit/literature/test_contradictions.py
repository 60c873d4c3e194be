"""Contradictions of printed metrics: limits by hand, rankings that must pass; of shipped tables: test_findings.py.

Limits by hand are met to 2e-5 relative: every printed interval is widened by 1e-6 of its value, and the solver may miss
a row by as much.
"""

from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankadjust import EvaluationSet
from rankadjust.chance.metrics import FAMILIES, expand, metric_value, resolve
from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import SCHEMA, load_candidates
from rankadjust.literature.contradictions import check, check_against
from rankadjust.literature.rescore import rescore
from rankadjust.literature.single_values import COEFFICIENTS
from rankadjust.literature.single_values import HITS as HITS_OF_THE_FIT
from tests.searching import in_profile

NOTHING = pl.DataFrame(schema=SCHEMA)
NOWHERE = Constants(NOTHING)
ENTITIES = {"some set": 100}


def printed(values, **cells):
    """Return one model's rescored rows: metric -> printed text, among 100 entities."""
    return rescore(tidy(values, **cells), NOWHERE, entities=ENTITIES)


def tidy(values, **cells):
    frame = pl.DataFrame({"metric": list(values), "value": [str(value) for value in values.values()]})
    cells = {"dataset": "some set", "model": "A"} | cells
    return frame.with_columns(pl.lit(text).alias(name) for name, text in cells.items())


def broken(values, **cells):
    return check(printed(values, **cells)).to_dicts()


@cache
def broken_by_hand():
    """Return what is found in each case of the four tables below, all of them re-scored and checked at once.

    What is suspicious in two models with the same values is left out.
    """
    cases = [case[0] for case in (*LIMITS, *ALONE, *PAIRS)] + POSSIBLE
    names = [str(case) for case in cases]
    rows = pl.concat([tidy(case, model=name) for case, name in zip(cases, names, strict=True)])
    found = check(rescore(rows, NOWHERE, entities=ENTITIES)).remove(severity="suspicious").to_dicts()
    return {name: [row for row in found if row["model"] == name] for name in names}


HITS = {"hits@1": "0.200", "hits@3": "0.500", "hits@10": "0.700"}
# With the rounding intervals' ends, k + 1/2 above k, and N = 100:
LEAST_MRR = 0.1995 / 1 + 0.3 / 3 + 0.2 / 10 + 0.3005 / 100
MOST_MRR = 0.2005 + 0.3 / 1.5 + 0.2 / 3.5 + 0.2995 / 10.5
LEAST_MR = 0.2005 + 0.3 * 1.5 + 0.2 * 3.5 + 0.2995 * 10.5
MOST_MR = 0.1995 + 0.3 * 3 + 0.2 * 10 + 0.3005 * 100


MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


LIMITS = [
    (HITS | {"mrr": "0.310"}, "impossible", MRR, LEAST_MRR),
    (HITS | {"mrr": "0.490"}, "impossible", MRR, MOST_MRR),
    # 4.4952 is printed as 4.4 if digits are cut off.
    (HITS | {"mr": "4.4"}, "only_if_cut", MR, LEAST_MR),
    (HITS | {"mr": "4.3"}, "impossible", MR, LEAST_MR),
    (HITS | {"mr": "34"}, "impossible", MR, MOST_MR),
    # Hits do not decrease in k, and Hits@1 alone bounds the MRR: not below it.
    ({"hits@1": "0.52", "hits@3": "0.60", "hits@10": "0.51"}, "impossible", "hits_at_3", 0.515),
    ({"hits@1": "0.40", "mrr": "0.38"}, "impossible", MRR, 0.395 + 0.605 / 100),
    # Ranks beyond 10 count 0 in MRR@10.
    (HITS | {"mrr@10": "0.310"}, "impossible", f"{MRR}_at_10", 0.1995 + 0.3 / 3 + 0.2 / 10),
    (HITS | {"mrr@10": "0.480"}, "impossible", f"{MRR}_at_10", 0.2005 + 0.3 / 1.5 + 0.2 / 3.5),
    # At most 0.215 of the ranks are up to 10, 0.205 of them at 1 and the rest at 1.5 at best.
    (
        {"hits@1": "0.20", "hits@10": "0.21", "mrr@3": "0.80"},
        "impossible",
        f"{MRR}_at_3",
        0.205 + 0.01 / 1.5,
    ),
    # Half ranks 1.5 and 2 with a mean of 1 / r of at most 0.55, and a mean of at most 1.55.
    ({"mr": "1.5", "mrr": "0.5"}, "impossible", MRR, 0.9 / 1.5 + 0.1 / 2),
]


@pytest.mark.parametrize(("values", "severity", "metric", "limit"), LIMITS)
def test_limit_by_hand(values, severity, metric, limit):
    found = broken_by_hand()[str(values)]
    assert [(row["severity"], row["bound"]) for row in found] == [(severity, "joint")]
    if metric is not None:
        assert (found[0]["metric"], found[0]["limit"]) == (metric, pytest.approx(limit, rel=2e-5))
        away = max(found[0]["limit"] - found[0]["value_high"], found[0]["value_low"] - found[0]["limit"])
        assert found[0]["excess"] == pytest.approx(away, rel=1e-9)


ALONE = [
    ({"mr": "110"}, "candidates", 100.0, 9.5),
    ({"mrr": "0.005"}, "candidates", 0.01, 0.0045),
    ({"mr": "0.5"}, "range", 1.0, 0.45),
    ({"hits@1": "1.2"}, "range", 1.0, 0.15),
    ({"hits@1": "-0.2"}, "range", 0.0, 0.15),
]


@pytest.mark.parametrize(("values", "bound", "limit", "excess"), ALONE)
def test_a_value_that_is_impossible_by_itself(values, bound, limit, excess):
    found = broken_by_hand()[str(values)]
    assert [(row["severity"], row["bound"]) for row in found] == [("impossible", bound)]
    assert (found[0]["limit"], found[0]["excess"]) == (pytest.approx(limit), pytest.approx(excess))


POSSIBLE = [
    HITS | {"mrr": "0.40", "mr": "9"},
    {"hits@1": "0.5", "hits@3": "0.5"},
    {"hits@1": "1.0", "hits@10": "1.0", "mrr": "1.0", "mr": "1.0", "gmr": "1.0"},
    # Means over runs may have such values, as neither is a mean over the tasks.
    {"mr": "4.0", "gmr": "5.0", "median": "10.6"},
    # Ranks that ties made halves: whole ranks have an MRR of at most 0.2005 + 0.3 / 2 + 0.2 / 4 + 0.2995 / 11.
    HITS | {"mrr": "0.450"},
]


@pytest.mark.parametrize("values", POSSIBLE)
def test_possible_values_pass(values):
    assert broken_by_hand()[str(values)] == []


PAIRS = [
    ({"hits@10": "0.50", "precision@10": "0.06"}, 2),
    ({"hits@10": "0.50", "recall@10": "0.60"}, 1),
    ({"mrr": "0.50", "mrr@10": "0.60"}, 2),
    # What is beyond rank 10 adds at most (1 - Hits@10) / 10.5.
    ({"mrr": "0.54", "mrr@10": "0.50", "hits@10": "0.80"}, 3),
    ({"ndcg": "0.40", "mrr": "0.50"}, 2),
    ({"ndcg@10": "0.50", "hits@10": "0.40"}, 2),
]


@pytest.mark.parametrize(("values", "clashing"), PAIRS)
def test_identities_and_bounds_of_two_metrics(values, clashing):
    found = broken_by_hand()[str(values)]
    if clashing == 1:
        # Two names of one metric in one row of a model are two results: only copies tell.
        assert found == []
        return
    assert [row["bound"] for row in found] == ["joint"]
    assert len(found[0]["values"].split("; ")) == clashing


def test_a_clashing_set_is_irreducible_and_its_change_mends_it():
    values = HITS | {"mrr": "0.310", "mr": "20"}
    (row,) = broken(values)
    names = {"Hits@1": "hits@1", "Hits@3": "hits@3", "Hits@10": "hits@10", "MRR": "mrr", "MR": "mr"}
    clashing = [names[part.split()[0]] for part in row["values"].split("; ")]
    for name in clashing:
        rest = {key: value for key, value in values.items() if key in clashing and key != name}
        assert [one["severity"] for one in broken(rest) if one["severity"] != "suspicious"] == []
    label, number, *_ = row["mended"].split()
    assert [one for one in broken(values | {names[label]: number}) if one["severity"] == "impossible"] == []
    # And no value nearer would do.
    closer = f"{float(number) + (0.001 if float(number) < float(values[names[label]]) else -0.001):.3f}"
    assert [one["severity"] for one in broken(values | {names[label]: closer})] in (
        ["impossible"],
        ["only_if_cut"],
    )


@pytest.mark.parametrize(("tail", "found"), [("0.7", ["head", "tail"]), ("0.92", ["head"])])
def test_every_contradiction_of_a_model_is_found(tail, found):
    """The MRR is at least Hits@1: 0.5 at the head, 0.9 at the tail. Possible values of one side excuse no other."""
    rows = [
        printed({"hits@1": hits, "mrr": mrr}, side=side)
        for side, hits, mrr in (("head", "0.5", "0.3"), ("tail", "0.9", tail))
    ]
    assert check(pl.concat(rows)).select("side", "metric").rows() == [(side, MRR) for side in found]


def test_impossible_values_say_nothing_about_others():
    assert [row["bound"] for row in broken({"hits@1": "45", "hits@3": "0.5", "mrr": "0.3"})] == ["range"]


def test_every_contradiction_of_a_side_is_found():
    """With Hits@1 0.5 the MRR is at least 0.5; with Hits@3 0.6 the mean rank at least 0.5 + 0.1 * 1.5 + 0.4 * 3.5."""
    found = broken({"hits@1": "0.50", "hits@3": "0.60", "mrr": "0.30", "mr": "1.5"})
    assert [row["metric"] for row in found] == [MRR, MR]


def test_sampled_candidates_count_not_the_entities_they_are_drawn_from():
    rows = printed({"hits@10": "0.50", "mr": "40"}, protocol="sampled-49").with_columns(entities=pl.lit(1000))
    assert check(rows)["bound"].to_list() == ["joint"]


def test_the_true_answer_is_a_candidate_of_the_protocol_that_does_not_count_it():
    cells = {"dataset": "Nations", "protocol": "pykeen-published", "model": "A", "metric": "mr"}
    # The mean N of pykeen-published is 6.955, and 7.955 with the true answer.
    frame = pl.DataFrame([{**cells, "value": "7.90"}])
    assert check(frame).height == 0
    assert check(frame.with_columns(value=pl.lit("8.00")))["bound"].to_list() == ["candidates"]


def test_sampled_candidates_bound_the_ranks():
    (row,) = broken({"hits@10": "0.50", "mr": "40"}, protocol="sampled-49")
    assert row["limit"] == pytest.approx(0.495 * 10 + 0.505 * 50, rel=2e-5)
    (row,) = broken({"mr": "60"}, protocol="sampled-49")
    assert (row["bound"], row["limit"]) == ("candidates", pytest.approx(50))
    # A mean over several samples is no share of the tasks.
    mean = {
        "dataset": ["ogbl-biokg"],
        "protocol": "sampled-500",
        "metric": "hits@10",
        "value": "0.12345678901",
    }
    assert check(pl.DataFrame(mean)).is_empty()


def test_unknown_number_of_candidates_bounds_no_mean_rank():
    assert broken({"hits@10": "0.50", "mr": "1e8"}, dataset="elsewhere") == []


def test_models_and_evaluations_are_kept_apart():
    first = printed({"hits@1": "0.5"})
    for cells in ({"model": "B"}, {"side": "tail"}, {"split": "validation"}, {"dataset": "other"}):
        other = printed({"mrr": "0.3"}, **cells)
        assert check(pl.concat([first, other], how="diagonal")).height == 0
    assert check(pl.concat([first, printed({"mrr": "0.3"})])).height == 1


def test_tables_of_one_metric_are_joined_by_model():
    parts = [
        printed({"hits@1": "0.5"}, source="s", table="hits1", source_line="3"),
        printed({"mrr": "0.3"}, source="s", table="mrr", source_line="80"),
    ]
    assert check(pl.concat(parts))["bound"].to_list() == ["joint"]


# --- with histograms -------------------------------------------------------------------------------------------

# data set: (N, how many tasks) of the head side and of the tail side
SETS = {
    "alone": (((1, 3),), ((1, 2),)),
    "one task each": (((5, 1),), ((7, 1),)),
    "small": (((1, 2), (2, 5), (3, 4)), ((2, 6), (4, 5))),
    "24 tasks": (((209, 10), (217, 14)), ((270, 24),)),
    "far apart": (((21, 100), (100_000, 100)), ((50, 30), (99_000, 170))),
    "uneven": (((100, 10),), ((14_541, 400), (14_000, 100))),
}
KNOWN = pl.concat(
    [
        pl.DataFrame(
            {
                "dataset": name,
                "protocol": "filtered",
                "split": "testing",
                "side": side,
                "num_candidates": [count for count, _ in groups],
                "tasks": [tasks for _, tasks in groups],
            }
        )
        for name, sides in SETS.items()
        for side, groups in zip(("head", "tail"), sides, strict=True)
    ]
)
SHIPPED = ("Nations", "Countries-S1")
HISTOGRAMS = Histograms(KNOWN).over(Histograms(load_candidates().filter(pl.col("dataset").is_in(SHIPPED))))


def counts_of(dataset):
    rows = pl.concat([KNOWN, load_candidates().select(KNOWN.columns)], how="vertical_relaxed").filter(
        dataset=dataset, protocol="filtered", split="testing"
    )
    return {
        side: np.repeat(
            *(rows.filter(side=side)[name].to_numpy().astype(int) for name in ("num_candidates", "tasks"))
        )
        for side in ("head", "tail")
    }


def held(rows, dataset):
    """Return the findings for (side, metric, value) of one model of a set with known histograms."""
    frame = pl.DataFrame(rows, schema=["side", "metric", "value"], orient="row")
    frame = frame.with_columns(dataset=pl.lit(dataset), model=pl.lit("A"))
    constants = Constants(NOTHING, HISTOGRAMS)
    return check(rescore(frame, constants), constants).to_dicts()


def test_both_sides_are_the_mean_of_each_weighted_with_its_tasks():
    # 10 head tasks and 500 tail tasks: (10 * 0.9 + 500 * 0.3) / 510 = 0.3118
    sides = [("head", "mrr", "0.900"), ("tail", "mrr", "0.300")]
    assert held([*sides, ("both", "mrr", "0.312")], "uneven") == []
    (row,) = held([*sides, ("both", "mrr", "0.600")], "uneven")
    assert (row["severity"], row["values"]) == ("impossible", "MRR (tail) 0.300; MRR 0.600")
    # Among 14,541 candidates the points of the grid stand for the ranks between them: 0.05 % of the parts beyond 16.
    assert row["limit"] == pytest.approx((10 * 0.9005 + 500 * 0.3005) / 510, rel=2e-4)


def test_every_task_bounds_its_rank_and_not_only_the_greatest():
    # Half of the 200 head tasks have 21 candidates, the others 100,000.
    (row,) = held([("head", "hits@100", "0.40"), ("head", "mrr", "0.30")], "far apart")
    assert (row["bound"], row["severity"]) == ("candidates", "impossible")
    (row,) = held(
        [("head", "hits@10", "0.50"), ("head", "hits@21", "0.50"), ("head", "mr", "60000")], "far apart"
    )
    assert (row["limit"], row["severity"]) == ((21 + 100_000) / 2, "impossible")


@pytest.mark.parametrize(
    ("side", "value", "nearest"),
    [("tail", "0.35", "0.3333"), ("both", "0.353", "0.3542"), ("tail", "0.33", None)],
)
def test_a_share_of_few_tasks_is_one_of_few_values(side, value, nearest):
    # 0.35 is no share of 24 tasks (8 / 24 = 0.333, 9 / 24 = 0.375), but of 48 (17 / 48 = 0.354).
    found = held([(side, "hits@10", value)], "24 tasks")
    assert [(row["bound"], row["severity"]) for row in found] == (
        [] if nearest is None else [("tasks", "suspicious")]
    )
    if nearest is not None:
        assert nearest in found[0]["message"]


def test_a_count_is_the_number_of_tasks():
    assert held([("both", "count", "510")], "uneven") == []
    (row,) = held([("both", "count", "500")], "uneven")
    assert (row["bound"], row["limit"]) == ("tasks", 510)


def test_an_adjusted_mean_rank_is_held_against_the_mean_rank():
    rows = pl.DataFrame(
        {"dataset": "Nations", "metric": ["mr", "amri"], "value": ["2.00", "0.85"], "model": "A"}
    )
    # E = 4.47761, AMRI = 1 - (2 - 1) / (E - 1) = 0.7124
    (row,) = check(rows).to_dicts()
    assert (row["bound"], row["severity"]) == ("adjusted", "suspicious")
    assert row["limit"] == pytest.approx(1 - 0.995 / 3.47761, rel=1e-4)
    assert check(rows.with_columns(value=pl.Series(["2.00", "0.71"]))).height == 0


# --- rankings pass ---------------------------------------------------------------------------------------------

METRICS = [metric.key for metric in expand(list(FAMILIES), [1, 2, 3, 10, 50])]


SHAPES = {
    "first": lambda counts, _: np.ones(counts.size),
    "last": lambda counts, _: counts,
    "middle": lambda counts, _: (counts + 1) // 2,
    "tied": lambda counts, _: (counts + 1) / 2,
    "near 10": lambda counts, rng: np.minimum(counts, rng.integers(9, 12, counts.size)),
    "two points": lambda counts, rng: np.where(
        rng.random(counts.size) < rng.random(), 1, np.minimum(counts, rng.integers(1, 5000))
    ),
    "uniform": lambda counts, rng: np.floor(rng.random(counts.size) * counts) + 1,
    "long tail": lambda counts, rng: np.minimum(
        counts, np.floor(np.exp(rng.exponential(rng.uniform(0.1, 4), counts.size)))
    ),
}


@settings(max_examples=in_profile(60), suppress_health_check=[HealthCheck.too_slow])
@given(
    dataset=st.sampled_from([*SETS, *SHIPPED]),
    ranking=st.sampled_from(list(SHAPES)),
    ties=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_real_ranking_contradicts_nothing(dataset, ranking, ties, seed):
    rng = np.random.default_rng(seed)
    counts = counts_of(dataset)
    ranks = {side: SHAPES[ranking](each, rng).astype(float) for side, each in counts.items()}
    if ties:
        ranks = {
            side: each + 0.5 * ((rng.random(each.size) < 0.3) & (each < counts[side]))
            for side, each in ranks.items()
        }
    counts["both"], ranks["both"] = (np.concatenate([one["head"], one["tail"]]) for one in (counts, ranks))
    rows = []
    for side in rng.permutation(["both", "head", "tail"])[: rng.integers(1, 4)]:
        for key in rng.permutation(METRICS)[: rng.integers(2, len(METRICS))]:
            value = float(metric_value(key, ranks[side], counts[side]))
            if np.isnan(value):
                continue
            metric = resolve(key)
            if rng.random() < 0.3 and metric.upper <= 1 and np.isfinite(metric.upper):
                rows.append((side, key, f"{100 * value:.{rng.integers(0, 5)}f} %"))
            elif rng.random() < 0.2:
                rows.append((side, key, f"{value:.12g}"))
            else:
                rows.append((side, key, f"{value:.{rng.integers(0, 8)}f}"))
    found = held(rows, dataset)
    allowed = {("suspicious", "shape")}
    # Any shape of a ranking may be unlike the published ones.
    allowed |= {("unusual", "usual")}
    assert {(row["severity"], row["bound"]) for row in found} <= allowed, (found, rows)


def test_an_unusual_mrr_is_a_remark_and_never_impossible(project):
    usual = {"hits@1": "0.250", "hits@3": "0.370", "hits@10": "0.530", "mrr": "0.339"}
    fb = EvaluationSet.released("FB15k-237")
    assert fb.check(usual).height == 0
    (row,) = fb.check(usual | {"mrr": "0.359"}).to_dicts()
    assert (row["severity"], row["bound"]) == ("unusual", "usual")
    assert "about 0.3409, not 0.359" in row["message"]
    stored = dict(pl.read_csv(project / "benchmarks" / "usual_mrr.csv").iter_rows())
    assert [stored[name] for name in ("constant", *HITS_OF_THE_FIT)] == list(COEFFICIENTS)
    # Two digits hide many errors of 0.02.
    assert stored["residual"] < 0.003
    assert stored["flagged with three digits"] < 0.02
    assert stored["found with three digits"] > 0.98


# --- rows against rows -----------------------------------------------------------------------------------------


def table(text):
    """Return a tidy table of lines 'source model data set metric value'."""
    columns = ["source", "model", "dataset", "metric", "value"]
    return pl.DataFrame([line.split() for line in text.strip().splitlines()], schema=columns, orient="row")


def test_a_row_copied_to_another_data_set():
    text = "s A WN18RR MRR 0.025\ns A WN18RR Hits@10 0.041\ns A YAGO3-10 MRR 0.025\ns A YAGO3-10 Hits@10 {}\n"
    (row,) = check(table(text.format("0.041"))).to_dicts()
    assert (row["bound"], row["severity"]) == ("repeated_row", "suspicious")
    assert "WN18RR" in row["message"]
    assert "YAGO3-10" in row["message"]
    assert check(table(text.format("0.042"))).height == 0


COPY = """
first A WN18RR MRR 0.452
first A WN18RR Hits@1 0.411
first A WN18RR Hits@10 0.537
second {name} WN18RR MRR {mrr}
second {name} WN18RR Hits@1 0.411
second {name} WN18RR Hits@10 0.537
"""


def test_a_copy_in_a_table_of_ones_own():
    """It is told of the table's row what `check` says of both together."""
    rows = rescore(table(COPY.format(name="A", mrr="0.462")))
    literature, own = rows.head(3), rows.tail(3)
    (found,) = check_against(own, literature).to_dicts()
    (expected,) = check(rows).to_dicts()
    assert found == expected
    assert found["source"] == "second"
    assert check_against(literature, own)["source"].to_list() == ["first"]
    # Within either of the two nothing is looked for; what is equal is no finding, also where source and model are.
    assert check_against(rows, own.head(0)).is_empty()
    assert check_against(literature, literature).is_empty()
    assert check_against(own.with_columns(source=pl.lit("first")), literature).height == 1


def test_a_copy_that_differs_in_one_value():
    (row,) = check(table(COPY.format(name="A", mrr="0.462"))).to_dicts()
    assert (row["bound"], row["metric"], row["limit"]) == ("differs", MRR, 0.452)
    assert row["message"].startswith("MRR 0.462 is 0.452 for A in first, and 2 other values are the same")
    assert check(table(COPY.format(name="A", mrr="0.452"))).height == 0
    # A spread over runs tells how far a mean may be from the value of one of them.
    spread = table(COPY.format(name="A", mrr="0.462")).with_columns(
        spread=pl.when(pl.col("value") == "0.462").then(pl.lit("0.01"))
    )
    assert check(spread).height == 0
    # Printed with fewer digits it is the same; under another name two equal values may be chance.
    assert check(table(COPY.format(name="A", mrr="0.45"))).height == 0
    assert check(table(COPY.format(name="B", mrr="0.462"))).height == 0


def test_a_value_that_only_cut_digits_explain_is_not_called_impossible():
    """Nations has 14 entities: IMR is at least 1/14 = 0.071, which is 0.0 if digits are cut off."""
    rows = pl.DataFrame({"dataset": ["Nations"], "metric": ["IMR"], "value": ["0.0"]})
    (found,) = check(rows).to_dicts()
    assert (found["severity"], found["bound"]) == ("only_if_cut", "candidates")
    assert found["message"].endswith("if digits had been cut off instead of rounded.")


def test_a_raw_value_is_never_better_than_the_filtered_one():
    rows = pl.concat(
        [
            printed({"mrr": "0.60", "mr": "8.0"}, protocol="raw"),
            printed({"mrr": "0.50", "mr": "9.0"}, protocol="filtered"),
        ]
    )
    found = check(rows).filter(bound="filter")
    assert found.select("severity", "values", "limit").rows() == [
        ("impossible", "MRR 0.60; MRR 0.50", pytest.approx(0.505)),
        ("impossible", "MR 8.0; MR 9.0", pytest.approx(8.95)),
    ]
    # The intervals of 0.55 and 0.5 touch.
    other = [printed({"mrr": "0.55"}, protocol="raw"), printed({"mrr": "0.5"}, protocol="filtered")]
    assert check(pl.concat(other)).filter(bound="filter").is_empty()
