"""A hostile registry, cache or server against files that the test made itself: nothing outside is touched."""

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.archives import extract
from rankadjust.data.fetch import fetch_dataset
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import File, Http, Local, Package, Zenodo
from tests.servers.http_faults import FaultServer

TEXT = b"a\tr\tb\n"


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
        fetch_dataset(name, [files], folder or home / "datasets" / name, cache=home / "cache", **options)
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
