"""A Zenodo on the loopback interface for the unmodified zenodo_get: a proxy that answers in Zenodo's place.

The command speaks to https://zenodo.org and nothing else. Told to use this server as its proxy, and to trust
the certificate made here, it gets its records and files from the test.
"""

import datetime
import hashlib
import json
import ssl
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers.http_faults import LoopbackServer

HOST = "zenodo.org"


@dataclass
class Deposit:
    """One file of a record: its key, its bytes, and what is wrong with it."""

    key: str
    body: bytes
    sent: int | None = None  # hang up after so many bytes


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "LoopbackZenodo"

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.seen.append(path)
        parts = path.strip("/").split("/")
        # /api/records/<record> or /(api/)records/<record>/files/<name>(/content)
        record = parts[parts.index("records") + 1]
        if "files" not in parts:
            self.answer_record(record)
        else:
            name = parts[parts.index("files") + 1]
            deposit = next(each for each in self.server.records[record] if Path(each.key).name == name)
            self.answer(deposit.body, deposit.sent)

    def answer_record(self, record: str) -> None:
        files = [
            {
                "key": deposit.key,
                "size": len(deposit.body),
                "checksum": f"md5:{hashlib.md5(deposit.body).hexdigest()}",
                "links": {
                    "self": f"https://{HOST}/api/records/{record}/files/{quote(Path(deposit.key).name)}/content"
                },
            }
            for deposit in self.server.records[record]
        ]
        described = {
            "title": "a data set",
            "publication_date": "2026-01-01",
            "doi": f"10.5281/zenodo.{record}",
        }
        self.answer(json.dumps({"id": int(record), "metadata": described, "files": files}).encode())

    def answer(self, body: bytes, sent: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:sent])
        self.close_connection = sent is not None

    def finish(self) -> None:
        super().finish()
        if isinstance(self.connection, ssl.SSLSocket):
            self.connection.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keep the tests' output clean."""


class LoopbackZenodo(LoopbackServer):
    """Serves `records`; `seen` says what was asked for. `certificate` is the file to trust."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Handler)
        self.records: dict[str, list[Deposit]] = {}
        self.seen: list[str] = []
        self.certificate = make_certificate(folder)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate)


def make_certificate(folder: Path) -> Path:
    """Write a key and its own certificate into one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{HOST}.pem"
    plain = serialization.NoEncryption()
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path
