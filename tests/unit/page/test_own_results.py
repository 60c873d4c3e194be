"""The user's own results beside the literature."""

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import rescore
from rankadjust.page.material import Material, all_values
from rankadjust.page.own_results import own_section, placed


def printed(*rows, **columns):
    frame = pl.DataFrame(rows, schema=["dataset", "model", "metric", "value"], orient="row")
    return rescore(frame.with_columns(**{name: pl.lit(value) for name, value in columns.items()}))


def values(own=None, literature=None):
    mine = {} if own is None else {"mine": own}
    return all_values(Material(mine, Constants(pl.DataFrame()), own=frozenset(mine), literature=literature))


@pytest.fixture(scope="module")
def literature():
    return printed(
        ("FB15k-237", "A", "MRR", "0.338"),
        ("FB15k-237", "A", "MRR", "0.330"),
        ("FB15k-237", "B", "MRR", "0.40"),
        ("FB15k-237", "C", "MRR", "0.29"),
        ("FB15k-237", "C", "MR", "150"),
        ("WN18RR", "A", "MRR", "0.47"),
        source="paper",
    )


def test_a_place_counts_each_model_of_the_same_evaluation_once(literature):
    own = printed(("FB15k-237", "A", "MRR", "0.35"))
    (row,) = placed(values(own, literature))
    # Before it B, after it A (with its better value) and C; its own name counts apart from that of the literature.
    assert (row["place"], row["models"]) == (2, 4)
    content = own_section(values(own, literature), None).content
    assert "2 of 4" in content
    assert "all entities, known answers filtered, test, both sides" in content


def test_of_a_mean_rank_the_lower_one_is_better(literature):
    own = printed(("FB15k-237", "mine", "MR", "140"))
    (row,) = placed(values(own, literature))
    assert (row["place"], row["models"]) == (1, 2)


def test_results_with_a_caveat_are_not_counted(literature):
    own = printed(("FB15k-237", "mine", "MRR", "0.35"))
    (row,) = placed(values(own, literature.with_columns(caveat=pl.lit("second-hand"))))
    assert row["models"] == 1


def test_what_contradicts_and_what_has_no_index_is_said_and_names_stay_text():
    rows = (
        ("WN18RR", "<b>A</b>", "MRR", "0.226"),
        ("WN18RR", "<b>A</b>", "MR", "3"),
        ("Unheard", "B", "MRR", "0.5"),
    )
    own = printed(*rows, file="mine.csv").with_columns(file_line=pl.Series([2, 3, 4]))
    content = own_section(values(own), check(own)).content
    assert "impossible: MRR 0.226 and MR 3 contradict each other" in content
    assert "Unheard" in content
    assert "<b>A</b>" not in content


def test_a_run_without_own_results_has_no_section(literature):
    assert own_section(values(), None) is None
    assert own_section(values(None, literature), None) is None
