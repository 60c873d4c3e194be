"""The entities of each relation's sides, in OpenKE's layout."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.data.read import read_ranges
from tests.searching import in_profile

LABELS = st.integers(0, 10**6).map(str)
RANGES = st.dictionaries(
    LABELS, st.tuples(*[st.lists(LABELS, min_size=1, max_size=5, unique=True)] * 2), max_size=5
)


def written(folder, text):
    path = folder / "type_constrain.txt"
    path.write_text(text, encoding="utf-8")
    return path


@settings(max_examples=in_profile(50))
@given(ranges=RANGES)
def test_what_is_written_is_read(tmp_path_factory, ranges):
    lines = [
        "\t".join([relation, str(len(entities)), *entities])
        for relation, sides in ranges.items()
        for entities in sides
    ]
    path = written(tmp_path_factory.mktemp("ranges"), "\n".join([str(len(ranges)), *lines]) + "\n")
    expected = [
        (relation, side, entity)
        for relation, sides in ranges.items()
        for side, entities in zip(("head", "tail"), sides, strict=True)
        for entity in entities
    ]
    assert read_ranges(path).rows() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file cannot be read, or is empty"),
        ("x\n", ":1: the first line is 'x', and 0 lines follow; write the number of relations"),
        ("2\n0\t1\t5\n0\t1\t6\n", ":1: the first line is '2', and 2 lines follow"),
        ("1\n0\t2\t5\n0\t1\t6\n", ":2: 1 entities follow the number '2'"),
        ("1\n0\t1\t5\n0\tx\t6\n", ":3: 1 entities follow the number 'x'"),
        ("1\n0\t0\n0\t1\t6\n", ":2: 0 entities follow the number '0'"),
        ("1\n0\n0\t1\t6\n", ":2: 0 entities follow the number ''"),
        ("1\n0\t1\t5\n1\t1\t6\n", ":3: the heads belong to relation 0, the tails to 1"),
    ],
)
def test_another_layout_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(RankadjustError) as info:
        read_ranges(written(tmp_path, text), "ranges")
    assert message in str(info.value)
    assert str(info.value).startswith("ranges:")


def test_an_entity_that_stands_twice_counts_once(tmp_path):
    found = read_ranges(written(tmp_path, "1\n0\t2\t5\t5\n0\t1\t6\n"))
    assert found.equals(
        pl.DataFrame({"relation": ["0", "0"], "side": ["head", "tail"], "entity": ["5", "6"]})
    )
