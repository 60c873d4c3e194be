"""Archives written by the standard library and by hand, good ones and hostile ones."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.archives import extract, packing

TEXT = b"a\tr\tb\r\n" * 3000
# Text that does not repeat, so that half of the packed bytes is about half of it.
NUMBERS = bytes(33 + number * number % 89 for number in range(100_000))


def entry(name, body=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(body), kind, link
    return info, body


def tar_of(*entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, body in entries:
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def zip_of(*entries) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries:
            # A ZipInfo has a fixed date, so that every worker collects the same tests.
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            archive.writestr(info, body, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def zeros_gz(size: int) -> bytes:
    """Return `size` zero bytes, gzipped: what a small file that fills a disk is made of."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)), packer.flush()])


def unpack(folder: Path, name: str, packed: bytes, members) -> dict[str, bytes]:
    """Extract {split: member} and return what was written, whatever it was."""
    source, target = folder / "packed", folder / "out"
    source.write_bytes(packed)
    target.mkdir()
    extract(source, name, {target / split: member for split, member in members.items()})
    assert sorted(path.name for path in folder.iterdir()) == ["out", "packed"]
    return {path.name: path.read_bytes() for path in target.iterdir()}


def refused(folder: Path, name: str, packed: bytes, member: str | None, message: str) -> None:
    with pytest.raises(RankadjustError, match=message) as caught:
        unpack(folder, name, packed, {"training": member})
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == ["out", "packed"]


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.txt", ""), ("a.b.TXT.GZ", "gz"), ("a.tgz", "tar.gz"), ("fetch.php?media=en:a.tar.gz", "tar.gz"),
        ("a.zip", "zip"), ("a-1.0-py3-none-any.whl", "zip"), ("tar.gz", "gz"), ("a", ""),
    ],
)  # fmt: skip
def test_the_name_says_how_a_file_is_packed(name, how):
    assert packing(name) == how


@pytest.mark.parametrize(
    ("name", "packed", "members", "written"),
    [
        ("train.txt", TEXT, {"t": None}, {"t": TEXT}),
        ("train.txt.gz", gzip.compress(TEXT, mtime=0), {"t": None}, {"t": TEXT}),
        (
            "d.tar.gz",
            tar_of(
                entry("d", kind=tarfile.DIRTYPE), entry("./d/train.txt", TEXT), entry("d/test.txt", b""),
                entry("other", kind=tarfile.SYMTYPE, link="/etc/passwd"),
            ),
            {"b": "d/test.txt", "a": "d/train.txt"},
            {"a": TEXT, "b": b""},
        ),
        ("d.zip", zip_of(("d/", b""), ("d/é.txt", TEXT), ("README", b"x")), {"a": "d/é.txt"}, {"a": TEXT}),
        # Nothing but what is declared is written, whatever it is called and wherever it would go.
        ("d.tgz", tar_of(entry("../x", TEXT), entry("/x", TEXT), entry("a", b"1")), {"a": "a"}, {"a": b"1"}),
        ("d.zip", zip_of(("../x", TEXT), ("..\\x", TEXT), ("a", b"1")), {"a": "a"}, {"a": b"1"}),
    ],
    ids=["text", "gz", "tar", "zip", "a tar that climbs out", "a zip that climbs out"],
)  # fmt: skip
def test_the_declared_members_are_written(tmp_path, name, packed, members, written):
    assert unpack(tmp_path, name, packed, members) == written


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"5", b"6"])  # links, devices, folder, pipe
def test_tar_members_that_are_no_files(tmp_path, kind):
    packed = tar_of(entry("real.txt", TEXT), entry("train.txt", kind=kind, link="real.txt"))
    refused(tmp_path, "x.tgz", packed, "train.txt", "'train.txt' is not a regular file")


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o060666, 0o010666, 0o040755])
def test_zip_members_that_are_no_files(tmp_path, mode):
    info = zipfile.ZipInfo("train.txt")
    info.external_attr = mode << 16
    refused(tmp_path, "x.zip", zip_of((info, b"/etc/passwd")), "train.txt", "not a regular file")


