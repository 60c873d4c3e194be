"""Transfers from a server on the loopback interface that makes every mistake a server can make."""

import gzip
import hashlib
import io
import re
import socket
import ssl
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.expected import Expected, check
from rankadjust.data.patience import Patience
from rankadjust.data.transfer import _wait, fetch_http
from tests.servers.http_faults import (
    FaultServer,
    always,
    cut,
    instead,
    portion,
    redirect,
    rest_of,
    stall,
    status,
    trickle,
    unannounced,
)
from tests.servers.zenodo import Deposit, LoopbackZenodo, make_certificate

BODY = (bytes(number * number % 251 for number in range(251)) * 1600)[:400_000]
OTHER = bytes(reversed(BODY))
HALF = len(BODY) // 2
# Time enough for a busy machine where nothing is wrong; hardly a pause where something is.
QUICK = Patience(connect=2.0, read=5.0, first_wait=0.01, longest_wait=0.3)
STALLED = replace(QUICK, read=0.1)
PAGE = b"\n<!DOCTYPE html><title>gone</title>"


def expected(body: bytes = BODY) -> Expected:
    return Expected(hashlib.sha256(body).hexdigest(), len(body))


UNKNOWN = Expected(None, None)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    with FaultServer() as server:
        yield server


def succeeds(url: str, folder: Path, wanted: Expected | None = None, patience: Patience = QUICK) -> None:
    """Fetch BODY; nothing else may be left in the folder."""
    fetch_http(url, folder / "file", wanted or expected(), patience)
    assert (folder / "file").read_bytes() == BODY
    assert [path.name for path in folder.iterdir()] == ["file"]


def fails(
    url: str,
    folder: Path,
    message: str,
    wanted: Expected | None = None,
    patience: Patience = QUICK,
    kept: int = 0,
) -> None:
    """Expect one line, nothing under the final name, and `kept` bytes to go on from."""
    with pytest.raises(RankadjustError, match=message) as caught:
        fetch_http(url, folder / "file", wanted or expected(), patience)
    assert str(caught.value).startswith(url)
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == ["file.part", "file.part.version"] * bool(kept)
    assert not kept or (folder / "file.part").read_bytes() == BODY[:kept]


def pauses(server: FaultServer, log: str) -> list[float]:
    """Return the pauses that the log tells of, once the times of the requests show that they were made."""
    told = [float(seconds) for seconds in re.findall(r"again in ([\d.]+) s", log)]
    made = [after.at - before.at for before, after in pairwise(server.seen)]
    assert all(pause > seconds - 0.05 for pause, seconds in zip(made, told, strict=True))
    return told


@pytest.mark.parametrize("wanted", [expected(), Expected(None, len(BODY)), UNKNOWN])
def test_a_good_server(tmp_path, server, wanted):
    succeeds(server.serve("/a.bin", BODY), tmp_path, wanted)
    (seen,) = server.seen
    assert re.fullmatch(
        r"rankadjust/\S+ \(\+https://github.com/rankadjust/rankadjust\)", seen.headers["User-Agent"]
    )
    assert seen.headers["Accept-Encoding"] == "identity"
    assert "Range" not in seen.headers


def test_an_empty_file(tmp_path, server):
    fetch_http(server.serve("/empty", b""), tmp_path / "file", expected(b""), QUICK)
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410])
def test_what_will_not_pass_is_not_tried_again(tmp_path, server, code):
    fails(server.serve("/a", BODY, [status(code)]), tmp_path, f": {code} [A-Z]")
    assert len(server.seen) == 1


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(tmp_path, server, code):
    succeeds(server.serve("/a", BODY, [status(code), status(code)]), tmp_path)
    assert len(server.seen) == 3


def test_five_attempts_are_enough(tmp_path, server):
    fails(server.serve("/a", BODY, always(status(500))), tmp_path, r"500 Internal.*\(tried 5 times\)")
    assert len(server.seen) == 5


def test_pauses_double_and_have_jitter(tmp_path, server, capsys):
    url = server.serve("/a", BODY, [status(500)] * 4)
    succeeds(url, tmp_path, patience=replace(QUICK, first_wait=0.2, longest_wait=0.4))
    # Half to all of 0.2, 0.4, and then no more than 0.4; printed with one digit.
    first, *later = pauses(server, capsys.readouterr().err)
    assert 0.1 <= first <= 0.2
    assert all(0.2 <= pause <= 0.4 for pause in later)


