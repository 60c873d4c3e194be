"""Text from anybody's file does nothing to a terminal, and stays readable."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.visible import one_line, visible, visible_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("a\r0.99", r"a\r0.99"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("lone \ud800", r"lone \ud800"),
        ("Größe 漢字 עברית 👩\u200d🔬 a\u0301", "Größe 漢字 עברית 👩\u200d🔬 a\u0301"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_its_escape(text, shown):
    assert visible(text) == one_line(text) == str(RankadjustError(text)) == shown


def test_lines_stay_lines_in_a_text_and_not_in_an_error():
    assert visible("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\nc") == r"a\tb\nc"


def test_an_error_keeps_its_ends_however_long_it_is():
    told = one_line("file.csv:3: " + "9" * 100_000 + "; write fewer")
    assert told.startswith("file.csv:3: 999")
    assert told.endswith("; write fewer")
    assert len(told) < 2000
    assert len(one_line("\0" * 100_000)) == len(told)
    assert one_line(told) == told


@given(st.text() | st.text(st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_nothing_invisible_is_left_and_nothing_changes_twice(text):
    shown = one_line(text)
    categories = {unicodedata.category(character) for character in shown if character not in "\u200c\u200d"}
    assert not categories & {"Cc", "Cs", "Zl", "Zp"}
    assert one_line(shown) == shown


@given(st.recursive(st.text() | st.text(st.characters(categories=("Cc", "Cf"))), st.lists))
def test_json_says_the_same_with_its_own_escapes(data):
    text = visible_json(json.dumps(data, ensure_ascii=False, indent=2))
    assert json.loads(text) == data
    assert not any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl") for character in text if character != "\n"
    )
