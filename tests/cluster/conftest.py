"""A Slurm for the tests of a module, brought up once; where that cannot be, they are skipped and say why."""

import tempfile
from pathlib import Path

import pytest

from harness.slurm import obstacle, slurm


@pytest.fixture(scope="module")
def cluster():
    reason = obstacle()
    if reason:
        pytest.skip(reason)
    # Names of sockets have to be short.
    with tempfile.TemporaryDirectory(prefix="rankadjust-slurm-") as folder, slurm(Path(folder)) as running:
        yield running
