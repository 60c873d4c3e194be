"""How large a data set is, known before anything is read."""

from collections.abc import Mapping
from pathlib import Path

from rankadjust.data.registry import Dataset
from rankadjust.data.sources import File, Local

_COUNTS = ("triples", "distinct_triples", "distinct_seen_triples")
# Bytes that a triple takes at least, so that a guess is rather too high: 'Q5 P31 Q7' with its line's end and little
# else as text; packed, FB15k-237 takes 12 and WN18RR 10. Three integers of 32 bits take 12, too.
_BYTES_AS_TEXT = 12
_BYTES_PACKED = 6
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tgz", ".whl", ".parquet")
# Nothing is said about it: as much as the largest data set that one of the readers has had so far.
UNKNOWN = 25_000_000


def triples_of(dataset: Dataset) -> int:
    """Return about how many triples a data set has, of all splits.

    From the counts of the registry, else from the size of its files, else UNKNOWN.
    """
    for key in _COUNTS:
        count = dataset.expected.get(key)
        if count is not None:
            return sum(count.values()) if isinstance(count, Mapping) else int(count)
    sizes = [_triples_in(file) for file in dataset.sources[0]]
    return UNKNOWN if None in sizes else sum(filter(None, sizes))


def _triples_in(file: File) -> int | None:
    size = file.bytes
    name = ""
    if isinstance(file.source, Local):
        name = file.source.path.name
        size = size_of(file.source.path)
    if size is None:
        return None
    packed = name.endswith(_PACKED) or not isinstance(file.source, Local)
    return size // (_BYTES_PACKED if packed else _BYTES_AS_TEXT)


def size_of(path: Path) -> int | None:
    """Return the bytes of a file, None where there is none."""
    return path.stat().st_size if path.is_file() else None
