"""PyKEEN's constants beside ours: each reason where it is the right one, in a table of PyKEEN's layout."""

import gzip
import json
import math

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import load_registry
from rankadjust.database import record
from rankadjust.database.constants import Constants
from tests.unit.test_cli import run_line

TEST = ("both", "testing")


def ours(dataset, metric, protocol="pykeen-published", split="testing", column="expectation"):
    rows = Constants.released().table.filter(
        dataset=dataset, metric=metric, protocol=protocol, split=split, side="both"
    )
    return rows[column][0]


def rows_of_a_record():
    """Yield name, metric, side, split and value as PyKEEN writes them, and the reason why it is not ours."""
    mean = 2 * ours("Kinships", "arithmetic_mean_rank") - 1
    yield (
        "kinships",
        "arithmetic_mean_rank",
        *TEST,
        ours("Kinships", "arithmetic_mean_rank"),
        record.NOT_COUNTED,
    )
    # The expectation of the MRR that PyKEEN had in 2022 (docs/upstream.md).
    yield "kinships", "inverse_harmonic_mean_rank", *TEST, math.log(mean) / (mean - 1), record.APPROXIMATED
    yield "kinships", "hits_at_10", *TEST, ours("Kinships", "hits_at_10", "pykeen"), record.EQUAL
    # No row of the database has k = 1,000, where all ranks are hits.
    yield "kinships", "hits_at_1000", *TEST, 1.0, record.EQUAL
    value = ours("Kinships", "harmonic_mean_rank")
    error = math.sqrt(ours("Kinships", "harmonic_mean_rank", column="variance") / 10_000)
    yield "kinships", "harmonic_mean_rank", *TEST, value + 4 * error, record.SIMULATED
    yield "kinships", "median_rank", *TEST, 1.5 * ours("Kinships", "median_rank"), record.UNKNOWN
    # With other numbers of candidates nothing of the evaluation can be the same.
    yield "UMLS", "arithmetic_mean_rank", *TEST, 60.0, record.OTHER_DATA
    yield "UMLS", "geometric_mean_rank", *TEST, ours("UMLS", "geometric_mean_rank") + 1e-6, record.OTHER_DATA
    low = ours("FB15k", "arithmetic_mean_rank", "filtered", column="expectation_low")
    yield "fb15k", "arithmetic_mean_rank", *TEST, low, record.INSIDE
    yield "fb15k", "hits_at_10", *TEST, 0.5, record.OUTSIDE
    yield "wk3l15k", "arithmetic_mean_rank", *TEST, 7_000.0, record.LACKING


@pytest.fixture(scope="module")
def table():
    schema = ("dataset", "metric", "side", "split", "value", "reason")
    return pl.DataFrame(list(rows_of_a_record()), schema, orient="row")


@pytest.fixture
def file(table, tmp_path):
    path = tmp_path / "metric_adjustments.tsv.gz"
    path.write_bytes(gzip.compress(table.drop("reason").write_csv(separator="\t").encode()))
    return path


def test_every_reason_is_found(table, file):
    compared = record.compare_record(record.read_record(file), Constants.released(), load_registry())
    assert compared["reason"].to_list() == table["reason"].to_list()
    assert compared.filter(metric="hits_at_10", pykeen="kinships")["difference"].to_list() == [0.0]
    of_data = compared.filter(pykeen="UMLS", metric="arithmetic_mean_rank").row(0, named=True)
    assert of_data["candidates_theirs"] == 119
    assert of_data["candidates"] == pytest.approx(2 * ours("UMLS", "arithmetic_mean_rank") - 1)
    assert compared["dataset"].unique(maintain_order=True).to_list() == [
        "Kinships",
        "UMLS",
        "FB15k",
        "WK3l-15k",
    ]


def test_the_command_says_why(table, file):
    code, output, error = run_line("", "verify", "--record", str(file))
    assert (code, error) == (1, "")
    assert [line.split()[0] for line in output.splitlines()[1:] if record.LACKING in line] == ["wk3l15k"]
    assert all(reason in output for reason in table["reason"])
    assert len(json.loads(run_line("", "verify", "--record", str(file), "--json")[1])) == table.height
    assert "either a folder or --record" in run_line("", "verify", str(file.parent), "--record", str(file))[2]


@pytest.mark.parametrize(
    "text", ["dataset\tmetric\n", "dataset\tmetric\tside\tsplit\tvalue\na\tb\tc\td\tx\n", "\n"]
)
def test_another_table_is_refused_by_name(tmp_path, text):
    path = tmp_path / "other.tsv"
    path.write_text(text)
    with pytest.raises(RankadjustError, match=r"other\.tsv: not a table as PyKEEN writes it"):
        record.read_record(path)
