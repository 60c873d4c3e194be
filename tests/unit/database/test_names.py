"""Names: one folding and one resolver, so that a name is understood everywhere or nowhere."""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.words import folded, our_word
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.registry import load_registry, resolve_dataset
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.known_names import DATASET, PROTOCOL, SIDE, SPLIT, find_name, known_name
from rankadjust.literature.rescore import rescore
from rankadjust.tables.reading import read_table

SPELLINGS = ("FB15k-237", "FB15K 237", "fb15k_237", "fb15k237", " FB237 ")


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_data_set_is_known_by_all_its_spellings_wherever_it_is_named(name, tmp_path):
    (tmp_path / "results.md").write_text(f"| Model | {name} MRR |\n|---|---|\n| A | 0.338 |\n")
    printed = pl.DataFrame({"dataset": [name], "metric": ["mrr"], "value": ["0.338"]})
    found = [
        EvaluationSet.released(name).dataset,
        Constants.released().rows(dataset=name)["dataset"][0],
        resolve_dataset(name, load_registry()).name,
        rescore(printed)["dataset"].item(),
        read_table(tmp_path / "results.md")["dataset"].item(),
    ]
    assert found == ["FB15k-237"] * 5


@pytest.mark.parametrize(
    ("kind", "name", "known", "found"),
    [
        (DATASET, "WN18 RR", ["WN18RR"], "WN18RR"),
        (PROTOCOL, "Filter", ["filtered", "raw"], "filtered"),
        (PROTOCOL, "unfiltered", ["filtered", "raw"], "raw"),
        (PROTOCOL, "Time aware filter", ["time-aware"], "time-aware"),
        (PROTOCOL, "sampled_49", ["sampled-49"], "sampled-49"),
        (SPLIT, "test", ["testing", "validation"], "testing"),
        (SPLIT, "TST", ["testing"], "testing"),
        # An inductive data set ranks its test on the inference graph.
        (SPLIT, "test", ["inference_testing", "testing"], "inference_testing"),
        (SPLIT, "testing", ["inference_testing", "testing"], "testing"),
        (SPLIT, "dev", ["inference_testing", "validation"], "validation"),
        (SPLIT, "valid", ["inference_testing", "inference_validation"], "inference_validation"),
        (SIDE, "object", ["head", "tail", "both"], "tail"),
        (SIDE, "Subject", ["head", "tail", "both"], "head"),
        (SIDE, "lhs", ["head"], "head"),
        (SIDE, "rhs", ["head"], None),
        (SPLIT, "", ["testing"], None),
        (DATASET, "--", ["a", "b"], None),
    ],
)
def test_words_of_others_are_understood(kind, name, known, found):
    assert find_name(kind, name, known) == found


def test_protocols_are_found_in_any_spelling():
    assert get_protocol("Time Static").name == "time-static"
    assert get_protocol("Sampled 49") == get_protocol("sampled-49")
    with pytest.raises(RankadjustError, match="there is no protocol 'sampled'"):
        get_protocol("sampled")
    with pytest.raises(RankadjustError, match=r"'s \+ o' of AmpliGraph ranks .* in one list"):
        known_name("protocol", "s + o", ["filtered", "raw"], "the database")


def test_words_that_are_signs_stay_signs():
    assert our_word("unit", "%") == "percent"
    assert our_word("unit", "X100") == "percent"
    assert our_word("unit", "100") is None
    assert our_word("unit", "&") is None
    assert folded("×10 %") == "10"


def test_test_of_an_inductive_data_set_is_on_the_inference_graph():
    # The second has no testing on the training graph.
    for name, split in (("GraIL-WN18RR-v1", "test"), ("ILPC2022-small", "testing")):
        assert EvaluationSet.released(name, split=split).split == "inference_testing"
