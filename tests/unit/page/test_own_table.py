"""The tables of tests/data/own-tables.json, which the page reads in the browser: the library reads the same values.

tests/browser/test_own_table.py holds the page's script to the same file.
"""

import json
from pathlib import Path

import pytest

from rankadjust.literature.rescore import rescore
from rankadjust.tables.reading import read_table

CASES = json.loads((Path(__file__).parents[2] / "data" / "own-tables.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [case for case in CASES if "values" in case], ids=lambda case: case["name"])
def test_the_library_reads_what_the_page_reads(case, tmp_path):
    # The data set that the page has beside the table is told by the name of the file.
    path = tmp_path / f"FB15k-237.{case['suffix']}"
    path.write_text(case["text"], encoding="utf-8")
    rows = rescore(read_table(path))
    read = [
        list(row)
        for row in rows.select("model", "dataset", "metric", "value", "value_low", "value_high").iter_rows()
    ]
    # What the page leaves to the command may be read there.
    assert [row for row in read if row in case["values"]] == case["values"]
    assert case.get("more", False) or len(read) == len(case["values"])
