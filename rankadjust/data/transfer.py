"""Transfer: one file over http, resumed when cut, tried again when a failure may pass, checked before use."""

import random
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import responses
from itertools import count
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import urllib3

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import contained, put_in_place
from rankadjust.base.progress import progress, say
from rankadjust.data.answers import announced_message, stops_within_a_line
from rankadjust.data.archives import packing
from rankadjust.data.connections import client_for, host_of, user_agent, why_failed
from rankadjust.data.expected import Expected, check
from rankadjust.data.patience import Patience, duration

_CHUNK = 1 << 18
# A file of unregistered size may not be larger: no benchmark comes near it, and a disk is full soon enough.
_LARGEST = 20 << 30
# What a server packs for the way may unpack to so many bytes, or to a hundred times its size: text shrinks less.
_UNPACKED = 1 << 26
_RATIO = 100
# Answers of a server that may change soon. Any other failure is final.
_PASSING = frozenset({408, 425, 429, *range(500, 600)})


def only_host_of(url: str) -> frozenset[str]:
    """Return the host of an address, where no other host may be asked."""
    return frozenset({host_of(url)})


def fetch_http(
    url: str, path: Path, expected: Expected, patience: Patience, hosts: frozenset[str] | None = None
) -> None:
    """Put the file at an http address at `path`, whole and checked, or raise RankadjustError.

    hosts: the names of the only hosts that may be asked, whatever the address or a redirect says; None: any.
    While it is under way it is <path>.part. A cut transfer goes on where it stopped, in this run or a later
    one, if the server identifies versions (ETag, Last-Modified) and serves ranges.
    """
    deadline = time.monotonic() + patience.whole
    part = _Part(path)
    furthest, failures = part.size, 0
    for attempt in count(1):
        try:
            _transfer(url, part, expected, patience, hosts, deadline)
        except _PassingError as error:
            failures = 1 if part.size > furthest and not isinstance(error, _SlowError) else failures + 1
            furthest = max(furthest, part.size)
            wait = _wait(failures, error.after, patience)
            if failures == patience.attempts or time.monotonic() + wait > deadline:
                if not part.size:
                    part.forget()
                raise RankadjustError(f"{url}: {error} (tried {attempt} times)") from None
            say(f"{url}: {error}; again in {wait:.1f} s")
            time.sleep(wait)
        except RankadjustError:
            part.forget()
            raise
        else:
            put_in_place(part.path, path)
            part.forget()
            return


