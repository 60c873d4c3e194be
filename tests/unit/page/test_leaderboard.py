"""What the page is told of printed results: one row per model and evaluation, metrics as columns."""

import json

from scripts.render import compared

import polars as pl
import pytest

from rankadjust.base.files import write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import rescore
from rankadjust.page.leaderboard import leaderboard_data, leaderboard_section, opened
from rankadjust.page.material import Material
from rankadjust.page.results import place_of, values_of

PRINTED = pl.DataFrame(
    [
        ("FB15k-237", "TransE", "MRR", "0.294", "filtered"),
        ("FB15k-237", "TransE", "Hits@10", "46.5 %", "filtered"),
        ("FB15k-237", "TransE", "MRR", "0.241", "raw"),
        ("WN18RR", "TransE", "MRR", "0.226", "filtered"),
        # 1 / MRR is at most the mean rank: with 0.226, MR is at least 4.4.
        ("WN18RR", "TransE", "MR", "3", "filtered"),
        ("Unheard", "TransE", "MRR", "0.5", "filtered"),
        ("WN18RR", "TransE", "accuracy of guesses", "0.5", "filtered"),
    ],
    schema=["dataset", "model", "metric", "value", "protocol"],
    orient="row",
).with_columns(file=pl.lit("mine.csv"), file_line=pl.int_range(2, pl.len() + 2))


def material(*own, **tables):
    nothing = pl.DataFrame()
    return Material(tables=tables, constants=Constants(nothing), datasets=nothing, own=frozenset(own))


@pytest.fixture(scope="module")
def rescored():
    return rescore(PRINTED)


@pytest.fixture(scope="module")
def data(rescored):
    return leaderboard_data(values_of(material(mine=rescored)), check(rescored))


def test_a_row_is_a_model_in_an_evaluation(data):
    assert [(row["dataset"], row["protocol"], sorted(row["values"])) for row in data["rows"]] == [
        ("FB15k-237", "filtered", ["hits_at_10", "inverse_harmonic_mean_rank"]),
        ("FB15k-237", "raw", ["inverse_harmonic_mean_rank"]),
        ("WN18RR", "filtered", ["arithmetic_mean_rank", "inverse_harmonic_mean_rank"]),
        ("Unheard", "filtered", ["inverse_harmonic_mean_rank"]),
    ]


def test_metrics_have_the_names_that_people_use_in_their_order(data):
    assert [metric["label"] for metric in data["metrics"]] == ["MR", "MRR", "Hits@10"]
    assert [metric["increasing"] for metric in data["metrics"]] == [False, True, True]


def test_numbers_are_those_of_rescore(data, rescored):
    cell = data["rows"][0]["values"]["hits_at_10"]
    row = rescored.row(1, named=True)
    assert cell["printed"] == "46.5 %"
    assert (cell["low"], cell["high"]) == (0.4645, 0.4655)
    for name in ("expectation", "index", "index_low", "index_high", "z"):
        assert cell[name] == pytest.approx(row[name], rel=1e-7), name


def test_what_is_wrong_with_a_result_stands_among_its_notes(data):
    notes = {row["dataset"]: row["notes"] for row in data["rows"]}
    assert [note["kind"] for note in notes["WN18RR"]] == ["contradiction", "not adjusted"]
    assert notes["WN18RR"][0]["text"].startswith("impossible: MRR 0.226 and MR 3 contradict each other")
    assert notes["WN18RR"][1]["text"].startswith("accuracy of guesses: ")
    assert [note["kind"] for note in notes["Unheard"]] == ["not adjusted"]
    assert "index" not in data["rows"][3]["values"]["inverse_harmonic_mean_rank"]


