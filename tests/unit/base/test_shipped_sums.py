"""The tables that ship with the project have the bytes that their sums say."""

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