@pytest.mark.parametrize("form", ["gz", "tar.gz", "zip"])
def test_a_bomb_is_refused(tmp_path, monkeypatch, form):
    member = None if form == "gz" else "train.txt"
    body = bytes(8 << 20)
    packed = {
        "gz": zeros_gz(len(body)),
        "tar.gz": tar_of(entry("train.txt", body)),
        "zip": zip_of(("train.txt", body)),
    }[form]
    assert len(packed) * 100 < 1 << 20
    monkeypatch.setattr("rankadjust.data.archives.LARGEST", 1 << 20)
    refused(tmp_path, f"x.{form}", packed, member, "larger than 1,048,576 bytes")
    assert (tmp_path / "out" / "training").stat().st_size <= 1 << 20
    monkeypatch.setattr("rankadjust.data.archives.LARGEST", len(body))
    (tmp_path / "fits").mkdir()
    assert unpack(tmp_path / "fits", f"x.{form}", packed, {"t": member}) == {"t": body}


@pytest.mark.parametrize("kind", [b"L", b"K", b"x", b"g", b"X"])  # long names and links, pax headers
def test_a_header_above_one_megabyte_is_refused_before_it_is_read(tmp_path, kind):
    # tarfile would hold these 700 MB of a name in memory, some times over.
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, 700 << 20
    packed = gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(3 << 20))
    refused(
        tmp_path, "x.tar.gz", packed, "train.txt", "a header of the archive has more than 1,048,576 bytes"
    )


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_long_name_is_a_small_header(tmp_path, form):
    name = "/".join(["folder"] * 60)
    packed = entry(name, TEXT)[0].tobuf(form) + TEXT + bytes(-len(TEXT) % 512 + 1024)
    assert unpack(tmp_path, "x.tgz", gzip.compress(packed), {"a": name}) == {"a": TEXT}


@pytest.mark.parametrize(
    ("form", "packed", "member"),
    [
        ("zip", zip_of(("train.txt", NUMBERS))[:200], "train.txt"),
        ("tgz", tar_of(entry("train.txt", NUMBERS))[:200], "train.txt"),
        ("gz", gzip.compress(NUMBERS, mtime=0)[:200], None),
        ("zip", zip_of(("train.txt", TEXT)).replace(struct.pack("<L", 21_000), struct.pack("<L", 10)), "train.txt"),
        ("tgz", tar_of(entry("train.txt", TEXT))[:-8] + bytes(8), "train.txt"),
        ("tgz", b"<html>gone</html>", "train.txt"),
    ],
    ids=["half a zip", "half a tar", "half a gz", "a zip that lies about a size", "a wrong check sum", "a page"],
)  # fmt: skip
def test_a_damaged_file(tmp_path, form, packed, member):
    refused(tmp_path, f"x.{form}", packed, member, "is damaged or not what its name says")


@pytest.mark.parametrize(
    ("name", "packed", "member", "message"),
    [
        ("x.tgz", tar_of(entry("train.txt")), "Train.tsv", r"no member 'Train.tsv'; did you mean train.txt\?"),
        ("x.zip", zip_of(("train.txt", b"")), "Train.tsv", r"no member 'Train.tsv'; did you mean train.txt\?"),
        ("x.tgz", tar_of(entry("a", b"1"), entry("./a")), "a", "x.tgz cannot be unpacked: File exists"),
        ("x.zip", zip_of(("a", b"1"), ("./a", b"2")), "a", "x.zip cannot be unpacked: File exists"),
        ("x.tgz", tar_of(entry("train.txt")), None, "declare the member that holds training"),
        ("x.txt.gz", gzip.compress(TEXT, mtime=0), "train.txt", "not an archive"),
    ],
    ids=["a near tar member", "a near zip member", "twice in a tar", "twice in a zip", "no member", "no archive"],
)  # fmt: skip
def test_a_declaration_that_does_not_fit_the_file(tmp_path, name, packed, member, message):
    refused(tmp_path, name, packed, member, message)


@pytest.mark.parametrize("link", [True, False])
def test_nothing_is_written_over_or_through_a_link(tmp_path, link):
    packed, victim, target = (tmp_path / name for name in ("x.txt", "victim", "target"))
    packed.write_bytes(b"other")
    victim.write_bytes(TEXT)
    target.symlink_to(victim) if link else target.write_bytes(TEXT)
    with pytest.raises(RankadjustError, match="File exists"):
        extract(packed, "x.txt", {target: None})
    assert (victim.read_bytes(), target.read_bytes()) == (TEXT, TEXT)
