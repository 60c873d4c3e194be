"""How well tables of the literature are read: values that are known to be in them, in eight fields.

docs/tables-reference.md shows the figures.
"""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.table_reading import FIELDS, measure, pairs

SIDECARS = Path(__file__).parents[2] / "data" / "sidecars"


def counted(folder, sidecars):
    """Return the counts of all files; whatever was read with or without sidecars, nothing is wrong without a word."""
    counts = Counter()
    for _, found, lines in measure(folder, sidecars):
        counts += found
        assert [found[name] for name in ("silent", "lost", "wrong_ok")] == [0, 0, 0], lines
    return counts


@pytest.mark.shared
def test_published_tables_are_right_with_sidecars_and_two_thirds_are_without(shared):
    """3,516 values of 134 tables."""
    counts = counted(shared / "data" / "published", SIDECARS)
    assert (counts["known"], counts["right"]) == (3516, 3516)
    # 112 values of pykeen_manuscript_collated that the collection of published values leaves out.
    assert counts["extra"] == 112
    alone = counted(shared / "data" / "published", None)
    assert alone["known"] == 3516
    assert alone["right"] >= 2383
    assert alone["extra"] <= 112


@pytest.mark.shared
def test_what_nobody_had_read_before_is_right_marked_or_named(shared):
    """915 values of 28 files. What is read can grow by values that are marked: of those that are right none is lost."""
    alone = counted(shared / "data" / "tables-2", None)
    helped = counted(shared / "data" / "tables-2", SIDECARS.with_name("sidecars-2"))
    assert alone["known"] == helped["known"] == 915
    assert alone["right"] >= 417
    assert alone["right"] >= 0.5 * (alone["right"] + alone["marked"])
    assert helped["right"] >= 0.85 * 915


@pytest.mark.shared
def test_every_sidecar_belongs_to_a_published_table(shared):
    tables = {path.stem for path in (shared / "data" / "published" / "tables").iterdir()}
    assert {path.stem for path in SIDECARS.iterdir()} <= tables


def test_the_value_that_is_most_like_a_known_one_is_its_pair():
    right = dict.fromkeys(FIELDS, "x")
    other = right | {"model": "y"}
    assert [read for _, read in pairs([right], [other, right])] == [right]
    assert [read for _, read in pairs([right], [other])] == [other]
