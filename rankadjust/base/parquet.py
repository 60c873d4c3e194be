"""Parquet files from anybody: what they claim is checked against the bytes that are there, before polars reads them.

polars takes as much memory as a page says that it has values. Where there is not so much, it ends the process, and
nothing can be caught: one flipped bit makes a number negative, which counts as 2^64 less. So the directory of such a
file and the headers of its pages are read here first; its values are not. Both are written in Thrift's compact
protocol (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md); what the numbers of their
fields mean is in https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from rankadjust.base.io import Source, opened

# Values may take this many bytes in memory, or a hundred times the size of the file.
_LARGEST = 1 << 30
_RATIO = 100
_VALUE = 8
_MAGIC = b"PAR1"
# The length of the directory, and the magic again.
_TAIL = 8
# Most headers of pages are shorter; they hold the least and the largest value, so that one of texts may be longer.
_HEADER = 1 << 9
_DEEPEST = 30
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = (1, 2, *range(3, 11), 12)
_BITS = {_I16: 16, _I32: 32, _I64: 64}
# PageHeader: kinds of pages, each with the field that holds its own header; what else there is has no values.
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_HEADERS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}


class _Chunk(NamedTuple):
    """A column of a row group: values, bytes as unpacked and in the file, and where its first page begins."""

    values: int
    unpacked: int
    begin: int


def check_parquet(source: Source) -> None:
    """Raise OSError if a file is not Parquet, or claims more than fits into it.

    It takes a fraction of a millisecond for each page; a column of a million values has about ten pages.
    """
    with opened(source) as file:
        size = file.seek(0, 2)
        try:
            _check(file, size)
        # Of bytes that are something else.
        except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
            problem = (
                str(error) if isinstance(error, _DamageError) else "its directory or a page cannot be read"
            )
            raise OSError(f"{problem}; get or write the file again") from None


class _DamageError(ValueError):
    """What a file claims cannot be."""


def _check(file: BinaryIO, size: int) -> None:
    ends = max(0, size - _TAIL)
    file.seek(ends)
    tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > ends:
        raise _DamageError("it does not end as a Parquet file does")
    file.seek(ends - length)
    claimed = 0
    for rows, chunks in _row_groups(_Reader(file.read(length)).struct()):
        for chunk in chunks:
            claimed += max(_VALUE * max(chunk.values, rows), chunk.unpacked)
            if claimed > max(_LARGEST, _RATIO * size):
                raise _DamageError(
                    f"it claims {claimed:,} bytes of values, more than a hundred times its size"
                )
            _check_pages(file, ends - length, chunk)


def _row_groups(directory: Mapping[int, Any]) -> Iterator[tuple[int, list[_Chunk]]]:
    """Yield the number of rows and the columns of each row group. directory: FileMetaData."""
    for group in directory[4]:
        chunks = []
        for column in group[1]:
            metadata = column[3]
            first = min(place for place in (metadata[9], metadata.get(11, 0)) if place > 0)
            chunks.append(_Chunk(_count(metadata[5]), _count(metadata[6]), first))
        yield _count(group[3]), chunks


def _check_pages(file: BinaryIO, end: int, chunk: _Chunk) -> None:
    """Raise where the pages of a column have other numbers of values, or more bytes, than the directory says."""
    place, values = chunk.begin, 0
    while values < chunk.values:
        header, begin = _page(file, place, end)
        unpacked, packed = _count(header[2]), _count(header[3])
        place = begin + packed
        if place > end or unpacked > chunk.unpacked:
            raise _DamageError(f"a page claims {packed:,} bytes, unpacked {unpacked:,}, more than there are")
        kind = header[1]
        if kind not in _HEADERS:
            continue
        own = header[_HEADERS[kind]]
        held = _count(own[1])
        # Every value of a dictionary takes a byte at least.
        if kind == _DICTIONARY and held > unpacked:
            raise _DamageError(f"a page claims {held:,} values in {unpacked:,} bytes")
        if kind == _DATA_2 and (_count(own[5]) + _count(own[6]) > packed or _count(own[2]) > held):
            raise _DamageError("a page claims more levels than it has bytes")
        values += held * (kind != _DICTIONARY)
    if values != chunk.values:
        raise _DamageError(f"pages claim {values:,} values of the {chunk.values:,} of a column")


def _page(file: BinaryIO, place: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the header of the page at a place, and where the page itself begins."""
    length = _HEADER
    while True:
        file.seek(place)
        reader = _Reader(file.read(min(length, end - place)))
        try:
            return reader.struct(), place + reader.place
        except IndexError:
            if length >= end - place:
                raise
        length *= 8


def _count(number: int) -> int:
    if number < 0:
        raise _DamageError(f"it claims {number:,} values or bytes")
    return number


class _Reader:
    """Reads values of Thrift's compact protocol; a structure becomes a mapping from the numbers of its fields.

    Raises IndexError where the bytes end, _DamageError where they are nothing of the kind.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the structure at this place."""
        if depth > _DEEPEST:
            raise _DamageError("its directory is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed(_I16)
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - a value of any kind
        if kind in _BITS:
            return self._signed(kind)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise _DamageError(f"its directory has a value of the unknown kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise _DamageError("its directory is nested too deeply")
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._unsigned()
        return [self._value(head & 15, depth) for _ in range(length)]

    def _signed(self, kind: int) -> int:
        number = self._unsigned()
        number = (number >> 1) ^ -(number & 1)
        if number.bit_length() >= _BITS[kind]:
            raise _DamageError(f"its directory has a number of more than {_BITS[kind]} bits")
        return number

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._byte()) > 127:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise _DamageError("its directory has a number of more than 64 bits")
        return number | byte << shift

    def _bytes(self, length: int) -> bytes:
        begin, self.place = self.place, self.place + length
        if self.place > len(self._data):
            raise IndexError
        return self._data[begin : self.place]

    def _byte(self) -> int:
        byte = self._data[self.place]
        self.place += 1
        return byte
