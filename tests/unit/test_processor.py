"""What the processor chooses is chosen for it: two settings of numpy and BLAS, the same bytes."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from rankadjust.configuration import same_everywhere, share_with_jobs

# Moments of every kind for the counts of Nations, written as the job `moments` writes them.
JOB = """
import sys
import polars as pl
from scripts.moments import moments
from rankadjust.base.io import write_product
from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.counting.protocols import get_protocol

folder, output = sys.argv[1:]
for kind in ("histogram", "pairs"):
    table = pl.read_csv(f"{folder}/nations.{kind}.tsv", separator="\\t").drop("dataset")
    write_product(table, f"{output}.{kind}", "candidates" if kind == "histogram" else "pairs")
metrics = [metric.key for metric in expand(list(FAMILIES), [1, 3, 10]) if metric.has_moments]
moments(f"{output}.histogram", f"{output}.pairs", "Nations", [get_protocol("filtered")], metrics, output)
"""
# What machines choose by themselves, as far as one machine can play another: numpy without its newer versions of a
# function, other kernels of BLAS, other numbers of threads.
SETTINGS = [
    {"OMP_NUM_THREADS": "1"},
    {"NPY_DISABLE_CPU_FEATURES": "older", "OPENBLAS_CORETYPE": "Prescott", "OMP_NUM_THREADS": "2"},
]
pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in {"x86_64", "amd64"}, reason="the settings are those of x86-64"
)


def newer_features():
    versions = np.show_config(mode="dicts")["SIMD Extensions"]
    return " ".join([*versions.get("found", []), *versions.get("not found", [])])


def moments_of_a_job(project, output, setting):
    set_here = {name: newer_features() if value == "older" else value for name, value in setting.items()}
    environment = {
        **os.environ,
        **set_here,
        "PYTHONPATH": str(project),
        "POLARS_MAX_THREADS": setting["OMP_NUM_THREADS"],
    }
    data = project / "tests" / "data" / "evaluation"
    subprocess.run([sys.executable, "-c", JOB, data, output], env=environment, check=True)
    return output.read_bytes()


@pytest.mark.slow
def test_jobs_compute_the_same_bytes_whatever_the_processor_would_choose(project, tmp_path):
    first, second = (
        moments_of_a_job(project, tmp_path / f"{number}.parquet", setting | same_everywhere())
        for number, setting in enumerate(SETTINGS)
    )
    assert first == second


def test_a_run_tells_its_jobs(project, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    # In a folder with a blank, a run names the interpreter anew.
    monkeypatch.setattr(sys, "executable", sys.executable)
    share_with_jobs({"mirror": None, "offline": True}, project)
    assert os.environ.items() >= same_everywhere().items()
    assert set(newer_features().split()) == set(os.environ["NPY_DISABLE_CPU_FEATURES"].split())
