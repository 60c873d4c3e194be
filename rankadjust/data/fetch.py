"""Fetch: every file of a data set from the first source that has it, checked, all of them or none.

pooch gets the file at an address, zenodo_get a file of a Zenodo record, pip a wheel. What was downloaded stays in a
cache laid out <host>/<path> like a mirror, so a cache can serve as one.
"""

import glob
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from rankadjust.base.errors import RankadjustError, is_of_writing, unwritable
from rankadjust.base.io import atomic_folder, contained, sha256_of, write_text
from rankadjust.data.archives import extract, packing
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
    without_password,
)

# How often pooch tries again, after one second and after two.
_RETRIES = 2
# A finder says where the bytes of a file are on this disk, checked as far as the registry allows.
_Finder = Callable[[File], Path]
# A getter puts the bytes of a file at the path, whole or not at all.
_Getter = Callable[[File, Path], None]


def fetch_dataset(
    name: str,
    alternatives: Sequence[FileSet],
    folder: Path,
    *,
    cache: Path,
    mirror: str | None = None,
    offline: bool = False,
) -> dict[str, Any]:
    """Write <split>.txt for every split, bytes as published, and folder/source.json; all or nothing.

    alternatives: sets of files of the registry, in order of preference; the first that can be fetched whole is taken.
    cache: folder that keeps what was downloaded, at <host>/<path> of its address.
    mirror: folder or http address laid out the same way (a wheel is at <package>/<file>), tried first.
    offline: use nothing but the mirror, the cache and files on this disk.

    Returns what source.json holds: the number of the alternative, and each file's address, sha256, bytes,
    whether the registry's sha256 verified it, and the members of its splits.
    Raises RankadjustError, in one line, naming every alternative and why it failed.
    """
    # `folder` is replaced, so it has to be the data set's own.
    contained(folder, Path(folder).parent)
    finders = [_mirrored(mirror, cache)] if mirror else []
    finders.append(_finder(cache, None if offline else _from_its_source))
    failures: list[str] = []
    for find in finders:
        for number, files in enumerate(alternatives, 1):
            try:
                with atomic_folder(Path(folder)) as temporary:
                    described = [_take(file, find(file), temporary, cache) for file in files]
                    provenance = {"dataset": name, "alternative": number, "files": described}
                    write_text(
                        json.dumps(provenance, indent=2, ensure_ascii=False) + "\n", temporary / MANIFEST
                    )
            except (RankadjustError, OSError) as error:
                if is_of_writing(error):
                    # No other source helps.
                    raise RankadjustError(
                        unwritable(getattr(error, "filename", None) or cache, error)
                    ) from None
                if str(error) not in failures:
                    failures.append(str(error))
            else:
                return provenance
    hint = "" if mirror else "; if you have copies, name their folder: mirror=FOLDER"
    raise RankadjustError(f"{name} could not be fetched: {'; '.join(failures)}{hint}")


def _take(file: File, path: Path, folder: Path, cache: Path) -> dict[str, Any]:
    """Put the splits of one file into the folder and describe where they came from."""
    described = {
        "address": address(file.source),
        "sha256": file.sha256 or sha256_of(path),
        "bytes": path.stat().st_size,
        "verified": file.sha256 is not None,
        "members": dict(file.members),
    }
    if file.sha256 is None:
        _say("{address}: not verified yet; sha256: {sha256}, bytes: {bytes}".format(**described))
    targets = {folder / f"{split}.txt": member for split, member in file.members.items()}
    try:
        extract(path, _file_name(file.source), targets)
    except RankadjustError as error:
        # Only unpacking shows that an unverified file is bad: the next run must not find it again.
        if file.sha256 is None and cache in path.parents:
            path.unlink()
        raise RankadjustError(f"{address(file.source)}: {error}") from None
    return described


def _finder(cache: Path, get: _Getter | None) -> _Finder:
    """Return the finder that looks at this disk, then into the cache, and at last gets the file into the cache."""

    def find(file: File) -> Path:
        path = _local_or_in(cache, file.source)
        if isinstance(file.source, Local):
            return _checked(path, file, str(path))
        if path.is_file():
            try:
                return _checked(path, file, str(path))
            except RankadjustError as error:
                _say(f"{error}; it is fetched again")
        if get is None:
            raise RankadjustError(
                f"{address(file.source)}: not in {path}, and the network is off (offline: true)"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".fetch.", suffix=".tmp") as scratch:
            downloaded = Path(scratch) / path.name
            get(file, downloaded)
            _checked(downloaded, file, address(file.source)).replace(path)
        return path

    return find


def _mirrored(mirror: str, cache: Path) -> _Finder:
    """Return the finder that looks into a mirror; a local one is read in place."""
    if re.match(r"https?://", mirror):
        root = mirror.rstrip("/")

        def get(file: File, path: Path) -> None:
            _from_address(f"{root}/{quote(str(_place(file.source)))}", file, path)

        return _finder(cache, get)
    if not Path(mirror).is_dir():
        shown = without_password(mirror)
        raise RankadjustError(f"mirror: {shown} is neither a folder nor an address that begins with http")

    def find(file: File) -> Path:
        path = _local_or_in(Path(mirror), file.source)
        return _checked(path, file, str(path))

    return find


