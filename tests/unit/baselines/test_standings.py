"""How the true answers stand under counting baselines: against scores of every candidate, and reference values."""

import itertools
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.baselines import standings, tally
from rankadjust.baselines.recurrency import order_of_times
from rankadjust.baselines.tally import count_standings
from rankadjust.counting.protocols import Protocol
from tests.reference_baselines import stand_slowly
from tests.searching import few_or_many, hold, in_profile

PROTOCOLS = [
    Protocol("any", entities, unseen, duplicates, known, time, types)
    for entities, unseen, duplicates, known, time, types in itertools.product(
        ("release", "training"),
        ("keep", "drop"),
        ("keep", "drop"),
        ("all", "cumulative", "none"),
        ("ignore", "aware"),
        ("any", "observed"),
    )
    if not (time == "aware" and known == "none")
]
COLUMNS = ("head", "relation", "tail", "time", "time_end")
LAYOUTS = {
    "usual": ["training", "validation", "testing"],
    "facts": ["testing", "facts", "training"],
    "inductive": ["training", "validation", "testing", "inference", "inference_testing"],
    "ILPC": ["training", "inference", "inference_validation", "inference_testing"],
    "inference alone": ["inference", "inference_validation", "inference_testing"],
}


@st.composite
def graphs(draw, names, times):
    """Draw a few triples of so few labels that several relations link the same entities, in both directions."""
    entities, relations = draw(st.sampled_from([("abc", "pq"), ("abcdef", "pqrs"), ("abcd", "p")]))
    triple = st.tuples(
        st.sampled_from(entities),
        st.sampled_from(relations),
        st.sampled_from(entities),
        *[st.sampled_from("12345")] * times,
    )
    return {name: draw(st.lists(triple, min_size=1, max_size=12)) for name in names}


def frames(splits):
    columns = COLUMNS[: len(next(iter(splits.values()))[0])]
    if len(columns) == 5:
        columns = (*columns[:3], "time_start", "time_end")
    return {
        name: pl.DataFrame(triples, dict.fromkeys(columns, pl.String), orient="row")
        for name, triples in splits.items()
    }


def counted(found):
    return Counter({row[:-1]: row[-1] for row in found.table.iter_rows()})


@few_or_many(3, 60)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_of_every_candidate_agree(layout, examples):
    def agree(data, isolated):
        splits = data.draw(graphs(LAYOUTS[layout], 0))
        protocols = data.draw(
            st.lists(st.sampled_from([p for p in PROTOCOLS if p.time == "ignore"]), min_size=1, max_size=3)
        )
        alone = isolated if "inference" not in layout and layout not in ("inductive", "ILPC") else set()
        fast = count_standings(frames(splits), protocols, len(alone))
        assert [counted(one) for one in fast] == [stand_slowly(splits, one, alone) for one in protocols]

    hold(examples, agree, data=st.data(), isolated=st.sets(st.sampled_from("uvwxyz")))


@few_or_many(4, 120)
@pytest.mark.parametrize("layout", ["usual", "facts", "inductive"])
def test_recurrency_agrees_with_the_scores_of_every_candidate(layout, examples):
    def agrees(data):
        splits = data.draw(graphs(LAYOUTS[layout], 1))
        protocol = data.draw(st.sampled_from(PROTOCOLS), label="protocol")
        (fast,) = count_standings(frames(splits), [protocol])
        assert counted(fast) == stand_slowly(splits, protocol)

    hold(examples, agrees, data=st.data())


@settings(max_examples=in_profile(40))
@given(data=st.data())
def test_intervals_are_compared_for_equality_and_have_no_recurrency(data):
    splits = data.draw(graphs(LAYOUTS["usual"], 2))
    protocol = data.draw(st.sampled_from(PROTOCOLS), label="protocol")
    (fast,) = count_standings(frames(splits), [protocol])
    assert counted(fast) == stand_slowly(splits, protocol)
    assert set(fast.missing) == {"recurrency", "recurrency-multi-step"}


@few_or_many(4, 40)
def test_groups_of_relations_and_runs_of_neighbours_add_up(examples):
    def add_up(data):
        splits = data.draw(graphs(LAYOUTS["usual"], 1))
        protocols = data.draw(st.lists(st.sampled_from(PROTOCOLS), min_size=1, max_size=3))
        whole = count_standings(frames(splits), protocols)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tally, "_GROUP", 3)
            patch.setattr(tally, "_CELLS", 1)
            patch.setattr(standings, "_BLOCKS", 4)
            patch.setattr(standings, "_TOGETHER", 2)
            patch.setattr(standings, "_SCANNED", 3)
            divided = count_standings(frames(splits), protocols)
        assert [counted(one) for one in divided] == [counted(one) for one in whole]

    hold(examples, add_up, data=st.data())


@pytest.mark.parametrize(
    ("times", "order"),
    [
        (["10", "9", "10"], [1, 0, 1]),
        (["0.5", "-1e3", "2"], [1, 0, 2]),
        (["2014-10-02", "2014-02-10", "2014-10-02"], [1, 0, 1]),
        (["2014-10-02T11:00:00", "2014-10-02T09:59:59"], [1, 0]),
        (["2014-10-02 11:00:00", "2014-10-02 09:59:59"], [1, 0]),
    ],
)
def test_numbers_and_dates_have_an_order(times, order):
    assert order_of_times(pl.DataFrame({"time": times}))[0].tolist() == order


@pytest.mark.parametrize("times", [["1", "spring"], ["nan", "1"], ["2014-13-01", "2014-01-01"]])
def test_other_times_have_none(times):
    order, reason = order_of_times(pl.DataFrame({"time": times}))
    assert order is None
    assert "not known" in reason
