"""Printed numbers. What they stand for is computed here as fractions of whole numbers, without floats."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.printed import Number, plain, read_number, rounding_interval
from rankadjust.database.constants import Constants
from rankadjust.database.store import assemble
from rankadjust.evaluation.one_value import adjust
from rankadjust.literature.rescore import rescore
from rankadjust.tables.reading import read_table


def exactly(digits, decimals, *, percent=False):
    """Return the value of digits with the decimal point before the last `decimals`, and its rounding interval."""
    step = Fraction(1, 10**decimals) / (100 if percent else 1)
    return (
        float(digits * step),
        float((digits - Fraction(1, 2)) * step),
        float((digits + Fraction(1, 2)) * step),
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.338", Number("0.338")),
        (".797", Number("0.797")),
        ("−0.3", Number("-0.3")),
        ("1e-3", Number("1e-3")),
        ("0,338", Number("0.338", decimal_comma=True)),
        ("1,234", Number("1234", other="1.234")),
        ("1,234,567", Number("1234567")),
        ("12 345", Number("12345")),
        ("0.338±0.002", Number("0.338", spread="0.002")),
        (" 33.8 % ", Number("33.8", percent=True)),
        ("33,8 (± 0,1)", Number("33.8", spread="0.1", decimal_comma=True)),
        ("𝟎.𝟓", Number("0.5")),
    ],
)
def test_numbers_as_they_are_printed(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "x", "nan", "inf", "1.234,5", "0.3 0.4", "1e999", "1" * 400, "--1", "0.3*", "0,338,338", "0,338.5"],
)
def test_anything_else_is_no_number(text):
    assert read_number(text) is None


def test_ends_of_the_interval_are_the_nearest_floats():
    # 0.0013 - 0.00005 in floats is 0.0012500000000000002: the end of the interval is the float 0.00125.
    assert rounding_interval("0.0013") == (0.0013, 0.00125, 0.00135)
    assert rounding_interval("33.8", percent=True) == (0.338, 0.3375, 0.3385)
    assert rounding_interval("2.5E2") == (250.0, 245.0, 255.0)


def test_a_comma_is_decimal_where_a_value_cannot_exceed_1():
    number = read_number("1,234")
    assert (number.within(None).text, number.within(float("inf")).text) == ("1234", "1234")
    assert number.within(1.0).text == "1.234"
    assert read_number("1,234,567").within(1.0).text == "1234567"


@given(st.text(max_size=12))
def test_plain_text_stays_plain(text):
    assert plain(plain(text)) == plain(text)


def constants(metric, expectation):
    return {
        "dataset": "UMLS", "protocol": "filtered", "split": "testing", "side": "both", "metric": metric,
        "entities": 10**8, "tasks": 1322, "expectation": expectation, "variance": 1e-5,
        "variance_random_scorer": 1e-5, "method": "closed form", "reason": None,
    }  # fmt: skip


DATABASE = assemble(
    [pl.DataFrame([constants("inverse_harmonic_mean_rank", 2e-7), constants("arithmetic_mean_rank", 5e7)])]
)


@pytest.mark.parametrize(
    ("share", "mean_rank"),
    [
        (("33.8%", exactly(338, 1, percent=True)), ("1,234", exactly(1234, 0))),
        ((".5e0 ± 0.002", exactly(5, 1)), ("12 345.6", exactly(123456, 1))),
        (("99,9 % ±0,1", exactly(999, 1, percent=True)), ("2.5", exactly(25, 1))),
    ],
)
def test_a_number_means_the_same_wherever_it_is_read(tmp_path, share, mean_rank):
    printed = {"MRR": share, "MR": mean_rank}
    tidy = pl.DataFrame(
        [{"dataset": "UMLS", "metric": name, "value": text} for name, (text, _) in printed.items()]
    )
    texts = " | ".join(text for text, _ in printed.values())
    (tmp_path / "umls.md").write_text(
        f"| Model | MRR | MR |\n|---|---|---|\n| A | {texts} |\n", encoding="utf-8"
    )
    line = " ".join(f"{name}: {text}" for name, (text, _) in printed.items())
    (tmp_path / "umls.log").write_text(f"[A] {line}\n", encoding="utf-8")
    frames = [tidy, read_table(tmp_path / "umls.md"), read_table(tmp_path / "umls.log")]
    found = [
        rescore(frame, Constants(DATABASE), registry={}, entities={})
        .select("value", "value_low", "value_high")
        .rows()
        for frame in frames
    ]
    single = [
        adjust(text, dataset="UMLS", metric=name, database=Constants(DATABASE))
        for name, (text, _) in printed.items()
    ]
    found.append([(one.value, one.value_low, one.value_high) for one in single])
    assert found == [[share[1], mean_rank[1]]] * 4