def _local_or_in(folder: Path, source: Source) -> Path:
    """Return the path of a file on this disk, or its path in a mirror or cache, which may not lead out of it."""
    return source.path if isinstance(source, Local) else contained(folder / _place(source), folder)


def _checked(path: Path, file: File, what: str) -> Path:
    """Return the path of a file whose bytes are those of the registry; raise RankadjustError for any other.

    Without a sha256 to compare, a web page is refused: what a server likes to send for a file that is gone.
    """
    if not path.is_file():
        raise RankadjustError(f"{what}: no such file")
    size = path.stat().st_size
    if file.bytes is not None and size != file.bytes:
        raise RankadjustError(f"{what}: {size:,} bytes, but the registry says {file.bytes:,}")
    if file.sha256 is None:
        with path.open("rb") as opened:
            start = opened.read(1024).lstrip().lower()
        if start.startswith((b"<!doctype html", b"<html")):
            raise RankadjustError(f"{what}: a web page instead of the file")
    elif (sha256 := sha256_of(path)) != file.sha256:
        raise RankadjustError(f"{what}: sha256 is {sha256}, but the registry says {file.sha256}")
    return path


def _place(source: Source) -> PurePosixPath:
    """Return where a mirror and the cache keep a file: <host>/<path> of its address, or <package>/<wheel>."""
    if isinstance(source, Package):
        return PurePosixPath(source.package, source.file)
    url = urlsplit(address(source))
    # A query is part of the name of the file, as other mirroring programs write it.
    query = "?" + url.query.replace("/", "%2F") if url.query else ""
    return PurePosixPath(f"{url.netloc}/{unquote(url.path).strip('/')}{query}")


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


def _from_its_source(file: File, path: Path) -> None:
    match file.source:
        case Http(url):
            _from_address(url, file, path)
        case Package(package, version):
            # pip finds the package index, its mirrors and their certificates.
            requirement = f"{package}=={version}"
            command = [
                sys.executable, "-m", "pip", "download", "--dest", str(path.parent),
                "--no-deps", "--only-binary", ":all:", "--ignore-requires-python",
                "--quiet", "--no-input", "--disable-pip-version-check", "--", requirement,
            ]  # fmt: skip
            _run(command, f"{address(file.source)}: pip download {requirement}")
        case Zenodo(record, name):
            zenodo_get = shutil.which("zenodo_get", path=Path(sys.executable).parent)
            if zenodo_get is None:
                raise RankadjustError(
                    f"{address(file.source)}: zenodo_get is missing: pip install '.[workflow]' in rankadjust's folder"
                )
            _say(f"{address(file.source)}: fetching with zenodo_get")
            # The command may leave anything in its fresh folder: only a whole file of the declared name is taken.
            wanted = ["--record", record, f"--glob={glob.escape(name)}", f"--output-dir={path.parent}"]
            options = [f"--max-http-retries={_RETRIES}", "--verbosity=3"]
            _run([zenodo_get, *wanted, *options], address(file.source))


def _from_address(url: str, file: File, path: Path) -> None:
    """Get the file at an address with pooch, which compares the sha256 and tries again."""
    import pooch

    # What it logs, and the messages of requests, hold the whole address.
    pooch.get_logger().setLevel("ERROR")
    known = {path.name: file.sha256}
    fetcher = pooch.create(path.parent, "", registry=known, urls={path.name: url}, retry_if_failed=_RETRIES)
    # The bytes as they are: a server may pack a text for the way.
    headers = {"User-Agent": "rankadjust", "Accept-Encoding": "identity"}
    get = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), headers=headers)
    try:
        fetcher.fetch(path.name, downloader=get)
    except (OSError, ValueError) as error:
        # An error of requests is an OSError without a number.
        if isinstance(error, OSError) and error.errno:
            raise
        response = getattr(error, "response", None)
        reason = str(error).partition(". ")[0]
        if isinstance(error, OSError):
            reason = f"there is no connection, or it was cut ({type(error).__name__})"
        if response is not None:
            reason = f"{response.status_code} {response.reason}"
        raise RankadjustError(without_password(f"{url}: {reason}")) from None


def _say(text: str) -> None:
    """Write a line for people to standard error, as it is now: a job sends it to its log."""
    sys.stderr.write(f"{text}\n")


def _run(command: Sequence[str], what: str) -> None:
    """Run a command; when it fails, its own first error is the reason. Only a terminal shows its progress."""
    errors = None if sys.stderr.isatty() else subprocess.STDOUT
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, check=False,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    if done.returncode:
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in done.stdout.splitlines()]
        complaints = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
        reason = next(filter(None, complaints or lines), f"exit code {done.returncode}")
        raise RankadjustError(f"{what}: {without_password(reason[:300])}")
