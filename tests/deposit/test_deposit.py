"""The deposit as people without this library find it: read by other programs, and by what is documented."""

import hashlib
import json
import re
import subprocess
import sys

import duckdb
import polars as pl
import pytest
import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.base.version import REGISTRY_DATE, VERSION
from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import load_baselines, load_candidates, load_database, load_datasets
from rankadjust.database.verification import verify
from rankadjust.output.deposit import SUMS, TABLES, TEXTS, write_deposit

# Plain, temporal, inductive, and a benchmark with sampled negatives.
CHOSEN = ["FB15k-237", "Nations", "ICEWS14-interpolation", "GraIL-WN18RR-v1", "ogbl-biokg"]


def part(frame):
    return frame.filter(pl.col("dataset").is_in(CHOSEN))


def write(folder):
    tables = part(load_database()), Histograms(part(load_candidates()))
    constants = Constants(*tables, baselines=part(load_baselines()))
    write_deposit(constants, part(load_datasets()), load_registry(), folder)
    return folder


@pytest.fixture(scope="module")
def deposit(tmp_path_factory):
    return write(tmp_path_factory.mktemp("deposit"))


def descriptor(deposit):
    return json.loads((deposit / "datapackage.json").read_text())


def test_every_file_is_there_and_the_same_bytes_come_out_again(deposit, tmp_path):
    names = {path.name for path in deposit.iterdir()}
    assert names == {*TABLES, *TEXTS, SUMS}
    again = write(tmp_path)
    assert {name: (again / name).read_bytes() for name in names} == {
        name: (deposit / name).read_bytes() for name in names
    }


def test_checksums_are_those_of_the_files(deposit):
    listed = dict(reversed(line.split("  ")) for line in (deposit / SUMS).read_text().splitlines())
    assert set(listed) == {*TABLES, *TEXTS}
    assert listed == {name: hashlib.sha256((deposit / name).read_bytes()).hexdigest() for name in listed}


def test_croissant_describes_the_same_files_and_columns(deposit):
    """`mlcroissant validate` finds no fault in it and does not warn (version 1.0 of the format)."""
    croissant, package = json.loads((deposit / "croissant.json").read_text()), descriptor(deposit)
    files = {file["name"]: file["sha256"] for file in croissant["distribution"]}
    assert files == {each["path"]: each["hash"].removeprefix("sha256:") for each in package["resources"]}
    columns = [[field["name"] for field in table["field"]] for table in croissant["recordSet"]]
    assert columns == [[field["name"] for field in each["schema"]["fields"]] for each in package["resources"]]
    ids = {field["@id"] for table in croissant["recordSet"] for field in table["field"]}
    assert {key["@id"] for table in croissant["recordSet"] for key in table["key"]} <= ids


def found_by_frictionless(*folders):
    """Return the errors that the command finds in each table of each folder; as a library it leaves files open."""
    command = [sys.executable, "-c", EACH, *folders]
    lines = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
    return [
        {task["name"]: {error["type"] for error in task["errors"]} for task in json.loads(line)["tasks"]}
        for line in lines
    ]


# What `frictionless validate datapackage.json` does, in one folder after another: to import it takes a second.
EACH = """
import json, os, sys
import frictionless
for folder in sys.argv[1:]:
    os.chdir(folder)
    print(json.dumps(frictionless.validate("datapackage.json").to_dict()))
"""


@pytest.mark.slow
def test_frictionless_finds_a_wrong_cell_and_nothing_else(deposit, tmp_path):
    """Without the wrong cell, neither this test nor the next one could fail."""
    for path in deposit.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    counts = tmp_path / "datasets.csv"
    counts.write_text(counts.read_text().replace(",14541,", ",many,", 1))
    nothing = {resource["name"]: set() for resource in descriptor(deposit)["resources"]}
    wrong = nothing | {"datasets-csv": {"type-error", "hash-count", "byte-count"}}
    assert found_by_frictionless(deposit, tmp_path) == [nothing, wrong]


@pytest.mark.parametrize("name", [name for name in TABLES if name.endswith(".parquet")])
def test_the_cells_of_parquet_tables_are_as_described(deposit, name):
    """frictionless itself would read Parquet by way of pandas; here it is given the rows."""
    from frictionless import Resource, Schema  # noqa: PLC0415 - its import takes half a second

    described = next(one for one in descriptor(deposit)["resources"] if one["path"] == name)
    frame = pl.read_parquet(deposit / name).sample(500, seed=1)
    rows = [frame.columns, *map(list, frame.iter_rows())]
    report = Resource(data=rows, schema=Schema.from_descriptor(described["schema"])).validate()
    assert report.flatten(["rowNumber", "fieldName", "message"]) == []
    whole = pl.read_parquet(deposit / name)
    assert not whole.select(described["schema"]["primaryKey"]).is_duplicated().any()


