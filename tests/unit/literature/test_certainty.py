"""When a fact that nobody stated matters: a rule on the constants, for made-up constants whose index is known."""

import polars as pl
import pytest

from rankadjust.literature.statuses import add_certainty

# One metric whose optimum is 1, so that the index of a value v is (v - E) / (1 - E): of 0.5 on both sides 0.4444, on
# the head side 0.4443, on validation triples 0.4118.
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
ROW = {"dataset": "X", "protocol": "filtered", "split": "testing", "side": "both", "metric": "m"}
ROW |= {"value": 0.5, "index": 4 / 9, "index_low": 0.4439, "index_high": 0.445}
ROW |= {"status": "ok", "message": None, "origin": "computed"}
FACTS = ("dataset", "metric", "split", "side", "protocol")


@pytest.mark.parametrize(
    ("taken", "other", "expected"),
    [
        ({}, {}, ("ok", None)),
        ({"dataset": "inferred"}, {}, ("assumed", "assumed: dataset")),
        ({"dataset": "given"}, {}, ("ok", None)),
        ({"protocol": "default"}, {}, ("assumed", "assumed: protocol")),
        # Half the rounding interval is 0.00055: the side moves the index by 0.00012, the split by more.
        ({"side": "default"}, {}, ("ok", None)),
        ({"split": "default"}, {}, ("assumed", "assumed: split")),
        ({"metric": "inferred", "split": "default"}, {}, ("assumed", "assumed: metric, split")),
        ({"side": "default"}, {"index_low": 0.44434, "index_high": 0.44454}, ("assumed", "assumed: side")),
        # Every task has the same candidates.
        ({"side": "default", "split": "default"}, {"origin": "constant"}, ("ok", None)),
        # What is not adjusted keeps its status.
        ({"dataset": "inferred"}, {"status": "not_in_database"}, ("not_in_database", None)),
        ({"dataset": "inferred"}, {"index": None}, ("ok", None)),
        # A message is kept behind what was taken.
        (
            {"dataset": "inferred"},
            {"status": "approximate", "message": "every N is near"},
            ("assumed", "assumed: dataset; every N is near"),
        ),
        ({}, {"grades": None}, ("ok", None)),
    ],
)
def test_what_was_taken_matters_where_it_moves_the_index(taken, other, expected):
    grades = "; ".join(f"{name} {taken.get(name, 'printed')}" for name in FACTS)
    texts = dict.fromkeys(("message", "grades", "origin"), pl.String)
    frame = pl.DataFrame([{**ROW, "grades": grades, **other}], schema_overrides=texts)
    assert add_certainty(frame, CONSTANTS).select("status", "message").row(0) == expected
