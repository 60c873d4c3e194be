"""Two releases compared: identical, equal within the stated accuracy, or different, and in what."""

import json
import shutil

import polars as pl
import pytest
from click.testing import CliRunner

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import KEY
from rankadjust.cli.commands import commands
from rankadjust.database.arithmetic import add_coefficients
from rankadjust.database.store import (
    SCHEMA,
    load_baselines,
    load_candidates,
    load_database,
    write_baselines,
    write_candidates,
    write_database,
)
from rankadjust.database.verification import verify
from tests.release import make_release


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("release")).parent


@pytest.fixture
def other(release, tmp_path):
    return shutil.copytree(release, tmp_path / "other")


def change(folder, **columns):
    """Write the database anew with other moments, and the scales and offsets that follow from them."""
    database = load_database(folder / "adjustments.parquet").with_columns(**columns)
    derived = [name for name in SCHEMA if name.endswith(("_scale", "_offset"))]
    anew = add_coefficients(database.drop("optimum", *derived)).select(SCHEMA.names())
    write_database(anew, folder / "adjustments.parquet")


def verdicts(release, other):
    return [one.verdict for one in verify(release, other)]


def lines(release, other):
    return [line for one in verify(release, other) for line in one.lines]


def of_metric(metric, value, otherwise):
    return pl.when(pl.col("metric") == metric).then(value).otherwise(otherwise)


def test_a_release_is_identical_to_its_copy(release, other):
    assert verdicts(release, other) == ["identical"] * 3
    assert lines(release, other) == []


@pytest.mark.parametrize(
    ("column", "metric", "factor", "verdict"),
    [
        ("expectation", "arithmetic_mean_rank", 1e-14, "equal"),
        ("expectation", "arithmetic_mean_rank", 1e-11, "different"),
        # The median is known to fewer digits.
        ("variance", "median_rank", 1e-8, "equal"),
        ("variance", "median_rank", 1e-5, "different"),
    ],
)
def test_the_last_digits_of_moments_may_differ_and_no_others(release, other, column, metric, factor, verdict):
    moment = pl.col(column)
    change(other, **{column: of_metric(metric, moment * (1 + factor), moment)})
    assert verdicts(release, other) == [verdict, "identical", "identical"]
    changed = load_database(release / "adjustments.parquet").filter(moment.is_not_null(), metric=metric)
    (line,) = lines(release, other)
    assert line.startswith(f"{column} differs by up to {factor:.1e} of itself in {changed.height}")
    if verdict == "different":
        assert f" in {changed.height} rows ({', '.join(changed.select(KEY).row(0))}; " in line


def test_scales_that_do_not_follow_from_the_moments_are_refused(release, other):
    database = load_database(other / "adjustments.parquet")
    changed = of_metric("arithmetic_mean_rank", pl.col("z_scale") * (1 + 1e-12), pl.col("z_scale"))
    write_database(database.with_columns(z_scale=changed), other / "adjustments.parquet")
    with pytest.raises(RankadjustError, match=r"not sound: z_scale does not follow in "):
        verify(release, other)


def test_rows_and_columns_of_one_release_only_are_named(release, other):
    database = load_database(other / "adjustments.parquet").filter(pl.col("metric") != "median_rank")
    write_database(database.with_columns(more=1), other / "adjustments.parquet")
    found = lines(release, other)
    assert found[0] == "only one of the two has the column more"
    assert found[1].startswith("only the first has ")
    assert "median_rank" in found[1]
    assert lines(other, release)[1].startswith("only the second has ")


def test_the_order_of_rows_is_said(release, other):
    write_candidates(load_candidates(other / "candidates.parquet").reverse(), other / "candidates.parquet")
    assert verdicts(release, other) == ["identical", "identical", "equal"]
    assert lines(release, other) == ["the rows are in another order"]


def test_counts_must_be_the_same(release, other):
    fewer = load_candidates(other / "candidates.parquet").with_columns(pl.col("tasks") + 1)
    write_candidates(fewer, other / "candidates.parquet")
    assert verdicts(release, other) == ["identical", "identical", "different"]
    assert lines(release, other)[0].startswith("tasks differs in ")


def test_the_command_says_it_in_words_and_by_its_exit_code(release, other):
    same = CliRunner().invoke(commands, ["verify", str(other), str(release)])
    assert (same.exit_code, same.stdout) == (
        0,
        "adjustments.parquet: identical\nbaselines.parquet: identical\ncandidates.parquet: identical\n",
    )
    write_candidates(load_candidates(other / "candidates.parquet").head(3), other / "candidates.parquet")
    differing = CliRunner().invoke(commands, ["verify", "--json", str(other), str(release)])
    assert differing.exit_code == 1
    assert [one["file"] for one in json.loads(differing.stdout) if one["verdict"] == "different"] == [
        "candidates.parquet"
    ]


def test_what_is_no_release_is_one_line(release, tmp_path):
    with pytest.raises(
        RankadjustError, match=r"none: there is no such folder; give one with the file adjustments"
    ):
        verify(tmp_path / "none", release)
    with pytest.raises(RankadjustError, match="there is no such file; 'snakemake"):
        verify(tmp_path, release)


def test_the_last_digits_of_baselines_may_differ_and_no_others(release, other):
    file = other / "baselines.parquet"
    table = load_baselines(file)
    write_baselines([table.with_columns(pl.col("value") * (1 + 1e-13))], file)
    assert verdicts(release, other) == ["identical", "equal", "identical"]
    write_baselines([table.with_columns(pl.col("value") * (1 + 1e-9))], file)
    assert verdicts(release, other) == ["identical", "different", "identical"]
