"""The counts of candidates: against a counter by joins, by hand, and against published counts."""

import functools
import itertools
import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SPLITS
from rankadjust.counting import candidates, packing
from rankadjust.counting.candidates import count_candidates, count_encoded, count_protocols
from rankadjust.counting.protocols import Protocol, get_protocol
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import load_registry
from tests.mirror import mirrored_files
from tests.reference_counter import count_by_joins
from tests.searching import in_profile

# Every protocol whose combination of parameters is allowed; `sides` does not take part in counting.
COMBINATIONS = [
    Protocol(
        name="any",
        entities=entities,
        unseen=unseen,
        duplicates=duplicates,
        filter=known,
        time=time,
        types=types,
        negatives=negatives,
        counting=counting,
    )
    for entities, unseen, duplicates, known, time, types, negatives, counting in itertools.product(
        ("release", "training"),
        ("keep", "drop"),
        ("keep", "drop"),
        ("all", "cumulative", "none"),
        ("ignore", "aware"),
        ("any", "observed"),
        (None, 1),
        ("inclusive", "exclusive"),
    )
    if not (time == "aware" and known == "none") and not (types == "observed" and negatives)
]
COLUMNS = {0: (), 1: ("time",), 2: ("time_start", "time_end")}


def frames(splits):
    columns = ("head", "relation", "tail", *COLUMNS[len(next(iter(splits.values()))[0]) - 3])
    return {
        name: pl.DataFrame(triples, dict.fromkeys(columns, pl.String), orient="row")
        for name, triples in splits.items()
    }


def by_joins(splits, protocol, **options):
    parts = [frame.with_columns(split=pl.lit(name)) for name, frame in frames(splits).items()]
    return count_by_joins(pl.concat(parts).lazy(), protocol, **options)


def assert_same(fast, slow):
    assert_frame_equal(fast.histogram, slow.histogram)
    assert_frame_equal(fast.pairs, slow.pairs)


@st.composite
def graphs(draw, time_columns, names):
    """Draw few triples of few labels, so that duplicates, self-loops and triples in two splits are common."""
    labels = st.sampled_from("abcdef")
    times = [st.sampled_from(["1", "2"])] * time_columns
    triple = st.tuples(labels, st.sampled_from("pqr"), labels, *times)
    return {name: draw(st.lists(triple, min_size=1, max_size=7)) for name in draw(names)}


LAYOUTS = {
    "usual": st.just(["training", "validation", "testing"]),
    "facts": st.just(["testing", "facts", "training"]),
    "inductive": st.just(["training", "validation", "testing", "inference", "inference_testing"]),
    "ILPC": st.just(["training", "inference", "inference_validation", "inference_testing"]),
    "NELL-Ext": st.just(["training", "inference", "inference_testing", "inference_testing_2"]),
}


@settings(max_examples=in_profile(150))
@given(
    data=st.data(),
    layout=st.sampled_from(list(LAYOUTS)),
    time_columns=st.sampled_from([0, 1, 2]),
    isolated=st.integers(0, 3),
)
def test_a_counter_by_joins_agrees(data, layout, time_columns, isolated):
    """Entities in no triple are candidates of the release; of two graphs it is not known which they belong to."""
    splits = data.draw(graphs(time_columns, LAYOUTS[layout]))
    # Two entities in training, so that one negative can be drawn.
    for name in splits.keys() & {"training", "inference"}:
        splits[name].append(("a", "p", "b", *"12"[:time_columns]))
    protocol = data.draw(
        st.sampled_from([p for p in COMBINATIONS if time_columns or p.time == "ignore"]), label="protocol"
    )
    alone = isolated if layout in ("usual", "facts") else 0
    assert_same(count_candidates(frames(splits), protocol, alone), by_joins(splits, protocol, isolated=alone))


def test_entities_in_no_triple_belong_to_neither_of_two_graphs():
    splits = {name: [("a", "p", "b")] for name in ("training", "inference", "inference_testing")}
    with pytest.raises(RankadjustError, match="their graph is not known"):
        count_candidates(frames(splits), "filtered", 1)


