"""The data sets: their sizes, their numbers of candidates, and the expectations under chance."""

from typing import Any

import polars as pl

from rankadjust.base.vocabulary import TASK_SIDES, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.page.material import Material
from rankadjust.page.templating import Section, render

# The metrics whose expectation is shown.
METRICS = ("arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")


def dataset_section(material: Material) -> Section:
    """Return the section of the data sets: of the run, and of its results, with the expectations under chance."""
    shown = _shown(material)
    texts = candidate_texts(material.constants.histograms.table.filter(pl.col("dataset").is_in(shown)))
    datasets = [
        row | {"licence": material.licences.get(row["dataset"]), "candidates": texts.get(row["dataset"])}
        for row in dataset_rows(material.datasets.filter(pl.col("dataset").is_in(shown)))
    ]
    content = render(
        "datasets.html.jinja",
        datasets=datasets,
        metrics=[(key, resolve(key).label) for key in METRICS],
        chance=chance_rows(material.constants.table.filter(pl.col("dataset").is_in(shown))),
    )
    return Section("datasets", "Data sets", content)


def _shown(material: Material) -> list[str]:
    rows = material.constants.table
    own = rows.filter(pl.col("origin") == "computed") if "origin" in rows else None
    computed = material.datasets if own is None else own
    names = set(computed["dataset"])
    for table in material.tables.values():
        names |= set(table["dataset"].drop_nulls())
    return sorted(names)


def dataset_rows(datasets: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the sizes of data sets; for inductive data sets, testing is the inference graph.

    datasets: rows of datasets.tsv.
    """
    # A column without values was read as text.
    rows = datasets.with_columns(pl.all().exclude("dataset", "role").cast(pl.Int64))
    return rows.select(
        "dataset",
        "role",
        "entities",
        "relations",
        pl.col("triples_training").alias("training"),
        pl.col("triples_validation").alias("validation"),
        pl.coalesce("triples_inference_testing", "triples_testing").alias("testing"),
        pl.col("duplicates_within").alias("duplicates"),
        pl.col("duplicates_between").alias("leaks"),
        "self_loops",
        "unseen_triples",
    ).to_dicts()


def chance_rows(constants: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the expectation of METRICS for each evaluation on test data, both sides.

    A row has dataset, protocol, split, tasks and, for each metric, the expectation or a pair of bounds for it.
    """
    rows = constants.filter(
        pl.col("side") == "both", pl.col("split").is_in(TEST_SPLITS), pl.col("metric").is_in(METRICS)
    ).sort("dataset", "protocol", "split", "metric")
    key = ["dataset", "protocol", "split"]
    chances = []
    for names, part in rows.group_by(key, maintain_order=True):
        values = {
            row["metric"]: (row["expectation_low"], row["expectation_high"])
            if row["expectation"] is None and row["expectation_low"] != row["expectation_high"]
            else row["expectation"] or row["expectation_low"]
            for row in part.iter_rows(named=True)
            if row["expectation"] is not None or row["expectation_low"] is not None
        }
        if values:
            chances.append(dict(zip(key, names, strict=True)) | {"tasks": part["tasks"][0], "values": values})
    return chances


def candidate_texts(histograms: pl.DataFrame) -> dict[str, str]:
    """Return for each data set the numbers of candidates of its filtered test tasks, both sides, in words."""
    rows = histograms.filter(
        pl.col("side").is_in(TASK_SIDES), pl.col("split").is_in(TEST_SPLITS), protocol="filtered"
    )
    texts = {}
    for (name,), part in rows.group_by("dataset", maintain_order=True):
        # If there are two test splits, take the split with new entities: inductive data sets exist to test these.
        split = max(part["split"], key=TEST_SPLITS.index)
        counted = (
            part.filter(split=split)
            .group_by("num_candidates")
            .agg(pl.col("tasks").sum())
            .sort("num_candidates")
        )
        sizes = counted["num_candidates"].to_list()
        is_half = pl.col("tasks").cum_sum() * 2 >= pl.col("tasks").sum()
        middle = counted.filter(is_half)["num_candidates"][0]
        several = f"N from {sizes[0]:,} to {sizes[-1]:,}, median {middle:,}"
        texts[str(name)] = several if len(sizes) > 1 else f"N is {middle:,} in every task"
    return texts
