"""Download: every file of a data set from the first source that has it, checked, all of them or none.

A source is one of four kinds, each with its function: http, package (pip), Zenodo (zenodo_get), local.
What was downloaded stays in a cache laid out <host>/<path> like a mirror, so that a cache can serve as one.
"""

import glob
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from filelock import FileLock

from rankadjust.base.errors import RankadjustError, installed_by, is_of_writing, unwritable
from rankadjust.base.io import (
    SUM,
    atomic_folder,
    contained,
    put_in_place,
    read_sums,
    sha256_of,
    write_sums,
    write_text,
)
from rankadjust.base.names import problem_with, require
from rankadjust.base.progress import say
from rankadjust.data.archives import DamagedError, extract, packing
from rankadjust.data.expected import Expected, check
from rankadjust.data.patience import Patience, duration
from rankadjust.data.sources import (
    MANIFEST,
    File,
    FileSet,
    Http,
    Local,
    Package,
    Source,
    Zenodo,
    address,
    refused,
)

_PATIENCE = Patience()


def fetch_dataset(
    name: str,
    alternatives: Sequence[FileSet],
    folder: Path,
    *,
    cache: Path,
    mirror: str | None = None,
    offline: bool = False,
    patience: Patience = _PATIENCE,
) -> dict[str, Any]:
    """Write <split>.txt for every split, bytes as published, and folder/source.json; all or nothing.

    alternatives: sets of files, in order of preference; the first that can be fetched whole is taken.
    cache: folder that keeps what was downloaded, at <host>/<path> of its address.
    mirror: folder or http address laid out the same way (a wheel is at <package>/<file>), tried first.
    offline: use nothing but the mirror, the cache and files on this disk; of a mirror on a server, its host alone.

    Returns what source.json holds: the number of the alternative, and each file's address, sha256, bytes,
    whether the registry's sha256 verified it, and the members of its splits; and each split's sha256 and bytes, with
    which `rankadjust.data.fetched` checks that the folder is unchanged.
    Raises RankadjustError, in one line, naming every alternative and why it failed.
    """
    # `folder` is replaced, so it has to be the data set's own.
    require(name, "name", "the name of a data set:")
    contained(folder, Path(folder).parent)
    if not alternatives:
        raise RankadjustError(f"{name}: the registry declares no source")
    numbered = list(enumerate(alternatives, 1))
    keep = _Cache(cache, folder, patience)
    attempts = [(keep.finder(_fetch_offline if offline else _fetch), *entry) for entry in numbered]
    if mirror:
        find = _mirror(mirror, keep, offline=offline)
        attempts = [(find, *entry) for entry in numbered if _has_address(entry[1])] + attempts
    failures: list[str] = []
    for find, number, files in attempts:
        try:
            with atomic_folder(Path(folder)) as temporary:
                described = [_take(file, find, temporary, cache) for file in files]
                splits = {path.stem: _described(path) for path in sorted(temporary.iterdir())}
                provenance = {"dataset": name, "alternative": number, "files": described, "splits": splits}
                write_text(json.dumps(provenance, indent=2, ensure_ascii=False) + "\n", temporary / MANIFEST)
        except (RankadjustError, OSError) as error:
            if is_of_writing(error):
                # No other source helps. What has come is kept, and the next run goes on from there.
                raise RankadjustError(unwritable(getattr(error, "filename", None) or cache, error)) from None
            if str(error) not in failures:
                failures.append(str(error))
        else:
            return provenance
    hint = "" if mirror else "; if you have copies, name their folder: mirror=FOLDER"
    raise RankadjustError(f"{name} could not be fetched: {'; '.join(failures)}{hint}")


# A finder says where the bytes of a file are on this disk, checked as far as the registry allows.
_Finder = Callable[[File], Path]
# A fetcher puts the checked bytes of a file at the path, whole or not at all.
_Fetcher = Callable[[File, Path, Patience], None]


def _take(file: File, find: _Finder, folder: Path, cache: Path) -> dict[str, Any]:
    """Put the splits of one file into the folder and describe where they came from."""
    path = find(file)
    described = {
        "address": address(file.source),
        "sha256": file.sha256 or sha256_of(path),
        "bytes": path.stat().st_size,
        "verified": file.sha256 is not None,
        "members": dict(file.members),
    }
    if file.sha256 is None:
        say("{address}: not verified yet; sha256: {sha256}, bytes: {bytes}".format(**described))
    paths = {split: contained(folder / f"{split}.txt", folder) for split in file.members}
    targets = {paths[split]: member for split, member in file.members.items()}
    sizes = {paths[split]: size for split, size in file.member_bytes.items()}
    try:
        extract(path, _file_name(file.source), targets, sizes)
    except RankadjustError as error:
        # Only unpacking shows that an unverified file is bad: the next run must not find it again.
        unverified = file.sha256 is None and not isinstance(file.source, Local)
        if isinstance(error, DamagedError) and unverified and cache in path.parents:
            path.unlink()
            _sum(path).unlink(missing_ok=True)
        raise RankadjustError(f"{address(file.source)}: {error}") from None
    return described


