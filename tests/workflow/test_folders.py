"""A checkout in a folder of any name: what Snakemake puts into commands is found all the same."""

import os
import subprocess
import sys

import polars as pl
import pytest

from tests.copies import copy_project
from tests.tiny import write_tiny

pytestmark = pytest.mark.slow

CONFIG = "{datasets: [Tiny], protocols: [raw], metrics: [mr], registry: [tiny.yaml], tables: []}\n"


def test_a_run_in_a_folder_with_blanks_quotes_and_umlauts(tmp_path):
    """The interpreter, too, is in that folder, as in the checkout of a user who types `make`."""
    folder = tmp_path / """it's "my" $HOME größe"""
    copy_project(folder)
    (folder / ".venv").symlink_to(sys.prefix)
    write_tiny(folder)
    (folder / "config.yaml").write_text(CONFIG)
    command = [folder / ".venv" / "bin" / "python", "-m", "snakemake", "--cores", "2", "database"]
    done = subprocess.run(
        [*command, "--configfile", "config.yaml"],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    database = pl.read_parquet((folder / "results" / "database" / "adjustments.parquet").read_bytes())
    # Without a filter all four entities are candidates: E[MR] = (1 + 4) / 2.
    assert database.filter(dataset="Tiny", side="both")["expectation"].unique().to_list() == [2.5]
