"""The tables that ship with the project have the bytes that their sums say."""

import polars as pl
import pytest

from rankadjust.base.io import SUMS, read_sums, sha256_of, shipped
from rankadjust.base.shipped_sums import FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_sums_are_those_of_the_tables(folder):
    """Where this fails, a table was changed: when that was meant, `make sums`."""
    tables = [
        path for path in shipped(folder).iterdir() if path.suffix in (".csv", ".tsv", ".parquet", ".gz")
    ]
    assert read_sums(shipped(folder) / SUMS) == {path.name: sha256_of(path) for path in tables}


def test_the_constants_as_text_are_those_of_the_database():
    """Where this fails, `make adopt` took only one of the two files."""
    database = pl.read_parquet(shipped("resources/database/adjustments.parquet"))
    text = pl.read_csv(shipped("resources/database/adjustments.csv.gz"), schema_overrides={"tasks": pl.Int64})
    key = ["dataset", "protocol", "split", "side", "metric", "tasks"]
    assert text.select(key).equals(database.select(key))
    for column in text.columns[len(key) :]:
        assert text[column].cast(pl.Float64).equals(database[column], null_equal=True)
