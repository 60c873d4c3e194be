"""Archives and compressed files: the declared members are streamed out, and nothing else is ever written."""

import bz2
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Self, cast

from rankadjust.base.errors import RankadjustError, did_you_mean, is_of_writing
from rankadjust.base.schemas import require

_OPENERS: dict[str, Callable[[Path], IO[bytes]]] = {
    "gz": cast(Callable[[Path], IO[bytes]], gzip.open),
    "bz2": cast(Callable[[Path], IO[bytes]], bz2.open),
    "xz": cast(Callable[[Path], IO[bytes]], lzma.open),
}
_SHORT_NAMES = {"tgz": "tar.gz", "tbz": "tar.bz2", "tbz2": "tar.bz2", "txz": "tar.xz"}
_BROKEN = (
    OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError,
    tarfile.TarError, zipfile.BadZipFile, ValueError, OverflowError, struct.error,
)  # fmt: skip
_CHUNK = 1 << 20
# Without a declared size, a file may unpack to this many bytes, or to a hundred times its own.
LARGEST = 1 << 30
# A header of a tar archive, which is held in memory as a whole: long names, and facts about a member.
_LARGEST_HEADER = 1 << 20
_HEADERS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")


class DamagedError(RankadjustError):
    """The bytes of a packed file are not what a packer writes."""


def extract(path: Path, name: str, members: Mapping[Path, str | None], sizes: Mapping[Path, int]) -> None:
    """Write the declared members of the file at `path`.

    name: the published name, whose ending says what the file is: zip (and whl), tar, tar.gz, tar.bz2, tar.xz,
    or a single file, possibly gz, bz2 or xz.
    members: each file to write, and the path of its member, or None for the whole (decompressed) file.
    sizes: the declared size of some of them in bytes.

    Raises RankadjustError for a name in the archive that is absolute or holds '..', and for a declared member
    that is missing, there twice, not a regular file, or not of its declared size (without one: larger than
    1 GiB and than a hundred times the archive), for a header above 1 MiB, and for a file to write that is there
    already or a link.
    Raises DamagedError for a file that cannot be unpacked.
    """
    for target in members:
        _refuse_if(os.path.lexists(target), f"{target}: there is such a file already; it is not overwritten")
    try:
        _unpack(path, name, members, sizes)
    except BaseException as error:
        for target in members:
            target.unlink(missing_ok=True)
        if not isinstance(error, _BROKEN) or is_of_writing(error):
            raise
        if isinstance(error, OSError) and error.errno:
            raise RankadjustError(f"{name} cannot be unpacked: {error.strerror}") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DamagedError(f"{name} is damaged or not what its name says ({reason})") from None


def _unpack(path: Path, name: str, members: Mapping[Path, str | None], sizes: Mapping[Path, int]) -> None:
    form = archive_form(name)
    whole = [target for target, member in members.items() if member is None]
    if form and whole:
        raise RankadjustError(f"{name} is an archive: declare the member that holds {whole[0].stem}")
    if not form and len(whole) < len(members):
        raise RankadjustError(f"{name} is not an archive (zip, tar, tar.gz, …): it has no members to declare")
    largest = max(LARGEST, 100 * path.stat().st_size) + sum(sizes.values())
    if not form:
        for target in whole:
            with _opened(path, name) as stream:
                _copy(stream, target, name, sizes.get(target), largest)
        return
    wanted = {
        _normal(require(member, "member", f"{name}: the declared member")): target
        for target, member in members.items()
        if member is not None
    }
    if len(wanted) < len(members):
        raise RankadjustError(f"{name}: one member is declared for two splits")
    with closing(_zip_entries(path) if form == "zip" else _tar_entries(path, name, largest)) as entries:
        _extract_entries(entries, name, wanted, sizes, largest)


def archive_form(name: str) -> str | None:
    """Return 'zip', 'tar' or 'tar.gz' and its kin when an archive has such a name, else None."""
    endings = packing(name)
    if endings in ("zip", "whl"):
        return "zip"
    return endings if endings.split(".")[0] == "tar" else None