@settings(max_examples=in_profile(60))
@given(data=st.data(), layout=st.sampled_from(list(LAYOUTS)), time_columns=st.sampled_from([0, 1]))
def test_groups_of_relations_add_up_under_all_protocols_at_once(data, layout, time_columns):
    splits = data.draw(graphs(time_columns, LAYOUTS[layout]))
    protocols = data.draw(
        st.lists(
            st.sampled_from(
                [p for p in COMBINATIONS if not p.negatives and (time_columns or p.time == "ignore")]
            ),
            min_size=1,
            max_size=4,
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        # Groups of about so many triples; nothing but the number of relations limits the number of groups.
        patch.setattr(candidates, "GROUP", data.draw(st.sampled_from([1, 4, 10]), label="group"))
        found = count_protocols(frames(splits), protocols)
    assert len(found) == len(protocols)
    for counted, protocol in zip(found, protocols, strict=True):
        assert_same(counted, by_joins(splits, protocol))


TINY = {
    "training": [("a", "p", "b"), ("a", "p", "b"), ("a", "p", "c"), ("b", "q", "b"), ("c", "q", "a")],
    "validation": [("a", "p", "d"), ("a", "p", "d"), ("a", "p", "b")],
    "testing": [("e", "p", "b"), ("c", "q", "b"), ("a", "r", "c"), ("a", "p", "a"), ("c", "q", "d")],
}
TINY_TIMES = {
    "training": [("a", "p", "b", "1"), ("a", "p", "c", "1"), ("a", "p", "c", "2"), ("b", "q", "b", "2")],
    "validation": [("a", "p", "c", "2"), ("a", "p", "c", "2")],
    "testing": [("a", "p", "d", "2"), ("a", "p", "d", "1"), ("c", "q", "d", "3"), ("b", "q", "a", "2")],
}


def counts(found, split, side):
    rows = found.histogram.filter(split=split, side=side)
    return dict(rows.select("num_candidates", "tasks").iter_rows())


def test_the_numbers_of_a_tiny_graph_by_hand():
    # Five entities. (a, p, ?) is answered by a, b, c, d: two candidates are left. (c, q, ?) by a, b, d: three.
    # (e, p, ?) by b, and (a, r, ?) by c: five.
    assert counts(count_candidates(frames(TINY), "filtered"), "testing", "tail") == {2: 1, 3: 2, 5: 2}
    assert counts(count_candidates(frames(TINY), "raw"), "testing", "tail") == {5: 5}
    # Training has a, b, c. Left are (c, q, b): a and b known; (a, p, a): a, b, c known.
    assert counts(count_candidates(frames(TINY), "pykeen"), "testing", "tail") == {1: 1, 2: 1}
    assert counts(count_candidates(frames(TINY), "pykeen-published"), "testing", "tail") == {0: 1, 1: 1}
    # The filter of validation: training and validation have b, c of (a, p, ?), all splits have a besides. (a, p, d) is
    # unseen. Of the triples of training one stands twice.
    pykeen, training = (count_candidates(frames(TINY), name) for name in ("pykeen", "filtered-training"))
    assert counts(training, "testing", "tail") == {1: 1, 2: 1}
    assert counts(pykeen, "validation", "tail") == {2: 1}
    assert counts(training, "validation", "tail") == {1: 1}
    assert sum(counts(pykeen, "training", "tail").values()) == 4
    assert sum(counts(training, "training", "tail").values()) == 5
    # All entities: of (a, p, ?) training and validation have b, c, d, and testing a besides.
    cumulative = count_candidates(frames(TINY), "filtered-cumulative")
    assert counts(cumulative, "validation", "tail") == {3: 3}
    assert counts(count_candidates(frames(TINY), "filtered"), "validation", "tail") == {2: 3}
    assert counts(cumulative, "testing", "tail") == {2: 1, 3: 2, 5: 2}
    # Observed tails: b, c of p; a, b of q; none of r. Nothing but the true answer is left anywhere, except in
    # (e, p, ?), where c is.
    assert counts(count_candidates(frames(TINY), "typed"), "testing", "tail") == {1: 4, 2: 1}
    assert counts(count_candidates(frames(TINY), "sampled-4"), "testing", "tail") == {5: 5}


def test_time_by_hand():
    # (a, p, ?) at 2 is answered by c (training, validation) and d: 4 - 2 + 1; at any time by b as well.
    assert counts(count_candidates(frames(TINY_TIMES), "time-aware"), "validation", "tail") == {3: 2}
    assert counts(count_candidates(frames(TINY_TIMES), "time-static"), "validation", "tail") == {2: 2}


def test_pairs_of_tasks_by_hand():
    found = count_candidates(frames(TINY), "filtered")
    # validation, tail: three tasks of the query (a, p, ?); (a, p, d) twice.
    row = found.histogram.filter(split="validation", side="tail")
    assert row.select("tasks", "shared_pairs", "repeated_pairs").rows() == [(3, 6, 2)]
    # (a, p, d) has five candidates on the head side, (a, p, b) four, because e is known too.
    pairs = found.pairs.filter(split="validation")
    assert pairs.rows() == [("validation", 4, 2, 1, 1, 1), ("validation", 5, 2, 2, 4, 4)]


def test_pairs_of_tasks_whatever_their_times_by_hand():
    # (a, p, d) at 1 and at 2: two queries and two triples for a model that sees times, and one for another.
    names = ("shared_pairs", "repeated_pairs", "static_shared_pairs", "static_repeated_pairs")
    found = count_candidates(frames(TINY_TIMES), "time-static")
    # (a, p, ?) is answered by b, c, d, (b, q, ?) by a, b, and (c, q, ?) by d; there are four entities.
    tails = found.histogram.filter(split="testing", side="tail")
    assert tails.select("num_candidates", "tasks", *names).rows() == [
        (2, 2, 0, 0, 2, 2),
        (3, 1, 0, 0, 0, 0),
        (4, 1, 0, 0, 0, 0),
    ]
    (linked,) = found.pairs.filter(split="testing", head_candidates=4, tail_candidates=2).rows()
    assert linked == ("testing", 4, 2, 2, 2, 4)
    # A filter that looks at times gives tasks of one query different candidates.
    aware = count_candidates(frames(TINY_TIMES), "time-aware")
    assert aware.histogram["static_shared_pairs"].null_count() == aware.histogram.height
    assert aware.pairs["static_linked_pairs"].null_count() == aware.pairs.height


@pytest.mark.parametrize("name", ["filtered", "typed", "time-static", "time-aware", "raw"])
def test_rows_wider_than_a_word_are_counted_alike(name, monkeypatch):
    # 64 bits hold every row of a small graph. 7 bits hold two or three columns, so that triples are numbered first and
    # sorted indirectly.
    expected = count_candidates(frames(TINY_TIMES), name)
    monkeypatch.setattr(packing, "WORD", 7)
    assert_same(count_candidates(frames(TINY_TIMES), name), expected)


@pytest.mark.parametrize(
    ("kind", "start", "step"),
    [
        (pl.Int64, -2, 10**17),
        # In 32 bits some of these would be the same id, or too large.
        (pl.Int64, 0, 2**30),
        (pl.UInt64, 1, 2**32 + 1),
        (pl.Int64, 1, 10**11),
        (pl.UInt8, 0, 1),
    ],
)
def test_large_ids_and_ids_of_other_integer_types(kind, start, step):
    text = count_candidates(frames(TINY), "filtered")
    number = {label: step * place for place, label in enumerate("abcdepqr", start)}
    numbered = {
        name: frame.with_columns(pl.all().replace_strict(number, return_dtype=kind))
        for name, frame in frames(TINY).items()
    }
    assert_same(count_candidates(numbered, "filtered"), text)


def test_one_frame_with_a_column_split():
    parts = frames(TINY)
    whole = pl.concat([frame.with_columns(split=pl.lit(name)) for name, frame in parts.items()])
    expected = count_candidates(parts, "typed")
    assert_same(count_candidates(whole, "typed"), expected)
    assert_same(
        count_candidates(whole.with_columns(pl.col("split").cast(pl.Enum(SPLITS))), "typed"), expected
    )
    assert_same(count_candidates(whole.sample(fraction=1, shuffle=True, seed=1), "typed"), expected)


GOOD = frames(TINY)
MISTAKES = {
    "empty": (
        GOOD | {"testing": GOOD["testing"].clear()},
        "split 'testing': no triples; leave an empty split out",
    ),
    "name": ({"train": GOOD["training"]}, "unknown split 'train'; did you mean training?"),
    "nothing": ({}, "no splits were given; count_candidates needs at least one"),
    "column": (
        {"testing": GOOD["testing"].drop("tail")},
        "split 'testing' lacks the column 'tail'; it has head, rel",
    ),
    "null": (
        {"testing": pl.DataFrame({"head": ["a", "b"], "relation": ["p", None], "tail": ["b", "a"]})},
        "split 'testing': row 1 (from 0) has no relation; drop the row or fill it in",
    ),
    "empty label": (
        {"testing": pl.DataFrame({"head": ["a", ""], "relation": ["p", "p"], "tail": ["b", "a"]})},
        "split 'testing': row 1 (from 0) has no head; drop the row or fill it in",
    ),
    "kinds": (
        GOOD | {"testing": pl.DataFrame({"head": [1], "relation": ["p"], "tail": [2]})},
        "head is integer and text; give it the same type in every split",
    ),
    "floats": (
        {"testing": pl.DataFrame({"head": [1.5], "relation": [1], "tail": [2]})},
        "cannot be used as ids; give",
    ),
    "times": (
        GOOD | {"testing": GOOD["testing"].with_columns(time=pl.lit("1"))},
        "split 'testing' has times and the first split has none; give times to all or to none",
    ),
    "no times": (
        {"training": GOOD["training"].with_columns(time=pl.lit("1")), "testing": GOOD["testing"]},
        "split 'testing' lacks the column 'time'",
    ),
    "no split column": (
        GOOD["testing"],
        "the triples lack the column 'split'; add it, or give one frame per split",
    ),
}


@pytest.mark.parametrize(("splits", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_the_triples_are_one_line(splits, message):
    with pytest.raises(RankadjustError) as raised:
        count_candidates(splits, "filtered")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("protocol", "names", "message"),
    [
        ("time-aware", ["training"], "time-aware is for triples with a time, but these have none"),
        ("pykeen", ["testing"], "pykeen looks at the training split, but there is none"),
        (
            "sampled-5",
            ["training", "testing"],
            "sampled-5: 5 distinct negatives cannot be drawn from 5 entities",
        ),
        ("filterd", ["training"], "there is no protocol 'filterd'; did you mean filtered"),
    ],
)
def test_a_protocol_that_does_not_apply_is_refused(protocol, names, message):
    with pytest.raises(RankadjustError, match=message):
        count_candidates({name: GOOD[name] for name in names}, protocol)


# Real data sets


@functools.cache
def read_shared(shared, name):
    entry = load_registry()[name]
    with tempfile.TemporaryDirectory() as folder:
        files = mirrored_files(entry, shared / "data" / "mirror", Path(folder))
        return {split: read_triples(path, entry.format) for split, path in files.items()}


# The files moments.<data set>.json of the development data were made by another program.
def expected_counts(moments):
    """Yield protocol, split, side, then entities, n, mean, least and most candidates."""
    for key, split_counts in moments.items():
        protocol, split = key.split("/")
        for side in ("head", "tail", "both"):
            numbers = split_counts[side]
            yield (
                (protocol, split, side),
                split_counts["entities"],
                *(numbers[key] for key in ("n", "mean_candidates", "min_candidates", "max_candidates")),
            )


def summarised(found, split, side):
    rows = found.histogram.filter(pl.col("split") == split)
    rows = rows if side == "both" else rows.filter(side=side)
    number, tasks = rows["num_candidates"], rows["tasks"]
    (entities,) = rows["entities"].unique()
    return entities, tasks.sum(), (number * tasks).sum() / tasks.sum(), number.min(), number.max()


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["Nations", "Kinships", "UMLS", "Countries-S1", "CoDEx-S", "FB15k-237", "WN18RR"]
)
def test_counts_of_an_independent_program(name, shared):
    moments = json.loads((shared / f"data/reference/moments.{name}.json").read_text(encoding="utf-8"))
    splits = read_shared(shared, name)
    found = {protocol: count_candidates(splits, protocol) for protocol in ("filtered", "pykeen")}
    compared = 0
    for (protocol, split, side), *numbers in expected_counts(moments):
        assert summarised(found[protocol], split, side) == pytest.approx(tuple(numbers), rel=1e-12)
        compared += 1
    assert compared == 2 * 3 * 3


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "validation", "testing", "means"),
    [("FB15k-237", 9, 28, [14072.3, 14468.4]), ("WN18RR", 210, 210, [40535.1, 40553.1])],
)
def test_filtered_training_leaves_out_as_many_triples_as_ampligraph(name, validation, testing, means, shared):
    # The notes below the tables of AmpliGraph's docs/experiments.rst.
    splits = read_shared(shared, name)
    found = count_candidates(splits, "filtered-training").histogram
    tasks = dict(found.filter(side="tail").group_by("split").agg(pl.col("tasks").sum()).iter_rows())
    left_out = {split: len(splits[split]) - tasks[split] for split in ("validation", "testing")}
    assert left_out == {"validation": validation, "testing": testing}
    known = {*splits["training"]["head"], *splits["training"]["tail"]}
    assert set(found["entities"]) == {len(known)}
    both = found.filter(split="testing").with_columns(total=pl.col("num_candidates") * pl.col("tasks"))
    sums = both.group_by("side").agg(pl.col("total", "tasks").sum()).sort("side")
    # The numbers of the table in docs/protocols.md, and of the test of AmpliGraph's rows.
    assert (sums["total"] / sums["tasks"]).to_list() == pytest.approx(means, abs=0.05)


