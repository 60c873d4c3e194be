"""The files of a database: assembled, written, read whole or in part, and found by the folder of a run."""

import hashlib
import re

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import LAYOUTS, write_parquet
from rankadjust.base.version import VERSION
from rankadjust.base.vocabulary import KEY
from rankadjust.database.constants import Constants
from rankadjust.database.store import (
    SCHEMA,
    assemble,
    database_of_run,
    load_candidates,
    load_database,
    released_version,
    write_database,
)


def moments(dataset="Nations", protocol="filtered", metrics=("arithmetic_mean_rank", "hits_at_1")):
    count = len(metrics)
    return pl.DataFrame(
        {
            "dataset": [dataset] * count,
            "protocol": [protocol] * count,
            "split": ["testing"] * count,
            "side": ["both"] * count,
            "metric": list(metrics),
            "entities": [14] * count,
            "tasks": [402] * count,
            "expectation": [4.5, 0.2][:count],
            "variance": [0.01, 0.001][:count],
            "method": ["closed form"] * count,
            "reason": [None] * count,
            "variance_random_scorer": [None] * count,
            "reason_random_scorer": ["raw"] * count,
        },
        schema_overrides={"reason": pl.String, "variance_random_scorer": pl.Float64},
    )


def test_a_database_has_one_sorted_row_per_key_and_every_column():
    database = assemble([moments("UMLS"), moments("Nations", "raw"), moments()])
    assert database.schema == SCHEMA
    assert database.height == 6
    assert database.select(KEY).equals(database.select(KEY).sort(KEY))
    reasons = database.select("reason", "reason_random_scorer", "reason_static_scorer")
    assert reasons.unique().rows() == [(None, "raw", "raw")]
    with pytest.raises(RankadjustError, match="more than one row for Nations, filtered, testing, both, "):
        assemble([moments(), moments()])


def test_a_database_comes_back_as_it_was_written(tmp_path):
    database, file = assemble([moments(), moments("UMLS")]), tmp_path / "adjustments.parquet"
    write_database(database, file)
    assert load_database(file).equals(database)
    written = {key: text for key, text in pl.read_parquet_metadata(file).items() if "rankadjust" in key}
    assert written == {
        "rankadjust.table": "adjustments",
        "rankadjust.schema": str(LAYOUTS["adjustments"]),
        "rankadjust.version": VERSION,
    }


WHOLE = assemble([moments()])
OTHER_SCHEMA = {"rankadjust.table": "adjustments", "rankadjust.schema": "1", "rankadjust.version": "0.9"}


@pytest.mark.parametrize(
    ("frame", "metadata", "message"),
    [
        (WHOLE.drop("protocol"), None, "not a table of adjustments, because it lacks the column 'protocol'"),
        (
            WHOLE.with_columns(expectation=pl.lit("a half")),
            None,
            "not a table of adjustments, because its column 'expectation' holds String, not Float64",
        ),
        (
            WHOLE,
            OTHER_SCHEMA,
            f"made by rankadjust 0.9 with schema 1 of adjustments; this is rankadjust {VERSION}, which reads",
        ),
    ],
)
def test_another_table_is_refused_in_one_line(tmp_path, frame, metadata, message):
    file = tmp_path / "adjustments.parquet"
    write_parquet(frame, file, metadata=metadata)
    with pytest.raises(RankadjustError, match=f"^{re.escape(f'{file}: {message}')}"):
        load_database(file)


def test_what_is_no_parquet_file_is_refused_in_one_line(tmp_path):
    with pytest.raises(RankadjustError, match="there is no such file; 'snakemake"):
        load_database(tmp_path / "none.parquet")
    with pytest.raises(RankadjustError, match="this is a folder; give the Parquet file itself"):
        load_database(tmp_path)
    file = tmp_path / "adjustments.parquet"
    write_database(assemble([moments()]), file)
    for damaged in (b"dataset\n", b"", file.read_bytes()[:-30]):
        file.write_bytes(damaged)
        with pytest.raises(
            RankadjustError, match=r"adjustments\.parquet: not a Parquet file, or a damaged one"
        ):
            load_database(file)


def test_the_number_of_the_schema_belongs_to_its_columns():
    """Where this fails, the columns have changed: raise it in LAYOUTS, and then this digest."""
    columns = ", ".join(f"{name} {kind}" for name, kind in SCHEMA.items())
    digest = hashlib.sha256(columns.encode()).hexdigest()[:16]
    assert (LAYOUTS["adjustments"], digest) == (2, "df530f03e7b284da")


def test_the_released_tables_say_what_they_are_and_are_sorted(project):
    assert released_version()[1] == str(LAYOUTS["adjustments"])
    assert load_database().height > 80_000
    assert load_candidates().height > 100_000
    for name in ("adjustments", "candidates", "baselines"):
        # One data set is found without reading the others only where its rows are together.
        values = pl.read_parquet(project / "resources" / "database" / f"{name}.parquet", columns=["dataset"])
        assert values["dataset"].is_sorted()


def test_the_released_database_fills_in_what_a_run_lacks_metric_by_metric():
    computed = assemble([moments(metrics=["arithmetic_mean_rank"])])
    released = assemble([moments().with_columns(expectation=pl.Series([9.9, 0.2])), moments("UMLS")])
    both = (
        Constants(computed)
        .over(Constants(released))
        .table.select("dataset", "metric", "expectation", "origin")
    )
    assert sorted(both.rows()) == [
        ("Nations", "arithmetic_mean_rank", 4.5, "computed"),
        ("Nations", "hits_at_1", 0.2, "released"),
        ("UMLS", "arithmetic_mean_rank", 4.5, "released"),
        ("UMLS", "hits_at_1", 0.2, "released"),
    ]
    assert Constants(computed).over(None).table["origin"].to_list() == ["computed"]


def test_the_database_of_a_run_is_found_by_the_folder_of_its_results(tmp_path):
    results = tmp_path / "results"

    def refused(folder, message):
        with pytest.raises(RankadjustError, match=f"^{re.escape(f'{folder}: {message}')}"):
            database_of_run(folder)

    refused(
        results,
        "no finished run has its results here, because database/adjustments.parquet is missing; give the folder",
    )
    (results / "database").mkdir(parents=True)
    for name in ("adjustments.parquet", "candidates.parquet"):
        (results / "database" / name).touch()
    refused(
        results,
        "no finished run has its results here, because database/datasets.tsv is missing; give the folder",
    )
    (results / "database" / "datasets.tsv").touch()
    assert database_of_run(str(results)) == results / "database" / "adjustments.parquet"
