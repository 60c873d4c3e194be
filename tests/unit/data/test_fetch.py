"""Data sets from every kind of source: the real pip, the real zenodo_get, and servers on this machine."""

import base64
import gzip
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data import fetch
from rankadjust.data.fetch import fetch_dataset
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import (
    File,
    Http,
    Local,
    Package,
    Zenodo,
    published_names,
)
from tests.servers.http_faults import FaultServer, always, cut, instead, status
from tests.servers.zenodo import Deposit, LoopbackZenodo

TRAIN = b"a\tr\tb\r\n" * 2000
TEST = "c\tr\tä\n".encode()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def zip_of(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in members.items():
            # A ZipInfo has a fixed date, so that every worker collects the same tests.
            archive.writestr(zipfile.ZipInfo(name), body, zipfile.ZIP_DEFLATED)
    return out.getvalue()


ZIP = zip_of(**{"d/train.txt": TRAIN, "d/test.txt": TEST})
MEMBERS = {"training": "d/train.txt", "testing": "d/test.txt"}
SPLITS = {"training.txt": TRAIN, "testing.txt": TEST}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    # pooch waits before it tries again.
    monkeypatch.setattr("pooch.core.time.sleep", lambda _seconds: None)


@pytest.fixture
def server():
    with FaultServer() as server:
        yield server


class Place:
    """A folder for the data set, a cache, and what may be found in them."""

    def __init__(self, root: Path) -> None:
        self.root, self.parent, self.cache = root, root / "datasets", root / "cache"
        self.folder = self.parent / "Toy"
        self.cache.mkdir(parents=True)
        self.parent.mkdir()

    def fetch(self, *alternatives, **options) -> dict:
        alternatives = [one if isinstance(one, tuple) else (one,) for one in alternatives]
        return fetch_dataset("Toy", alternatives, self.folder, cache=self.cache, **options)

    def fails(self, *alternatives, **options) -> str:
        """Return the message; nothing but what was there before may be left beside the cache's parts."""
        before = sorted(self.parent.rglob("*"))
        with pytest.raises(RankadjustError) as caught:
            self.fetch(*alternatives, **options)
        assert sorted(self.parent.rglob("*")) == before
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("Toy could not be fetched: ")
        return str(caught.value)

    @property
    def splits(self) -> dict[str, bytes]:
        assert [path.name for path in self.parent.iterdir()] == ["Toy"]
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name != "source.json"}

    @property
    def cached(self) -> list[str]:
        files = [path.relative_to(self.cache) for path in self.cache.rglob("*") if path.is_file()]
        return sorted(map(str, files))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def zipped(url: str, body: bytes = ZIP, **changes) -> File:
    return File(Http(url), MEMBERS, **{"sha256": sha256(body), "bytes": len(body), **changes})


FAR = zipped("https://data.invalid/x/d.zip")


def host(server: FaultServer) -> str:
    return f"127.0.0.1:{server.server_port}"


def test_an_archive_over_http(place, server):
    url = server.serve("/x/d.zip", ZIP)
    source = {
        "dataset": "Toy",
        "alternative": 1,
        "files": [
            {"address": url, "sha256": sha256(ZIP), "bytes": len(ZIP), "verified": True, "members": MEMBERS}
        ],
    }
    assert place.fetch(zipped(url)) == source
    assert place.splits == SPLITS
    assert json.loads((place.folder / "source.json").read_text(encoding="utf-8")) == source
    assert place.cached == [f"{host(server)}/x/d.zip"]


def test_the_second_run_asks_nobody_and_writes_the_same_bytes(place, server):
    file = zipped(server.serve("/d.zip", ZIP))
    place.fetch(file)
    before = {path: path.read_bytes() for path in place.folder.iterdir()}
    place.fetch(file, offline=True)
    assert {path: path.read_bytes() for path in place.folder.iterdir()} == before
    assert len(server.seen) == 1


