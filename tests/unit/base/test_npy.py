"""Files of arrays that claim more than they hold, or hold none: one line each."""

import resource
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.npy import mapped
from rankadjust.evaluation.scores import read_scores


def lying_npy(dtype: str, shape: str, rest: bytes) -> bytes:
    """Return an npy file whose header says something about its bytes that need not be so."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rest


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
    with pytest.raises(RankadjustError, match=r"scores\.npy: cannot be read as numbers"):
        mapped(path)


def test_an_archive_that_claims_20_gb_is_refused(tmp_path, little_memory):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("scores.npy", lying_npy("'<f8'", "(2500000000,)", bytes(80)))
    with pytest.raises(RankadjustError, match=r"x\.npz: cannot be read as numbers"):
        read_scores(path)


def test_an_array_that_is_what_it_says_is_read(tmp_path):
    array = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "a.npy", array)
    assert np.array_equal(mapped(tmp_path / "a.npy"), array)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x09\x00",
        lying_npy("'<f8'", "(3, ", b""),
        lying_npy("'<f8'", "(-1,)", bytes(80)),
        lying_npy("'|O'", "(1,)", bytes(80)),
        lying_npy("[('a', '|O')]", "(1,)", bytes(80)),
    ],
)
def test_what_is_no_array_of_numbers_is_one_line(tmp_path, data):
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(RankadjustError, match=rf"^{path}: cannot be read as numbers \(.*\)$"):
        mapped(path)
