"""What people are asked about a file, what they state in its sidecar, and what becomes of it."""

import os
import pty

import pytest
import yaml
from click.testing import CliRunner

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.commands import commands
from rankadjust.data.registry import load_registry
from rankadjust.output.reading_text import Gap, answered, draft_sidecar, gaps, question, sidecar_stating
from rankadjust.tables.reading import known_names, read_tables

REPORT = """# Report

## Small graphs

| Model | MRR | Hits@10 |
|---|---|---|
| A | 0.5 | 0.6 |

## Large graphs

| Model | WN18 MRR | WN18 Hits@10 | MRR | Hits@1 | Hits@10 |
|---|---|---|---|---|---|
| A | 0.3 | 0.4 | 0.3 | 0.2 | 0.4 |
"""


def read(folder, sidecar=None, text=REPORT):
    path = folder / "report.md"
    path.write_text(text, encoding="utf-8")
    beside = folder / "report.yaml"
    if sidecar is not None:
        beside.write_text(sidecar, encoding="utf-8")
    return read_tables(path)


def datasets(reading):
    return reading.values["dataset"].to_list()


def test_a_table_is_stated_by_its_heading_and_columns_by_a_range(tmp_path):
    sidecar = (
        "tables:\n  small graphs: {dataset: UMLS}\n  Large graphs: {columns: {4-6: {dataset: Nations}}}\n"
    )
    assert datasets(read(tmp_path, sidecar)) == ["UMLS"] * 2 + ["WN18"] * 2 + ["Nations"] * 3
    # The heading moves with its table.
    above = "# New\n\n| Model | Kinships MRR |\n|---|---|\n| A | 0.9 |\n\n"
    assert datasets(read(tmp_path, text=above + REPORT)) == [
        "Kinships",
        *["UMLS"] * 2,
        *["WN18"] * 2,
        *["Nations"] * 3,
    ]


def test_a_number_wins_over_a_heading_and_a_column_over_a_range(tmp_path):
    columns = "{columns: {2-3: {dataset: Nations}, 4-6: {dataset: UMLS}, 5: {dataset: Kinships}}}"
    sidecar = (
        f"tables:\n  2: {columns}\n  Report: {{dataset: UMLS, split: validation}}\n  1: {{split: testing}}\n"
    )
    reading = read(tmp_path, sidecar)
    assert datasets(reading) == ["UMLS"] * 2 + ["Nations"] * 2 + ["UMLS", "Kinships", "UMLS"]
    assert reading.values["split"].to_list() == ["testing"] * 2 + ["validation"] * 5


def test_a_heading_that_stands_nowhere_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(
        RankadjustError, match=r"report\.yaml:2: tables: the file has no table Smal graphs; it has 2; did"
    ):
        read(tmp_path, "tables:\n  Smal graphs: {dataset: UMLS}\n")


def test_a_sidecar_overrules_the_printed_data_set_of_a_line_and_not_of_a_table(tmp_path):
    one = "| Model | WN18 MRR | WN18 Hits@1 |\n|---|---|---|\n| A | 0.5 | 0.6 |\n"
    assert datasets(read(tmp_path, "columns: {2: {dataset: WN18RR}}\n", one)) == ["WN18RR", "WN18"]
    reading = read(tmp_path, "dataset: WN18RR\n", one)
    assert datasets(reading) == []
    assert set(reading.unread["reason"]) == {"the sidecar or the option says WN18RR, the table says WN18"}


def test_a_draft_says_once_what_holds_for_all_tables(tmp_path):
    text = (
        REPORT.replace("WN18 ", "")
        .replace("## Small graphs", "## UMLS")
        .replace("## Large graphs", "## Nations")
    )
    reading = read(tmp_path, text=text)
    assert yaml.safe_load(draft_sidecar(reading)) == {
        "split": "testing",
        "side": "both",
        "protocol": "filtered",
        "tables": {1: {"dataset": "UMLS"}, 2: {"dataset": "Nations"}},
    }


def test_what_is_asked_is_what_no_line_says(tmp_path):
    names = known_names(load_registry())
    reading = read(tmp_path)
    asked = gaps(reading, names)
    assert [(gap.fact, gap.tables, gap.offered[:2]) for gap in asked] == [
        ("dataset", (1,), ()),
        ("split", (1, 2), ("testing", "validation")),
        ("side", (1, 2), ("both", "head")),
        ("protocol", (1, 2), ("filtered", "raw")),
    ]
    assert question(asked[0], reading).startswith("table 1 (lines 5 to 7): which data set?")
    assert [gap.default for gap in asked] == ["-", "testing", "both", "filtered"]
    given = ["umls", "2", "-", "sampled-50"]
    answers = [(gap, answered(gap, text, names)) for gap, text in zip(asked, given, strict=True)]
    assert [answer for _, answer in answers] == ["UMLS", "validation", None, "sampled-50"]
    stated = sidecar_stating(reading, [pair for pair in answers if pair[1] is not None])
    assert yaml.safe_load(stated) == {
        "split": "validation",
        "protocol": "sampled-50",
        "tables": {1: {"dataset": "UMLS"}},
    }
    with pytest.raises(RankadjustError, match="there is no protocol 'filterd'"):
        answered(asked[3], "filterd", names)


