"""A hostile registry, cache or server against files that the test made itself: nothing outside is touched."""

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.archives import extract
from rankadjust.data.download import fetch_dataset
from rankadjust.data.expected import Expected
from rankadjust.data.patience import Patience
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import File, Http, Local, Package, Zenodo
from rankadjust.data.transfer import fetch_http
from tests.servers.http_faults import FaultServer, redirect

TEXT = b"a\tr\tb\n"
QUICK = Patience(attempts=1, connect=2.0, read=5.0, first_wait=0.01, longest_wait=0.02)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def server():
    with FaultServer() as server:
        yield server


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim" / "mine.whl"
    path.parent.mkdir()
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def home(tmp_path):
    """The folder in which everything has to stay."""
    folder = tmp_path / "home" / "work"
    (folder / "datasets").mkdir(parents=True)
    return folder


def refused(home, *files, name="Toy", folder=None, message, **options):
    with pytest.raises(RankadjustError, match=message) as caught:
        fetch_dataset(
            name, [files], folder or home / "datasets" / name, cache=home / "cache", patience=QUICK, **options
        )
    assert "\n" not in str(caught.value)


def local(path):
    return File(Local(path), {"training": None})


def snapshot(folder):
    return {path: path.is_file() and path.read_bytes() for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("offline", [True, False])
def test_the_file_of_a_package_may_not_be_another_path(home, victim, offline, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(home))
    for file in (str(victim), "../../../victim/mine.whl"):
        source = File(Package("toy", "1.0", file), {"training": None})
        refused(home, source, message="the wheel of toy is", offline=offline)
        refused(home, source, message="the wheel of toy is", offline=offline, mirror=str(home / "datasets"))
    assert victim.read_bytes() == TEXT
    assert [path.name for path in victim.parent.iterdir()] == ["mine.whl"]


def test_a_package_is_not_an_address_of_code(home, tmp_path):
    # pip would import the build backend to learn the name of what it downloads.
    evil = tmp_path / "evil==1.0"
    evil.mkdir()
    (evil / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (evil / "backend.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    for package in (f"x @ file://{tmp_path}/evil", f"{tmp_path}/evil", f"file://{tmp_path}/evil"):
        refused(
            home,
            File(Package(package, "1.0", "x.whl"), {"training": None}),
            message="the name of a package is",
        )
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("package", "version"), [("--index-url", "1"), ("-rmine", "1"), ("toy", "1.0 --pre"), ("toy", "*")]
)
def test_nothing_of_a_package_is_an_option_or_a_range(home, package, version):
    refused(
        home,
        File(Package(package, version, "x.whl"), {"training": None}),
        message="the (name of a package|version of toy) is",
    )


@pytest.mark.parametrize("name", ["..", "../..", "../../../victim", ".", "", "a/b", "a\0b"])
def test_a_data_set_has_a_plain_name(home, victim, tmp_path, name):
    before = snapshot(tmp_path)
    refused(
        home, local(victim), name=name, folder=home / "datasets" / name.replace("\0", "0"), message="name"
    )
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("link", [True, False])
def test_a_data_set_is_not_written_through_a_link_or_over_its_parent(home, victim, tmp_path, link):
    folder = home / "datasets" / ("Toy" if link else "..")
    if link:
        folder.symlink_to(victim.parent)
    before = snapshot(tmp_path)
    refused(home, local(victim), folder=folder, message="leads out of the folder")
    assert snapshot(tmp_path) == before


def test_a_split_is_no_path(home, victim, tmp_path):
    (tmp_path / "home" / "escaped").mkdir()
    for split in ("../../../escaped/a", str(tmp_path / "home" / "escaped" / "a")):
        refused(home, File(Local(victim), {split: None}), message="leads out of the folder")
    assert list((tmp_path / "home" / "escaped").iterdir()) == []


@pytest.mark.parametrize("declared", [True, False])
def test_an_archive_writes_over_nothing_and_removes_nothing(tmp_path, victim, declared):
    packed = tmp_path / "x.txt"
    packed.write_bytes(b"other")
    target = victim
    if not declared:
        target = tmp_path / "link"
        target.symlink_to(victim)
    with pytest.raises(RankadjustError, match="there is such a file already"):
        extract(packed, "x.txt", {target: None}, {})
    assert victim.read_bytes() == TEXT
    assert target.exists()


def http(url):
    return File(Http(url), {"training": None})


def test_a_link_in_the_cache_is_not_followed(home, victim, server):
    url = server.serve("/a/mine.whl", b"other")
    host = home / "cache" / f"127.0.0.1:{server.server_port}"
    host.mkdir(parents=True)
    (host / "a").symlink_to(victim.parent)
    refused(home, http(url), message="leads out of the folder")
    (host / "a").unlink()
    (host / "a").mkdir()
    (host / "a" / "mine.whl").symlink_to(victim)
    refused(home, http(url), message="leads out of the folder")
    assert server.seen == []
    assert victim.read_bytes() == TEXT


@pytest.mark.parametrize("name", ["mine.txt.part", "mine.txt.part.version"])
def test_an_unfinished_file_that_is_a_link_is_not_appended_to(home, victim, server, name):
    # With a mark beside it, what is there is kept and the rest of the file goes behind it.
    (home / "mine.txt.part.version").write_text('"v1"')
    (home / "mine.txt.part").write_bytes(b"ab")
    (home / name).unlink()
    (home / name).symlink_to(victim)
    with pytest.raises(RankadjustError, match="leads out of the folder"):
        fetch_http(server.serve("/a", b"x" * 99), home / "mine.txt", Expected(None, None), QUICK)
    assert victim.read_bytes() == TEXT


def test_a_lock_that_is_a_link_is_not_emptied(home, victim, server):
    url = server.serve("/a.txt", TEXT)
    fetch_dataset("Toy", [(http(url),)], home / "datasets" / "Toy", cache=home / "cache", patience=QUICK)
    (lock,) = (home / "cache" / ".locks").iterdir()
    lock.unlink()
    lock.symlink_to(victim)
    refused(home, http(url), message="leads out of the folder")
    assert victim.read_bytes() == TEXT


def test_a_link_out_of_a_mirror_is_not_read(home, victim):
    mirror = home / "mirror" / "data.invalid"
    mirror.mkdir(parents=True)
    (mirror / "a.txt").symlink_to(victim)
    refused(
        home, http("https://data.invalid/a.txt"), message="leads out of the folder", offline=True,
        mirror=str(mirror.parent),
    )  # fmt: skip
    assert list((home / "datasets").iterdir()) == []


@pytest.mark.parametrize("file", ["../mine.whl", "a\0b", "..", "C:x"])
def test_a_file_of_a_record_is_a_plain_name(home, file):
    refused(home, File(Zenodo("12", file), {"training": None}), message="plain|address|name of a file")


# Offline


def mirrored(server, path, fault):
    server.serve(f"/m/data.invalid{path}", TEXT, [fault] if fault else [])
    server.serve("/there", TEXT)
    return http(f"https://data.invalid{path}"), f"{server.address}/m"


def test_offline_a_mirror_may_not_lead_to_another_host(home, server):
    # 'localhost' is the same machine under another name: were it asked, the server would have seen it.
    source, mirror = mirrored(server, "/a.txt", redirect(f"http://localhost:{server.server_port}/there"))
    refused(home, source, message="only 127.0.0.1 may be asked", mirror=mirror, offline=True)
    assert [seen.path for seen in server.seen] == ["/m/data.invalid/a.txt"]


def test_offline_a_proxy_is_no_way_around(home, server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address)
    monkeypatch.setenv("no_proxy", "")
    server.serve("/m/data.invalid/a.txt", TEXT, [redirect("http://elsewhere.invalid/there")])
    server.serve("/there", TEXT)
    refused(
        home, http("https://data.invalid/a.txt"), message="only mirror.invalid may be asked",
        mirror="http://mirror.invalid/m", offline=True,
    )  # fmt: skip
    assert [seen.path for seen in server.seen] == ["/m/data.invalid/a.txt"]


@pytest.mark.parametrize("to", ["/there", "http://127.0.0.1:PORT/there"])
def test_offline_a_mirror_may_lead_to_itself(home, server, to):
    source, mirror = mirrored(server, "/a.txt", redirect(to.replace("PORT", str(server.server_port))))
    fetch_dataset(
        "Toy", [(source,)], home / "datasets" / "Toy", cache=home / "cache", patience=QUICK, mirror=mirror,
        offline=True,
    )  # fmt: skip
    assert (home / "datasets" / "Toy" / "training.txt").read_bytes() == TEXT


def test_with_a_network_a_mirror_may_lead_anywhere(home, server):
    source, mirror = mirrored(server, "/a.txt", redirect(f"http://localhost:{server.server_port}/there"))
    fetch_dataset(
        "Toy", [(source,)], home / "datasets" / "Toy", cache=home / "cache", patience=QUICK, mirror=mirror
    )
    assert [seen.path for seen in server.seen] == ["/m/data.invalid/a.txt", "/there"]


# The registry


SOURCES = {
    "an absolute wheel": "{kind: package, package: x, version: '1', file: /victim.whl, members: {training: a}}",
    "a requirement": "{kind: package, package: 'x @ file:///v', version: '1', file: v.whl, members: {training: a}}",
    "a range": "{kind: package, package: x, version: '1.*', file: v.whl, members: {training: a}}",
    "a member": "{kind: package, package: x, version: '1', file: v.whl, members: {training: ../a}}",
    "a drive": "{kind: http, url: 'https://h/a.zip', members: {training: 'C:\\a'}}",
    "an archive of a record": "{kind: zenodo, record: 1, file: ../a.zip, members: {training: a}}",
    "a file of a record": '{kind: zenodo, record: 1, files: {training: {file: "a\\0b"}}}',
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_registry_is_refused_with_its_line(tmp_path, source):
    path = tmp_path / "mine.yaml"
    path.write_text(f"a:\n  sources:\n    - {source}\n")
    with pytest.raises(RankadjustError, match=r"mine\.yaml:3: a\.sources\.0\.[^\n]*(meant|letters)[^\n]*$"):
        load_registry(path)


@pytest.mark.parametrize("name", ["..", "../../../X", "a/b", "123", "'a\\b'", '"a\\0"', "-a", "'{a}'"])
def test_a_name_in_a_registry_is_plain(tmp_path, name):
    path = tmp_path / "mine.yaml"
    path.write_text(f"{name}:\n  sources:\n    - {{kind: local, files: {{training: a}}}}\n")
    with pytest.raises(RankadjustError, match=r"mine\.yaml(:1)?: name of a data set: ") as caught:
        load_registry(path)
    assert "\n" not in str(caught.value)
    if name == "123":
        assert str(caught.value) == f"{path}:1: name of a data set: 123 is not text; write it in quotes"
