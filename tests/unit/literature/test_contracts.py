"""Contracts of the stages of re-scoring: each works with what it says it reads, and leaves what it says it adds."""

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.literature import rescore as module
from rankadjust.literature.tidy import read_tidy
from rankadjust.literature.wording import tidy_columns
from tests.unit.literature.contracts import STAGES


@pytest.fixture(scope="module")
def calls(project):
    """Return for each stage its function, arguments and result in a re-scoring of rows of many sources."""
    tables = sorted((project / "resources/published").glob("*.csv"))[:12]
    rows = pl.concat([read_tidy(path).head(60) for path in tables], how="diagonal")
    # A row twice, and rows that are wrong in themselves.
    wrong = rows.head(6).with_columns(value=pl.Series(["x", "", "130", "0.5 ± 0.1", "33.8%", "-3"]))
    rows = pl.concat([rows, rows.head(1), wrong])
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in STAGES:
            stage = getattr(module, name)

            def recorded(*arguments, stage=stage, name=name):
                result = stage(*arguments)
                found[name] = (stage, arguments, result)
                return result

            patch.setattr(module, name, recorded)
        module.rescore(rows, Constants.released())
    return found


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_adds_and_changes_what_it_says(calls, name):
    _, (before, *_), after = calls[name]
    added = set(after.columns) - set(before.columns)
    # A table may lack columns that nobody needs to fill in; they are added empty.
    assert added - set(tidy_columns()["properties"]) <= set(STAGES[name].adds)
    assert set(STAGES[name].adds) <= set(after.columns)
    changed = {
        column for column in before.columns if not after[column].equals(before[column], null_equal=True)
    }
    assert changed <= set(STAGES[name].changes) | set(STAGES[name].adds)
    assert set(before.columns) <= set(after.columns)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_reads_nothing_but_what_it_says(calls, name):
    stage, (before, *others), after = calls[name]
    known = [column for column in before.columns if column in STAGES[name].reads]
    alone = stage(before.select(known), *others)
    left = [column for column in (*STAGES[name].adds, *STAGES[name].changes) if column in after.columns]
    assert alone.select(left).equals(after.select(left))
