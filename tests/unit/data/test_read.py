"""Reading: text in every declared format comes back as it was written, and bad files are named with their line."""

import gzip
import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.data.read import read_ranges, read_triples
from rankadjust.data.registry import Format
from tests.searching import in_profile

LABELS = ("head", "relation", "tail")
STRINGS = {"tab": "\t", "comma": ",", "space": " "}
TRICKY = (
    "NA", "null", "007", "-0", '"', '"a b"', "'", "#x", "a\u0085b", "a\u2028b", "\u2029", " x ", "\x1c\x1d", "é", "\0",
    "a\r", "\rb\r\r", "x^2", "x\x01",
)  # fmt: skip


# Reading what was written


@st.composite
def written_files(draw):
    """Return a format, the columns it should read, and the bytes of a file."""
    delimiter = draw(st.sampled_from(["tab", "comma", "space", "whitespace", "|", "@@@", "\t|\t", "→", "'"]))
    times = draw(st.sampled_from([(), ("time",), ("time_start", "time_end")]))
    ignored = draw(st.integers(0, 2))
    columns = tuple(draw(st.permutations([*LABELS, *times, *["ignore"] * ignored])))
    form = Format(
        delimiter=delimiter,
        columns=columns,
        header_lines=draw(st.integers(0, 2)),
    )
    blank = delimiter == "whitespace"
    string = STRINGS.get(delimiter, delimiter)
    # A label holds neither a delimiter nor an end of line. One that begins with a byte order mark, or a last one that
    # ends in a carriage return, could not be told from a file with such a mark or such ends of lines.
    banned = "\n\ufeff\x1f" + (" \t\r\x0b\x0c" if blank else string)
    texts = st.one_of(
        st.sampled_from(TRICKY),
        st.text(st.characters(codec="utf-8", exclude_characters=banned), min_size=1, max_size=6),
    ).map(lambda text: "".join(c for c in text if c not in banned))
    texts = texts.filter(bool)
    kinds = dict.fromkeys(LABELS, texts)
    kinds[columns[-1]] = kinds.get(columns[-1], texts).map(lambda text: text.rstrip("\r")).filter(bool)
    fields = [
        kinds.get(name, texts if name != "ignore" or blank else texts | st.just("")) for name in columns
    ]
    rows = draw(st.lists(st.tuples(*fields), min_size=1, max_size=12))
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    chance = random.Random(draw(st.integers(0, 2**32)))
    lines = [chance.choice(['"', "5", "# head,relation", "\t"]) for _ in range(form.header_lines)]
    lines += [_line(row, form, string, chance) for row in rows]
    text = line_end.join(lines) + chance.choice(["", line_end])
    data = (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()
    kept = [name for name in (*LABELS, *times) if name in columns]
    expected = pl.DataFrame(
        [[row[columns.index(name)] for name in kept] for row in rows],
        schema=dict.fromkeys(kept, pl.String),
        orient="row",
    )
    return form, expected, data


def _line(row, form, string, chance):
    def blanks(most):
        return "".join(chance.choice(" \t") for _ in range(chance.randint(0, most)))

    if form.delimiter == "whitespace":
        return blanks(2) + "".join(field + chance.choice(" \t") + blanks(2) for field in row)
    return string.join(row)


@settings(max_examples=in_profile(300))
@given(written_files())
def test_triples_are_read_as_they_were_written(tmp_path_factory, case):
    form, expected, data = case
    path = tmp_path_factory.getbasetemp() / "written.txt"
    path.write_bytes(data)
    assert read_triples(path, form).rows() == expected.rows()
    assert read_triples(path, form).columns == expected.columns


@pytest.mark.parametrize(
    ("data", "form", "rows"),
    [
        (b"a\tr\tb\r\nc\tr\td\r\n", Format(), [("a", "r", "b"), ("c", "r", "d")]),
        (b"\xef\xbb\xbf2\r\na\tr\tb\n", Format(header_lines=1), [("a", "r", "b")]),
        (b"a\r\tr\tb\r\r\n", Format(), [("a\r", "r", "b\r")]),
        (b"a@@@r@@@b\r\r\n", Format(delimiter="@@@"), [("a", "r", "b\r")]),
        (b"x^2\tr\tb\n", Format(), [("x^2", "r", "b")]),
        ("a\u2028\tr\tb\u0085\n".encode(), Format(), [("a\u2028", "r", "b\u0085")]),
        (b'"a\tr\tb"\n#a\tNA\tnull\n', Format(), [('"a', "r", 'b"'), ("#a", "NA", "null")]),
        (
            b"007 12 7\r\n",
            Format(delimiter="whitespace", columns=("head", "tail", "relation")),
            [("007", "7", "12")],
        ),
        (
            b"a\tr\r\tb\tx\ny\tr\tz\t\n",
            Format(columns=(*LABELS, "ignore")),
            [("a", "r\r", "b"), ("y", "r", "z")],
        ),
        (
            b"a,r,b,p,c,q,d\r\ny,r,z\r\na,r,b,,",
            Format("comma", columns=(*LABELS, "rest")),
            [("a", "r", "b"), ("y", "r", "z"), ("a", "r", "b")],
        ),
        (
            b"a r  b q\nc r d",
            Format("whitespace", columns=(*LABELS, "rest")),
            [("a", "r", "b"), ("c", "r", "d")],
        ),
    ],
)
def test_what_a_line_holds(tmp_path, data, form, rows):
    path = tmp_path / "train.txt"
    path.write_bytes(data)
    assert read_triples(path, form).rows() == rows


BAD = {
    "quotes": (b'a,r,b\n"a, b",r,b\n', Format("comma"),
               ":2: 4 fields between 'comma', but format.columns names 3; quotes do not keep"),
    "two fields": (b"a\tr\tb\na\tr\n", Format(), ":2: 2 fields between 'tab', but format.columns names 3; check "),
    "four fields": (b"a\tr\tb\na\tr\tb\tc\nx\n", Format(), ":2: 4 fields between 'tab', but "),
    "a field too many makes up for one too few": (
        b"a\tr\tb\tc\n\t\nd\tr\te\tf\n" * 2, Format(columns=(*LABELS, "ignore")), ":2: 2 fields ",
    ),
    "a missing field that would be ignored": (
        b"a\tr\tb\tc\nd\tr\te\n", Format(columns=(*LABELS, "ignore")), ":2: 3 fields ",
    ),
    "the wrong delimiter": (b"a,r,b\n", Format(), ":1: 1 fields "),
    "a count of the lines": (b"2\na\tr\tb\n", Format(), ":1: 1 fields between 'tab', but format.columns names 3; "),
    "a blank line": (b"a\tr\tb\n\na\tr\tb\n", Format(), ":2: 1 fields "),
    "a blank line between blanks": (b"a r b\n\na r b\n", Format("whitespace"), ":2: 0 fields between blanks, but"),
    "an empty head": (b"a\tr\tb\n\tr\tb\n", Format(), ":2: the head is empty; "),
    "an empty tail": (b"a\tr\tb\na\tr\t\n", Format(), ":2: the tail is empty; "),
    "an empty time": (b"a\tr\tb\t\n", Format(columns=(*LABELS, "time")), ":1: the time is empty; "),
    "not UTF-8": (b"a\tr\tb\na\tr\t\xe9t\xe9\n", Format(), ":2: byte 5 of the line (0xe9) is not UTF-8; "),
    "half a character": (b"a\tr\tb\na\tr\xc3\n\xa9\tr\tb", Format(), ":2: byte 4 of the line (0xc3) is not UTF-8; "),
    "not UTF-8 in a column to ignore": (b"1\t2\t3\t\xff\n", Format(columns=(*LABELS, "ignore")), ":1: byte 7 "),
    "a compressed file": (gzip.compress(b"a\tr\tb\n", mtime=0), Format(), ":1: byte 2 of the line (0x8b) is not UTF-8"),
    "the beginning of a zlib stream": (b"x\x9c\tr\tb\n", Format(), ":1: byte 2 of the line (0x9c) is not UTF-8"),
    "an empty head after an empty field to ignore": (
        b"a\tr\tb\t\n\tr\tb\tx\n", Format(columns=(*LABELS, "ignore")), ":2: the head is empty; ",
    ),
    "two fields where more may follow": (b"a\tr\tb\tq\nc\tr\n", Format(columns=(*LABELS, "rest")), ":2: 2 fields "),
    "an empty tail before others": (b"a\tr\tb\na\tr\t\tq\n", Format(columns=(*LABELS, "rest")), ":2: the tail is "),
    "nothing": (b"", Format(), ": the file is empty; a split needs at least one triple"),
    "a header alone": (b"2\n", Format(header_lines=1), ": the file has no line after its header; "),
}  # fmt: skip


@pytest.mark.parametrize(("data", "form", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_named_with_its_line(tmp_path, data, form, message):
    path = tmp_path / "train.txt"
    path.write_bytes(data)
    with pytest.raises(RankadjustError) as info:
        read_triples(path, form)
    assert str(info.value).startswith(f"{path}{message}")
    assert "\n" not in str(info.value)
    with pytest.raises(RankadjustError) as info:
        read_triples(path, form, "their/train.tsv.gz")
    assert str(info.value).startswith(f"their/train.tsv.gz{message}")


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"b b\na\n\xc3\xa9\na\n", Format(columns=("entity",))),
        (
            b"\xef\xbb\xbf3\r\nb b\t0\r\na\t1\r\n\xc3\xa9\t2",
            Format(columns=("entity", "ignore"), header_lines=1),
        ),
        (b"0,b b\n1,a\n2,\xc3\xa9\n", Format(delimiter="comma", columns=("ignore", "entity"))),
    ],
)
def test_a_list_of_entities(tmp_path, data, form):
    path = tmp_path / "entities.txt"
    path.write_bytes(data)
    assert sorted({*read_triples(path, form)["entity"]}) == ["a", "b b", "é"]


