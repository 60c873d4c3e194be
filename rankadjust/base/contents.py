"""What files say, as digests: the workflow makes a result again when the digest of anything it was read from changes.

A digest follows what is read, not when it was written: a comment in a YAML file changes nothing, a file that was
replaced by an older one changes everything.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import sha256_of, write_text
from rankadjust.base.schemas import read_yaml

ABSENT = "absent"
_YAML = (".yaml", ".yml")
# Smaller files are read as fast as a stored digest is looked up.
_WORTH_STORING = 1 << 20


class Digests:
    """Digests of the bytes of files. The digests of large files are stored, so that each file is read once.

    store: a JSON file, made on `save`. A stored digest counts while the file's size, inode and both its times are the
    same: the time of change is one that no program sets back, so that a copy with an old time stamp is noticed.
    find: what is found out about a file, as text, in place of its SHA-256.
    """

    def __init__(self, store: Path, find: Callable[[Path], str] | None = None) -> None:
        self._store = store
        self._find = find or sha256_of
        self._known: dict[str, Any] = read_json(store)
        self._fresh: dict[str, Any] = {}

    def of(self, path: str | Path) -> str:
        """Return the SHA-256 of a file, or the answer of `find`; ABSENT if the file is missing."""
        path = Path(path)
        try:
            stat = path.stat()
            if stat.st_size < _WORTH_STORING:
                return self._find(path)
            identity = [stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns]
            known = self._known.get(str(path))
            digest: str = known[0] if known and known[1:] == identity else self._find(path)
        except OSError:
            return ABSENT
        self._fresh[str(path)] = [digest, *identity]
        return digest

    def save(self) -> None:
        """Store what was looked up for the next run; without a large file nothing is written."""
        if self._fresh and self._fresh != self._known:
            write_text(json.dumps(self._fresh), self._store)


def content_digest(paths: Iterable[str | Path], digests: Digests) -> str:
    """Return one digest of the content of files: the data of a YAML file, the bytes of any other.

    Missing files and invalid YAML have a digest too; their readers report the fault.
    """
    return digest_of([_content(Path(path), digests) for path in paths])


def digest_of(value: object) -> str:
    """Return a digest of a value with a `repr` that says all of it: plain values, tuples, frozen dataclasses."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def _content(path: Path, digests: Digests) -> str:
    if path.suffix in _YAML and path.is_file():
        try:
            return _of_data(path, path.read_bytes())
        except (OSError, RankadjustError, yaml.YAMLError):
            pass
    return digests.of(path)


@lru_cache(maxsize=64)
def _of_data(path: Path, _content: bytes) -> str:
    """Return the digest of the data of a YAML file. Three rules read the registry, for a tenth of a second each."""
    return digest_of(read_yaml(path))


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file that may be lost without a loss; {} where there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
