"""Packing: equal rows are found whatever their width, below, at and above that of a word."""

import numpy as np
import pytest

from rankadjust.counting import packing


@pytest.mark.parametrize("bits", [63, 64, 65, 80])
@pytest.mark.parametrize("rows", [5, 900])
@pytest.mark.parametrize("with_row", [False, True], ids=["columns", "columns and row"])
def test_columns_as_wide_as_a_word_and_a_bit_more_or_less(bits, rows, with_row):
    """Rows are sorted as 64-bit words, with the row's number in the lowest bits where there is room for it.

    Expected is what np.unique finds column by column, without packing anything.
    """
    widths = [9, bits - 9 - 30 - (rows.bit_length() if with_row else 0), 30]
    rng = np.random.default_rng(bits)
    # The highest bit of each column alone tells many rows apart, and so does the lowest.
    columns = [rng.choice([0, 1, 2 ** (width - 1), 2**width - 1], rows) for width in widths]
    assert [int(column.max()).bit_length() for column in columns] == widths
    expected, number, count = np.unique(
        np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    assert packing.numbered(columns).tolist() == number.ravel().tolist()
    distinct, found = packing.counted(columns)
    assert np.stack(distinct, axis=1).tolist() == expected.tolist()
    assert found.tolist() == count.tolist()
