"""Typed values: whoever reads one reads the same, or refuses it in the same words."""

import json
import math
from pathlib import Path

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import typed_value
from rankadjust.evaluation.one_value import adjust
from rankadjust.literature.rescore import rescore

# What each text stands for, by hand: the printed digits and half a unit of the last one, within the metric's range.
VALUES = json.loads(Path(__file__).parents[2].joinpath("data", "values.json").read_text(encoding="utf-8"))
SET = "FB15k-237"


def given(case):
    return case.get("typed", case.get("number"))


def read_by(reader, case):
    """Return value and ends that a reader finds, or its refusal."""
    try:
        return reader(given(case), case["metric"])
    except RankadjustError as error:
        return str(error)


def by_itself(text, metric):
    found = typed_value(text, resolve(metric))
    return [found.value, found.low, found.high]


def by_adjust(text, metric):
    found = adjust(text, dataset=SET, metric=metric)
    return [found.value, found.value_low, found.value_high]


@pytest.mark.parametrize("reader", [by_itself, by_adjust])
@pytest.mark.parametrize("case", VALUES, ids=lambda case: f"{case['metric']} {given(case)}")
def test_all_readers_of_one_value_agree(case, reader):
    expected = case.get("refused") or case["value"]
    assert read_by(reader, case) == expected


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("reader", [by_itself, by_adjust])
def test_no_reader_takes_what_is_not_finite(reader, number):
    assert (
        read_by(reader, {"metric": "mrr", "number": number}) == f"the value is {number}; give a finite number"
    )


@pytest.mark.parametrize("reader", [by_itself, by_adjust])
def test_what_is_no_number_at_all_is_one_line(reader):
    message = "None is not a value; give a number or text such as '0.338'"
    assert read_by(reader, {"metric": "mrr", "number": None}) == message


def test_a_table_of_values_is_read_like_one_value():
    texts = [case for case in VALUES if "typed" in case]
    rows = [
        {"dataset": SET, "model": str(number), "metric": case["metric"], "value": case["typed"]}
        for number, case in enumerate(texts)
    ]
    found = rescore(pl.DataFrame(rows))
    is_refused = found["status"].is_in(["value_impossible", "value_not_a_number", "value_missing"])
    assert is_refused.to_list() == ["refused" in case for case in texts]
    ends = found.select("value", "value_low", "value_high").rows()
    assert [list(row) for row, case in zip(ends, texts, strict=True) if "value" in case] == [
        case["value"] for case in texts if "value" in case
    ]
