"""When a fact that nobody stated matters: a rule on the constants, for made-up constants whose index is known."""

import polars as pl
import pytest

from rankadjust.literature.statuses import add_certainty

# One metric whose optimum is 1, so that the index of a value v is (v - E) / (1 - E): of 0.5 on the left side 0.4444.
CONSTANTS = pl.DataFrame(
    [
        ("X", "filtered", "testing", "both", "m", 0.1, 1.0),
        ("X", "filtered", "testing", "head", "m", 0.1002, 1.0),
        ("X", "filtered", "validation", "both", "m", 0.15, 1.0),
        ("X", "filtered", "training", "head", "m", 0.5, 1.0),
    ],
    schema=["dataset", "protocol", "split", "side", "metric", "expectation", "optimum"],
    orient="row",
).with_columns(expectation_low=pl.lit(None, pl.Float64), expectation_high=pl.lit(None, pl.Float64))
PRINTED = "dataset printed; metric printed; split printed; side printed; protocol printed"


def status(grades, **other):
    row = {
        "dataset": "X",
        "protocol": "filtered",
        "split": "testing",
        "side": "both",
        "metric": "m",
        "value": 0.5,
        "index": 4 / 9,
        "index_low": 0.4439,
        "index_high": 0.445,
        "status": "ok",
        "message": None,
        "origin": "computed",
        "grades": grades,
        **other,
    }
    frame = pl.DataFrame(
        [row], schema_overrides={"message": pl.String, "grades": pl.String, "origin": pl.String}
    )
    return add_certainty(frame, CONSTANTS).select("status", "message").row(0)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ({}, ("ok", None)),
        ({"dataset": "inferred"}, ("assumed", "assumed: dataset")),
        ({"dataset": "given"}, ("ok", None)),
        ({"protocol": "default"}, ("assumed", "assumed: protocol")),
        # On the head side the index is 0.4443, on validation triples 0.4118; half the rounding interval is 0.00055.
        ({"side": "default"}, ("ok", None)),
        ({"split": "default"}, ("assumed", "assumed: split")),
        ({"metric": "inferred", "split": "default"}, ("assumed", "assumed: metric, split")),
    ],
)
def test_what_was_taken_matters_where_it_moves_the_index(taken, expected):
    grades = PRINTED
    for name, grade in taken.items():
        grades = grades.replace(f"{name} printed", f"{name} {grade}")
    assert status(grades) == expected


def test_a_default_side_matters_where_more_digits_are_printed():
    narrow = {"index_low": 0.44444, "index_high": 0.44445}
    assert status(PRINTED.replace("side printed", "side default"), **narrow)[0] == "assumed"


def test_no_side_matters_where_every_task_has_the_same_candidates():
    grades = PRINTED.replace("side printed", "side default").replace("split printed", "split default")
    assert status(grades, origin="constant")[0] == "ok"


@pytest.mark.parametrize("other", [{"status": "not_in_database"}, {"index": None}])
def test_what_is_not_adjusted_keeps_its_status(other):
    grades = PRINTED.replace("dataset printed", "dataset inferred")
    assert status(grades, **other)[0] == other.get("status", "ok")


def test_a_message_is_kept_behind_what_was_taken():
    grades = PRINTED.replace("dataset printed", "dataset inferred")
    expected = ("assumed", "assumed: dataset; every N is near")
    assert status(grades, status="approximate", message="every N is near") == expected


def test_rows_without_grades_stay_as_they_are():
    assert status(None) == ("ok", None)
