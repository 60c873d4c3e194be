"""Archives written by the standard library and by hand, good ones and hostile ones."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.data.archives import DamagedError, extract, packing
from tests.searching import in_profile

TEXT = b"a\tr\tb\r\n" * 3000
PACKERS = {
    "": bytes,
    ".gz": lambda body: gzip.compress(body, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def entry(name, body=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(body), kind, link
    return info, body


def tar_of(*entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info, body in entries:
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def zip_of(*entries, **options) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries:
            archive.writestr(name, body, **options)
    return out.getvalue()


def unpack(folder: Path, name: str, packed: bytes, members, sizes=None) -> dict[str, bytes]:
    """Extract {split: member} and return what was written, whatever it was."""
    source, target = folder / "packed", folder / "out"
    source.write_bytes(packed)
    target.mkdir()
    extract(
        source,
        name,
        {target / split: member for split, member in members.items()},
        {target / split: size for split, size in (sizes or {}).items()},
    )
    return {path.name: path.read_bytes() for path in target.iterdir()}


def refused(folder: Path, name: str, packed: bytes, member: str | None, message: str, size=None) -> None:
    sizes = None if size is None else {"training": size}
    with pytest.raises(RankadjustError, match=message) as caught:
        unpack(folder, name, packed, {"training": member}, sizes)
    assert "\n" not in str(caught.value)
    assert list((folder / "out").iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["out", "packed"]


@pytest.mark.parametrize("ending", PACKERS)
def test_single_file(tmp_path, ending):
    assert unpack(tmp_path, f"train.txt{ending}", PACKERS[ending](TEXT), {"t": None}) == {"t": TEXT}


@pytest.mark.parametrize("ending", PACKERS)
def test_tar(tmp_path, ending):
    packed = PACKERS[ending](
        tar_of(
            entry("d", kind=tarfile.DIRTYPE),
            entry("d/README", b"x"),
            entry("./d/train.txt", TEXT),
            entry("other", kind=tarfile.SYMTYPE, link="/etc/passwd"),
            entry("d/test.txt", b""),
        )
    )
    written = unpack(tmp_path, f"d.tar{ending}", packed, {"b": "d/test.txt", "a": "d/train.txt"}, {"b": 0})
    assert written == {"a": TEXT, "b": b""}


@pytest.mark.parametrize("name", ["d.zip", "d-1.0-py3-none-any.whl"])
def test_zip(tmp_path, name):
    packed = zip_of(("d/", b""), ("d/train.txt", TEXT), ("README", b"x"))
    assert unpack(tmp_path, name, packed, {"a": "d/train.txt"}, {"a": len(TEXT)}) == {"a": TEXT}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.txt", ""), ("a.b.TXT.GZ", "gz"), ("a.tgz", "tar.gz"), ("a.tar.xz", "tar.xz"),
        ("fetch.php?media=en:a.tar.gz", "tar.gz"), ("a.zip", "zip"), ("tar.gz", "gz"), ("a", ""),
        ("a.tbz2", "tar.bz2"), ("a.tar", "tar"),
    ],
)  # fmt: skip
def test_the_name_says_how_a_file_is_packed(name, how):
    assert packing(name) == how


@settings(deadline=None, max_examples=in_profile(60))
@given(
    st.dictionaries(st.text("ab./ é", min_size=1).filter(lambda s: s.strip("./ ")), st.binary(), min_size=1),
    st.sampled_from([".zip", *(f".tar{ending}" for ending in PACKERS)]),
)
def test_what_goes_in_comes_out(tmp_path_factory, files, ending):
    # Names that would be one path (a//b, ./a) or leave the folder are for the tests below.
    names = [f"m{number}/{name.replace('/', '_').replace('..', '_')}" for number, name in enumerate(files)]
    plain = dict(zip(names, files.values(), strict=True))
    pack = (
        zip_of
        if ending == ".zip"
        else lambda *all_: PACKERS[ending[4:]](tar_of(*(entry(*one) for one in all_)))
    )
    members = {str(number): name for number, name in enumerate(plain)}
    written = unpack(tmp_path_factory.mktemp("p"), f"x{ending}", pack(*plain.items()), members)
    assert written == {split: plain[name] for split, name in members.items()}


OUTSIDE = [
    "/etc/train.txt",
    "../train.txt",
    "d/../../train.txt",
    "..\\train.txt",
    "C:\\train.txt",
    "\\train.txt",
]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("declared", [True, False])
def test_names_outside_of_the_folder(tmp_path, name, declared):
    member = name if declared else "good.txt"
    tar = tar_of(entry(name, TEXT), entry("good.txt", TEXT))
    refused(tmp_path, "x.tar", tar, member, "outside of its folder")


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_outside_of_the_folder_in_a_zip(tmp_path, name):
    refused(tmp_path, "x.zip", zip_of((name, TEXT), ("good.txt", TEXT)), "good.txt", "outside of its folder")


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"5", b"6"])  # links, devices, folder, pipe
def test_tar_members_that_are_no_files(tmp_path, kind):
    packed = tar_of(entry("real.txt", TEXT), entry("train.txt", kind=kind, link="real.txt"))
    refused(tmp_path, "x.tar", packed, "train.txt", "'train.txt' is not a regular file")


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o060666, 0o010666, 0o040755])
def test_zip_members_that_are_no_files(tmp_path, mode):
    info = zipfile.ZipInfo("train.txt")
    info.external_attr = mode << 16
    refused(tmp_path, "x.zip", zip_of((info, b"/etc/passwd")), "train.txt", "not a regular file")


def test_a_sparse_member(tmp_path):
    # GNU's old format: a header of type S that claims a megabyte of zeros.
    info = tarfile.TarInfo("train.txt")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (1 << 20)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    packed = bytes(header) + bytes(1024)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert archive.getmember("train.txt").issparse()
    refused(tmp_path, "x.tar", packed, "train.txt", "not a regular file")


@pytest.mark.parametrize("second", ["train.txt", "./train.txt"])
def test_a_member_that_is_there_twice(tmp_path, second):
    refused(tmp_path, "x.tar", tar_of(entry("train.txt", TEXT), entry(second, b"")), "train.txt", "twice")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["train.txt", "./train.txt"])
def test_a_member_that_is_twice_in_a_zip(tmp_path, second):
    refused(tmp_path, "x.zip", zip_of(("train.txt", TEXT), (second, b"")), "train.txt", "twice")


@pytest.mark.parametrize("size", [len(TEXT) - 1, len(TEXT) + 1])
@pytest.mark.parametrize("form", ["tar", "zip", "gz", "txt"])
def test_a_size_that_is_not_the_declared_one(tmp_path, form, size):
    packed, member = {
        "tar": (tar_of(entry("train.txt", TEXT)), "train.txt"),
        "zip": (zip_of(("train.txt", TEXT)), "train.txt"),
        "gz": (gzip.compress(TEXT), None),
        "txt": (TEXT, None),
    }[form]
    refused(tmp_path, f"x.{form}", packed, member, f"{size:,}", size=size)


def zeros_gz(size: int) -> bytes:
    """Return `size` zero bytes, gzipped: what a small file that fills a disk is made of."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)), packer.flush()])