def test_a_cached_file_that_was_changed_is_fetched_again(place, server, capsys):
    file = zipped(server.serve("/d.zip", ZIP))
    place.fetch(file)
    path = place.cache / place.cached[0]
    path.write_bytes(ZIP[:-1] + b"x")
    place.fetch(file)
    assert path.read_bytes() == ZIP
    assert "d.zip: sha256 is " in capsys.readouterr().err
    path.write_bytes(ZIP[:-1] + b"x")
    assert "the network is off" in place.fails(file, offline=True)


def test_all_or_nothing(place, server):
    place.folder.mkdir()
    (place.folder / "training.txt").write_bytes(b"old")
    train = File(Http(server.serve("/train.txt", TRAIN)), {"training": None})
    gone = File(Http(server.serve("/test.txt", b"", always(status(404)))), {"testing": None})
    assert "test.txt: 404 Not Found" in place.fails((train, gone))
    assert (place.folder / "training.txt").read_bytes() == b"old"


def test_an_unverified_file_that_cannot_be_unpacked_is_not_kept(place, server):
    url = server.serve("/d.zip", ZIP, [instead(ZIP[:-30])])
    file = zipped(url, sha256=None, bytes=None)
    assert "d.zip is damaged" in place.fails(file)
    assert place.cached == []
    place.fetch(file)
    assert place.splits == SPLITS


def test_alternatives_are_tried_in_order(place, server):
    gone = zipped(server.serve("/gone.zip", b"", always(status(410))))
    wrong = zipped(server.serve("/wrong.zip", ZIP[:-1] + b"x"))
    good = zipped(server.serve("/good.zip", ZIP))
    never = zipped(server.serve("/never.zip", ZIP))
    assert place.fetch(gone, wrong, good, never)["alternative"] == 3
    assert [*dict.fromkeys(seen.path for seen in server.seen)] == ["/gone.zip", "/wrong.zip", "/good.zip"]
    assert place.cached == [f"{host(server)}/good.zip"]


def test_the_message_names_every_alternative(place, server):
    gone = zipped(server.serve("/gone.zip", b"", always(status(410))))
    wrong = zipped(server.serve("/wrong.zip", ZIP[:-1] + b"x"))
    absent = File(Local(place.root / "absent.txt"), {"training": None})
    busy = zipped(server.serve("/busy.zip", b"", always(status(503))))
    message = place.fails(gone, wrong, absent, busy)
    assert message.endswith("; if you have copies, name their folder: mirror=FOLDER")
    reasons = [
        "/gone.zip: 410 Gone; ",
        f"/wrong.zip: SHA256 hash of downloaded file (wrong.zip) does not match the known hash: expected {sha256(ZIP)}",
        "absent.txt: no such file; ",
        "/busy.zip: 503 Service Unavailable",
    ]
    positions = [message.index(reason) for reason in reasons]
    assert positions == sorted(positions)


@pytest.mark.parametrize("fault", [cut(9000), status(503), status(429), instead(TEST)])
def test_a_failure_that_passes_is_tried_again(place, server, fault):
    url = server.serve("/train.txt", TRAIN, [fault, fault])
    place.fetch(File(Http(url), {"training": None}, sha256(TRAIN), len(TRAIN)))
    assert place.splits == {"training.txt": TRAIN}
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://127.0.0.1:9/a.txt",
            "127.0.0.1:9/a.txt: there is no connection, or it was cut (ConnectionError)",
        ),
        ("SERVER/cut.txt", "cut.txt: there is no connection, or it was cut (ChunkedEncodingError)"),
        ("SERVER/page.txt", "page.txt: a web page instead of the file"),
    ],
)
def test_what_does_not_pass_is_said_in_a_few_words(place, server, url, message):
    server.serve("/cut.txt", TRAIN, always(cut(9)))
    server.serve("/page.txt", b"\n<!DOCTYPE html><p>gone")
    source = Http(url.replace("SERVER", server.address))
    assert message in place.fails(File(source, {"training": None}))
    assert place.cached == []


