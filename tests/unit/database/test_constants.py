"""Constants: loaded in one place and once, with the numbers of candidates that every check needs."""

import shutil

import polars as pl
import pytest

from rankadjust import load_database, rescore
from rankadjust.base.errors import RankadjustError
from rankadjust.database import store
from rankadjust.database.constants import Constants
from rankadjust.database.store import write_database
from rankadjust.evaluation.one_value import adjust
from tests.release import make_release, write_part

# No mean rank on Nations is above 7.95522: docs/adjust.md.
IMPOSSIBLE = pl.DataFrame({"dataset": ["Nations"], "metric": ["mr"], "value": ["25"]})


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("release"))


def test_values_are_checked_against_the_numbers_of_candidates_beside_a_file_and_not_of_a_frame(release):
    assert rescore(IMPOSSIBLE, release)["status"].to_list() == ["value_impossible"]
    assert rescore(IMPOSSIBLE, Constants(load_database()))["status"].to_list() == ["ok"]
    with pytest.raises(RankadjustError, match=r"not DataFrame; of a frame make Constants\(frame\)"):
        rescore(IMPOSSIBLE, load_database())


def test_files_are_read_once_until_one_changes(release, tmp_path, monkeypatch):
    for name in ("adjustments.parquet", "candidates.parquet"):
        shutil.copy(release.with_name(name), tmp_path / name)
    file = tmp_path / "adjustments.parquet"
    reads = []
    for name in ("load_database", "load_candidates"):
        load = getattr(store, name)
        monkeypatch.setattr(store, name, lambda path, load=load: reads.append(path.name) or load(path))
    for _ in range(3):
        adjust("0.43", dataset="Nations", metric="mrr", database=file)
    assert reads == ["adjustments.parquet", "candidates.parquet"]
    shutil.copy(release.with_name("candidates.parquet"), tmp_path / "other.parquet")
    (tmp_path / "other.parquet").replace(tmp_path / "candidates.parquet")
    adjust("0.43", dataset="Nations", metric="mrr", database=file)
    assert reads == 2 * ["adjustments.parquet", "candidates.parquet"]


def test_rows_take_every_alias():
    constants = Constants.released()
    rows = constants.rows(
        dataset="FB15K 237", protocol="Filtered", split="test", side="Object", metric=["MRR", "hit@10"]
    )
    assert rows.select("dataset", "protocol", "split", "side").unique().rows() == [
        ("FB15k-237", "filtered", "testing", "tail")
    ]
    assert rows["metric"].to_list() == ["hits_at_10", "inverse_harmonic_mean_rank"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"metric": "mmr"}, "unknown metric 'mmr'; did you mean mr or mrr"),
        ({"metric": "hits@7"}, "Hits@7 is not in the database; did you mean Hits@5"),
        ({"dataset": "FB15k-273"}, "unknown data set 'FB15k-273'; did you mean FB15k-237"),
        (
            {"dataset": "Nations", "split": "testin"},
            "there is no split 'testin' in the database for Nations; did you",
        ),
        (
            {"dataset": "Nations", "protocol": "time-aware"},
            "there is no protocol 'time-aware' in the database for N",
        ),
        (
            {"side": "left and right"},
            "there is no side 'left and right' in the database; it has both, head, position_1, ",
        ),
    ],
)
def test_an_unknown_name_is_an_error_and_never_an_empty_frame(names, message):
    with pytest.raises(RankadjustError) as info:
        Constants.released().rows(**names)
    assert str(info.value).startswith(message)


def test_a_run_stands_on_top_of_the_release(release, tmp_path):
    run = Constants.from_files(release)
    both = run.over(Constants.from_files(write_part(tmp_path / "part", "UMLS")))
    assert set(both.table["origin"]) == {"computed", "released"}
    assert both.table.filter(origin="computed").height == run.table.height
    # The run has no UMLS, the release has.
    assert run.histograms.candidate_counts("UMLS", "filtered", "testing", "both") is None
    assert both.histograms.candidate_counts("UMLS", "filtered", "testing", "both") is not None


def test_aliases_of_a_run_are_known_by_its_configuration(release, tmp_path):
    folder = tmp_path / "results" / "database"
    folder.mkdir(parents=True)
    for name in ("adjustments.parquet", "candidates.parquet", "datasets.tsv"):
        shutil.copy(release.with_name(name), folder / name)
    own = {"Nations": "my-nations"}
    table = pl.read_parquet(release).with_columns(pl.col("dataset").replace(own))
    write_database(table, folder / "adjustments.parquet")
    (tmp_path / "mine.yaml").write_text(
        "my-nations:\n  aliases: [Völker 14]\n  sources:\n    - kind: local\n      files: {training: x, testing: y}\n",
        encoding="utf-8",
    )
    (tmp_path / "results" / "run_config.yaml").write_text("registry: [mine.yaml]\n")
    rows = Constants.of_run(tmp_path / "results").rows(dataset="völker-14", side="both", metric="mrr")
    assert rows["dataset"].unique().to_list() == ["my-nations"]
    # The file of the registry may be gone; the names remain.
    alone = shutil.copytree(tmp_path / "results", tmp_path / "alone" / "results")
    assert Constants.of_run(alone).rows(dataset="My Nations").height
    with pytest.raises(RankadjustError, match="unknown data set 'Völker 14'"):
        Constants.of_run(alone).rows(dataset="Völker 14")
