"""The boards of the page: who has which place, who has none and why."""

import re

import polars as pl
import pytest

from rankadjust.base.io import write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check, check_against
from rankadjust.literature.rescore import rescore
from rankadjust.page.boards import boards
from rankadjust.page.material import Material, all_values, place_of, read_comparison

MRR, HITS = "inverse_harmonic_mean_rank", "hits_at_10"
USUAL = ("FB15k-237", "filtered", "testing", "both")
PRINTED = pl.DataFrame(
    [
        ("FB15k-237", "TransE", "MRR", "0.294", "filtered"),
        ("FB15k-237", "TransE", "Hits@10", "46.5 %", "filtered"),
        ("FB15k-237", "RotatE", "MRR", "0.338", "filtered"),
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


def values_of(*own, **tables):
    return all_values(Material(tables=tables, constants=Constants(pl.DataFrame()), own=frozenset(own)))


def made(rescored, folder=None):
    """Return boards by their evaluation; with a folder, contradictions are taken from a file of it, as in a run."""
    found = check(rescored)
    if folder is not None:
        write_csv(found, folder / "contradictions.csv")
        found = read_comparison(folder / "contradictions.csv")
    return {board.evaluation: board for board in boards(values_of(mine=rescored), found)}


def printed(*rows, **columns):
    frame = pl.DataFrame(rows, schema=["model", "metric", "value"], orient="row")
    about = {"dataset": "FB15k-237", "protocol": "filtered", "file": "x.csv"} | columns
    return rescore(
        frame.with_columns(
            file_line=pl.int_range(2, pl.len() + 2), **{name: pl.lit(value) for name, value in about.items()}
        )
    )


@pytest.fixture(scope="module")
def rescored():
    return rescore(PRINTED)


def test_a_board_is_one_evaluation_by_mrr_with_the_best_first(rescored):
    found = made(rescored)
    assert [(row["place"], row["model"], row["printed"]) for row in found[USUAL].rows] == [
        (1, "RotatE", {MRR: ("0.338", 0.338)}),
        (2, "TransE", {MRR: ("0.294", 0.294), HITS: ("0.465", 0.465)}),
    ]
    assert len(found["FB15k-237", "raw", "testing", "both"].rows) == 1
    assert not any(evaluation[0] == "Unheard" for evaluation in found)


def test_results_on_training_and_validation_triples_have_no_board(rescored):
    assert made(rescored.with_columns(split=pl.lit("validation"))) == {}


def test_a_board_without_mrr_goes_by_its_most_common_metric_and_who_lacks_it_has_no_place():
    rows = (("A", "Hits@10", "0.5"), ("B", "Hits@10", "0.6"), ("C", "Hits@10", "0.4"), ("D", "MRR", "0.3"))
    (board,) = made(printed(*rows)).values()
    assert board.metric == HITS
    assert [(row["model"], row["place"]) for row in board.rows] == [("B", 1), ("A", 2), ("C", 3), ("D", None)]
    assert board.values == [0.6, 0.5, 0.4]


def test_of_a_mean_rank_the_lower_one_is_better():
    (board,) = made(printed(("A", "MR", "200"), ("B", "MR", "150"))).values()
    assert [row["model"] for row in board.rows] == ["B", "A"]


def test_variants_of_a_model_stand_below_it_and_take_no_place():
    names = (
        "ComplEx-N3 rank 50",
        "ComplEx (reciprocal)",
        "TransE + text",
        "ConvE, single GPU",
        "ConvE",
        "RGCN",
        "R-GCN",
        "ULTRA-3g",
        "ULTRA-50g",
    )
    rows = [(name, "MRR", f"0.3{digit}") for digit, name in enumerate(names)]
    (board,) = made(printed(*rows)).values()
    assert [
        (row["place"], row["model"], [one["model"] for one in row["variants"]]) for row in board.rows
    ] == [
        (1, "ULTRA-50g", ["ULTRA-3g"]),
        (2, "R-GCN", ["RGCN"]),
        (3, "ConvE", ["ConvE, single GPU"]),
        (4, "TransE + text", []),
        (5, "ComplEx (reciprocal)", ["ComplEx-N3 rank 50"]),
    ]
    assert board.results == 9


def test_a_reproduction_has_its_own_year_and_that_of_the_model():
    rows = (("RotatE", "MRR", "0.31"), ("Mine", "MRR", "0.30"))
    (board,) = made(printed(*rows, source="LibKGE README", year="2020")).values()
    assert [(row["year"], row["model_year"]) for row in board.rows] == [("2020", 2019), ("2020", None)]
    assert "2020 <span" in board.html()
    assert ">(2019)</span>" in board.html()
    (own,) = made(printed(*rows, source="RotatE README (Sun et al., ICLR 2019)", year="2019")).values()
    assert [(row["year"], row["model_year"]) for row in own.rows] == [("2019", None)] * 2


def test_impossible_values_have_no_place_but_the_reason(rescored):
    board = made(rescored)["WN18RR", "filtered", "testing", "both"]
    assert board.rows == []
    assert board.unplaced[0]["notes"][0].startswith("impossible: MRR 0.226 and MR 3 contradict each other")


@pytest.mark.parametrize("model", ["A", "7", "=1+1"])
def test_a_contradiction_belongs_to_one_evaluation_of_a_line(tmp_path, model):
    """Both data sets stand in one line; the Hits@1 above the MRR is on WN18RR, and that on FB15k-237 is possible."""
    values = [
        ("FB15k-237", "MRR", "0.3"),
        ("FB15k-237", "Hits@1", "0.2"),
        ("WN18RR", "MRR", "0.30"),
        ("WN18RR", "Hits@1", "0.40"),
    ]
    wide = pl.DataFrame(values, schema=["dataset", "metric", "value"], orient="row").with_columns(
        model=pl.lit(model), file=pl.lit("wide.md"), file_line=3
    )
    found = made(rescore(wide), tmp_path)
    assert [row["notes"] for row in found[USUAL].rows] == [[]]
    wrong = found["WN18RR", "filtered", "testing", "both"]
    assert (wrong.rows, len(wrong.unplaced)) == ([], 1)
    assert wrong.unplaced[0]["notes"][0].startswith(
        "impossible: Hits@1 0.40 and MRR 0.30 contradict each other"
    )


def test_refuted_and_second_hand_results_stand_once_without_a_place(rescored):
    """The same row twice, as QLogicE's 0.949 stands in two tables of one README."""
    caveats = {"RotatE": "second-hand: copied", "TransE": "second-hand: copied; refuted: by a test"}
    doubtful = rescored.with_columns(caveat=pl.col("model").replace_strict(caveats))
    board = made(pl.concat([doubtful, doubtful.with_columns(pl.col("file_line") + 100)]))[USUAL]
    assert board.rows == []
    assert [(row["model"], row["notes"][-1]) for row in board.unplaced] == [
        ("RotatE", "second-hand: copied"),
        ("TransE", "refuted: by a test"),
    ]


@pytest.mark.parametrize("kind", ["trial", "study"])
def test_trials_and_configurations_of_a_study_are_on_no_board(rescored, kind):
    one = rescored.with_columns(caveat=pl.when(model="RotatE").then(pl.lit(f"{kind}: one of many")))
    board = made(one)[USUAL]
    assert {row["model"] for row in [*board.rows, *board.unplaced]} == {"TransE"}


def test_a_value_that_differs_from_the_literature_is_noted_on_the_own_row():
    """The row repeats what the literature has of the model but for one value: 0.452 there, 0.462 here."""
    rows = (("A", "MRR", "0.452"), ("A", "Hits@1", "0.411"), ("A", "Hits@10", "0.537"))
    literature = printed(*rows, dataset="WN18RR", file="paper.csv")
    copied = printed(
        ("a", "MRR", "0.462"), *(("a", *row[1:]) for row in rows[1:]), dataset="WN18RR", file="copy.csv"
    )
    values = values_of("copy", copy=copied, paper=literature)
    (board,) = boards(values, check_against(copied, literature))
    told = [row for row in board.rows if "0.462 is 0.452 for A" in str(row["notes"])]
    assert [(row["model"], row["own"]) for row in told] == [("a", True)]


def test_an_own_model_with_the_name_of_a_published_one_keeps_its_place(rescored):
    """Both have a row, the better one first, whichever that is."""
    mine = rescored.filter(dataset="FB15k-237", metric=MRR, model="TransE", protocol="filtered")
    renamed = mine.with_columns(model=pl.lit("RotatE"))
    values = values_of("mine", literature=rescored, mine=renamed)
    assert values["own"].to_list() == [True, *[False] * rescored.height]
    (board,) = (board for board in boards(values, None) if board.evaluation == USUAL)
    assert [(row["place"], row["model"], row["own"]) for row in board.rows] == [
        (1, "RotatE", False),
        (2, "RotatE", True),
        (3, "TransE", False),
    ]


def test_counting_is_a_row_in_its_place():
    (board,) = made(printed(("A", "MRR", "0.30"), ("B", "MRR", "0.20"))).values()
    # As `rankadjust adjust` prints both in the README.
    assert (round(board.chance, 7), round(board.counting, 4), board.baseline) == (
        0.0007111,
        0.2345,
        "popularity",
    )
    assert re.findall(r'<td class="model">(?:<bdi>)?([^<]*)', board.html()) == [
        "A",
        "counting (popularity)",
        "B",
    ]


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
    (board,) = boards(values_of(mine=printed((name, "MRR", "0.3"), source=name)), None)
    assert "alert(1)" not in board.html().replace("&lt;script&gt;alert(1)", "")


def test_the_standing_is_of_chance_counting_median_and_best_without_doubtful_values():
    """The median by hand: of 0.2, 0.3 and 0.4."""
    rows = printed(("A", "MRR", "0.2"), ("B", "MRR", "0.3"), ("C", "MRR", "0.4"), ("D", "MRR", "0.9"))
    doubtful = rows.with_columns(caveat=pl.when(model="D").then(pl.lit("refuted: by a test")))
    (board,) = boards(values_of(mine=doubtful), None)
    standing = board.standing
    assert (standing["models"], standing["median"], standing["best"], standing["model"]) == (3, 0.3, 0.4, "C")
    chance, counting = board.chance, board.counting
    assert standing["at"]["counting"] == pytest.approx((counting - chance) / (1 - chance))
    (few,) = boards(values_of(mine=doubtful.head(2)), None)
    assert few.standing is None