def test_a_password_is_sent_and_written_nowhere(place, server, capfd):
    secret = server.address.replace("://", "://me:s3cret@")
    server.serve("/m/data.invalid/x/d.zip", ZIP)
    place.fetch(FAR, mirror=f"{secret}/m")
    login = f"Basic {base64.b64encode(b'me:s3cret').decode()}"
    assert [seen.headers["Authorization"] for seen in server.seen] == [login]
    server.serve("/own.zip", ZIP)
    place.fetch(zipped(f"{secret}/own.zip", sha256=None))
    assert server.seen[-1].headers["Authorization"] == login
    assert place.cached == [f"{host(server)}/own.zip", "data.invalid/x/d.zip"]
    said = [
        *capfd.readouterr(),
        (place.folder / "source.json").read_text(),
        place.fails(zipped(f"{secret}/gone.zip"), mirror=f"{secret}/nowhere"),
    ]
    assert not [text for text in said if "s3cret" in text or "me@" in text]


# Addresses


@pytest.mark.parametrize(
    ("url", "cached"),
    [
        ("/a%20b/d.zip?download=1", "a b/d.zip?download=1"),
        ("/fetch.php?media=en:d.zip", "fetch.php?media=en:d.zip"),
        ("/get?path=../../d.zip", "get?path=..%2F..%2Fd.zip"),
    ],
)
def test_the_query_belongs_to_the_name(place, server, url, cached):
    place.fetch(zipped(server.serve(url, ZIP)))
    assert place.splits == SPLITS
    assert place.cached == [f"{host(server)}/{cached}"]


def test_every_split_is_known_by_what_the_user_called_it(place, server):
    url = server.serve("/d.zip", ZIP)
    assert published_names(place.folder) == {}
    place.fetch(zipped(url))
    assert published_names(place.folder) == {
        "training": f"{url}, member d/train.txt",
        "testing": f"{url}, member d/test.txt",
    }
    train, test = put(place.root, "a/train.txt.gz", gzip.compress(TRAIN)), put(place.root, "a/test.tsv", TEST)
    place.fetch((File(Local(train), {"training": None}), File(Local(test), {"testing": None})))
    assert published_names(place.folder) == {"training": str(train), "testing": str(test)}


def put(folder: Path, path: str, body: bytes) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    return file


# Mirrors


def test_a_mirror_folder_is_read_in_place(place):
    put(place.root / "mirror", "data.invalid/x/d.zip", ZIP)
    provenance = place.fetch(FAR, mirror=str(place.root / "mirror"), offline=True)
    assert place.splits == SPLITS
    assert place.cached == []
    assert provenance["files"][0]["address"] == "https://data.invalid/x/d.zip"


def test_a_mirror_server(place, server):
    server.serve("/m/h.invalid/a%20b/get%3Fid%3D1%252Fd.zip", ZIP)
    # The user named this server, so that it is not the network that `offline` forbids.
    address = "https://h.invalid/a%20b/get?id=1/d.zip"
    provenance = place.fetch(zipped(address), mirror=f"{server.address}/m/", offline=True)
    assert provenance["files"][0]["address"] == address
    assert place.splits == SPLITS
    assert place.cached == ["h.invalid/a b/get?id=1%2Fd.zip"]


def test_the_mirror_comes_before_every_upstream(place, server):
    first = zipped(server.serve("/first.zip", ZIP))
    mirror = place.root / "mirror"
    put(mirror, "data.invalid/x/d.zip", ZIP)
    assert place.fetch(first, FAR, mirror=str(mirror))["alternative"] == 2
    assert server.seen == []
    # What it has wrong comes from upstream.
    put(mirror, "data.invalid/x/d.zip", TRAIN)
    assert place.fetch(first, FAR, mirror=str(mirror))["alternative"] == 1
    # A cache is a mirror.
    assert Place(place.root / "other").fetch(first, mirror=str(place.cache), offline=True)


