"""The functions that the rules of the workflow are written with."""

import inspect
import re
from types import SimpleNamespace

import pytest

from rankadjust.rules import by_dataset, filled_in, grown, one_of, schemas_of, uncompared, warnings_about

NATIONS = SimpleNamespace(dataset="Nations", items=lambda: [("dataset", "Nations"), ("partition", "3")])


def test_functions_of_names_become_functions_of_wildcards():
    assert by_dataset(len)(NATIONS) == 7
    assert uncompared(len)(NATIONS, ["a file"]) == 7
    # Snakemake goes by the names.
    assert list(inspect.signature(by_dataset(len)).parameters) == ["wildcards"]
    assert list(inspect.signature(uncompared(len)).parameters) == ["wildcards", "input"]


@pytest.mark.parametrize("amount", [7, len])
def test_a_resource_doubles_with_every_attempt(amount):
    assert [grown(amount)(NATIONS, attempt) for attempt in (1, 2, 3)] == [7, 14, 28]


@pytest.mark.parametrize("names", [["a.b", "c+"], []])
def test_a_pattern_matches_the_names_and_nothing_else(names):
    matched = [name for name in ("a.b", "c+", "axb", "cc", "") if re.fullmatch(one_of(names), name)]
    assert matched == names


def test_outputs_and_schemas(project):
    outputs = ["results/{dataset}.csv", "{dataset}/{partition}.json"]
    assert filled_in(outputs, NATIONS) == ["results/Nations.csv", "Nations/3.json"]
    assert all(path.is_file() for path in schemas_of(project)("benchmarks", "tidy"))


def test_warnings_are_those_of_the_summaries_that_are_there(tmp_path):
    (tmp_path / "Nations.json").write_text('{"warnings": ["two triples", "one loop"]}', encoding="utf-8")
    (tmp_path / "UMLS.json").write_text("{}", encoding="utf-8")
    said = warnings_about(["Nations", "UMLS", "Kinships"], tmp_path)
    assert said == "warning: two triples\nwarning: one loop\n"
