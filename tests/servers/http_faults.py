"""An HTTP server on the loopback interface that serves bytes well, or with the fault a test asks for."""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit


@dataclass
class Served:
    """What stands at one path. Each request uses up one fault; when there are none left all goes well."""

    body: bytes
    faults: Iterator["Fault"] = field(default_factory=lambda: iter(()))


Fault = Callable[["Handler", Served], None]


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Message


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FaultServer"

    def do_GET(self) -> None:
        # A request to a proxy has the whole address, any other the path alone.
        place = urlsplit(self.path)
        path = f"{place.path}?{place.query}" if place.query else place.path
        self.server.seen.append(Seen(path, self.headers))
        served = self.server.served.get(path)
        if served is None:
            status(404)(self, Served(b""))
        else:
            next(served.faults, well)(self, served)

    def begin(self, code: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keep the tests' output clean."""


class LoopbackServer(ThreadingHTTPServer):
    """A server on a free port, in a thread of its own while its context is open."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client hangs up: some tests are about that."""


class FaultServer(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(Handler)
        self.served: dict[str, Served] = {}
        self.seen: list[Seen] = []

    def serve(self, path: str, body: bytes, faults: Iterable[Fault] = ()) -> str:
        """Put bytes at a path ('/a.txt') and return their address."""
        self.served[path] = Served(body, iter(faults))
        return f"{self.address}{path}"


def always(fault: Fault) -> Iterator[Fault]:
    return itertools.repeat(fault)


def well(handler: Handler, served: Served) -> None:
    handler.begin(200, len(served.body), {"Content-Type": "application/octet-stream"})
    handler.wfile.write(served.body)


def status(code: int) -> Fault:
    """Answer with a status."""
    return lambda handler, _served: handler.begin(code, 0, {})


def cut(at: int) -> Fault:
    """Announce the whole and hang up after `at` bytes of it."""

    def fault(handler: Handler, served: Served) -> None:
        handler.begin(200, len(served.body), {})
        handler.wfile.write(served.body[:at])
        handler.close_connection = True

    return fault


def instead(body: bytes) -> Fault:
    """Answer 200 with other bytes."""
    return lambda handler, _served: well(handler, Served(body))