@pytest.mark.parametrize("form", ["gz", "tar.gz", "zip"])
def test_without_a_declared_size_a_bomb_is_refused(tmp_path, monkeypatch, form):
    monkeypatch.setattr("rankadjust.data.archives.LARGEST", 1 << 20)
    size = 8 << 20
    if form == "zip":
        packed, member, message = zip_of(("train.txt", bytes(size))), "train.txt", "8,388,608 bytes"
    elif form == "gz":
        packed, member, message = zeros_gz(size), None, "larger than 1,048,576"
    else:
        packed = gzip.compress(tar_of(entry("x", bytes(size)), entry("train.txt", b"")))
        member, message = "train.txt", "unpacks to more than 1,048,576"
    assert len(packed) * 100 < 1 << 20
    refused(tmp_path, f"x.{form}", packed, member, message)


@pytest.mark.parametrize(
    "kind", [b"L", b"K", b"x", b"g", b"X"]
)  # long names, long links, facts in pax headers
def test_a_header_above_one_megabyte_is_refused_before_it_is_read(tmp_path, kind):
    # tarfile would hold these 700 MB of a name in memory, some times over.
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, 700 << 20
    packed = gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + tar_of(entry("train.txt", TEXT)))
    refused(tmp_path, "x.tar.gz", packed, "train.txt", "a header of the archive has 734,003,200 bytes")


