"""Whether the files of a data set that were fetched are still those that were fetched, and still those declared."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankadjust.base.contents import ABSENT, Digests, read_json
from rankadjust.base.errors import RankadjustError, is_of_writing
from rankadjust.base.io import write_text
from rankadjust.base.mending import last_damage
from rankadjust.data.archives import packing
from rankadjust.data.sources import MANIFEST, File, FileSet, Local, address, refused

_REFUSED = "refused"


def declared_content(alternatives: Sequence[FileSet], digest: Callable[[Path], str]) -> list[str]:
    """Return what the registry says about the bytes of a data set, as lines that change only when the bytes may.

    A checksum says more than an address, and so does the digest of a file on this disk: where there is one, the
    address is left out, so that a file which moved is not fetched again. digest: of the bytes of a file.
    """
    return sorted({repr([_declared(file, digest) for file in files]) for files in alternatives})


def _declared(file: File, digest: Callable[[Path], str]) -> tuple[Any, ...]:
    where = address(file.source)
    content = digest(file.source.path) if isinstance(file.source, Local) else file.sha256
    facts = (sorted(file.members.items(), key=str), file.bytes, sorted(file.member_bytes.items()))
    return (content or where, packing(where), *facts)


def damage(folder: str | Path, digests: Digests) -> str:
    """Return how the files in a fetched folder differ from its source.json; '' if they do not.

    A missing folder is not damaged: it will be fetched.
    """
    folder = Path(folder)
    if not folder.is_dir():
        return ""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        splits = manifest["splits"]
        recorded = {folder / f"{split}.txt": facts["sha256"] for split, facts in splits.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return f"{MANIFEST} does not say what was fetched; {_last_change(folder)}"
    if manifest.get(_REFUSED):
        return f"what was fetched without a checksum could not be read; {_last_change(folder)}"
    sums = {path: digests.of(path) for path in recorded}
    wrong = [
        f"{path.name} is missing" if digest == ABSENT else f"{path.name} has other bytes"
        for path, digest in sums.items()
        if digest != recorded[path]
    ]
    return "; ".join([*wrong, _last_change(folder)]) if wrong else ""


def last_damage_of(name: str, folder: str | Path, *, digests: Digests, memory: Path, looks: bool) -> str:
    """Return the damage last seen in a folder that was fetched, '' if there never was any.

    memory: where that is remembered, under a name. looks: whether to look for damage, and to say what is found.
    """
    damaged = damage(folder, digests) if looks else ""
    if damaged:
        reason = damaged.rpartition("; ")[0]
        sys.stderr.write(f"note: {folder}: {reason}; a run fetches it again\n")
    return last_damage(name, damaged, memory, remember=looks)


@contextmanager
def reading_fetched(folder: str | Path) -> Iterator[None]:
    """Where what was fetched cannot be read, and no checksum had verified it, let the next run fetch it again.

    A server may answer with a message in place of the file, and without a checksum only reading shows it.
    """
    folder = Path(folder)
    try:
        yield
    except RankadjustError as error:
        unverified = [] if is_of_writing(error.__context__ or error) else _unverified(folder)
        if not unverified:
            raise
        for sha256, _ in unverified:
            write_text("", refused(folder, sha256))
        manifest = read_json(folder / MANIFEST) | {_REFUSED: True}
        write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", folder / MANIFEST)
        addresses = " and ".join(address for _, address in unverified)
        hint = f"no checksum has verified {addresses}, so that the next run fetches it again"
        raise RankadjustError(f"{error}; {hint}") from None


def _unverified(folder: Path) -> list[tuple[str, str]]:
    """Return digest and address of each file that came over a network without a checksum."""
    files = read_json(folder / MANIFEST).get("files", [])
    return [
        (file["sha256"], file["address"])
        for file in files
        if not file["verified"] and re.match("https?://|pkg:", file["address"])
    ]


def _last_change(folder: Path) -> str:
    """Return when something in a folder last changed, so that the same damage counts anew the next time."""
    return f"changed at {max(path.stat().st_ctime_ns for path in (folder, *folder.iterdir()))}"
