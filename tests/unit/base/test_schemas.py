"""YAML from anybody: every fault is one line with its place."""

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.schemas import read_yaml


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\n? [b, c]\n: 1\n", "2: not valid YAML: a key is a list or a mapping; write a single word"),
        ("a: {? {b: 1} : 1}\n", "1: not valid YAML: a key is a list or a mapping; write a single word"),
        ("a: 1\nb: 2\na: 3\n", "3: not valid YAML: key 'a' is given twice"),
        ("a: [1\nb: 2\n", "2: not valid YAML: "),
        ("a: \udcff", " cannot be read as UTF-8 text"),
        ("a: 1\nb: \x07\n", " not valid YAML: "),
        ("é: 1\nb: \0\n", " not valid YAML: "),
        ("a: !!bool x", " not valid YAML: 'x'"),
        ("a: !!python/object/apply:os.system [id]", "1: not valid YAML: could not determine a constructor"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_with_its_place(tmp_path, text, told):
    path = tmp_path / "mine.yaml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(RankadjustError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}:{told}")


def test_what_people_write_is_read(tmp_path):
    path = tmp_path / "mine.yaml"
    text = "a: &a [1, 2.5, yes, ~, 2014-01-01]\nb: *a\nc: {d: {e: [x]}}\n1: y\n"
    path.write_text(text, encoding="utf-8")
    listed = [1, 2.5, True, None, "2014-01-01"]
    assert read_yaml(path) == {"a": listed, "b": listed, "c": {"d": {"e": ["x"]}}, 1: "y"}