def _described(path: Path) -> dict[str, Any]:
    return {"sha256": sha256_of(path), "bytes": path.stat().st_size}


# Where the bytes may be


def _mirror(mirror: str, cache: "_Cache", *, offline: bool) -> _Finder:
    """Return the finder that looks into a mirror; a local one is read in place."""
    if re.match(r"https?://", mirror):
        from rankadjust.data.transfer import only_host_of

        host = only_host_of(mirror) if offline else None
        return cache.finder(partial(_fetch_mirrored, mirror, host))
    if not Path(mirror).is_dir():
        raise RankadjustError(f"mirror: {mirror} is neither a folder nor an address that begins with http")

    def find(file: File) -> Path:
        if isinstance(file.source, Local):
            return _local(file)
        path = contained(Path(mirror) / _place(file.source), mirror)
        if not path.is_file():
            raise RankadjustError(f"{path}: no such file in the mirror")
        check(path, _expected(file), str(path))
        return path

    return find


@dataclass(frozen=True)
class _Cache:
    """Earlier downloads. folder: of the data set; a file beside it records which bytes could not be read."""

    path: Path
    folder: Path
    patience: Patience

    def finder(self, fetch: _Fetcher) -> _Finder:
        """Return the finder that looks at this disk, then into the cache, and at last fetches into the cache."""
        return lambda file: _local(file) if isinstance(file.source, Local) else self._find(file, fetch)

    def _find(self, file: File, fetch: _Fetcher) -> Path:
        place = _place(file.source)
        path = contained(self.path / place, self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Data sets share files, and jobs run side by side.
        with _locked(self.path, place):
            wrong = self._wrong(file, path) if path.exists() else "absent"
            if wrong:
                self._fetch(file, path, fetch, wrong)
        return path

    def _wrong(self, file: File, path: Path) -> str:
        """Return why a file of the cache is of no use, '' where it is."""
        try:
            check(path, _expected(file), str(path))
        except RankadjustError as error:
            return str(error)
        if file.sha256 is not None:
            return ""
        digest, recorded = sha256_of(path), _sum(path)
        if recorded.is_file() and read_sums(recorded) != {path.name: digest}:
            return f"{path}: its bytes are not those that were downloaded"
        return f"{path}: what it holds could not be read" if refused(self.folder, digest).exists() else ""

    def _fetch(self, file: File, path: Path, fetch: _Fetcher, wrong: str) -> None:
        if path.exists():
            say(f"{wrong}; it is fetched again")
        try:
            fetch(file, path, self.patience)
        except RankadjustError as error:
            # Bytes that could not be read may have been whole, and the registry wrong about them.
            if not wrong.endswith("could not be read"):
                raise
            say(f"{error}; the file that is there is used")
        if file.sha256 is None:
            write_sums([path], _sum(path))


def _sum(path: Path) -> Path:
    """Return the file with the digest of a download that has none in the registry."""
    return path.with_name(f".{path.name}{SUM}")


@contextmanager
def _locked(cache: Path, place: PurePosixPath) -> Iterator[None]:
    lock = cache / ".locks" / f"{hashlib.sha256(str(place).encode()).hexdigest()[:16]}.lock"
    contained(lock, cache).parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        yield


def _local(file: File) -> Path:
    path = Path(address(file.source))
    if not path.is_file():
        raise RankadjustError(f"{path}: no such file")
    check(path, _expected(file), str(path))
    return path


def _place(source: Source) -> PurePosixPath:
    """Return where a mirror and the cache keep a file: <host>/<path> of its address, or <package>/<wheel>."""
    match source:
        case Package(package, version, file):
            # pip would take 'x @ file:///…' for a project to build, and run its code.
            require(package, "package", "the name of a package is")
            require(version, "version", f"the version of {package} is")
            place = f"{package}/{require(file, 'file-name', f'the wheel of {package} is')}"
        case Local(path):
            raise RankadjustError(f"{path}: a file on this disk has no place in a mirror")
        case _:
            try:
                url = urlsplit(address(source))
            except ValueError as error:
                raise RankadjustError(f"{address(source)}: not a valid address ({error})") from None
            # A query is part of the name of the file, as other mirroring programs write it.
            query = "?" + url.query.replace("/", "%2F") if url.query else ""
            place = f"{url.netloc.rpartition('@')[2]}/{unquote(url.path).strip('/')}{query}"
            if url.scheme not in ("http", "https") or not url.hostname or not url.path.strip("/"):
                raise RankadjustError(f"{address(source)}: not the address of a file (https://host/path)")
    # A colon is allowed: it may precede a port. `contained` refuses a path that a system would read as a drive.
    if any(problem_with(part.replace(":", ""), "file-name") for part in place.split("/") if part):
        raise RankadjustError(
            f"{address(source)}: an address must not hold '..', a backslash or a control character"
        )
    return PurePosixPath(place)


def _file_name(source: Source) -> str:
    """Return the name whose ending says how a file is packed."""
    match source:
        case Package(file=file) | Zenodo(file=file):
            return file
        case Local(path):
            return path.name
        case Http(url):
            place = urlsplit(url)
            name = PurePosixPath(unquote(place.path)).name
            # fetch.php?media=fb15k.tgz is a tgz, fb15k.tgz?download=1 too.
            return f"{name}?{place.query}" if place.query and not packing(name) else name


# One function per kind of source


def _fetch(file: File, path: Path, patience: Patience) -> None:
    """Fetch a file from its own source."""
    match file.source:
        case Http(url):
            from rankadjust.data.transfer import fetch_http

            fetch_http(url, path, _expected(file), patience)
        case Package():
            _fetch_package(file.source, file, path, patience)
        case Zenodo():
            _fetch_zenodo(file.source, file, path, patience)
        case Local():
            raise AssertionError("a local file is read in place")


def _fetch_offline(file: File, path: Path, _patience: Patience) -> None:
    """Fetch nothing: what is neither in the mirror nor in the cache is missing."""
    raise RankadjustError(f"{address(file.source)}: not in {path}, and the network is off (offline: true)")


def _fetch_mirrored(
    mirror: str, hosts: frozenset[str] | None, file: File, path: Path, patience: Patience
) -> None:
    """Fetch a file from an http mirror, which may lead to other hosts only where no hosts are given."""
    from rankadjust.data.transfer import fetch_http

    url = f"{mirror.rstrip('/')}/{quote(str(_place(file.source)))}"
    fetch_http(url, path, _expected(file), patience, hosts)


def _fetch_package(source: Package, file: File, path: Path, patience: Patience) -> None:
    """Fetch a wheel with pip, which finds the package index, its mirrors and their certificates."""
    requirement = f"{source.package}=={source.version}"
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".pip.", suffix=".tmp") as scratch:
        command = [
            sys.executable, "-m", "pip", "download", "--dest", scratch,
            "--no-deps", "--only-binary", ":all:", "--ignore-requires-python",
            "--quiet", "--no-input", "--disable-pip-version-check", "--", requirement,
        ]  # fmt: skip
        _run(command, f"{address(source)}: pip download {requirement}", subprocess.STDOUT, patience.whole)
        _adopt(Path(scratch), source.file, file, path)


