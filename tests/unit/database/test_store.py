"""The database: assembled, sorted, unique, loaded."""

import hashlib

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_parquet
from rankadjust.base.sealed import digest_of_values, read_seal
from rankadjust.base.vocabulary import KEY
from rankadjust.database.beside import load_candidates
from rankadjust.database.store import (
    ADJUSTMENTS,
    SCHEMA,
    assemble,
    load_database,
    released_seal,
    with_released,
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


def test_database_has_one_sorted_row_per_key_and_every_column():
    database = assemble([moments("UMLS"), moments("Nations", "raw"), moments()])
    assert database.schema == SCHEMA
    assert database.height == 6
    assert database.select(KEY).equals(database.select(KEY).sort(KEY))


def test_a_key_given_twice_is_an_error():
    with pytest.raises(RankadjustError, match="more than one row for Nations, filtered, testing, both, "):
        assemble([moments(), moments()])


def test_a_database_comes_back_as_it_was_written(tmp_path):
    database = assemble([moments()])
    write_database(database, tmp_path / "adjustments.parquet")
    assert load_database(tmp_path / "adjustments.parquet").equals(database)


def test_what_is_no_database_is_refused_in_one_line(tmp_path):
    with pytest.raises(RankadjustError, match="there is no such file; 'snakemake"):
        load_database(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("dataset\n")
    with pytest.raises(RankadjustError, match=r"text\.parquet: not a Parquet file"):
        load_database(tmp_path / "text.parquet")
    write_parquet(pl.DataFrame({"dataset": ["Nations"]}), tmp_path / "other.parquet")
    with pytest.raises(RankadjustError, match="not an adjustment database, it lacks the column 'protocol'"):
        load_database(tmp_path / "other.parquet")


def test_a_database_without_digest_is_refused_in_one_line(tmp_path):
    write_parquet(assemble([moments()]), tmp_path / "adjustments.parquet")
    with pytest.raises(RankadjustError, match=r"adjustments\.parquet: it has no digest, .*write_database"):
        load_database(tmp_path / "adjustments.parquet")


def test_text_among_the_expectations_is_refused_in_one_line(tmp_path):
    words = assemble([moments()]).with_columns(expectation=pl.lit("about a half"))
    write_parquet(words, tmp_path / "adjustments.parquet")
    with pytest.raises(RankadjustError, match=r"column 'expectation' holds text \(String\), not numbers"):
        load_database(tmp_path / "adjustments.parquet")


def test_the_number_of_the_schema_belongs_to_its_columns():
    """Where this fails, the columns have changed: raise `schema` of ADJUSTMENTS, and then this digest."""
    columns = ", ".join(f"{name} {kind}" for name, kind in SCHEMA.items())
    digest = hashlib.sha256(columns.encode()).hexdigest()[:16]
    assert (ADJUSTMENTS.schema, digest) == (2, "df530f03e7b284da")


def test_the_released_database_says_what_it_is(project):
    seal = released_seal()
    assert (seal.table, seal.schema) == (ADJUSTMENTS.name, str(ADJUSTMENTS.schema))
    assert load_database(project / "resources" / "database" / "adjustments.parquet").height > 80_000
    assert load_candidates().height > 100_000


@pytest.mark.parametrize("name", ["adjustments", "candidates", "baselines"])
def test_the_seals_of_the_released_tables_are_those_of_their_values(project, name):
    """Their bytes are compared with SHA256SUMS whenever they are read, and their values here."""
    file = project / "resources" / "database" / f"{name}.parquet"
    seal = read_seal(file)
    values = pl.read_parquet(file)
    assert digest_of_values(values, seal.table, seal.schema, seal.version) == seal.digest
    # One data set is found without reading the others only where its rows are together.
    assert values["dataset"].is_sorted()


def test_the_rows_of_one_data_set_come_from_a_file_of_ones_own_after_it_was_checked(tmp_path):
    rows = load_database(dataset="Nations")
    assert rows["dataset"].unique().to_list() == ["Nations"]
    file = tmp_path / "adjustments.parquet"
    write_database(pl.concat([rows, load_database(dataset="UMLS")]), file)
    assert load_database(file, "Nations").equals(rows)
    changed = pl.read_parquet(file).with_columns(tasks=pl.col("tasks") + 1)
    write_parquet(changed, file, pl.read_parquet_metadata(file))
    with pytest.raises(RankadjustError, match="damaged"):
        load_database(file, "Nations")


def test_the_database_keeps_why_a_random_scorer_has_no_variance():
    reasons = assemble([moments()]).select("reason", "reason_random_scorer", "reason_static_scorer")
    assert reasons.unique().rows() == [(None, "raw", "raw")]


def test_the_released_database_fills_in_what_a_run_lacks_metric_by_metric():
    computed = assemble([moments(metrics=["arithmetic_mean_rank"])])
    released = assemble([moments().with_columns(expectation=pl.Series([9.9, 0.2])), moments("UMLS")])
    both = with_released(computed, released).select("dataset", "metric", "expectation", "origin")
    assert sorted(both.rows()) == [
        ("Nations", "arithmetic_mean_rank", 4.5, "computed"),
        ("Nations", "hits_at_1", 0.2, "released"),
        ("UMLS", "arithmetic_mean_rank", 4.5, "released"),
        ("UMLS", "hits_at_1", 0.2, "released"),
    ]
    assert with_released(computed, None)["origin"].to_list() == ["computed"]
