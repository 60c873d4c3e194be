"""Printed numbers. What they stand for is computed here as fractions of whole numbers, without floats."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rankadjust.base.printed import Number, plain, read_number, rounding_interval
from rankadjust.database.store import assemble
from rankadjust.evaluation.one_value import adjust
from rankadjust.literature.rescore import rescore
from rankadjust.tables.reading import read_table
from tests.searching import in_profile


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


@st.composite
def shares(draw):
    """A share in one of the ways to print it, with what it stands for."""
    percent = draw(st.booleans())
    decimals = draw(st.integers(1, 4) if percent else st.integers(1, 6))
    digits = draw(st.integers(1, 10**decimals * (100 if percent else 1) - 1))
    text = f"{digits // 10**decimals}.{digits % 10**decimals:0{decimals}d}"
    if draw(st.booleans()) and text.startswith("0."):
        text = text[1:]
    elif draw(st.booleans()):
        text = text.replace(".", ",")
    elif draw(st.booleans()):
        text = f"{text}e0"
    spread = draw(st.sampled_from(["", " ± 0.002", "±0,002", " +/- 0.1"]))
    return text + draw(st.sampled_from(["%", " %"])) * percent + spread, exactly(
        digits, decimals, percent=percent
    )


@st.composite
def mean_ranks(draw):
    """A mean rank in one of the ways to print it, with what it stands for."""
    whole, decimals = draw(st.integers(2, 10**7)), draw(st.integers(0, 3))
    fraction = draw(st.integers(0, 10**decimals - 1))
    separator = draw(st.sampled_from(["", ",", " ", "\u2009"]))
    text = f"{whole:,}".replace(",", separator) + (f".{fraction:0{decimals}d}" if decimals else "")
    return text, exactly(whole * 10**decimals + fraction, decimals)


@pytest.mark.slow
@settings(max_examples=in_profile(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=shares(), mean_rank=mean_ranks())
def test_a_number_means_the_same_wherever_it_is_read(tmp_path, share, mean_rank):
    # In a file with decimal commas 1,234 is no thousands and 2.000 is.
    assume("," not in share[0] or not {",", "."} & set(mean_rank[0]))
    printed = {"MRR": share, "MR": mean_rank}
    tidy = pl.DataFrame(
        [{"dataset": "UMLS", "metric": name, "value": text} for name, (text, _) in printed.items()]
    )
    names, texts = " | ".join(printed), " | ".join(text for text, _ in printed.values())
    (tmp_path / "umls.md").write_text(
        f"| Model | {names} |\n|---|---|---|\n| A | {texts} |\n", encoding="utf-8"
    )
    line = " ".join(f"{name}: {text}" for name, (text, _) in printed.items())
    (tmp_path / "umls.log").write_text(f"[A] {line}\n", encoding="utf-8")
    frames = [tidy, read_table(tmp_path / "umls.md"), read_table(tmp_path / "umls.log")]
    found = [
        rescore(frame, DATABASE, registry={}, entities={}).select("value", "value_low", "value_high").rows()
        for frame in frames
    ]
    single = [
        adjust(text, dataset="UMLS", metric=name, database=DATABASE) for name, (text, _) in printed.items()
    ]
    found.append([(one.value, one.value_low, one.value_high) for one in single])
    # A share of 0.99995 stands for nothing above 1, a mean rank for nothing below.
    expected = [(value, max(low, 0.0), min(high, 1.0)) for value, low, high in [share[1]]] + [mean_rank[1]]
    assert found == [expected] * 4
