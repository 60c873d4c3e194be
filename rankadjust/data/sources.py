"""Where the files of a data set come from, as data: the registry declares them, `fetch` gets them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

# In a fetched folder, it says where the files came from.
MANIFEST = "source.json"


@dataclass(frozen=True)
class Http:
    """A file at an address, 'https://host/path'."""

    url: str


@dataclass(frozen=True)
class Package:
    """The wheel `file` of a release of a package, taken through pip; it is never installed or imported."""

    package: str
    version: str
    file: str


@dataclass(frozen=True)
class Zenodo:
    """The file named `file` of a Zenodo record, taken through the command zenodo_get."""

    record: str
    file: str


@dataclass(frozen=True)
class Local:
    """A file on this disk, read in place."""

    path: Path


Source = Http | Package | Zenodo | Local


@dataclass(frozen=True)
class File:
    """One file of a data set and the splits it holds.

    members: split -> the path of its member in an archive, or None where the whole file is the split; the
        ending of the file's name says how it is packed (zip, whl, tar.gz, tgz, gz).
    sha256 (64 hexadecimal digits), bytes: of the file as published, None while nobody has verified them.
    """

    source: Source
    members: Mapping[str, str | None]
    sha256: str | None = None
    bytes: int | None = None


# One alternative of a data set: all the files that together hold its splits.
FileSet = tuple[File, ...]


def address(source: Source) -> str:
    """Return the one line that names a source: its URL without a password, its package URL (purl), or its path."""
    match source:
        case Http(url):
            return without_password(url)
        case Package(package, version, file):
            return f"pkg:pypi/{package}@{version}?file_name={file}"
        case Zenodo(record, file):
            return f"https://zenodo.org/records/{record}/files/{quote(file)}"
        case Local(path):
            return str(path)


def without_password(text: str) -> str:
    """Return text with user name and password taken out of every address: only a request may hold them.

    >>> without_password("404 Not Found: https://me:secret@host/a@b.zip")
    '404 Not Found: https://host/a@b.zip'
    """
    return re.sub(r"(\w://)[^/?#\s]*@", r"\1", text)


def fetched_files(folder: Path) -> list[dict[str, Any]]:
    """Return the facts about the files of a fetched folder, from its source.json; none where there is none."""
    try:
        files: list[dict[str, Any]] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return []
    return files


def published_names(folder: Path) -> dict[str, str]:
    """Return the names by which the user knows the files of a fetched folder: split -> name.

    The name is a path or an address, followed by the member if the file is an archive.
    Empty where there is no source.json.
    """
    return {
        split: file["address"] if member is None else f"{file['address']}, member {member}"
        for file in fetched_files(folder)
        for split, member in file["members"].items()
    }
