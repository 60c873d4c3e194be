"""An HTTP server on the loopback interface that serves bytes well, or with the fault a test asks for."""

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Served:
    """What stands at one path. Each request uses up one fault; when there are none left all goes well."""

    body: bytes
    faults: Iterator["Fault"] = field(default_factory=lambda: iter(()))
    etag: str | None = '"v1"'
    ranges: bool = True
    kind: str = "application/octet-stream"


Fault = Callable[["Handler", Served], None]


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Message
    at: float


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FaultServer"

    def do_GET(self) -> None:
        # A request to a proxy has the whole address, any other the path alone.
        place = urlsplit(self.path)
        path = f"{place.path}?{place.query}" if place.query else place.path
        self.server.seen.append(Seen(path, self.headers, time.monotonic()))
        served = self.server.served.get(path)
        if served is None:
            status(404)(self, Served(b""))
        else:
            next(served.faults, well)(self, served)

    def begin(self, code: int, length: int | None, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keep the tests' output clean."""


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.served: dict[str, Served] = {}
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def serve(self, path: str, body: bytes, faults: Iterable[Fault] = (), **served: object) -> str:
        """Put bytes at a path ('/a.txt') and return their address."""
        self.served[path] = Served(body, iter(faults), **served)
        return f"{self.address}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client hangs up: some tests are about that."""


def always(fault: Fault) -> Iterator[Fault]:
    return itertools.repeat(fault)


def well(handler: Handler, served: Served) -> None:
    """Answer as a server should: whole, or the asked rest when the version is still the same."""
    headers = {"Content-Type": served.kind, "Accept-Ranges": "bytes" if served.ranges else "none"}
    if served.etag:
        headers["ETag"] = served.etag
    start, asked = 0, handler.headers.get("Range")
    if asked and served.ranges and handler.headers.get("If-Range") in (None, served.etag):
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        if start >= len(served.body):
            sorry = b"<html>416</html>"
            handler.begin(416, len(sorry), {"Content-Range": f"bytes */{len(served.body)}"})
            handler.wfile.write(sorry)
            return
        headers["Content-Range"] = f"bytes {start}-{len(served.body) - 1}/{len(served.body)}"
    handler.begin(206 if start else 200, len(served.body) - start, headers)
    handler.wfile.write(served.body[start:])


def status(code: int, **headers: str) -> Fault:
    """Answer with a status; header names have underscores here (Retry_After)."""

    def fault(handler: Handler, served: Served) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.begin(code, 0, named)

    return fault


def redirect(to: str) -> Fault:
    return status(302, Location=to)


def cut(at: int) -> Fault:
    """Announce the whole and hang up after `at` bytes of it."""

    def fault(handler: Handler, served: Served) -> None:
        headers = {"ETag": served.etag} if served.etag else {}
        handler.begin(200, len(served.body), headers)
        handler.wfile.write(served.body[:at])
        handler.close_connection = True

    return fault


def stall(at: int) -> Fault:
    """Announce the whole, send `at` bytes of it, and nothing more."""

    def fault(handler: Handler, served: Served) -> None:
        cut(at)(handler, served)
        handler.wfile.flush()
        handler.server.closing.wait(5)

    return fault


def instead(body: bytes, kind: str = "application/octet-stream", **headers: str) -> Fault:
    """Answer 200 with other bytes."""

    def fault(handler: Handler, served: Served) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.begin(200, len(body), {"Content-Type": kind, **named})
        handler.wfile.write(body)

    return fault


def unannounced(body: bytes, **headers: str) -> Fault:
    """Answer 200 with bytes of which no length is told; they end with the connection."""

    def fault(handler: Handler, served: Served) -> None:
        handler.begin(200, None, {name.replace("_", "-"): value for name, value in headers.items()})
        handler.wfile.write(body)
        handler.close_connection = True

    return fault


def trickle(size: int, pause: float) -> Fault:
    """Answer the asked rest, `size` bytes at a time with a pause before each."""

    def fault(handler: Handler, served: Served) -> None:
        for start in range(_begin_rest(handler, served), len(served.body), size):
            if handler.server.closing.wait(pause):
                return
            handler.wfile.write(served.body[start : start + size])

    return fault


def portion(size: int) -> Fault:
    """Answer the asked rest, announce all of it, and hang up after `size` bytes."""

    def fault(handler: Handler, served: Served) -> None:
        start = _begin_rest(handler, served)
        handler.wfile.write(served.body[start : start + size])
        handler.close_connection = True

    return fault


def _begin_rest(handler: Handler, served: Served) -> int:
    """Announce the asked rest, or the whole where none is asked for, and return where it begins."""
    start = int(handler.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
    headers = {"ETag": served.etag} if served.etag else {}
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(served.body) - 1}/{len(served.body)}"
    handler.begin(206 if start else 200, len(served.body) - start, headers)
    return start


def rest_of(body: bytes, etag: str) -> Fault:
    """Answer a range of other bytes, whatever version was asked for."""

    def fault(handler: Handler, served: Served) -> None:
        start = int(handler.headers["Range"].removeprefix("bytes=").rstrip("-"))
        span = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}", "ETag": etag}
        handler.begin(206, len(body) - start, span)
        handler.wfile.write(body[start:])

    return fault
