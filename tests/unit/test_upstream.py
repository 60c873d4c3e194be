"""What docs/upstream.md says of PyKEEN's constants: the stored table, and that ours in it are those of the database."""

import polars as pl
import pytest

from benchmarks.upstream_constants import METRICS, chosen, markdown
from rankadjust.database.store import load_database


@pytest.fixture(scope="module")
def table(project):
    return pl.read_csv(project / "benchmarks" / "upstream_constants.csv")


def test_the_page_shows_the_stored_table(project, table):
    page = (project / "docs" / "upstream.md").read_text(encoding="utf-8")
    assert markdown(table) in page


def test_every_data_set_of_pykeen_that_is_here_is_in_the_table(table):
    assert table["dataset"].unique(maintain_order=True).to_list() == [dataset.name for dataset in chosen()]
    assert table.height == len(chosen()) * len(METRICS)


def test_every_difference_is_explained(table):
    assert table.filter(pl.col("reason") == "not explained").is_empty()
    assert (table["difference"] != 0).all()


def test_our_constants_in_the_table_are_those_of_the_database(table):
    released = load_database().filter(protocol="pykeen", split="testing", side="both")
    both = table.join(released, on=["dataset", "metric"], suffix="_released", validate="1:1")
    assert both.height == table.height
    assert both["tasks"].equals(both["tasks_released"], check_names=False)
    # The median's law is cut where it is small (docs/methods.md, "Accuracy").
    for name, tolerance in (("expectation", 1e-9), ("variance", 1e-6)):
        off = (pl.col(f"{name}_released") / pl.col(name) - 1).abs()
        assert both.filter(off > tolerance).is_empty()
