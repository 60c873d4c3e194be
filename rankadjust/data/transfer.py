"""Transfer: one file over http, resumed when cut, tried again when a failure may pass, checked before use."""

import random
import re
import time
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import responses
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import contained, sha256_of
from rankadjust.base.progress import progress, say

_CHUNK = 1 << 18
# A file of unregistered size may not be larger: no benchmark comes near it, and a disk is full soon enough.
_LARGEST = 20 << 30
# Answers of a server that may be another one soon. Anything else but success is final.
_PASSING = frozenset({408, 425, 429, *range(500, 600)})


@dataclass(frozen=True)
class Patience:
    """How often a transfer is tried and how long it waits, in seconds.

    connect, read: until a connection stands, until the next bytes come.
    first_wait: after the first failure, doubled after each further one.
    longest_wait: between two attempts, whatever the server asks for with Retry-After.
    report_every: between two lines of progress where there is no terminal.
    """

    attempts: int = 5
    connect: float = 15.0
    read: float = 60.0
    first_wait: float = 1.0
    longest_wait: float = 120.0
    report_every: float = 10.0


@dataclass(frozen=True)
class Expected:
    """What the registry says about the bytes of a file; None where it does not know."""

    sha256: str | None
    size: int | None


def check(path: Path, expected: Expected, what: str) -> None:
    """Raise RankadjustError when the bytes of a file, called `what`, are not the expected ones.

    Without a sha256 to compare, a web page is refused: what a server likes to send for a file that is gone.
    """
    size = path.stat().st_size
    page = "; it is a web page" if _is_web_page(path) else ""
    if expected.size is not None and size != expected.size:
        raise RankadjustError(f"{what}: {size:,} bytes, the registry says {expected.size:,}{page}")
    if expected.sha256 is None:
        if page:
            raise RankadjustError(f"{what}: a web page instead of the file")
    elif (sha256 := sha256_of(path)) != expected.sha256.lower():
        raise RankadjustError(f"{what}: sha256 is {sha256}, the registry says {expected.sha256}{page}")


def fetch_http(
    url: str, path: Path, expected: Expected, patience: Patience, hosts: frozenset[str] | None = None
) -> None:
    """Put the file at an http address at `path`, whole and checked, or raise RankadjustError.

    hosts: the names of the only hosts that may be asked, whatever the address or a redirect says; None: any.
    While it is under way it is <path>.part. A cut transfer goes on where it stopped, in this run or a later
    one, if the server tells versions apart (ETag, Last-Modified) and serves ranges.
    """
    part = _Part(path)
    for attempt in range(1, patience.attempts + 1):
        try:
            _transfer(url, part, expected, patience, hosts)
        except _PassingError as error:
            if attempt == patience.attempts:
                if not part.size:
                    part.forget()
                raise RankadjustError(f"{url}: {error} (tried {attempt} times)") from None
            wait = _wait(attempt, error.after, patience)
            say(f"{url}: {error}; again in {wait:.1f} s")
            time.sleep(wait)
        except RankadjustError:
            part.forget()
            raise
        else:
            part.path.replace(path)
            part.forget()
            return


class _PassingError(Exception):
    """A failure that may pass; `after` is how many seconds the server asks to wait."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class _Part:
    """The unfinished file, and beside it the server's mark (ETag or date) of the version it belongs to."""

    def __init__(self, path: Path) -> None:
        # They are appended to or read: a link that somebody put there would lead anywhere.
        self.path = contained(path.with_name(f"{path.name}.part"), path.parent)
        self._mark = contained(path.with_name(f"{path.name}.part.version"), path.parent)

    @property
    def mark(self) -> str:
        return self._mark.read_text(encoding="utf-8") if self._mark.exists() else ""

    @property
    def size(self) -> int:
        """How many bytes can be kept: none without a mark, which alone tells whether the rest fits them."""
        return self.path.stat().st_size if self.path.exists() and self.mark else 0

    def begin(self, mark: str) -> None:
        self.forget()
        self.path.touch()
        if mark:
            self._mark.write_text(mark, encoding="utf-8")

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self._mark.unlink(missing_ok=True)


