"""Whether the files of a data set that were fetched are still those that were fetched, and still those declared."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rankadjust.base.contents import ABSENT, Digests, read_json
from rankadjust.base.files import write_text
from rankadjust.data.archives import packing
from rankadjust.data.sources import File, FileSet, Local, address, fetched_file

MANIFEST = "source.json"


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
    """Return in which way the files in a fetched folder differ from what its source.json says; '' where they do not.

    A folder that is not there is no damage: it will be fetched.
    """
    folder = Path(folder)
    if not folder.is_dir():
        return ""
    try:
        splits = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["splits"]
        recorded = {fetched_file(folder, split): facts["sha256"] for split, facts in splits.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return f"{MANIFEST} does not say what was fetched; {_last_change(folder)}"
    found = {path: digests.of(path) for path in recorded}
    wrong = [
        f"{path.name} is missing" if digest == ABSENT else f"{path.name} has other bytes"
        for path, digest in found.items()
        if digest != recorded[path]
    ]
    return "; ".join([*wrong, _last_change(folder)]) if wrong else ""


def last_damage(name: str, found: str, memory: Path, *, remember: bool) -> str:
    """Return the damage that was last seen in a data set, '' if there never was any; remember what is found now.

    As a parameter of the rule that fetches, this makes a damaged folder be fetched again, and once only: when it is
    whole again, the damage last seen is still the same. memory: a JSON file. remember: whether it may be written.
    """
    seen = read_json(memory)
    if found and remember:
        seen[name] = found
        write_text(json.dumps(seen, indent=2) + "\n", memory)
    return str(seen.get(name, ""))


def _last_change(folder: Path) -> str:
    """Return when something in a folder last changed, so that the same damage is another one the next time."""
    return f"changed at {max(path.stat().st_ctime_ns for path in (folder, *folder.iterdir()))}"