def test_pauses_differ():
    # So that many clients that failed together do not come back together.
    waits = [_wait(3, None, Patience(first_wait=1.0, longest_wait=3.0)) for _ in range(200)]
    assert len(set(waits)) > 100
    assert 1.5 <= min(waits) < 1.7
    assert 2.8 < max(waits) <= 3.0


def http_date(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("asked", "low", "high"),
    [
        ("7200", 0.4, 0.4),  # no longer than longest_wait
        (3600.0, 0.4, 0.4),
        ("0", 0.0, 0.0),  # instead of the 0.1 to 0.2 s of our own
        (-60.0, 0.0, 0.0),
        ("soon", 0.1, 0.2),  # not understood: our own
    ],
)
@pytest.mark.parametrize("code", [429, 503])
def test_retry_after(tmp_path, server, capsys, code, asked, low, high):
    value = asked if isinstance(asked, str) else http_date(asked)
    url = server.serve("/a", BODY, [status(code, Retry_After=value)])
    succeeds(url, tmp_path, patience=replace(QUICK, first_wait=0.2, longest_wait=0.4))
    (pause,) = pauses(server, capsys.readouterr().err)
    assert low <= pause <= high


def test_a_cut_transfer_goes_on_where_it_stopped(tmp_path, server):
    succeeds(server.serve("/a", BODY, [cut(HALF)]), tmp_path)
    again = server.seen[1].headers
    assert (again["Range"], again["If-Range"]) == (f"bytes={HALF}-", '"v1"')


def test_a_cut_transfer_starts_anew_without_ranges(tmp_path, server):
    succeeds(server.serve("/a", BODY, [cut(HALF)], ranges=False), tmp_path)
    assert len(server.seen) == 2


@pytest.mark.parametrize("etag", [None, 'W/"v1"'])
def test_a_cut_transfer_starts_anew_without_a_version(tmp_path, server, etag):
    succeeds(server.serve("/a", BODY, [cut(HALF)], etag=etag), tmp_path)
    assert "Range" not in server.seen[1].headers


def test_a_later_run_goes_on_where_the_last_one_stopped(tmp_path, server):
    url = server.serve("/a", BODY, [cut(HALF), *[status(500)] * 4])
    fails(url, tmp_path, "500", kept=HALF)
    succeeds(url, tmp_path)
    assert server.seen[-1].headers["Range"] == f"bytes={HALF}-"


def test_a_later_run_finds_the_part_complete(tmp_path, server):
    (tmp_path / "file.part").write_bytes(BODY)
    (tmp_path / "file.part.version").write_text('"v1"')
    succeeds(server.serve("/a", BODY), tmp_path)
    assert len(server.seen) == 1


def test_a_part_that_is_longer_than_the_file(tmp_path, server):
    (tmp_path / "file.part").write_bytes(BODY + b"x")
    (tmp_path / "file.part.version").write_text('"v1"')
    succeeds(server.serve("/a", BODY), tmp_path)


def test_a_part_without_its_version_is_not_used(tmp_path, server):
    (tmp_path / "file.part").write_bytes(OTHER[:HALF])
    succeeds(server.serve("/a", BODY), tmp_path, UNKNOWN)


def test_a_new_version_is_fetched_whole(tmp_path, server):
    (tmp_path / "file.part").write_bytes(OTHER[:HALF])
    (tmp_path / "file.part.version").write_text('"v0"')
    succeeds(server.serve("/a", BODY), tmp_path, UNKNOWN)
    assert server.seen[0].headers["If-Range"] == '"v0"'


@pytest.mark.parametrize("wanted", [expected(), UNKNOWN])
def test_a_server_that_sends_the_rest_of_another_version(tmp_path, server, wanted):
    succeeds(server.serve("/a", BODY, [cut(HALF), rest_of(OTHER, '"v2"')]), tmp_path, wanted)
    assert "Range" not in server.seen[2].headers


def test_a_wrong_rest_under_the_same_version(tmp_path, server):
    succeeds(server.serve("/a", BODY, [cut(HALF), rest_of(OTHER, '"v1"')]), tmp_path)
    assert "Range" not in server.seen[2].headers


def test_always_cut(tmp_path, server):
    url = server.serve("/a", BODY, always(cut(HALF)), etag=None)
    fails(url, tmp_path, r"the connection was cut \(tried 5 times\)")