def test_every_column_is_described_with_type_and_meaning(deposit):
    for resource in descriptor(deposit)["resources"]:
        assert resource["description"]
        fields = resource["schema"]["fields"]
        assert all(
            field["description"] and field["type"] in {"string", "integer", "number"} for field in fields
        )
        assert all(field["unit"] for field in fields if field["type"] == "integer")
        frame = (
            pl.read_parquet(deposit / resource["path"])
            if resource["format"] == "parquet"
            else pl.read_csv(
                deposit / resource["path"], separator="\t" if resource["format"] == "tsv" else ","
            )
        )
        assert frame.columns == [field["name"] for field in fields]


def test_a_column_that_nobody_described_is_refused(tmp_path):
    constants = Constants(part(load_database()).with_columns(new=1.0), Histograms(part(load_candidates())))
    with pytest.raises(
        RankadjustError, match=r"adjustments\.parquet: the column 'new' is not described; .*columns\.yaml"
    ):
        write_deposit(constants, part(load_datasets()), load_registry(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_rows_with_one_key_are_refused(tmp_path):
    candidates = part(load_candidates())
    twice = pl.concat([candidates, candidates.tail(1)])
    constants = Constants(part(load_database()), Histograms(twice))
    with pytest.raises(
        RankadjustError, match=r"candidates\.parquet: two rows have the key .*; its key is dataset, "
    ):
        write_deposit(constants, part(load_datasets()), load_registry(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_version_date_and_licence_stand_in_every_description(deposit):
    citation = yaml.safe_load((deposit / "CITATION.cff").read_text())
    zenodo = json.loads((deposit / ".zenodo.json").read_text())
    package = descriptor(deposit)
    assert citation["version"] == zenodo["version"] == package["version"] == VERSION
    assert (
        str(citation["date-released"])
        == zenodo["publication_date"]
        == package["created"][:10]
        == REGISTRY_DATE
    )
    assert (citation["license"], zenodo["license"], package["licenses"][0]["name"]) == (
        "CC0-1.0",
        "cc0-1.0",
        "CC0-1.0",
    )
    assert "CC0 1.0 Universal" in (deposit / "LICENSE").read_text()
    assert set(package["software"]) == {"rankadjust", "python", "numpy", "polars", "scipy", "snakemake"}
    assert f"Version {VERSION}" in (deposit / "README.md").read_text()


def test_the_readme_explains_every_protocol_and_metric(deposit):
    page = (deposit / "README.md").read_text()
    database = load_database(deposit / "adjustments.parquet")
    # A protocol that was released before it got another name has no description any more.
    named = {"sampled-<q>" if name.startswith("sampled-") else name for name in database["protocol"].unique()}
    named &= {*load_protocols(), "sampled-<q>"}
    assert len(named) > 5
    for protocol in named:
        assert f"| `{protocol}` | " in page
    for metric in database["metric"].unique():
        assert f"| `{re.sub(r'_at_[0-9]+$', '_at_k', metric)}` | " in page


def test_sampled_protocols_have_their_candidates(deposit):
    written = load_candidates(deposit / "candidates.parquet")
    sampled = next(one for one in load_benchmarks() if one.dataset == "ogbl-biokg")
    rows = written.filter(dataset="ogbl-biokg", protocol=sampled.protocol.name)
    assert rows["num_candidates"].unique().to_list() == [sampled.protocol.negatives + 1]
    key = ("ogbl-biokg", sampled.protocol.name, "testing", "both")
    mine, known = (
        Histograms(written).candidate_counts(*key),
        Constants.released().histograms.candidate_counts(*key),
    )
    assert (mine.counts.tolist(), mine.tasks.tolist()) == (known.counts.tolist(), known.tasks.tolist())


def test_a_deposit_is_verified_against_another(deposit):
    assert [one.verdict for one in verify(deposit, deposit)] == ["identical"] * 3


# --- docs/use-the-database.md ---------------------------------------------------------------------------------------


def blocks(project, language):
    text = (project / "docs" / "use-the-database.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


# 0.338 by hand: (0.338 - E) / (1 - E) with E = 0.0007110647684, the mean of H(N) / N over the tasks.
INDEX = 0.33752894016926


def test_python_without_the_library(deposit, project, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(deposit)
    first, second = blocks(project, "python")
    names = {}
    exec(first, names)
    assert names["index"] == pytest.approx(INDEX, rel=1e-12)
    exec(second, names)
    assert names["chance"] == pytest.approx(0.00071264473263, rel=1e-12)


def test_duckdb(deposit, project, monkeypatch):
    monkeypatch.chdir(deposit)
    (query,) = blocks(project, "sql")
    assert duckdb.sql(query).fetchall()[0][0] == pytest.approx(INDEX, rel=1e-12)


def test_the_columns_of_the_spreadsheet_have_the_letters_that_are_documented(deposit):
    columns = pl.read_csv(deposit / "adjustments.csv.gz").columns
    assert columns[:8] == [
        "dataset",
        "protocol",
        "split",
        "side",
        "metric",
        "tasks",
        "expectation",
        "optimum",
    ]
