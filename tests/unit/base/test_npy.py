"""Files of arrays that claim more than they hold, or hold none: one line each, before any memory is taken."""

import io
import resource
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.npy import check_npz, map_header, read_array
from tests.fuzz.documents import lying_npy


@pytest.fixture
def little_memory():
    """Let the test have half a gigabyte more than the process takes already."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (1 << 29), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("shape", ["(2500000000,)", "(50000, 50000)"])
def test_an_array_that_claims_20_gb_is_refused_before_anything_is_allocated(tmp_path, little_memory, shape):
    path = tmp_path / "scores.npy"
    path.write_bytes(lying_npy("'<f8'", shape, bytes(80)))
    for read in (read_array, map_header):
        with pytest.raises(
            RankadjustError, match=r"scores\.npy: the file ends before its .* rows do: 20,000,000,000 bytes"
        ):
            read(path)


def test_an_archive_that_claims_20_gb_is_refused_before_anything_is_allocated(tmp_path, little_memory):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("scores.npy", lying_npy("'<f8'", "(2500000000,)", bytes(80)))
    with pytest.raises(
        RankadjustError,
        match=r"x\.npz, scores\.npy: the file ends before its .* rows do: 20,000,000,000 bytes",
    ):
        check_npz(path)
    # The directory of the archive says of how many bytes a member is: at 24 bytes behind its mark.
    data = path.read_bytes()
    place = data.index(b"PK\x01\x02") + 24
    path.write_bytes(data[:place] + (2**32 - 2).to_bytes(4, "little") + data[place + 4 :])
    with pytest.raises(RankadjustError, match=r"x\.npz: it unpacks to 4,294,967,294 bytes"):
        check_npz(path)


def test_arrays_that_are_what_they_say_are_read(tmp_path):
    array = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", a=array, mask=np.zeros((3000, 3000), np.bool_))
    assert np.array_equal(read_array(tmp_path / "a.npy"), array)
    assert map_header(tmp_path / "a.npy") == ((3, 4), False, np.dtype(np.float64))
    check_npz(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no npy file"),
        (b"\x93NUMPY\x09\x00", "no npy file"),
        (lying_npy("'<f8'", "(3, ", b""), "no npy file"),
        (lying_npy("'<f8'", "(-1,)", bytes(80)), "no npy file"),
        (lying_npy("'|O'", "(1,)", bytes(80)), "an array of Python objects"),
        (lying_npy("[('a', '|O')]", "(1,)", bytes(80)), "an array of Python objects"),
    ],
)
def test_what_is_no_array_of_numbers_is_one_line(tmp_path, data, told):
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(RankadjustError, match=rf"^{path}: {told}"):
        read_array(path)


def test_an_array_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.ones(2))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("scores.npy", buffer.getvalue())
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("scores.npy", buffer.getvalue())
    with pytest.raises(RankadjustError, match="an array is in it twice"):
        check_npz(path)
