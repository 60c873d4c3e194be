"""Numbering and counting equal rows by sorting them, packed into words of 64 bits.

Rows of several columns of small integers fit one word each, which numpy sorts many times faster than anything else.
Where they do not fit, the first columns are numbered: numbers take no more bits than there are rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]  # non-negative integers of any width
Flags = NDArray[np.bool_]

WORD = 64


def numbered(columns: Sequence[Integers]) -> Integers:
    """Return for every row of some columns the number, from 0 on, of its value among the distinct ones."""
    begins, order = _ordered(columns)
    number = np.cumsum(begins, dtype=np.int64)
    number -= 1
    if order is None:
        return number
    numbers = np.empty_like(number)
    numbers[order] = number
    return numbers


def counted(columns: Sequence[Integers]) -> tuple[list[Integers], Integers]:
    """Return the distinct rows of some columns in ascending order, and how often each occurs."""
    widths = _widths(columns)
    if sum(widths) <= WORD:
        word = _packed(columns, widths)
        word.sort()
        first = np.flatnonzero(starts([word]))
        distinct = _unpacked(word[first], [column.dtype for column in columns], widths)
    else:
        begins, order = _ordered(columns)
        first = np.flatnonzero(begins)
        distinct = [column[first if order is None else order[first]] for column in columns]
    return distinct, np.diff(first, append=columns[0].size)


def _ordered(columns: Sequence[Integers]) -> tuple[Flags, Integers | None]:
    """Return where runs of equal rows start when the rows are in ascending order, and the row at each place.

    The latter is None where they are in that order already, as rows sorted by triple are for the queries of tails.
    """
    widths = _widths(columns)
    if sum(widths) > WORD:
        # Numbers take no more bits than there are rows, so that with them one more column fits a word at least.
        whole = int((np.cumsum(widths) <= WORD).sum())
        return _ordered([numbered(columns[:whole]), *columns[whole:]])
    word = _packed(columns, widths)
    if (word[1:] >= word[:-1]).all():
        return starts([word]), None
    row_width = word.size.bit_length()
    if sum(widths) + row_width > WORD:
        order = np.argsort(word)
        return starts([word[order]]), order
    # Sorting words that carry their row is many times faster than an indirect sort.
    word <<= np.uint64(row_width)
    word |= np.arange(word.size, dtype=np.uint64)
    word.sort()
    order = (word & np.uint64(2**row_width - 1)).view(np.int64)
    word >>= np.uint64(row_width)
    return starts([word]), order


def starts(words: Sequence[Integers]) -> Flags:
    """Return where a run of equal rows begins."""
    begins = np.zeros(words[0].size, bool)
    begins[:1] = True
    for word in words:
        begins[1:] |= word[1:] != word[:-1]
    return begins


def _widths(columns: Sequence[Integers]) -> list[int]:
    """Return how many bits the values of each column need."""
    return [int(column.max(initial=1)).bit_length() for column in columns]


def _packed(columns: Sequence[Integers], widths: Sequence[int]) -> Integers:
    """Pack columns into one word a row, the first column in its highest bits."""
    word: Integers = columns[0].astype(np.uint64)
    for column, width in zip(columns[1:], widths[1:], strict=True):
        word <<= np.uint64(width)
        word |= column.view(np.uint64) if column.dtype == np.int64 else column
    return word


def _unpacked(word: Integers, kinds: Sequence[np.dtype[Any]], widths: Sequence[int]) -> list[Integers]:
    """Take apart a word that _packed made of columns of these kinds; the word is used up."""
    parts = []
    for kind, width in zip(reversed(kinds), reversed(widths), strict=True):
        part = word.astype(kind)
        part &= kind.type(2**width - 1)
        parts.append(part)
        word >>= np.uint64(width)
    return parts[::-1]