def _fetch_zenodo(source: Zenodo, file: File, path: Path, patience: Patience) -> None:
    """Fetch a file of a Zenodo record with the command zenodo_get, and trust only what it leaves.

    The command may end well without a file, leave a part of one, or follow a name out of its folder: it gets
    a fresh folder and the declared name, and only a whole file of that name is accepted.
    """
    if not re.fullmatch(r"[0-9]+", source.record) or problem_with(source.file, "file-name"):
        raise RankadjustError(
            f"{address(source)}: a Zenodo source is a record's number and the name of a file"
        )
    command = shutil.which("zenodo_get", path=Path(sys.executable).parent)
    if command is None:
        raise RankadjustError(f"{address(source)}: zenodo_get is missing; {installed_by('workflow')}")
    say(f"{address(source)}: fetching with zenodo_get")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".zenodo.", suffix=".tmp") as scratch:
        command_line = [
            command, "--record", source.record, f"--glob={glob.escape(source.file)}", "--output-dir", scratch,
            "--time-out", str(patience.read), "--pause", str(patience.first_wait),
            "--max-http-retries", str(patience.attempts - 1), "--backoff-factor", str(patience.first_wait),
            "--verbosity", "3",
        ]  # fmt: skip
        # On a terminal its progress bar is for the user; elsewhere nobody reads it.
        _run(
            command_line, address(source), None if sys.stderr.isatty() else subprocess.STDOUT, patience.whole
        )
        _adopt(Path(scratch), source.file, file, path)


def _run(command: Sequence[str], what: str, errors: int | None, limit: float) -> None:
    """Run a command in silence, at most `limit` seconds; when it fails, its own first error is the reason."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, check=False,
            encoding="utf-8", errors="replace", timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RankadjustError(f"{what}: not complete after {duration(limit)}") from None
    if done.returncode:
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in done.stdout.splitlines()]
        complaints = [
            line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")
        ] or lines
        reason = next(filter(None, complaints), f"exit code {done.returncode}")
        raise RankadjustError(f"{what}: {reason[:300]}")


def _adopt(folder: Path, name: str, file: File, path: Path) -> None:
    """Move the one file that was asked for out of a fresh folder, once it is checked."""
    downloaded = contained(folder / name, folder)
    if downloaded.is_symlink() or not downloaded.is_file():
        others = ", ".join(sorted(other.name for other in folder.iterdir())[:5]) or "nothing"
        raise RankadjustError(f"{address(file.source)}: there is no such file (got {others})")
    check(downloaded, _expected(file), address(file.source))
    put_in_place(downloaded, path)


def _expected(file: File) -> Expected:
    return Expected(file.sha256, file.bytes)


def _has_address(files: FileSet) -> bool:
    return any(not isinstance(file.source, Local) for file in files)
