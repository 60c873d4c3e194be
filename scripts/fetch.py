"""Fetch the files of one data set from the first source that has them, verified."""

import os
from collections.abc import Sequence
from pathlib import Path

from scripts.job import job

from rankadjust.data.fetch import fetch_dataset
from rankadjust.data.sources import FileSet


def fetch(
    name: str, sources: Sequence[FileSet], folder: str, cache: str, mirror: str | None, *, offline: bool
) -> None:
    fetch_dataset(name, sources, Path(folder), cache=Path(cache), mirror=mirror, offline=offline)


if __name__ == "__main__":
    with job(snakemake):
        fetch(
            snakemake.wildcards.dataset,
            snakemake.params.sources,
            snakemake.output[0],
            snakemake.params.cache,
            # Where bytes come from does not change them: no parameter, so that a new mirror fetches nothing anew.
            os.environ.get("RANKADJUST_MIRROR"),
            offline=os.environ.get("RANKADJUST_OFFLINE") == "1",
        )