@pytest.mark.parametrize("mirror", ["nowhere", "ftp://h.invalid/m", "file:///m"])
def test_a_mirror_that_is_none(place, mirror):
    with pytest.raises(RankadjustError, match=f"mirror: {mirror} is neither a folder nor an address"):
        place.fetch(FAR, mirror=mirror)


def test_offline_uses_no_network(place, server, monkeypatch):
    def never(*arguments: object) -> None:
        raise AssertionError("the network is off")

    monkeypatch.setattr(fetch, "_run", never)
    (place.root / "mirror").mkdir()
    message = place.fails(
        zipped(server.serve("/d.zip", ZIP)),
        File(Package("toy", "1.0", "toy-1.0-py3-none-any.whl"), MEMBERS),
        File(Zenodo("12", "d.zip"), MEMBERS),
        mirror=str(place.root / "mirror"),
        offline=True,
    )
    assert server.seen == []
    for name in (f"{server.address}/d.zip", "pkg:pypi/toy@1.0", "https://zenodo.org/records/12/files/d.zip"):
        assert f"{name}" in message
    assert message.count("the network is off (offline: true)") == 3
    assert message.count(": no such file") == 3


# Files on this disk


@pytest.mark.parametrize("offline", [True, False])
def test_local_files(place, offline):
    train = put(place.root, "mine/train.txt.gz", gzip.compress(TRAIN))
    test = put(place.root, "mine/test.tsv", TEST)
    files = (File(Local(train), {"training": None}), File(Local(test), {"testing": None}, sha256(TEST)))
    provenance = place.fetch(files, offline=offline)
    assert place.splits == SPLITS
    assert place.cached == []
    assert [file["address"] for file in provenance["files"]] == [str(train), str(test)]
    assert train.exists()


# Links lead out of no folder


def refused(place, file, **options):
    with pytest.raises(RankadjustError, match="leads out of the folder"):
        place.fetch(file, **options)


@pytest.mark.parametrize("link", [True, False])
def test_a_data_set_is_not_written_through_a_link_or_over_its_parent(place, link):
    victim = put(place.root, "victim/train.txt", TRAIN)
    place.folder = place.parent / ("Toy" if link else "..")
    if link:
        place.folder.symlink_to(victim.parent)
    refused(place, File(Local(victim), {"training": None}))
    assert victim.read_bytes() == TRAIN


def test_a_link_in_the_cache_or_a_mirror_is_not_followed(place, server):
    victim = put(place.root, "victim/a.txt", TRAIN)
    file = File(Http(server.serve("/a.txt", TEST)), {"training": None})
    for root, options in ((place.cache, {}), (place.root / "mirror", {"mirror": str(place.root / "mirror")})):
        put(root, f"{host(server)}/other", b"")
        (root / host(server) / "a.txt").symlink_to(victim)
        with pytest.raises(RankadjustError, match="leads out of the folder"):
            place.fetch(file, offline=True, **options)
        (root / host(server) / "a.txt").unlink()
    refused(place, File(Http(f"{server.address}/../../victim/a.txt"), {"training": None}))
    assert server.seen == []
    assert victim.read_bytes() == TRAIN


# Packages


WHEEL = "toy_data-1.0-py3-none-any.whl"