def test_less_than_announced_but_as_much_as_registered(tmp_path, server):
    def longer(handler, served):
        handler.begin(200, len(BODY) + 10, {})
        handler.wfile.write(BODY)
        handler.close_connection = True

    fails(server.serve("/a", BODY, [longer]), tmp_path, "the server has 400,010 bytes, not 400,000")
    cut_short = "the connection was cut"
    fails(server.serve("/b", BODY, always(longer), etag=None), tmp_path, cut_short, UNKNOWN)


def test_another_length_than_registered_is_not_even_received(tmp_path, server):
    wanted = Expected(hashlib.sha256(BODY).hexdigest(), 399_999)
    fails(server.serve("/a", BODY), tmp_path, "the server has 400,000 bytes, not 399,999", wanted)
    assert len(server.seen) == 1


def test_an_unannounced_length_within_the_registered_one(tmp_path, server):
    succeeds(server.serve("/a", BODY, [unannounced(BODY)]), tmp_path)


TRIPLES = b"a\tlikes\tb\n" * 1000


def test_an_unannounced_end_within_a_line_is_a_cut(tmp_path, server):
    url = server.serve("/a.txt", TRIPLES, [unannounced(TRIPLES[:-5])])
    fetch_http(url, tmp_path / "file", UNKNOWN, QUICK)
    assert (tmp_path / "file").read_bytes() == TRIPLES
    assert len(server.seen) == 2


@pytest.mark.parametrize("end", ["", "\n", "\u00e9", "\u00e9\u00e9\u00e9"])
def test_an_unannounced_end_without_a_line_end_is_never_taken(tmp_path, server, end):
    body = TRIPLES.strip() + end.encode()
    url = server.serve("/a.txt", body, always(unannounced(body)))
    whole = end == "\n"
    if whole:
        fetch_http(url, tmp_path / "file", UNKNOWN, QUICK)
    else:
        fails(
            url, tmp_path, r"stops within a line, as if cut off; .*`bytes` in the registry \(tried 5", UNKNOWN
        )
        # Its length says that it is whole.
        (tmp_path / "declared").mkdir()
        fetch_http(url, tmp_path / "declared" / "file", Expected(None, len(body)), QUICK)


def test_an_announced_end_without_a_line_end_is_an_end(tmp_path, server):
    body = TRIPLES.strip()
    fetch_http(server.serve("/a.txt", body), tmp_path / "file", UNKNOWN, QUICK)
    assert (tmp_path / "file").read_bytes() == body


@pytest.mark.parametrize("wanted", [expected(), UNKNOWN])
@pytest.mark.parametrize("coding", ["gzip", "X-GZIP"])
@pytest.mark.parametrize("answer", [instead, unannounced])
def test_what_the_server_packed_for_the_way_is_unpacked(tmp_path, server, wanted, coding, answer):
    packed = gzip.compress(BODY)
    assert len(packed) != len(BODY)
    succeeds(
        server.serve("/a.bin", BODY, [answer(packed, Content_Encoding=coding, ETag='"packed"')]),
        tmp_path,
        wanted,
    )
    assert len(server.seen) == 1


def test_a_packed_transfer_that_was_cut_starts_anew(tmp_path, server):
    packed = gzip.compress(BODY)

    def cut_packed(handler, served):
        handler.begin(200, len(packed), {"Content-Encoding": "gzip", "ETag": '"v1"'})
        handler.wfile.write(packed[: len(packed) // 2])
        handler.close_connection = True

    succeeds(server.serve("/a", BODY, [cut_packed]), tmp_path)
    assert "Range" not in server.seen[1].headers


@cache
def packed_zeros():
    """Return zeros, packed as tightly as gzip can: 1,030 to 1."""
    return gzip.compress(bytes(100 << 20))


@pytest.mark.parametrize("wanted", [UNKNOWN, Expected("0" * 64, None)])
@pytest.mark.parametrize("answer", [instead, unannounced])
def test_what_unpacks_to_a_thousand_times_its_size_is_refused(tmp_path, server, wanted, answer):
    url = server.serve("/a.txt", b"", always(answer(packed_zeros(), Content_Encoding="gzip")))
    fails(url, tmp_path, "what the server packed unpacks to more than a hundred times its size", wanted)
    assert len(server.seen) == 1


def test_what_is_small_may_be_packed_as_tightly_as_gzip_can(tmp_path, server):
    body = b"0\t0\t0\n" * 1_000_000
    packed = gzip.compress(body)
    assert len(body) > 400 * len(packed)
    url = server.serve("/a.txt", b"", [instead(packed, Content_Encoding="gzip")])
    fetch_http(url, tmp_path / "file", UNKNOWN, QUICK)
    assert (tmp_path / "file").read_bytes() == body


def test_a_file_that_is_packed_itself_stays_packed(tmp_path, server):
    packed = gzip.compress(BODY)
    url = server.serve("/a.tar.gz", b"", [instead(packed, Content_Encoding="gzip")])
    fetch_http(url, tmp_path / "file", expected(packed), QUICK)
    assert (tmp_path / "file").read_bytes() == packed


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (instead(BODY, Content_Encoding="compress"), r"packed the file \(compress\).* cannot be undone"),
        (instead(BODY, Content_Encoding="gzip"), "packed the file, and it cannot be unpacked"),
    ],
)
def test_what_cannot_be_unpacked(tmp_path, server, fault, message):
    fails(server.serve("/a", BODY, always(fault)), tmp_path, message)


