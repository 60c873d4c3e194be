"""Connections: whom an http request may reach and by which way, and in a few words why one failed."""

import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.client import InvalidURL
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import urllib3

from rankadjust.base.errors import RankadjustError

# So many times a server may send on.
_REDIRECTS = 10


def host_of(url: str) -> str:
    """Return the host of an address, parsed as the code that connects parses it."""
    with _valid(url):
        return urllib3.util.parse_url(url).host or ""


@contextmanager
def _valid(url: str) -> Iterator[None]:
    """Turn a parser's complaint about an address into a RankadjustError."""
    try:
        yield
    except ValueError as error:
        raise RankadjustError(f"{url}: not a valid address ({error})") from None


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
        """Ask for an address, and where it leads."""
        for _ in range(_REDIRECTS + 1):
            if self.hosts is not None and host_of(url) not in self.hosts:
                allowed = ", ".join(sorted(self.hosts))
                raise RankadjustError(
                    f"{url}: only {allowed} may be asked, as the network is off (offline: true)"
                )
            response = super().urlopen(method, url, redirect=False, **options)
            place = redirect and response.get_redirect_location()
            if not place:
                return response
            # Nobody knows how long its body is.
            response.close()
            with _valid(f"{url} leads to {place}, which is"):
                url = urljoin(url, place)
        raise urllib3.exceptions.ResponseError("too many redirects")


class _ProxyPools(_Pools, urllib3.ProxyManager):
    """The same through a proxy."""


def client_for(url: str, *, connect: float, read: float, hosts: frozenset[str] | None) -> urllib3.PoolManager:
    """Return a client that heeds the proxy variables, follows redirects and leaves trying again to its user.

    connect, read: seconds until a connection is open, and until the next bytes arrive.
    hosts: the names of the only hosts that may be asked, whatever a redirect says; None: any.
    """
    options: dict[str, Any] = {
        "timeout": urllib3.Timeout(connect=connect, read=read),
        "retries": urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=0),
    }
    with _valid(url):
        place = urlsplit(url)
    proxies = urllib.request.getproxies()
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
def user_agent() -> str:
    """Return how rankadjust names itself to servers."""
    try:
        release = version("rankadjust")
    except PackageNotFoundError:
        release = "unreleased"
    return f"rankadjust/{release} (+https://github.com/rankadjust/rankadjust)"


# What a failed request is called, and whether another try makes sense; the first that fits counts.
_FAILURES: list[tuple[type[Exception], str, bool]] = [
    (urllib3.exceptions.ResponseError, "too many redirects", False),
    (urllib3.exceptions.LocationValueError, "not a valid address", False),
    (urllib3.exceptions.ProxyError, "no connection to the proxy", True),
    (urllib3.exceptions.NameResolutionError, "the host is not known; is there a network?", True),
    (urllib3.exceptions.NewConnectionError, "no connection", True),
    (urllib3.exceptions.TimeoutError, "no answer in time", True),
    (urllib3.exceptions.DecodeError, "the server packed the file, and it cannot be unpacked", True),
    (urllib3.exceptions.ProtocolError, "the connection was cut", True),
    (Exception, "the transfer failed", True),
]


def why_failed(error: urllib3.exceptions.HTTPError) -> tuple[str, bool]:
    """Return why a request failed, in a few words, and whether the failure may pass."""
    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    if isinstance(cause, urllib3.exceptions.SSLError):
        return _why_not_secure(cause)
    # urllib3 before 2.8 leaves a blank in the name of a host to http.client, and wraps its answer.
    for reason in cause.args if isinstance(cause, urllib3.exceptions.ProtocolError) else ():
        if isinstance(reason, InvalidURL):
            return f"not a valid address ({reason})", False
    words, passing = next((words, passing) for kind, words, passing in _FAILURES if isinstance(cause, kind))
    return words if passing else f"{words} ({cause})", passing


def _why_not_secure(error: urllib3.exceptions.SSLError) -> tuple[str, bool]:
    """Return what is wrong with a secure connection, and whether it may pass."""
    inner = next((cause for cause in error.args if isinstance(cause, ssl.SSLError)), None)
    match inner:
        case ssl.SSLCertVerificationError(verify_message=reason):
            hint = ""
            if "self-signed" in reason or "issuer" in reason:
                hint = (
                    "; if your network has a certificate authority of its own, name its file in SSL_CERT_FILE"
                )
            return f"no secure connection: {reason.rstrip('.')}{hint}", False
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "the connection was cut", True
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return (
                "no secure connection: the server does not speak TLS there; is it an http:// address?",
                False,
            )
        case _:
            return f"no secure connection: {getattr(inner, 'reason', None) or error}", False