def wheel(**members: bytes) -> bytes:
    # Nobody can install it here: the files of a wheel are for every Python.
    metadata = b"Metadata-Version: 2.1\nName: toy-data\nVersion: 1.0\nRequires-Python: >=99\n"
    tags = b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    about = {"METADATA": metadata, "WHEEL": tags, "RECORD": b""}
    return zip_of(**members, **{f"toy_data-1.0.dist-info/{name}": body for name, body in about.items()})


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels instead of a package index; importing what is in them would fail."""
    folder = tmp_path / "wheels"
    code = {"toy_data/__init__.py": b"1 / 0"}
    body = wheel(**code, **{"toy_data/train.txt": TRAIN, "toy_data/test.txt": TEST})
    put(folder, WHEEL, body)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


IN_WHEEL = {"training": "toy_data/train.txt", "testing": "toy_data/test.txt"}


def test_a_package(place, index):
    body = (index / WHEEL).read_bytes()
    provenance = place.fetch(File(Package("toy-data", "1.0", WHEEL), IN_WHEEL, sha256(body), len(body)))
    assert place.splits == SPLITS
    assert place.cached == [f"toy-data/{WHEEL}"]
    assert provenance["files"][0]["address"] == f"pkg:pypi/toy-data@1.0?file_name={WHEEL}"
    assert "toy_data" not in sys.modules


# Zenodo, with the unmodified command. It has ways to end well without the file; none of them is let through.


@pytest.fixture
def zenodo(tmp_path, monkeypatch):
    with LoopbackZenodo(tmp_path) as zenodo:
        monkeypatch.setenv("HTTPS_PROXY", zenodo.address)
        monkeypatch.setenv("SSL_CERT_FILE", str(zenodo.certificate))
        yield zenodo


def deposited(**changes) -> File:
    return File(Zenodo("12", "d.zip"), MEMBERS, **{"sha256": sha256(ZIP), "bytes": len(ZIP), **changes})


UNVERIFIED = {"sha256": None, "bytes": None}


def test_a_zenodo_record(place, zenodo):
    # The other file is not for us.
    zenodo.records["12"] = [Deposit("huge.bin", bytes(10)), Deposit("d.zip", ZIP)]
    provenance = place.fetch(deposited())
    assert place.splits == SPLITS
    assert provenance["files"][0]["address"] == "https://zenodo.org/records/12/files/d.zip"
    assert place.cached == ["zenodo.org/records/12/files/d.zip"]
    assert zenodo.seen == ["/api/records/12", "/api/records/12/files/d.zip/content"]


@pytest.mark.parametrize(
    ("deposits", "verified", "message"),
    [
        # Exit code 0 and "SUCCESS" after nothing:
        pytest.param([Deposit("other.zip", ZIP)], UNVERIFIED, "d.zip: no such file", marks=pytest.mark.slow),
        # A part of the file under its final name:
        pytest.param(
            [Deposit("d.zip", ZIP, sent=50)],
            UNVERIFIED,
            "without sending complete message body",
            marks=pytest.mark.slow,
        ),
        # Bytes that are not what we say:
        ([Deposit("d.zip", TRAIN)], {"bytes": None}, f"the registry says {sha256(ZIP)}"),
    ],
)
def test_what_zenodo_get_gets_wrong(place, zenodo, deposits, verified, message):
    zenodo.records["12"] = deposits
    assert message in place.fails(deposited(**verified))
    assert place.cached == []


@pytest.mark.slow
def test_a_key_that_climbs_out_of_the_folder(place, zenodo):
    # Given the whole record, the command writes the first file beside the folder it was told to use.
    zenodo.records["12"] = [Deposit("../escaped.txt", TRAIN), Deposit("d.zip", ZIP)]
    place.fetch(deposited())
    assert place.splits == SPLITS
    assert list(place.root.rglob("escaped.txt")) == []
    assert "/api/records/12/files/escaped.txt/content" not in zenodo.seen


def test_without_the_command(place, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(place.root / "bin" / "python"))
    expected = "zenodo_get is missing: pip install '.[workflow]' in rankadjust's folder"
    assert expected in place.fails(deposited())


# All the mirrored data sets


@pytest.mark.shared
def test_every_verified_data_set_is_in_the_mirror(place, shared):
    verified = [dataset for dataset in load_registry().values() if dataset.verified]
    assert len(verified) == 95
    for dataset in verified:
        place.folder = place.parent / dataset.name
        provenance = place.fetch(*dataset.sources, mirror=str(shared / "data" / "mirror"), offline=True)
        assert all(file["verified"] for file in provenance["files"])
        assert all((place.folder / f"{split}.txt").stat().st_size for split in dataset.splits)
    assert place.cached == []
