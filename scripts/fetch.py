"""Fetch the files of one data set from the first source that has them, verified."""

import os
from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

from rankadjust.data.fetch import fetch_dataset
from rankadjust.data.sources import FileSet


def fetch(
    dataset: str, sources: Sequence[FileSet], folder: str, cache: str, mirror: str | None, *, offline: bool
) -> None:
    fetch_dataset(dataset, sources, Path(folder), cache=Path(cache), mirror=mirror, offline=offline)


if __name__ == "__main__":
    with logged(snakemake):
        fetch(
            snakemake.wildcards.get("dataset", "the record"),
            snakemake.params.sources,
            snakemake.output[0],
            cache="resources/downloads",
            # Where bytes come from does not change them: no parameter, so that a new mirror fetches nothing anew.
            mirror=os.environ.get("RANKADJUST_MIRROR"),
            offline=os.environ.get("RANKADJUST_OFFLINE") == "1",
        )