def packing(name: str) -> str:
    """Return the ending that says how a file is packed ('tar.gz', 'zip', 'gz'), '' when none does."""
    last = [suffix.lstrip(".").lower() for suffix in PurePosixPath(name).suffixes[-2:]]
    if len(last) == 2 and last[0] == "tar" and last[1] in _OPENERS:
        return ".".join(last)
    ending = _SHORT_NAMES.get(last[-1], last[-1]) if last else ""
    return ending if ending in {"zip", "whl", "tar", *_OPENERS, *_SHORT_NAMES.values()} else ""


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Yield the bytes of a file after its outer compression."""
    opener = _OPENERS.get(packing(name).split(".")[-1])
    with opener(path) if opener else path.open("rb") as stream:
        yield stream


# Name, size and opener of an entry; the opener returns None for a folder, a link and so on.
_Entries = Generator[tuple[str, int, Callable[[], IO[bytes] | None]], None, None]


def _zip_entries(path: Path) -> _Entries:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            # The upper half holds the Unix mode, zero when the archive was made elsewhere.
            is_file = not entry.is_dir() and stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
            yield entry.filename, entry.file_size, partial(archive.open, entry) if is_file else _nothing


def _tar_entries(path: Path, name: str, largest: int) -> _Entries:
    # A stream is read once, front to back: nothing but the declared members is ever held or written.
    with _opened(path, name) as packed:
        stream = cast(IO[bytes], _Bounded(packed, name, largest))
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
            for entry in archive:
                is_file = entry.isreg() and not entry.issparse()
                yield entry.name, entry.size, partial(archive.extractfile, entry) if is_file else _nothing
        # To the very end: the check sums of the compression are there.
        while stream.read(_CHUNK):
            pass


class _Header(tarfile.TarInfo):
    """The 512 bytes before a member, or before a header of it that is larger: refused by its size before it is read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        too_large = header.type in _HEADERS and header.size > _LARGEST_HEADER
        _refuse_if(too_large, f"a header of the archive has {header.size:,} bytes, which none of a text has")
        return header


def _nothing() -> None:
    return None


def _extract_entries(
    entries: _Entries, name: str, wanted: Mapping[str, Path], sizes: Mapping[Path, int], largest: int
) -> None:
    seen: set[str] = set()
    for entry, size, opened in entries:
        member = _normal(_safe(entry, name))
        if member in wanted:
            _refuse_if(member in seen, f"{name} holds the member {member!r} twice")
            content = opened()
            if content is None:
                raise RankadjustError(f"{name}: the member {member!r} is not a regular file")
            with content:
                what, target = f"{name}: the member {member!r}", wanted[member]
                declared = sizes.get(target, size)
                _refuse_if(size != declared, f"{what} has {size:,} bytes, declared are {declared:,}")
                too_large = target not in sizes and size > largest
                _refuse_if(too_large, f"{what} has {size:,} bytes, which no text so packed has")
                _copy(content, target, what, size, largest)
        seen.add(member)
    for member in wanted:
        if member not in seen:
            raise RankadjustError(f"{name} holds no member {member!r}{did_you_mean(member, sorted(seen))}")


class _Bounded:
    """A readable stream that refuses to give more than `largest` bytes in all."""

    def __init__(self, stream: IO[bytes], name: str, largest: int) -> None:
        self._stream, self._name, self._largest, self._given = stream, name, largest, 0

    def read(self, size: int = _CHUNK) -> bytes:
        chunk = self._stream.read(size)
        self._given += len(chunk)
        if self._given > self._largest:
            raise RankadjustError(
                f"{self._name} unpacks to more than {self._largest:,} bytes, which no text does"
            )
        return chunk


def _copy(stream: IO[bytes], target: Path, what: str, size: int | None, largest: int) -> None:
    """Write a stream that must hold exactly `size` bytes, or without a size at most `largest`."""
    allowed = largest if size is None else size
    written = 0
    with target.open("xb") as file:
        while written <= allowed and (chunk := stream.read(_CHUNK)):
            file.write(chunk)
            written += len(chunk)
    if size is None:
        _refuse_if(written > largest, f"{what} is larger than {largest:,} bytes, which no text so packed is")
    else:
        _refuse_if(written != size, f"{what} does not hold the {size:,} bytes it should")


def _safe(member: str, name: str) -> str:
    """Return the name of a member; one that is absolute ('/x', 'C:x') or climbs out ('a/../x') is refused."""
    parts = re.split(r"[/\\]", member)
    outside = parts[0] == "" or ".." in parts or re.match(r"[A-Za-z]:", member)
    _refuse_if(bool(outside), f"{name} holds a member outside of its folder ({member!r})")
    return member


def _normal(member: str) -> str:
    return str(PurePosixPath(member))


def _refuse_if(wrong: bool, message: str) -> None:
    if wrong:
        raise RankadjustError(message)
