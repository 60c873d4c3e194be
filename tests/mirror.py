"""The mirror of real data sets in the development data, read without the code that fetches data sets."""

import tarfile
import zipfile
from urllib.parse import unquote, urlsplit

from rankadjust.base.io import sha256_of
from rankadjust.data.read import read_triples
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import Http


def verified_splits(mirror, folder):
    """Yield each verified data set with the frames of its splits."""
    verified = [entry for entry in load_registry().values() if entry.verified]
    assert len(verified) == 95
    for entry in verified:
        files = mirrored_files(entry, mirror, folder)
        yield entry, {split: read_triples(path, entry.format) for split, path in files.items()}


def mirrored_files(entry, mirror, folder):
    [files] = [files for files in entry.sources if isinstance(files[0].source, Http)]
    found = {}
    for file in files:
        url = urlsplit(file.source.url)
        path = mirror / url.netloc / unquote(url.path).lstrip("/")
        assert (sha256_of(path), path.stat().st_size) == (file.sha256, file.bytes)
        for split, member in file.members.items():
            found[split] = path
            if member is not None:
                found[split] = folder / f"{entry.name}.{split}.txt"
                found[split].write_bytes(member_of(path, member))
    return found


def member_of(path, member):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(member)
    with tarfile.open(path) as archive:
        return archive.extractfile(member).read()
