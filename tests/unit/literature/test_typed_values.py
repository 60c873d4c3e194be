"""Typed values of a released set: plain numbers say what the tables say, to the letter."""

import pytest

from rankadjust import EvaluationSet
from rankadjust.database.light import light_set
from rankadjust.literature.typed_values import findings_of_typed
from tests.imported import heavy_imports

SETS = [
    ("FB15k-237", "filtered", "testing", "both"),
    ("WN18RR", "filtered", "testing", "tail"),
    # The published numbers of candidates leave out the true answer.
    ("WN18RR", "pykeen-published", "testing", "both"),
    ("ICEWS14-forecasting", "raw", "testing", "both"),
]
PRINTED = [
    {"mrr": "0.338", "hits@1": "24.1%", "hits@10": "0.533", "mr": "177"},
    {"mrr": "0.338 ± 0.002", "hits@1": "0,4"},
    {"mrr": "0.45", "hits@1": "0.30", "hits@3": "0.38", "hits@10": "0.54"},
    {"hits@1": "0.3331", "hits@3": "0.33", "auc": "0.9", "median rank": "5", "variance": "9000", "mr": "20"},
    {"hits@10": "0.1234567"},
]


@pytest.mark.parametrize("names", SETS, ids=str)
def test_the_tables_say_the_same(names):
    held = light_set(*names)
    tables = EvaluationSet.released(*names)
    reported = 0
    for printed in PRINTED:
        findings = findings_of_typed(printed, held)
        assert findings is not None
        told = tables.check(printed)
        shown = [(each.severity, each.bound, each.limit, each.excess, each.message) for each in findings]
        assert shown == told.select("severity", "bound", "limit", "excess", "message").rows()
        reported += len(shown)
    assert reported >= 3


@pytest.mark.parametrize("printed", [{"mrr": "1.2"}, {"mr": "30000"}, {"mrr": "much"}, {"mr": "20%"}])
def test_what_is_impossible_by_itself_is_left_to_the_tables(printed):
    assert findings_of_typed(printed, light_set("FB15k-237", "filtered", "testing", "both")) is None


def test_possible_values_need_neither_polars_nor_a_solver():
    printed = heavy_imports("check", "--dataset", "FB15k-237", "mrr=0.338", "hits@1=0.241")
    assert printed == ("2 values: nothing to look at\n", "[]\n")


def test_a_contradiction_needs_the_solver_alone():
    printed, imported = heavy_imports("check", "--dataset", "FB15k-237", "mrr=0.338", "hits@10=0.20")
    assert "contradict each other" in printed
    assert imported.splitlines()[-1] == "['highspy']"
