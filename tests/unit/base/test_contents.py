import os

import pytest

from rankadjust.base import contents
from rankadjust.base.contents import ABSENT, Digests, content_digest, digest_of, read_json
from rankadjust.base.io import sha256_of


@pytest.fixture
def digests(tmp_path):
    return Digests(tmp_path / "store.json")


def test_of_yaml_the_data_count_and_of_other_files_the_bytes(tmp_path, digests):
    settings, table = tmp_path / "settings.yaml", tmp_path / "table.csv"
    settings.write_text("a: 1\nb: [2]\n")
    table.write_text("a,b\n")

    def digest():
        return content_digest([settings, table], digests)

    before = digest()
    settings.write_text("# A remark.\na: 1\n\nb:\n  - 2\n")
    assert digest() == before
    settings.write_text("a: 1\nb: [3]\n")
    after = digest()
    assert after != before
    table.write_text("a,b\n# A remark.\n")
    assert digest() != after


@pytest.mark.parametrize("text", ["a: [1", "a: 1\na: 1\n", None])
def test_a_file_that_cannot_be_read_has_a_digest_too(tmp_path, digests, text):
    path = tmp_path / "settings.yaml"
    before = content_digest([path], digests)
    if text is None:
        assert digests.of(path) == ABSENT
    else:
        path.write_text(text)
        assert content_digest([path], digests) != before


def test_a_large_file_is_read_once_and_an_old_copy_is_noticed(tmp_path, monkeypatch):
    path, store = tmp_path / "large.txt", tmp_path / "store.json"
    path.write_bytes(b"a" * 2**20)
    first = Digests(store)
    digest = first.of(path)
    assert digest == sha256_of(path)
    first.save()

    read = []
    monkeypatch.setattr(contents, "sha256_of", lambda path: read.append(path) or sha256_of(path))
    assert Digests(store).of(path) == digest
    assert read == []
    # Of the same size and, as `cp -p` and `rsync -a` do, with the time of the file that it replaces.
    stat = path.stat()
    path.write_bytes(b"b" * 2**20)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Digests(store).of(path) == sha256_of(path) != digest
    assert read == [path]


def test_nothing_is_stored_for_small_files(tmp_path):
    path, store = tmp_path / "small.txt", tmp_path / "store.json"
    path.write_text("a")
    digests = Digests(store)
    digests.of(path)
    digests.save()
    assert not store.exists()


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00"])
def test_a_lost_store_is_an_empty_one(tmp_path, text):
    path = tmp_path / "store.json"
    path.write_text(text)
    assert read_json(path) == {}


def test_the_digest_of_a_value_is_that_of_its_repr():
    # printf "(1, 'a')" | sha256sum
    assert digest_of((1, "a")) == "2a123b2622700355"
