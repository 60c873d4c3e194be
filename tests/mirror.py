"""The mirror of real data sets in the development data, read without the code that fetches data sets."""

import re
import tarfile
import zipfile
from urllib.parse import urlsplit

from rankadjust.base.files import sha256_of
from rankadjust.data.reading import read_triples
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import Http

# Rows of more than 64 bits are in tests/unit/counting/test_packing.py; test_candidates.py holds larger data sets
# against an independent program.
MOST_TRIPLES = 100_000
# Versions of a collection differ in their size, which changes nothing here.
OTHER_VERSIONS = re.compile(
    r"GraIL-.*-v[234]|InGram-.*-(25|50|75)|InGram-NL-0|PediaTypes-(?!DB2WD).*|Countries-S[23]|WD-singer-DacKGR"
    "|ICEWS14-interpolation"
)


def verified_splits(mirror, folder):
    """Yield verified data sets of at most 100,000 triples, one of each collection, with the frames of their splits."""
    found = [
        entry
        for entry in load_registry().values()
        if entry.verified
        and sum(entry.expected["triples"].values()) <= MOST_TRIPLES
        and not OTHER_VERSIONS.fullmatch(entry.name)
    ]
    assert len(found) == 22
    for entry in found:
        files = mirrored_files(entry, mirror, folder)
        yield entry, {split: read_triples(path, entry.format) for split, path in files.items()}


def mirrored_files(entry, mirror, folder):
    [files] = [files for files in entry.sources if isinstance(files[0].source, Http)]
    found = {}
    for file in files:
        url = urlsplit(file.source.url)
        path = mirror / url.netloc / url.path.lstrip("/")
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