def test_a_trickle_is_given_up(tmp_path, server):
    """Two bytes come every 20 ms, a hundred a second, where a thousand are asked for: each attempt ends."""
    slow = replace(QUICK, rate_window=0.1, attempts=3, whole=10.0)
    url = server.serve("/a", BODY, always(trickle(2, 0.02)), etag=None)
    fails(url, tmp_path, r"fewer than 1,000 bytes come in a second \(tried 3 times\)", patience=slow)


def test_progress_of_a_trickle_does_not_count(tmp_path, server):
    slow = replace(QUICK, rate_window=0.1, attempts=3, whole=10.0)
    url = server.serve("/a", BODY, always(trickle(2, 0.02)))
    with pytest.raises(RankadjustError, match=r"come in a second \(tried 3 times\)"):
        fetch_http(url, tmp_path / "file", expected(), slow)


def test_a_quick_transfer_may_take_long(tmp_path, server):
    """40,000 bytes every 20 ms are two million a second; the windows end several times on the way."""
    succeeds(
        server.serve("/a", BODY, [trickle(40_000, 0.02)]), tmp_path, patience=replace(QUICK, rate_window=0.05)
    )
    assert len(server.seen) == 1


def test_there_is_a_limit_to_the_whole(tmp_path, server):
    limited = replace(QUICK, whole=0.3)
    url = server.serve("/a", BODY, always(trickle(1000, 0.02)))
    begun = time.monotonic()
    with pytest.raises(RankadjustError, match=r"not complete after 0 s \(tried 1 times\)"):
        fetch_http(url, tmp_path / "file", expected(), limited)
    assert time.monotonic() - begun < 5
    # A later run goes on from there.
    assert 0 < (tmp_path / "file.part").stat().st_size < len(BODY)


def test_pauses_count_towards_the_whole(tmp_path, server):
    limited = replace(QUICK, whole=0.5, first_wait=0.2, longest_wait=10)
    fails(
        server.serve("/a", BODY, always(status(500))),
        tmp_path,
        r"500 .*\(tried [1-4] times\)",
        patience=limited,
    )


def test_progress_begins_the_count_of_attempts_anew(tmp_path, server):
    """Twenty portions, each cut: more than the five attempts of a transfer that gets nowhere."""
    url = server.serve("/a", BODY, [portion(20_000)] * 19)
    succeeds(url, tmp_path)
    assert len(server.seen) == 20
    assert [seen.headers["Range"] for seen in server.seen[1:]] == [
        f"bytes={20_000 * number}-" for number in range(1, 20)
    ]


def test_more_than_registered(tmp_path, server):
    fails(server.serve("/a", BODY, [unannounced(BODY + b"x")]), tmp_path, "more than 400,000 bytes")


def test_less_than_registered_is_a_cut(tmp_path, server):
    succeeds(server.serve("/a", BODY, [unannounced(BODY[:HALF])]), tmp_path)
    assert len(server.seen) == 2


@pytest.mark.parametrize("fault", [[], [unannounced(BODY)]])
def test_without_a_registered_length_there_is_a_limit(tmp_path, server, monkeypatch, fault):
    monkeypatch.setattr("rankadjust.data.transfer._LARGEST", 300_000)
    fails(server.serve("/a", BODY, fault), tmp_path, "300,000", UNKNOWN)


@pytest.mark.parametrize("fault", [[], [unannounced(BODY)]])
def test_a_file_may_be_as_large_as_the_limit(tmp_path, server, monkeypatch, fault):
    monkeypatch.setattr("rankadjust.data.transfer._LARGEST", len(BODY))
    succeeds(server.serve("/a", BODY, fault), tmp_path, UNKNOWN)


