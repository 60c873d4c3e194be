"""Tables that could be read wrongly without a word: each is read as a person reads it, or its cells are named.

examples.txt holds them, all made up, one for each difficulty. What is expected was written down from the table by eye.
"""

import re
from pathlib import Path

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.output.reading_text import describe, unread_cells
from rankadjust.tables.facts import reasons_in
from rankadjust.tables.reading import Reading, read_tables

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"
EXAMPLES = re.findall(
    r"^=== (.*) \((\S+)\)\n(?:sidecar: (.*)\n)?((?:.*\n)*?)((?:--> .*\n)*)(?==== |\Z)",
    (Path(__file__).parent / "examples.txt").read_text(encoding="utf-8").partition("\n\n")[2],
    re.MULTILINE,
)
# What is assumed of many tables, and has tests of its own.
USUAL = re.compile(
    r"unit: .*|.*(?:by default|not named|the file's name|from the text '[^']*')"
    r"|dataset: (?:as in the row above|from the model's name)"
    r"|model: (?:from a header|as in the row above|without its data set)"
    r"|.*: column \d taken for .*|protocol: .*, though .* is ranked under .*"
)


def read(tmp_path, name, text, sidecar=None):
    (tmp_path / name).write_text(text, encoding="utf-8")
    if sidecar:
        (tmp_path / name).with_suffix(".yaml").write_text(sidecar, encoding="utf-8")
    return read_tables(tmp_path / name)


def shown(reading: Reading) -> list[str]:
    """Return the values of each model and evaluation, the unread texts of each reason, what is assumed and unusual."""
    groups: list[tuple[str, list[str]]] = []
    for row in reading.values.iter_rows(named=True):
        facts = [row["model"] or "–", row["dataset"] or "–", row["split"], row["side"], row["protocol"]]
        name = " ".join(filter(None, facts))
        groups += [(name, [])] if not groups or groups[-1][0] != name else []
        groups[-1][1].append(f"{resolve(row['metric']).label} {row['value']}")
    unread: dict[str, list[str]] = {}
    for text, reason in reading.unread.select("text", "reason").rows():
        unread.setdefault(reason, []).append(text)
    assumed = {
        f"{fact}: {why}": None
        for reasons in reading.values["assumed"].drop_nulls()
        for fact, why in reasons_in(reasons).items()
    }
    return [
        *(f"{name}: {', '.join(values)}" for name, values in groups),
        *(f"unread {', '.join(texts)}: {reason}" for reason, texts in unread.items()),
        *(f"assumed {entry}" for entry in assumed if not USUAL.fullmatch(entry)),
    ]


@pytest.mark.parametrize(
    ("name", "sidecar", "text", "expected"), [pytest.param(*e[1:], id=e[0]) for e in EXAMPLES]
)
def test_a_table_is_read_as_a_person_reads_it(tmp_path, name, sidecar, text, expected):
    assert [f"--> {line}" for line in shown(read(tmp_path, name, text, sidecar))] == expected.splitlines()


def test_every_example_has_a_name_of_its_own_and_an_expectation():
    text = (Path(__file__).parent / "examples.txt").read_text(encoding="utf-8")
    assert len({example[0] for example in EXAMPLES}) == len(re.findall("^=== ", text, re.MULTILINE))


def test_the_account_counts_numbers_that_no_metric_claims(tmp_path):
    rows = "A 0.892 0.843 - 0.354 0.235 -\nB 0.8 - 0.7 0.6 0.5 0.4\n"
    text = f"Table 2\nWN18 UMLS\nName\nMRR Hits @ 1 MR MRR Hits @ 1 MR\n{rows}"
    assert describe(read(tmp_path, "a.txt", text)).startswith("a.txt: 0 of 2 numbers read, 2 not:")
    assert describe(read(tmp_path, "a.log", "MRR = 0.45 (raw 0.30)\n")).startswith(
        "a.log: 1 of 2 numbers read"
    )
    [line] = unread_cells(read(tmp_path, "umls.md", "|Model|MR|fil_mrr|\n|-|-|-|\n|A|2|.5|\n|B|3|.4|\n"))
    assert line.startswith(
        "umls.md: 2 in column 3 'fil_mrr', lines 3 to 4 ('.5', '.4'): a metric beside unknown words"
    )


@pytest.mark.parametrize(
    "header", ["MRR (sampled)", "MRR (filtered, 1,000 sampled negatives)", "MRR (50 neg)"]
)
def test_a_metric_among_sampled_candidates_is_read_where_the_protocol_is_given(tmp_path, header):
    reading = read(tmp_path, "umls.md", f"|Model|MR|{header}|\n|-|-|-|\n|A|9|.5|\n")
    assert "ranking among sampled candidates (as printed): state the protocol" in unread_cells(reading)[0]
    given = read_tables(tmp_path / "umls.md", given={"protocol": "sampled-100"})
    assert given.values.select("metric", "protocol").rows() == [(MR, "sampled-100"), (MRR, "sampled-100")]
    raw = read_tables(tmp_path / "umls.md", given={"protocol": "raw"})
    assert ("the sidecar or the option says raw, the table says filtered" in str(raw.unread.rows())) is (
        "filtered" in header
    )


def test_a_heading_that_speaks_of_sampled_negatives_needs_no_task_beside_the_protocol(tmp_path):
    read(tmp_path, "umls.md", "## MRR among 100 sampled negatives\n\n|Model|UMLS|\n|-|-|\n|A|.5|\n")
    given = read_tables(tmp_path / "umls.md", given={"protocol": "sampled-100"})
    assert given.values.select("metric", "protocol", "value").rows() == [(MRR, "sampled-100", "0.5")]


@pytest.mark.parametrize("line", ["split: tset", "columns: {MRR: {split: tset}}", "task: link predicton"])
def test_a_slip_in_a_sidecar_is_refused(tmp_path, line):
    with pytest.raises(RankadjustError, match=r"umls\.yaml:1: unknown (split|task) '.*'; did you mean "):
        read(tmp_path, "umls.md", "|Model|MRR|\n|-|-|\n|A|.5|\n", line)


def test_what_stands_in_brackets_after_a_number_is_a_note(tmp_path):
    reading = read(tmp_path, "umls.md", "|Model|MRR|\n|-|-|\n|A|0.531 (95% CI 0.52-0.54)|\n")
    assert reading.values["notes"].to_list() == ["in brackets: 95% CI 0.52-0.54"]