def _transfer(
    url: str, part: _Part, expected: Expected, patience: Patience, hosts: frozenset[str] | None
) -> None:
    """Try once to complete the part; on return it is whole and checked."""
    headers = {"User-Agent": _user_agent(), "Accept-Encoding": "identity"}
    if part.size:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.mark}
    try:
        with (
            _client(url, patience, hosts) as client,
            client.request("GET", url, headers=headers, preload_content=False) as response,
        ):
            start, total = _agree(url, response, part, expected)
            if total is None or start < total:
                _receive(url, response, part, total, patience)
    except urllib3.exceptions.HTTPError as error:
        raise _described(url, error) from None
    if total is not None and part.path.stat().st_size < total:
        raise _PassingError("the connection was cut")
    try:
        check(part.path, expected, url)
    except RankadjustError as error:
        if not start:
            raise
        # What was added may belong to another version than what was there: once more from the start.
        part.forget()
        raise _PassingError(f"the resumed file is not the expected one ({error})") from None


def _agree(
    url: str, response: urllib3.BaseHTTPResponse, part: _Part, expected: Expected
) -> tuple[int, int | None]:
    """Return where in the file the response begins and the size of the whole (None: nobody knows).

    Prepares the part for the bytes that follow. Raises for an answer that is not (a rest of) the file.
    """
    status, headers = response.status, response.headers
    if status == 416 and headers.get("Content-Range") == f"bytes */{part.size}":
        return part.size, part.size
    if status == 416:
        part.forget()
        raise _PassingError("the server has no such part")
    if status in _PASSING:
        raise _PassingError(_status(status), _retry_after(headers.get("Retry-After")))
    if status not in (200, 206):
        raise RankadjustError(f"{url}: {_status(status)}")
    page = headers.get("Content-Type", "").startswith("text/html")
    if page and expected.sha256 is None:
        raise RankadjustError(f"{url}: a web page instead of the file")
    start, total = (_rest if status == 206 else _whole)(response, part)
    wrong = total is not None and (total > _LARGEST if expected.size is None else total != expected.size)
    if wrong:
        allowed = f"at most {_LARGEST:,} are allowed" if expected.size is None else f"not {expected.size:,}"
        raise RankadjustError(
            f"{url}: the server has {total:,} bytes, {allowed}{'; a web page' if page else ''}"
        )
    return start, expected.size if total is None else total


def _whole(response: urllib3.BaseHTTPResponse, part: _Part) -> tuple[int, int | None]:
    """Begin the part anew, for a response that holds the whole file."""
    part.begin("" if response.headers.get("Accept-Ranges") == "none" else _mark(response))
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _rest(response: urllib3.BaseHTTPResponse, part: _Part) -> tuple[int, int | None]:
    """Keep the part, for a response that goes on where it stops."""
    told = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    # Some servers heed Range and not If-Range.
    if told is None or int(told[1]) != part.size or _mark(response) not in ("", part.mark):
        part.forget()
        raise _PassingError("the server sent another part than the one asked for")
    return part.size, int(told[2]) if told[2].isdecimal() else None


def _mark(response: urllib3.BaseHTTPResponse) -> str:
    """Return what tells versions of the file apart; a weak ETag (W/"…") does not."""
    etag = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _receive(
    url: str, response: urllib3.BaseHTTPResponse, part: _Part, total: int | None, patience: Patience
) -> None:
    limit = _LARGEST if total is None else total
    name = PurePosixPath(urlsplit(url).path).name
    with (
        part.path.open("ab") as file,
        progress(name, total, "bytes", start=file.tell(), quiet=0.0, every=patience.report_every) as report,
    ):
        while chunk := response.read1(_CHUNK, decode_content=False):
            file.write(chunk)
            report(len(chunk))
            if file.tell() > limit:
                raise RankadjustError(f"{url}: more than {limit:,} bytes")