@pytest.mark.parametrize("place", range(64))
def test_every_digit_of_a_checksum_counts(tmp_path, place):
    path = tmp_path / "file"
    path.write_bytes(BODY)
    right = expected().sha256
    check(path, Expected(right.upper(), None), "the file")
    wrong = right[:place] + "0123456789abcdef"[int(right[place], 16) - 1] + right[place + 1 :]
    with pytest.raises(RankadjustError, match=f"^the file: sha256 is {right}, the registry says {wrong}$"):
        check(path, Expected(wrong, len(BODY)), "the file")


@pytest.mark.parametrize("digits", [0, 1, 63])
def test_a_shorter_checksum_is_another_one(tmp_path, digits):
    path = tmp_path / "file"
    path.write_bytes(BODY)
    with pytest.raises(RankadjustError, match="the registry says"):
        check(path, Expected(expected().sha256[:digits], None), "the file")


@pytest.mark.parametrize("size", [0, len(BODY) - 1, len(BODY) + 1])
def test_every_byte_counts(tmp_path, size):
    path = tmp_path / "file"
    path.write_bytes(BODY)
    with pytest.raises(RankadjustError, match=f"^the file: {len(BODY):,} bytes, the registry says {size:,}$"):
        check(path, Expected(expected().sha256, size), "the file")


def test_wrong_bytes(tmp_path, server):
    fails(
        server.serve("/a", BODY, [instead(OTHER)]),
        tmp_path,
        f"sha256 is {hashlib.sha256(OTHER).hexdigest()}, the registry says {expected().sha256}$",
    )
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("wanted", "page", "kind", "message"),
    [
        (expected(), PAGE, "text/html; charset=utf-8", "35 bytes, not 400,000; a web page"),
        (Expected(expected().sha256, None), PAGE, "text/plain", "the registry says .*; it is a web page"),
        (UNKNOWN, b"<div>gone</div>", "text/html", "a web page instead of the file"),
        (UNKNOWN, PAGE, "application/zip", "a web page instead of the file"),
        (UNKNOWN, b'{"message": "no such file"}', "text/plain", "a JSON message instead of the file"),
        (UNKNOWN, b"[]", "application/problem+json", "a JSON message instead of the file"),
        (UNKNOWN, b"<Error><Code>AccessDenied</Code></Error>", "", "an XML message instead of the file"),
        (expected(), b'{"status": 404}', "application/json", "15 bytes, not 400,000; a JSON message"),
    ],
)
def test_a_web_page_with_status_200(tmp_path, server, wanted, page, kind, message):
    fails(server.serve("/a", BODY, [instead(page, kind)]), tmp_path, message, wanted)
    assert len(server.seen) == 1


def test_a_wrong_content_type_does_no_harm_to_verified_bytes(tmp_path, server):
    succeeds(server.serve("/a", BODY, kind="text/html"), tmp_path)


def test_a_redirect(tmp_path, server):
    server.serve("/b", BODY)
    succeeds(server.serve("/a", b"", [redirect("/b")]), tmp_path)


def test_a_redirect_in_a_circle(tmp_path, server):
    fails(server.serve("/a", b"", always(redirect("/a"))), tmp_path, "too many redirects")
    assert len(server.seen) == 11


@pytest.mark.parametrize(
    "place", ["http://[::1", "http://[x]/a", "//[", "http://127.0.0.1:99999/a", "http://a b/"]
)
def test_a_redirect_to_what_is_no_address(tmp_path, server, place):
    fails(server.serve("/a", b"", always(redirect(place))), tmp_path, r"not a valid address \(")
    assert len(server.seen) == 1


def test_a_stalled_server(tmp_path, server):
    succeeds(server.serve("/a", BODY, [stall(HALF)]), tmp_path, patience=STALLED)
    assert server.seen[1].headers["Range"] == f"bytes={HALF}-"


def test_a_server_that_always_stalls(tmp_path, server):
    url = server.serve("/a", BODY, always(stall(0)))
    fails(url, tmp_path, r"no answer in time \(tried 5 times\)", patience=STALLED)


def test_nobody_listens(tmp_path):
    with FaultServer() as server:
        url = f"{server.address}/a"
    fails(url, tmp_path, r"no connection \(tried 5 times\)")


def test_an_unknown_host(tmp_path):
    fails("http://nowhere.invalid/a", tmp_path, "the host is not known")