def test_ask_asks_in_a_terminal_and_writes_the_sidecar(tmp_path, monkeypatch, capsys):
    """Through a real terminal: a slip is asked again, Enter takes the first candidate."""
    (tmp_path / "mine.md").write_text("## Nations\n\n| Model | MRR |\n|---|---|\n| A | 50.0% |\n")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        # Data set: a slip, then the first; split: a slip, then the second; side and protocol: the first.
        os.write(ours, b"Natoins\n1\nnonsense\n2\n\n\n")
        commands.main(["read", "--ask", str(tmp_path / "mine.md")], standalone_mode=False)
    os.close(ours)
    output, error = capsys.readouterr()
    assert "unknown data set 'Natoins'; did you mean Nations?" in error
    assert "unknown split 'nonsense'" in error
    assert yaml.safe_load((tmp_path / "mine.yaml").read_text()) == {
        "dataset": "Nations",
        "split": "validation",
        "side": "both",
        "protocol": "filtered",
    }
    assert ": 1 of 1 numbers read" in output.splitlines()[0]


def test_without_a_terminal_nobody_is_asked(tmp_path):
    (tmp_path / "mine.md").write_text("| Model | MRR |\n|---|---|\n| A | 50.0% |\n")
    error = CliRunner().invoke(commands, ["read", "--ask", str(tmp_path / "mine.md")]).exception
    assert isinstance(error, RankadjustError)
    assert str(error) == "--ask needs a terminal to answer in; give the facts with options, or in a sidecar"


def test_a_fenced_block_holds_latex(tmp_path):
    fence = "```latex\n\\begin{tabular}{lr}\nModel & MRR \\\\\nA & 0.5 \\\\\n\\end{tabular}\n```\n"
    reading = read(
        tmp_path, text=f"## Nations\n\n{fence}\n## UMLS\n\n| Model | MRR |\n|---|---|\n| A | 0.6 |\n"
    )
    assert reading.values.select("dataset", "value", "source_line").rows() == [
        ("Nations", "0.5", "6"),
        ("UMLS", "0.6", "14"),
    ]


def test_a_table_that_seems_to_be_of_another_task_is_read_where_somebody_says_that_it_is_not(tmp_path):
    text = "## Relation prediction on UMLS\n\n| Model | MRR |\n|---|---|\n| A | 0.5 |\n"
    assert read(tmp_path, text=text).values.is_empty()
    path = tmp_path / "report.md"
    assert read_tables(path, given={"task": "entity prediction"}).values["value"].to_list() == ["0.5"]


def test_a_sidecar_asks_once_for_a_fact_that_no_table_has(tmp_path):
    (tmp_path / "a.md").write_text(
        "## Test:\n\n| Data set | MRR |\n|---|---|\n| UMLS | 0.5 |\n\n"
        "## Validation:\n\n| Model | MRR |\n|---|---|\n| A | 0.5 |\n",
        encoding="utf-8",
    )
    comments = [
        line for line in draft_sidecar(read_tables(tmp_path / "a.md")).splitlines() if ":  # which" in line
    ]
    assert comments == [
        "# table 1: model:  # which model",
        "# table 2: dataset:  # which data set",
    ]
    (tmp_path / "b.md").write_text(
        "| MRR |\n|---|\n| 0.5 |\n\nThen:\n\n| MRR |\n|---|\n| 0.6 |\n", encoding="utf-8"
    )
    assert "# model:  # which model\n" in draft_sidecar(read_tables(tmp_path / "b.md"))


def test_a_number_that_was_not_offered_is_no_name():
    gap = Gap("model", (1,), offered=("A",))
    with pytest.raises(RankadjustError, match="there is no answer 7; type its number, a name, or -"):
        answered(gap, "7", known_names(load_registry()))


def test_a_data_set_that_looks_mistyped_is_refused_and_one_of_ones_own_counts():
    names = known_names(load_registry())
    gap = Gap("dataset", (1,))
    with pytest.raises(RankadjustError, match=r"unknown data set 'FB15k-273'; did you mean FB15k-237"):
        answered(gap, "FB15k-273", names)
    assert answered(gap, "in-house drugs", names) == "in-house drugs"