class _PassingError(Exception):
    """A failure that may pass; `after` is how many seconds the server asks to wait."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class _SlowError(_PassingError):
    """The bytes come so slowly that waiting for them makes no sense."""


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
        """How many bytes can be kept: none without a mark, which shows whether the rest is of the same version."""
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
    url: str,
    part: _Part,
    expected: Expected,
    patience: Patience,
    hosts: frozenset[str] | None,
    deadline: float,
) -> None:
    """Try once to complete the part; on return it is whole and checked."""
    headers = {"User-Agent": user_agent(), "Accept-Encoding": "identity"}
    if part.size:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.mark}
    try:
        with (
            client_for(url, connect=patience.connect, read=patience.read, hosts=hosts) as client,
            client.request("GET", url, headers=headers, preload_content=False) as response,
        ):
            start, total = _agree(url, response, part, expected)
            unannounced = total is None and not getattr(response, "chunked", False)
            if total is None or start < total:
                _receive(url, response, part, total, patience, deadline)
    except urllib3.exceptions.HTTPError as error:
        words, passing = why_failed(error)
        raise (_PassingError(words) if passing else RankadjustError(f"{url}: {words}")) from None
    if total is not None and part.path.stat().st_size < total:
        raise _PassingError("the connection was cut")
    try:
        check(part.path, expected, url)
    except RankadjustError as error:
        if not start:
            raise
        # The new bytes may belong to another version than the old: once more from the start.
        part.forget()
        raise _PassingError(f"the resumed file is not the expected one ({error})") from None
    # Where nobody knows the length, an early end looks like the end.
    if unannounced and expected.sha256 is None and stops_within_a_line(part.path):
        raise _PassingError(
            "neither the server nor the registry gives a length, and the text stops within a line, as if cut off; "
            "if it is whole, declare its `bytes` in the registry"
        )


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
    message = announced_message(headers, _name(url))
    if message and expected.sha256 is None:
        raise RankadjustError(f"{url}: {message} instead of the file")
    start, total = (_rest if status == 206 else _whole)(url, response, part)
    wrong = total is not None and (total > _LARGEST if expected.size is None else total != expected.size)
    if wrong:
        allowed = f"at most {_LARGEST:,} are allowed" if expected.size is None else f"not {expected.size:,}"
        raise RankadjustError(
            f"{url}: the server has {total:,} bytes, {allowed}{f'; {message}' if message else ''}"
        )
    return start, expected.size if total is None else total


def _whole(url: str, response: urllib3.BaseHTTPResponse, part: _Part) -> tuple[int, int | None]:
    """Begin the part anew, for a response that holds the whole file."""
    coded = _is_coded(url, response)
    # Ranges and the length of a coded answer count coded bytes, not the bytes of the file.
    part.begin("" if coded or response.headers.get("Accept-Ranges") == "none" else _mark(response))
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() and not coded else None


def _rest(url: str, response: urllib3.BaseHTTPResponse, part: _Part) -> tuple[int, int | None]:
    """Keep the part, for a response that goes on where it stops."""
    if _is_coded(url, response):
        part.forget()
        raise _PassingError("the server sent a part of the file as it packed it")
    content_range = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    # Some servers heed Range and not If-Range.
    if content_range is None or int(content_range[1]) != part.size or _mark(response) not in ("", part.mark):
        part.forget()
        raise _PassingError("the server sent another part than was asked for")
    return part.size, int(content_range[2]) if content_range[2].isdecimal() else None


# The codings of http and the endings of file names that say the same.
_CODINGS = {"gzip": "gz", "x-gzip": "gz", "deflate": "", "br": "", "zstd": "zst"}


def _is_coded(url: str, response: urllib3.BaseHTTPResponse) -> bool:
    """Return whether the server packed the bytes of the file for the way; raise where they cannot be unpacked.

    A server that calls the packing of the file itself (x.tar.gz) its Content-Encoding sends the file as it is: no other
    coding was asked for.
    """
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    if coding in ("", "identity"):
        return False
    if coding not in response.CONTENT_DECODERS:
        raise RankadjustError(
            f"{url}: the server packed the file ({coding}) in a way that cannot be undone here"
        )
    return packing(_name(url)).split(".")[-1] != _CODINGS.get(coding)


def _name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name


def _mark(response: urllib3.BaseHTTPResponse) -> str:
    """Return the mark of a version of the file; a weak ETag (W/"…") does not."""
    etag = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _receive(
    url: str,
    response: urllib3.BaseHTTPResponse,
    part: _Part,
    total: int | None,
    patience: Patience,
    deadline: float,
) -> None:
    limit = _LARGEST if total is None else total
    coded = _is_coded(url, response)
    with (
        part.path.open("ab") as file,
        progress(
            _name(url), total, "bytes", start=file.tell(), quiet=0.0, every=patience.report_every
        ) as report,
    ):
        since, had = time.monotonic(), file.tell()
        while chunk := response.read1(_CHUNK, decode_content=coded):
            file.write(chunk)
            report(len(chunk))
            if file.tell() > limit:
                raise RankadjustError(f"{url}: more than {limit:,} bytes")
            if coded and file.tell() > max(_UNPACKED, _RATIO * response.tell()):
                raise RankadjustError(
                    f"{url}: what the server packed unpacks to more than a hundred times its size"
                )
            now = time.monotonic()
            if now > deadline:
                raise _PassingError(f"not complete after {duration(patience.whole)}")
            if now - since > patience.rate_window:
                if file.tell() - had < patience.least_rate * (now - since):
                    raise _SlowError(f"fewer than {patience.least_rate:,.0f} bytes come in a second")
                since, had = now, file.tell()


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
