"""Encode and count several small data sets, and compute their moments, in one job: as the rules for a single one do."""

import sys
from collections.abc import Callable, Sequence

from scripts.baselines import baselines
from scripts.count import count
from scripts.encode import encode_dataset
from scripts.job import is_failure, job, note
from scripts.moments import moments

from rankadjust.counting.protocols import Protocol
from rankadjust.data.registry import Dataset


def compute(
    dataset: Dataset,
    folder: str,
    encoded: Sequence[str],
    protocols: Sequence[Protocol],
    counted: Sequence[str],
    metrics: list[str],
    tell: Callable[[str], None],
) -> None:
    """Make all files of one data set.

    counted: histograms, pairs, moments and baselines; the last, or all of them, may be missing.
    """
    triples, labels, summary = encoded
    encode_dataset(dataset, folder, triples, labels, summary, tell)
    if counted:
        histograms, pairs, table, *baselined = counted
        count(triples, summary, dataset.name, protocols, histograms, pairs)
        moments(histograms, pairs, dataset.name, protocols, metrics, table)
        for reached in baselined:
            baselines(triples, summary, dataset.name, protocols, metrics, reached)


if __name__ == "__main__":
    output, params = snakemake.output, snakemake.params
    encoded = zip(output.triples, output.labels, output.summaries, strict=True)
    counted = zip(output.histograms, output.pairs, output.moments, strict=True)
    counted_files = dict(zip(params.counted, counted, strict=True))
    for name, reached in zip(params.baselined, output.baselines, strict=True):
        counted_files[name] = (*counted_files[name], reached)
    with job(snakemake) as tell:
        failed = False
        for dataset, folder, files in zip(params.datasets, snakemake.input, encoded, strict=True):
            name = dataset.name
            made = counted_files.get(name, ())
            try:
                compute(dataset, folder, files, params.protocols[name], made, params.metrics, tell)
            # What is wrong with the others should be known, too, before the user mends it.
            except BaseException as error:
                if not is_failure(error):
                    raise
                note(error, f"rule {snakemake.rule}, data set {name}", snakemake.log[0])
                failed = True
        if failed:
            sys.exit(1)
