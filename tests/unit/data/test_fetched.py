import dataclasses
import time
from pathlib import Path

import pytest

from rankadjust.base.contents import Digests
from rankadjust.data.download import fetch_dataset
from rankadjust.data.fetched import damage, declared_content
from rankadjust.data.sources import File, Http, Local

SHA = "0" * 64
VERIFIED = File(Http("https://a.example/x.zip"), {"training": "train.txt"}, SHA, 9)


def declared(*files):
    return declared_content([(file,) for file in files], lambda path: f"digest of {path.name}")


def moved(file, url):
    return dataclasses.replace(file, source=Http(url))


def test_a_checksum_counts_and_not_the_address():
    assert declared(VERIFIED) == declared(moved(VERIFIED, "https://b.example/y/z.zip"))
    # A second address of the same bytes adds nothing.
    assert declared(VERIFIED) == declared(moved(VERIFIED, "https://b.example/x.zip"), VERIFIED)


@pytest.mark.parametrize(
    "change",
    [
        {"sha256": "1" * 64},
        {"bytes": 10},
        {"members": {"training": "other.txt"}},
        {"member_bytes": {"training": 3}},
        {"source": Http("https://a.example/x.gz")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_decides_about_the_bytes_counts(change):
    assert declared(dataclasses.replace(VERIFIED, **change)) != declared(VERIFIED)


def test_without_a_checksum_the_address_counts():
    unknown = dataclasses.replace(VERIFIED, sha256=None)
    assert declared(unknown) != declared(moved(unknown, "https://b.example/x.zip"))


def test_of_a_file_on_this_disk_its_bytes_count_and_not_its_place():
    here, there, other = (File(Local(Path(path)), {"training": None}) for path in ("/a/x", "/b/x", "/a/y"))
    assert declared(here) == declared(there) != declared(other)


@pytest.fixture
def fetched(tmp_path):
    """Return a folder that the downloader made of a file on this disk."""
    source = tmp_path / "train.txt"
    source.write_text("a\tr\tb\n")
    folder = tmp_path / "datasets" / "Toy"
    fetch_dataset("Toy", [(File(Local(source), {"training": None}),)], folder, cache=tmp_path / "cache")
    return folder


def test_a_whole_folder_has_no_damage_and_an_absent_one_neither(fetched, tmp_path):
    digests = Digests(tmp_path / "store.json")
    assert damage(fetched, digests) == ""
    assert damage(fetched.parent / "Other", digests) == ""


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("training.txt", "a\tr\t", "training.txt has other bytes"),
        ("training.txt", None, "training.txt is missing"),
        ("source.json", None, "source.json does not say what was fetched"),
        ("source.json", "{}", "source.json does not say what was fetched"),
        ("source.json", "[", "source.json does not say what was fetched"),
    ],
)
def test_damage_is_seen(fetched, tmp_path, name, text, found):
    path = fetched / name
    path.unlink() if text is None else path.write_text(text)
    assert damage(fetched, Digests(tmp_path / "store.json")).startswith(found)


def test_the_same_damage_is_another_one_the_next_time(fetched, tmp_path):
    digests = Digests(tmp_path / "store.json")
    path = fetched / "training.txt"
    path.write_text("a")
    first = damage(fetched, digests)
    assert damage(fetched, digests) == first
    # The clock of a file system ticks every few milliseconds.
    time.sleep(0.02)
    path.write_text("a")
    assert damage(fetched, digests) != first