def test_facts_of_any_number_of_entities(tmp_path):
    path, form = tmp_path / "train.txt", Format(columns=("relation", "entities"))
    # As in FB-AUTO, whose last line is cut off after its relation.
    path.write_bytes(b"r\ta\tb\r\ns\ta\tb\tc\r\nmodel")
    assert read_triples(path, form).rows() == [("r", ["a", "b"]), ("s", ["a", "b", "c"])]
    for text in (b"r\ta\tb\nr\ta\n", b"r\ta\tb\n\na\n"):
        path.write_bytes(text)
        with pytest.raises(RankadjustError, match=r"train\.txt:2: not a relation and two or more entities"):
            read_triples(path, form)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        RankadjustError, match=r"none\.txt: the file cannot be read \(No such file or directory\)"
    ):
        read_triples(tmp_path / "none.txt", Format())


def test_a_header_may_be_in_any_encoding(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"t\xeate\na\tr\tb\n")
    assert read_triples(path, Format(header_lines=1)).rows() == [("a", "r", "b")]


# Ranges, in OpenKE's layout


def test_the_entities_of_each_side_of_a_relation(tmp_path):
    path = tmp_path / "type_constrain.txt"
    path.write_text("2\n7\t2\t5\t6\n7\t1\t6\n0\t3\t5\t5\t8\n0\t1\t9\n")
    assert read_ranges(path).rows() == [
        ("7", "head", "5"), ("7", "head", "6"), ("7", "tail", "6"),
        ("0", "head", "5"), ("0", "head", "8"), ("0", "tail", "9"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "x\n", "2\n0\t1\t5\n0\t1\t6\n", "1\n0\t2\t5\n0\t1\t6\n", "1\n0\t1\t5\n0\tx\t6\n", "1\n0\n0\t1\t6\n",
     "1\n0\t1\t5\n1\t1\t6\n"],
)  # fmt: skip
def test_another_layout_than_that_of_ranges(tmp_path, text):
    path = tmp_path / "ranges.txt"
    path.write_text(text)
    with pytest.raises(
        RankadjustError, match=r"ranges\.txt: not a file of ranges; its first line is the number of relations"
    ):
        read_ranges(path)