def test_the_proxy_variables_are_heeded(tmp_path, server, monkeypatch):
    server.serve("/a.txt", BODY)
    monkeypatch.setenv("http_proxy", f"http://user:p%40ss@127.0.0.1:{server.server_port}")
    succeeds("http://data.invalid/a.txt", tmp_path)
    assert server.seen[0].headers["Proxy-Authorization"] == "Basic dXNlcjpwQHNz"


def test_no_proxy_is_heeded(tmp_path, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://nowhere.invalid:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    succeeds(server.serve("/a", BODY), tmp_path)


def test_https_and_its_certificates(tmp_path, monkeypatch):
    url = "https://zenodo.org/records/1/files/a.txt"
    with LoopbackZenodo(tmp_path) as zenodo:
        zenodo.records["1"] = [Deposit("a.txt", BODY)]
        # Without a scheme, as many people write it.
        monkeypatch.setenv("https_proxy", zenodo.proxy.removeprefix("http://"))
        (tmp_path / "untrusted").mkdir()
        fails(url, tmp_path / "untrusted", "no secure connection")
        assert len(zenodo.hosts) == 1
        (tmp_path / "trusted").mkdir()
        monkeypatch.setenv("SSL_CERT_FILE", str(zenodo.certificate))
        succeeds(url, tmp_path / "trusted")


@pytest.fixture
def tls_server():
    """Yield a function that starts a server with a certificate ('' for one that speaks no TLS) and returns its port."""
    sockets = []

    def start(certificate: Path | None) -> int:
        listening = socket.create_server(("127.0.0.1", 0))
        sockets.append(listening)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate:
            context.load_cert_chain(certificate)

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        if certificate:
                            context.wrap_socket(connection, server_side=True).close()
                        else:
                            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    except OSError:
                        pass

        threading.Thread(target=answer, daemon=True).start()
        return listening.getsockname()[1]

    yield start
    for listening in sockets:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


@pytest.mark.parametrize(
    ("host", "days", "trusted", "message"),
    [
        ("localhost", -1, True, "no secure connection: certificate has expired$"),
        ("elsewhere.example", 1, True, "no secure connection: Hostname mismatch.*'localhost'$"),
        (
            "localhost",
            1,
            False,
            "no secure connection: self-signed certificate; .* name its file in SSL_CERT_FILE$",
        ),
    ],
)
def test_what_is_wrong_with_a_certificate_is_named(
    tmp_path, tls_server, monkeypatch, host, days, trusted, message
):
    certificate = make_certificate(tmp_path, host, days)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    (tmp_path / "folder").mkdir()
    fails(f"https://localhost:{tls_server(certificate)}/a", tmp_path / "folder", message)


def test_a_server_that_speaks_no_tls(tmp_path, tls_server):
    message = "does not speak TLS there; is it an http:// address"
    fails(f"https://localhost:{tls_server(None)}/a", tmp_path, message)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_in_a_log_is_lines(tmp_path, server, capsys):
    patience = replace(QUICK, report_every=0.0)
    succeeds(server.serve("/a.bin", BODY, [cut(HALF)]), tmp_path, patience=patience)
    lines = capsys.readouterr().err.splitlines()
    line = re.compile(r"a\.bin: [\d.]+[kM]? of 400k bytes, [\d.]+[kMG]?/s, \d\d:\d\d left")
    assert len([text for text in lines if line.fullmatch(text)]) >= 2
    assert [text for text in lines if not line.fullmatch(text)] == [
        text for text in lines if "the connection was cut; again in 0.0 s" in text
    ]
    assert lines[-1].startswith("a.bin: 400k of 400k")


def test_progress_without_a_length(tmp_path, server, capsys):
    patience = replace(QUICK, report_every=0.0)
    succeeds(server.serve("/a.bin", BODY, [unannounced(BODY)]), tmp_path, UNKNOWN, patience)
    assert re.fullmatch(r"a\.bin: 400k bytes, [\d.]+[kMG]?/s", capsys.readouterr().err.splitlines()[-1])


def test_a_quick_transfer_says_nothing_in_a_log(tmp_path, server, capsys):
    succeeds(server.serve("/a.bin", BODY), tmp_path)
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_is_a_bar(tmp_path, server, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    succeeds(server.serve("/a.bin", BODY), tmp_path)
    assert re.search(r"\ra\.bin: 100%\|.*\| 400k/400k \[00:00<00:00, .*B/s\]", terminal.getvalue())