def test_a_long_name_is_a_small_header(tmp_path):
    name = "/".join(["folder"] * 60)
    for number, form in enumerate((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)):
        packed = entry(name, TEXT)[0].tobuf(form) + TEXT + bytes(-len(TEXT) % 512 + 1024)
        (tmp_path / str(number)).mkdir()
        assert unpack(tmp_path / str(number), "x.tar", packed, {"a": name}) == {"a": TEXT}


@pytest.mark.parametrize("form", ["gz", "tar.gz", "zip"])
def test_what_is_as_large_as_allowed_is_no_bomb(tmp_path, monkeypatch, form):
    body = bytes(1 << 20)
    tar = tar_of(entry("train.txt", body))
    monkeypatch.setattr("rankadjust.data.archives.LARGEST", len(tar if form == "tar.gz" else body))
    packed = {"gz": gzip.compress(body), "tar.gz": gzip.compress(tar), "zip": zip_of(("train.txt", body))}[
        form
    ]
    assert len(packed) * 100 < len(body)
    assert unpack(tmp_path, f"x.{form}", packed, {"training": None if form == "gz" else "train.txt"}) == {
        "training": body
    }


@pytest.mark.parametrize("claimed", [10, 100_000])
def test_a_zip_that_lies_about_a_size(tmp_path, claimed):
    packed = zip_of(("train.txt", TEXT))
    lie = packed.replace(struct.pack("<L", len(TEXT)), struct.pack("<L", claimed))
    assert lie != packed
    refused(tmp_path, "x.zip", lie, "train.txt", "damaged|does not hold")


@pytest.mark.parametrize("ending", [*(f".tar{ending}" for ending in PACKERS), ".zip", ".gz", ".bz2", ".xz"])
def test_half_an_archive(tmp_path, ending):
    # Letters that do not repeat, so that half of the packed bytes is about half of the text.
    body = bytes(33 + number * number % 89 for number in range(100_000))
    if ending == ".zip":
        packed = zip_of(("train.txt", body))
    elif ending.startswith(".tar"):
        packed = PACKERS[ending[4:]](tar_of(entry("train.txt", body)))
    else:
        packed = PACKERS[ending](body)
    member = "train.txt" if ending.startswith((".tar", ".zip")) else None
    refused(tmp_path, f"x{ending}", packed[: len(packed) // 2], member, "damaged or not what its name says")


def test_a_wrong_check_sum_behind_the_last_member(tmp_path):
    packed = bytearray(gzip.compress(tar_of(entry("train.txt", TEXT))))
    packed[-5] ^= 1
    source = tmp_path / "packed"
    source.write_bytes(packed)
    with pytest.raises(DamagedError, match=r"x\.tar\.gz is damaged"):
        extract(source, "x.tar.gz", {tmp_path / "training": "train.txt"}, {})


def test_what_is_not_what_it_is_called(tmp_path):
    refused(tmp_path, "x.tgz", b"<html>gone</html>", "train.txt", "damaged or not what its name says")


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_a_missing_member_names_the_near_one(tmp_path, form):
    packed = tar_of(entry("train.txt", TEXT)) if form == "tar" else zip_of(("train.txt", TEXT))
    refused(tmp_path, f"x.{form}", packed, "Train.tsv", r"no member 'Train.tsv'; did you mean train.txt\?")


@pytest.mark.parametrize(
    ("name", "members", "message"),
    [
        ("x.tar", {"training": None}, "declare the member that holds training"),
        ("x.txt.gz", {"training": "train.txt"}, "not an archive"),
        ("x.tar", {"a": "train.txt", "b": "./train.txt"}, "declared for two splits"),
    ],
)
def test_declarations_that_do_not_fit_the_file(tmp_path, name, members, message):
    with pytest.raises(RankadjustError, match=message):
        unpack(tmp_path, name, tar_of(entry("train.txt", TEXT)), members)