@pytest.mark.parametrize("model", ["A", "7", "=1+1"])
def test_a_contradiction_belongs_to_one_evaluation_of_a_line(tmp_path, model):
    """Both data sets stand in one line; the Hits@1 above the MRR is on WN18RR, and that on FB15k-237 is possible."""
    values = [
        ("FB15k-237", "MRR", "0.3"),
        ("FB15k-237", "Hits@1", "0.2"),
        ("WN18RR", "MRR", "0.30"),
        ("WN18RR", "Hits@1", "0.40"),
    ]
    wide = rescore(frame(values, model=model, file="wide.md", file_line=3))
    fb, wn = leaderboard_data(values_of(material(wide=wide)), written(check(wide), tmp_path))["rows"]
    assert (fb["dataset"], fb["notes"], fb["unranked"]) == ("FB15k-237", [], "")
    assert [note["kind"] for note in wn["notes"]] == ["contradiction"]
    assert wn["unranked"] == "impossible: Hits@1 0.40 and MRR 0.30 contradict each other: no ranks have both"


def test_a_contradiction_of_a_result_without_model_or_line_is_not_lost(tmp_path):
    values = [("Nations", "MRR", "0.5"), ("Nations", "Hits@1", "0.6")]
    alone = rescore(frame(values, model=None, file="results.json", file_line=None))
    [row] = leaderboard_data(values_of(material(mine=alone)), written(check(alone), tmp_path))["rows"]
    assert [note["kind"] for note in row["notes"]] == ["contradiction"]


def frame(values, *, file_line, **columns):
    rows = pl.DataFrame(values, schema=["dataset", "metric", "value"], orient="row")
    texts = {name: pl.lit(text, dtype=pl.String) for name, text in columns.items()}
    return rows.with_columns(**texts, file_line=pl.lit(file_line, dtype=pl.Int64))


def written(contradictions, folder):
    """Return contradictions as the page gets them: from a file of results/comparison."""
    write_csv(contradictions, folder / "contradictions.csv")
    return compared(folder / "contradictions.csv")


def test_a_caveat_takes_a_result_its_place(rescored):
    doubtful = rescored.with_columns(caveat=pl.when(dataset="Unheard").then(pl.lit("refuted: by a test")))
    rows = leaderboard_data(values_of(material(mine=doubtful)))["rows"]
    assert {row["dataset"]: row["unranked"] for row in rows} == {
        "FB15k-237": "",
        "WN18RR": "",
        "Unheard": "refuted: by a test",
    }


def test_the_page_opens_with_the_users_own_evaluation_or_the_usual_one(rescored):
    usual = {"dataset": "FB15k-237", "protocol": "filtered", "split": "testing", "side": "both"}
    assert opened(values_of(material(literature=rescored))) == usual
    others = rescored.filter(dataset="WN18RR")
    assert opened(values_of(material("mine", literature=rescored, mine=others)))["dataset"] == "WN18RR"


def test_own_tables_come_first(rescored):
    values = values_of(material("mine", literature=rescored, mine=rescored.head(1)))
    assert values["own"].to_list() == [True, *[False] * rescored.height]
    assert values["result"].to_list() == [0, 1, 1, 2, 3, 3, 4, 3]


@pytest.mark.parametrize(
    ("url", "line", "place"),
    [
        ("https://github.com/a/b/blob/main/README.md", "12", "https://github.com/a/b/blob/main/README.md?plain=1#L12"),
        ("https://github.com/a/b/blob/main/x.tsv", "7", "https://github.com/a/b/blob/main/x.tsv#L7"),
        ("https://example.org/page", "7", "https://example.org/page"),
        ("https://github.com/a/b/blob/main/x.tsv", None, "https://github.com/a/b/blob/main/x.tsv"),
        ("javascript:alert(1)", "7", None),
        ("data:text/html,<script>alert(1)</script>", None, None),
        (None, "7", None),
    ],
)  # fmt: skip
def test_a_source_is_linked_with_its_line_and_only_by_http(url, line, place):
    assert place_of({"source_url": url, "source_line": line}) == place


def test_hostile_names_stay_text():
    name = "</script><script>alert(1)</script><!--\u202e\"'&amp;"
    rescored = rescore(PRINTED.head(2).with_columns(model=pl.lit(name), source=pl.lit(name)))
    section = leaderboard_section(material(mine=rescored))
    start = '<script type="application/json" id="leaderboard-data">'
    text = section.content.partition(start)[2].partition("</script>")[0]
    assert json.loads(text)["rows"][0]["model"] == name
    assert name not in section.content
    assert "<!--" not in text


def test_a_run_without_tables_has_no_leaderboard():
    assert leaderboard_section(material()) is None
