"""Archives and compressed files: the declared members are streamed out, and nothing else is ever written."""

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from rankadjust.base.errors import RankadjustError, did_you_mean, is_of_writing

_ENDINGS = {".zip": "zip", ".whl": "zip", ".tar.gz": "tar.gz", ".tgz": "tar.gz", ".gz": "gz"}
_BROKEN = (
    OSError, EOFError, RuntimeError, NotImplementedError, ValueError, OverflowError, struct.error, zlib.error,
    tarfile.TarError, zipfile.BadZipFile,
)  # fmt: skip
_CHUNK = 1 << 20
# A file may unpack to this many bytes, or to a hundred times its own.
LARGEST = 1 << 30
# A header of a tar archive, which is held in memory as a whole: long names, and facts about a member.
_LARGEST_HEADER = 1 << 20


def packing(name: str) -> str:
    """Return how a file of that name is packed: 'zip' (whl too), 'tar.gz' (tgz too), 'gz', or '' for not at all."""
    return next((form for ending, form in _ENDINGS.items() if name.lower().endswith(ending)), "")


def extract(path: Path, name: str, members: Mapping[Path, str | None]) -> None:
    """Write the declared members of the file at `path`.

    name: the published name, whose ending says how the file is packed. members: each file to write, and the path of its
    member, or None for the whole (decompressed) file.

    Raises RankadjustError for a declared member that is missing, not a regular file, or there twice, for one larger
    than 1 GiB and than a hundred times the archive, for a header above 1 MiB, for a file to write that is there
    already or a link, and for a file that cannot be unpacked.
    """
    try:
        _unpack(path, name, members)
    except _BROKEN as error:
        if is_of_writing(error):
            raise
        if isinstance(error, OSError) and error.errno:
            raise RankadjustError(f"{name} cannot be unpacked: {error.strerror}") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RankadjustError(f"{name} is damaged or not what its name says ({reason})") from None


def _unpack(path: Path, name: str, members: Mapping[Path, str | None]) -> None:
    form = packing(name)
    largest = max(LARGEST, 100 * path.stat().st_size)
    whole = [target for target, member in members.items() if member is None]
    if form in ("zip", "tar.gz"):
        if whole:
            raise RankadjustError(f"{name} is an archive: declare the member that holds {whole[0].stem}")
        wanted = {_plain(str(member)): target for target, member in members.items()}
        with closing(_in_zip(path) if form == "zip" else _in_tar(path)) as entries:
            _extract(entries, name, wanted, largest)
        return
    if len(whole) < len(members):
        raise RankadjustError(f"{name} is not an archive (zip, tar.gz): it has no members to declare")
    for target in whole:
        with gzip.open(path) if form else path.open("rb") as stream:
            _copy(stream, target, name, largest)


# Name and opener of an entry; the opener is None for a folder, a link and so on.
_Entries = Generator[tuple[str, Callable[[], IO[bytes] | None] | None]]


def _in_zip(path: Path) -> _Entries:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            # The upper half holds the Unix mode, zero when the archive was made elsewhere.
            is_file = not entry.is_dir() and stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
            yield entry.filename, partial(archive.open, entry) if is_file else None


def _in_tar(path: Path) -> _Entries:
    # It is read once, front to back: nothing but the declared members is ever held or written.
    with _Blocks(path) as stream:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for entry in archive:
                stream.in_header = None
                yield entry.name, partial(archive.extractfile, entry) if entry.isreg() else None
                stream.in_header = 0
        # To the very end: the check sum of the compression is there.
        stream.in_header = None
        while stream.read(_CHUNK):
            pass


class _Blocks(gzip.GzipFile):
    """An unpacked stream that refuses a header of more than 1 MiB, which tarfile would hold in memory, unread."""

    # Bytes asked for since the last entry; None while the content of one is read.
    in_header: int | None = 0

    def read(self, size: int | None = -1) -> bytes:
        if self.in_header is not None:
            self.in_header += size or 0
            if self.in_header > _LARGEST_HEADER:
                raise RankadjustError(
                    f"a header of the archive has more than {_LARGEST_HEADER:,} bytes, which no text needs"
                )
        return super().read(size)


def _extract(entries: _Entries, name: str, wanted: Mapping[str, Path], largest: int) -> None:
    seen: set[str] = set()
    for entry, opened in entries:
        member = _plain(entry)
        if member in wanted:
            content = opened and opened()
            if content is None:
                raise RankadjustError(f"{name}: the member {member!r} is not a regular file")
            with content:
                _copy(content, wanted[member], f"{name}: the member {member!r}", largest)
        seen.add(member)
    for member in wanted:
        if member not in seen:
            raise RankadjustError(f"{name} holds no member {member!r}{did_you_mean(member, sorted(seen))}")


def _copy(stream: IO[bytes] | gzip.GzipFile, target: Path, what: str, largest: int) -> None:
    """Write a stream of at most `largest` bytes to a file that is not there yet."""
    written = 0
    with target.open("xb") as file:
        while chunk := stream.read(_CHUNK):
            written += len(chunk)
            if written > largest:
                raise RankadjustError(f"{what} is larger than {largest:,} bytes, too large for packed text")
            file.write(chunk)


def _plain(member: str) -> str:
    return str(PurePosixPath(member))