def _wait(attempt: int, after: float | None, patience: Patience) -> float:
    """Return the seconds to wait: what the server asks for, else doubling with every attempt, with jitter."""
    if after is not None:
        return min(after, patience.longest_wait)
    return min(patience.first_wait * 2.0 ** (attempt - 1), patience.longest_wait) * random.uniform(0.5, 1.0)


def _retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, in seconds or as a date."""
    if value is None or value.strip().isdecimal():
        return None if value is None else float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _status(status: int) -> str:
    return f"{status} {responses.get(status, '')}".strip()


# What a failed request is called, and whether another try makes sense; the first that fits counts.
_FAILURES: list[tuple[type[Exception], str, bool]] = [
    (urllib3.exceptions.ResponseError, "too many redirects", False),
    (urllib3.exceptions.SSLError, "no secure connection", False),
    (urllib3.exceptions.LocationValueError, "not a valid address", False),
    (urllib3.exceptions.ProxyError, "no connection to the proxy", True),
    (urllib3.exceptions.NameResolutionError, "the host is not known; is there a network?", True),
    (urllib3.exceptions.NewConnectionError, "no connection", True),
    (urllib3.exceptions.TimeoutError, "no answer in time", True),
    (urllib3.exceptions.ProtocolError, "the connection was cut", True),
    (Exception, "the transfer failed", True),
]


def _described(url: str, error: urllib3.exceptions.HTTPError) -> Exception:
    """Return the error that says in a few words why a request failed and whether it may pass."""
    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    words, passing = next((words, passing) for kind, words, passing in _FAILURES if isinstance(cause, kind))
    return _PassingError(words) if passing else RankadjustError(f"{url}: {words} ({cause})")


def host_of(url: str) -> str:
    """Return the name of the host of an address, as the one that connects reads it."""
    return urllib3.util.parse_url(url).host or ""


class _Pools(urllib3.PoolManager):
    """Connections to the given hosts alone, where there are any given."""

    hosts: frozenset[str] | None = None

    def urlopen(  # type: ignore[override]
        self,
        method: str,
        url: str,
        redirect: bool = True,
        **options: Any,  # noqa: ANN401 - passed on as they come
    ) -> urllib3.BaseHTTPResponse:
        """Ask for an address; that of a redirect comes by here too."""
        if self.hosts is not None and host_of(url) not in self.hosts:
            allowed = ", ".join(sorted(self.hosts))
            raise RankadjustError(
                f"{url}: only {allowed} may be asked, as the network is off (offline: true)"
            )
        return super().urlopen(method, url, redirect, **options)


class _ProxyPools(_Pools, urllib3.ProxyManager):
    """The same through a proxy."""


def _client(url: str, patience: Patience, hosts: frozenset[str] | None) -> urllib3.PoolManager:
    """Return a client that heeds the proxy variables, follows redirects and leaves trying again to us."""
    options: dict[str, Any] = {
        "timeout": urllib3.Timeout(connect=patience.connect, read=patience.read),
        "retries": urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=10),
    }
    place, proxies = urlsplit(url), urllib.request.getproxies()
    proxy = proxies.get(place.scheme) or proxies.get("all")
    if proxy is None or urllib.request.proxy_bypass(place.netloc):
        client = _Pools(**options)
        client.hosts = hosts
        return client
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    login = urlsplit(proxy).netloc.rpartition("@")[0]
    proxy_headers = urllib3.make_headers(proxy_basic_auth=unquote(login)) if login else None
    client = _ProxyPools(proxy, proxy_headers=proxy_headers, **options)
    client.hosts = hosts
    return client


@cache
def _user_agent() -> str:
    try:
        release = version("rankadjust")
    except PackageNotFoundError:
        release = "unreleased"
    return f"rankadjust/{release} (+https://github.com/rankadjust/rankadjust)"


def _is_web_page(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))
