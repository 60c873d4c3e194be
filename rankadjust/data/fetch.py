"""Fetch: every file of a data set from the first source that has it, checked, all of them or none.

pooch gets what stands at an address, zenodo_get a file of a Zenodo record, pip a wheel. What was downloaded stays in a
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
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from rankadjust.base.errors import RankadjustError, installed_by, is_of_writing, unwritable
from rankadjust.base.io import atomic_folder, contained, sha256_of, write_text
from rankadjust.base.progress import say
from rankadjust.base.schemas import problem_with, require
from rankadjust.data.archives import DamagedError, extract, packing
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
# What the errors of requests are called, by their class.
_FAILURES = {
    "ConnectionError": "no connection; is there a network?",
    "ProxyError": "no connection to the proxy",
    "SSLError": "no secure connection; if your network has a certificate of its own, name it in REQUESTS_CA_BUNDLE",
    "ConnectTimeout": "no answer in time",
    "ReadTimeout": "no answer in time",
    "ChunkedEncodingError": "the connection was cut",
    "TooManyRedirects": "too many redirects",
}


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

    alternatives: sets of files, in order of preference; the first that can be fetched whole is taken.
    cache: folder that keeps what was downloaded, at <host>/<path> of its address.
    mirror: folder or http address laid out the same way (a wheel is at <package>/<file>), tried first.
    offline: use nothing but the mirror, the cache and files on this disk; of a mirror on a server, its host alone.

    Returns what source.json holds: the number of the alternative, and each file's address, sha256, bytes,
    whether the registry's sha256 verified it, and the members of its splits.
    Raises RankadjustError, in one line, naming every alternative and why it failed.
    """
    # `folder` is replaced, so it has to be the data set's own.
    require(name, "name", "the name of a data set:")
    contained(folder, Path(folder).parent)
    if not alternatives:
        raise RankadjustError(f"{name}: the registry declares no source")
    numbered = list(enumerate(alternatives, 1))
    attempts = [(_finder(cache, None if offline else _from_its_source), *entry) for entry in numbered]
    if mirror:
        find = _mirrored(mirror, cache, offline=offline)
        elsewhere = [entry for entry in numbered if not all(_is_local(file) for file in entry[1])]
        attempts = [(find, *entry) for entry in elsewhere] + attempts
    failures: list[str] = []
    for find, number, files in attempts:
        try:
            with atomic_folder(Path(folder)) as temporary:
                described = [_take(file, find(file), temporary, cache) for file in files]
                provenance = {"dataset": name, "alternative": number, "files": described}
                write_text(json.dumps(provenance, indent=2, ensure_ascii=False) + "\n", temporary / MANIFEST)
        except (RankadjustError, OSError) as error:
            if is_of_writing(error):
                # No other source helps.
                raise RankadjustError(unwritable(getattr(error, "filename", None) or cache, error)) from None
            if str(error) not in failures:
                failures.append(str(error))
        else:
            return provenance
    hint = "" if mirror else "; if you have copies, name their folder: mirror=FOLDER"
    raise RankadjustError(f"{name} could not be fetched: {'; '.join(failures)}{hint}")


# A finder says where the bytes of a file are on this disk, checked as far as the registry allows.
_Finder = Callable[[File], Path]
# A getter puts the bytes of a file at the path, whole or not at all.
_Getter = Callable[[File, Path], None]


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
        say("{address}: not verified yet; sha256: {sha256}, bytes: {bytes}".format(**described))
    paths = {split: contained(folder / f"{split}.txt", folder) for split in file.members}
    targets = {paths[split]: member for split, member in file.members.items()}
    sizes = {paths[split]: size for split, size in file.member_bytes.items()}
    try:
        extract(path, _file_name(file.source), targets, sizes)
    except RankadjustError as error:
        # Only unpacking shows that an unverified file is bad: the next run must not find it again.
        unverified = file.sha256 is None and not _is_local(file)
        if isinstance(error, DamagedError) and unverified and cache in path.parents:
            path.unlink()
        raise RankadjustError(f"{address(file.source)}: {error}") from None
    return described


def _is_local(file: File) -> bool:
    return isinstance(file.source, Local)


def _finder(cache: Path, get: _Getter | None) -> _Finder:
    """Return the finder that looks at this disk, then into the cache, and at last gets the file into the cache."""

    def find(file: File) -> Path:
        if isinstance(file.source, Local):
            return _checked(file.source.path, file, str(file.source.path), "no such file")
        path = contained(cache / _place(file.source), cache)
        if path.is_file():
            try:
                return _checked(path, file, str(path))
            except RankadjustError as error:
                say(f"{error}; it is fetched again")
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


def _mirrored(mirror: str, cache: Path, *, offline: bool) -> _Finder:
    """Return the finder that looks into a mirror; a local one is read in place."""
    if re.match(r"https?://", mirror):
        return _finder(cache, partial(_from_mirror, mirror, offline=offline))
    if not Path(mirror).is_dir():
        raise RankadjustError(
            f"mirror: {without_password(mirror)} is neither a folder nor an address that begins with http"
        )

    def find(file: File) -> Path:
        if isinstance(file.source, Local):
            return _checked(file.source.path, file, str(file.source.path), "no such file")
        path = contained(Path(mirror) / _place(file.source), mirror)
        return _checked(path, file, str(path), "no such file in the mirror")

    return find


