"""What people state in the sidecar of a file, and what becomes of it."""

import pytest
import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.account import draft_sidecar
from rankadjust.tables.reading import read_tables

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


def test_a_sidecar_overrules_the_printed_data_set_of_a_line_and_the_only_one_of_a_table(tmp_path):
    one = "| Model | WN18 MRR | WN18 Hits@1 |\n|---|---|---|\n| A | 0.5 | 0.6 |\n"
    assert datasets(read(tmp_path, "dataset: WN18RR\n", one)) == ["WN18RR"] * 2
    assert datasets(read(tmp_path, "columns: {2: {dataset: WN18RR}}\n", one)) == ["WN18RR", "WN18"]
    several = one.replace("WN18 Hits", "UMLS Hits")
    reading = read(tmp_path, "dataset: WN18RR\n", several)
    assert datasets(reading) == []
    assert reading.unread["reason"].str.starts_with("the sidecar says WN18RR, the table says ").all()


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


def test_an_option_that_contradicts_the_table_is_not_called_a_sidecar(tmp_path):
    (tmp_path / "a.md").write_text("| Model | Test MRR |\n|---|---|\n| A | 0.5 |\n", encoding="utf-8")
    reading = read_tables(tmp_path / "a.md", given={"split": "validation"})
    assert reading.unread["reason"].to_list() == ["the option says validation, the table says testing"]
