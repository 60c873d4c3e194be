"""Cells of printed tables. Expected readings are by eye."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.printed import Number
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label, read_cell
from tests.searching import in_profile


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.35", Number("0.35")),
        (".797", Number("0.797")),
        ("1.", Number("1")),
        ("1.00", Number("1.00")),
        ("1e-5", Number("1e-5")),
        ("−0.71", Number("-0.71")),
        ("35.2%", Number("35.2", percent=True)),
        ("35.2 %", Number("35.2", percent=True)),
        (".797 ± .001", Number("0.797", spread="0.001")),
        ("79.7+/-0.1", Number("79.7", spread="0.1")),
        ("0.35 (±0.01)", Number("0.35", spread="0.01")),
        (r"$.35 \pm .01$", Number("0.35", spread="0.01")),
        (r"$0.35_{\pm 0.01}$", Number("0.35", spread="0.01")),
        ("12,345", Number("12345", other="12.345")),
        ("12,345,678", Number("12345678")),
        ("12 345", Number("12345")),
        ("12\u2009345", Number("12345")),
        ("1,234.5", Number("1234.5")),
        ("0,345", Number("0.345", decimal_comma=True)),
        ("34,5", Number("34.5", decimal_comma=True)),
        ("0.345 (3)", Number("0.345", bracket="3")),
        ("0.345 (+0.2)", Number("0.345", bracket="+0.2")),
        ("0.345 (↑ 0.2)", Number("0.345", bracket="+0.2")),
        ("0.126 b", Number("0.126")),
        ("0.35^{1}", Number("0.35")),
        ("0.35^†", Number("0.35")),
        ("0.35¹", Number("0.35")),
        ("𝟎.𝟑𝟓", Number("0.35")),
        ("*0.35*", Number("0.35")),
        ("🟦 38.1", Number("38.1")),
        (r"\textbf{0.35}", Number("0.35")),
    ],
)
def test_numbers(text, number):
    assert read_cell(text) == number


@pytest.mark.parametrize("text", ["", "-", "–", "--", " n/a ", "N/A", "OOM", "nan", "*-*", "…", "—†"])
def test_missing(text):
    assert read_cell(text) == ""
    assert is_missing(text)
    assert not is_numeric(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "abc",
            "163k",
            "12 s",
            "2.5M",
            ">0.9",
            "~0.35",
            "<0.01",
            "10^5",
            "1-5",
            "0.345 (ours)",
            "-->",
            "v1",
        ),
        *("0.35 0.50", "12.5 345", "+0.3", "0.3 / y", "June 11th, 2024"),
        # Several values.
        *("0.35 / 0.50", "0.35\n0.50", "12\n345", "0.35 / -", "0.1|0.2|0.3"),
    ],
)
def test_other_text_is_no_number(text):
    assert read_cell(text) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("TransE$^\\dagger$", "TransE"),
        ("🟦 new ($\\psi_\\Delta$)", "new (ψ_Δ)"),
        ("KBAT*", "KBAT*"),
        ("A*Net", "A*Net"),
        ("ComplEx^{1}", "ComplEx"),
        ("ComplEx^2", "ComplEx^2"),
        ("TransE^{ours}", "TransE^ours"),
        ("R-GCN+", "R-GCN+"),
        ("two\nlines", "two lines"),
        ("MRR ↑", "MRR"),
        ("迷路", "迷路"),
    ],
)
def test_labels(text, plain):
    assert label(text) == plain


@settings(max_examples=in_profile(300))
@given(st.decimals(0, 10**6, places=4), st.integers(0, 4), st.sampled_from(["", "%", " ± 0.1", " (2)", "*"]))
def test_printed_numbers_keep_value_and_digits(value, places, suffix):
    printed = f"{value:.{places}f}"
    number = read_cell(printed + suffix)
    assert number.text == printed
    assert number.value == float(printed)
    half = Decimal(5).scaleb(-places - 1)
    ends = (float(Decimal(printed) - half), float(Decimal(printed) + half))
    assert number.interval() == (float(printed), *ends)


@settings(max_examples=in_profile(300))
@given(st.text(max_size=12))
def test_no_text_breaks_the_reading(text):
    number = read_cell(text)
    assert number is None or number == "" or float(number.text) == number.value
    assert isinstance(label(text), str)