def _checked(path: Path, file: File, what: str, missing: str = "there is no such file") -> Path:
    """Return the path of a file whose bytes are those of the registry; raise RankadjustError for any other.

    Without a sha256 to compare, a web page is refused: what a server likes to send for a file that is gone.
    """
    if not path.is_file():
        raise RankadjustError(f"{what}: {missing}")
    size = path.stat().st_size
    with path.open("rb") as opened:
        start = opened.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    is_page = start.startswith((b"<!doctype html", b"<html"))
    is_one = "; it is a web page" if is_page else ""
    if file.bytes is not None and size != file.bytes:
        raise RankadjustError(f"{what}: {size:,} bytes, the registry says {file.bytes:,}{is_one}")
    if file.sha256 is None:
        if is_page:
            raise RankadjustError(f"{what}: a web page instead of the file")
    elif (sha256 := sha256_of(path)) != file.sha256.lower():
        raise RankadjustError(f"{what}: sha256 is {sha256}, the registry says {file.sha256}{is_one}")
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
            raise AssertionError(f"{path}: a file on this disk has no place in a mirror")
        case _:
            try:
                url = urlsplit(address(source))
            except ValueError as error:
                raise RankadjustError(f"{address(source)}: not a valid address ({error})") from None
            # A query is part of the name of the file, as other mirroring programs write it.
            query = "?" + url.query.replace("/", "%2F") if url.query else ""
            place = f"{url.netloc}/{unquote(url.path).strip('/')}{query}"
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


def _from_its_source(file: File, path: Path) -> None:
    match file.source:
        case Http(url):
            _from_address(url, file, path)
        case Package():
            _from_package(file.source, path)
        case Zenodo():
            _from_zenodo(file.source, path)
        case Local():
            raise AssertionError("a local file is read in place")


def _from_mirror(mirror: str, file: File, path: Path, *, offline: bool) -> None:
    _from_address(f"{mirror.rstrip('/')}/{quote(str(_place(file.source)))}", file, path, leave=not offline)


def _from_address(url: str, file: File, path: Path, *, leave: bool = True) -> None:
    """Get what stands at an address with pooch, which compares the sha256 and tries again.

    leave: whether the server may lead to another host.
    """
    import pooch

    shown = without_password(url)

    def stay(response: Any, **_options: object) -> None:  # noqa: ANN401 - requests is imported by pooch alone
        to = urljoin(response.url, response.headers.get("Location", ""))
        if response.is_redirect and not leave and urlsplit(to).hostname != urlsplit(url).hostname:
            raise RankadjustError(f"{shown}: leads elsewhere, and the network is off (offline: true)")

    # What it logs, and the messages of requests, hold the whole address.
    pooch.get_logger().setLevel("ERROR")
    known = {path.name: file.sha256}
    fetcher = pooch.create(path.parent, "", registry=known, urls={path.name: url}, retry_if_failed=_RETRIES)
    # The bytes as they are: a server may pack a text for the way.
    headers = {"User-Agent": "rankadjust", "Accept-Encoding": "identity"}
    get = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), headers=headers, hooks={"response": stay})
    try:
        fetcher.fetch(path.name, downloader=get)
    except (OSError, ValueError) as error:
        # An error of requests is an OSError without a number.
        if isinstance(error, OSError) and error.errno:
            raise
        raise RankadjustError(f"{shown}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return in a few words why a request failed."""
    words = _FAILURES.get(type(error).__name__)
    response = getattr(error, "response", None)
    if words is None and response is not None:
        return f"{response.status_code} {response.reason}".strip()
    return words or without_password(str(error)).partition(". ")[0]


def _from_package(source: Package, path: Path) -> None:
    """Get a wheel with pip, which finds the package index, its mirrors and their certificates."""
    requirement = f"{source.package}=={source.version}"
    command = [
        sys.executable, "-m", "pip", "download", "--dest", str(path.parent),
        "--no-deps", "--only-binary", ":all:", "--ignore-requires-python",
        "--quiet", "--no-input", "--disable-pip-version-check", "--", requirement,
    ]  # fmt: skip
    _run(command, f"{address(source)}: pip download {requirement}")
    _only(path, source)


def _from_zenodo(source: Zenodo, path: Path) -> None:
    """Get a file of a Zenodo record with the command zenodo_get, and trust only what it leaves.

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
    pattern = f"--glob={glob.escape(source.file)}"
    options = [f"--output-dir={path.parent}", f"--max-http-retries={_RETRIES}", "--verbosity=3"]
    _run([command, "--record", source.record, pattern, *options], address(source))
    _only(path, source)


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


def _only(path: Path, source: Source) -> None:
    """Raise where a command left no file of the name that was asked for in its fresh folder."""
    if path.is_symlink() or not path.is_file():
        others = ", ".join(sorted(other.name for other in path.parent.iterdir())[:5]) or "nothing"
        raise RankadjustError(f"{address(source)}: there is no such file (got {others})")