@pytest.mark.shared
def test_the_table_of_the_documentation(shared, project):
    """Entities, test triples, mean N and what chance reaches, computed here from the histogram alone."""
    page = (project / "docs/protocols.md").read_text(encoding="utf-8")
    lines = page.partition("## How much each choice changes")[2].partition("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")][2:]
    assert len(rows) == 15
    for label, protocol, *printed in rows:
        name, _, graph = label.partition(", ")
        split = "inference_testing" if graph else "testing"
        found = count_candidates(read_shared(shared, name), protocol)
        both = found.histogram.filter(split=split)
        weights, number = both["tasks"].to_numpy() / both["tasks"].sum(), both["num_candidates"].to_numpy()
        harmonic = np.cumsum(1 / np.arange(1, number.max() + 1))
        assert printed == [
            str(both["entities"][0]),
            str(both["tasks"].sum() // 2),
            *(f"{summarised(found, split, side)[2]:.1f}" for side in ("head", "tail")),
            f"{weights @ (harmonic[number - 1] / number):.6f}",
            f"{weights @ (np.minimum(number, 10) / number):.6f}",
        ]


def test_facts_of_any_number_of_entities_have_a_side_for_each_position():
    """N is 5 entities less the known answers of the query, plus the true one; counted here by going through all."""
    facts = {
        "training": [("r", "a", "b"), ("r", "a", "c"), ("r", "a", "b", "c"), ("s", "a", "b", "c")],
        "testing": [("r", "a", "d"), ("r", "e", "b", "c"), ("r", "a", "d")],
    }
    frames = {
        split: pl.DataFrame(
            {"relation": [fact[0] for fact in rows], "entities": [list(fact[1:]) for fact in rows]}
        )
        for split, rows in facts.items()
    }
    known = {fact for rows in facts.values() for fact in rows}
    expected = Counter(
        (
            split,
            f"position_{place}",
            5
            - sum(
                len(other) == len(fact)
                and other[:place] + other[place + 1 :] == fact[:place] + fact[place + 1 :]
                for other in known
            )
            + 1,
        )
        for split, rows in facts.items()
        for fact in rows
        for place in range(1, len(fact))
    )
    counted = count_encoded(encode(frames).triples, [get_protocol("filtered")])
    found = counted.histogram.select("split", "side", "num_candidates", "tasks").rows()
    assert {row[:3]: row[3] for row in found} == expected
    assert set(counted.histogram["entities"]) == {5}
