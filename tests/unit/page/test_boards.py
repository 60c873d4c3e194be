"""The boards of the page: who has which place, who has none and why, and the search of all results."""

import gzip
import json
import re
from base64 import b64decode

import polars as pl
import pytest

from rankadjust.base.io import write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import rescore
from rankadjust.page.boards import (
    all_results,
    benchmark_rows,
    board_section,
    boards,
    opened_board,
    results_section,
)
from rankadjust.page.material import Material, all_values, place_of, read_comparison, values_of

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


def material(*own, **tables):
    nothing = pl.DataFrame()
    return Material(tables=tables, constants=Constants(nothing), datasets=nothing, own=frozenset(own))


def made(rescored, folder=None):
    """Return boards by their key; with a folder, contradictions are taken from a file of it, as in a run."""
    found = check(rescored)
    if folder is not None:
        write_csv(found, folder / "contradictions.csv")
        found = read_comparison(folder / "contradictions.csv")
    return {
        board.key: board for board in boards(values_of(material(mine=rescored)), {"contradictions": found})
    }


def section_of(given):
    values = all_values(given)
    return board_section(boards(values, {}), values)


def unpacked(content, name):
    packed = re.search(f'id="{name}">([^<]*)<', content)[1]
    return json.loads(gzip.decompress(b64decode(packed)))


@pytest.fixture(scope="module")
def rescored():
    return rescore(PRINTED)


def test_a_board_is_one_evaluation_by_one_metric_with_the_best_first(rescored):
    found = made(rescored)
    assert [(row["place"], row["model"], row["printed"]) for row in found[*USUAL, MRR].ranked] == [
        (1, "RotatE", "0.338"),
        (2, "TransE", "0.294"),
    ]
    assert found[*USUAL, MRR].ranked[1]["others"] == {HITS: "46.5 %"}
    assert [
        len(found[key].ranked) for key in ((*USUAL, HITS), ("FB15k-237", "raw", "testing", "both", MRR))
    ] == [1, 1]
    assert not any(key[0] == "Unheard" for key in found)


def test_impossible_values_have_no_place_but_the_reason(rescored):
    board = made(rescored)["WN18RR", "filtered", "testing", "both", MRR]
    assert board.ranked == []
    assert board.refuted[0]["notes"][0].startswith("impossible: MRR 0.226 and MR 3 contradict each other")


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
    assert [row["notes"] for row in found[*USUAL, MRR].ranked] == [[]]
    wrong = found["WN18RR", "filtered", "testing", "both", MRR]
    assert (wrong.ranked, len(wrong.refuted)) == ([], 1)
    assert wrong.refuted[0]["notes"][0].startswith(
        "impossible: Hits@1 0.40 and MRR 0.30 contradict each other"
    )


def test_refuted_and_second_hand_results_are_told_apart_and_stand_once(rescored):
    """The same row twice, as QLogicE's 0.949 stands in two tables of one README."""
    caveats = {"RotatE": "second-hand: copied", "TransE": "second-hand: copied; refuted: by a test"}
    doubtful = rescored.with_columns(caveat=pl.col("model").replace_strict(caveats))
    board = made(pl.concat([doubtful, doubtful.with_columns(pl.col("file_line") + 100)]))[*USUAL, MRR]
    assert board.ranked == []
    assert [row["model"] for row in board.second_hand] == ["RotatE"]
    assert [(row["model"], row["notes"][-1]) for row in board.refuted] == [("TransE", "refuted: by a test")]


def test_the_page_opens_with_the_users_own_evaluation_or_the_usual_one(rescored):
    def opens(*own, **tables):
        values = values_of(material(*own, **tables))
        return opened_board(boards(values, {}), values).key

    assert opens(literature=rescored) == (*USUAL, MRR)
    assert opens("mine", literature=rescored, mine=rescored.filter(dataset="WN18RR"))[0] == "WN18RR"


def test_own_tables_come_first(rescored):
    values = values_of(material("mine", literature=rescored, mine=rescored.head(1)))
    assert values["own"].to_list() == [True, *[False] * rescored.height]


def test_an_own_model_with_the_name_of_a_published_one_keeps_its_place(rescored):
    """Both have a row, the better one first, whichever that is."""
    mine = rescored.filter(dataset="FB15k-237", metric=MRR, model="TransE", protocol="filtered")
    renamed = mine.with_columns(model=pl.lit("RotatE"))
    values = all_values(material("mine", mine=renamed, literature=rescored))
    found = {board.key: board for board in boards(values, {})}[*USUAL, MRR]
    assert [(row["place"], row["model"], row["own"]) for row in found.ranked] == [
        (1, "RotatE", False),
        (2, "RotatE", True),
        (3, "TransE", False),
    ]


def test_bars_lie_between_chance_and_perfect_and_counting_is_marked(rescored):
    scale = made(rescored)[*USUAL, MRR].scale
    # As `rankadjust adjust` prints both in the README.
    assert (round(scale["chance"], 7), round(scale["value"], 4), scale["baseline"]) == (
        0.0007111,
        0.2345,
        "popularity",
    )
    assert scale["at"] == pytest.approx((scale["value"] - scale["chance"]) / (1 - scale["chance"]))


def test_all_results_hold_every_value_once_whatever_was_made_of_it(rescored):
    rows = all_results(values_of(material(mine=pl.concat([rescored, rescored.head(2)]))))
    assert len(rows) == rescored.height
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    assert {row[5] for row in rows} == {"MRR", "Hits@10", "MR", "accuracy of guesses"}


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
    mine = material(mine=rescore(PRINTED.head(2).with_columns(model=pl.lit(name), source=pl.lit(name))))
    content = section_of(mine).content
    html = [content, *(row[-1] for row in unpacked(content, "boards-data")["boards"])]
    assert all("alert(1)" not in text.replace("&lt;script&gt;alert(1)", "") for text in html)
    # As data it is whole: the page's script puts it in as text.
    assert unpacked(results_section(all_values(mine)).content, "results-data")["rows"][0][0] == name


def test_a_run_without_tables_has_no_boards():
    assert section_of(material()) is None
    assert results_section(all_values(material())) is None


def test_the_strip_has_chance_counting_median_and_best_of_the_usual_evaluation():
    """Medians by hand: of 0.2, 0.3 and 0.4; the raw value and the doubtful one take no part."""
    rows = [("A", "0.2"), ("B", "0.3"), ("C", "0.4"), ("D", "0.9")]
    printed = pl.DataFrame(rows, schema=["model", "value"], orient="row").with_columns(
        dataset=pl.lit("FB15k-237"), metric=pl.lit("MRR"), file=pl.lit("x"), file_line=pl.int_range(2, 6)
    )
    raw = printed.head(1).with_columns(
        protocol=pl.lit("raw"), value=pl.lit("0.99"), file_line=pl.lit(9, pl.Int64)
    )
    both = rescore(
        pl.concat(
            [printed.with_columns(protocol=pl.lit("filtered")), raw.select(*printed.columns, "protocol")]
        )
    )
    doubtful = both.with_columns(caveat=pl.when(model="D").then(pl.lit("refuted: by a test")))
    (row,) = benchmark_rows(boards(values_of(material(mine=doubtful)), {}))
    assert (row["key"], row["results"], row["median"], row["best"], row["model"]) == (
        (*USUAL, MRR),
        3,
        0.3,
        0.4,
        "C",
    )
    assert (round(row["chance"], 7), round(row["counting"], 4)) == (0.0007111, 0.2345)


def test_a_board_among_sampled_negatives_has_a_bar_for_what_each_value_leaves_open():
    bounds = {"A": (0.25, 0.75), "B": (0.125, 0.2)}
    printed = pl.DataFrame({"model": list(bounds), "value": ["0.78", "0.5"]}).with_columns(
        dataset=pl.lit("GraIL-WN18RR-v2"),
        metric=pl.lit("MRR"),
        protocol=pl.lit("sampled-50"),
        split=pl.lit("inference_testing"),
    )
    low, high = zip(*bounds.values(), strict=True)
    rows = rescore(printed).with_columns(full_mrr_low=pl.Series(low), full_mrr_high=pl.Series(high))
    (board,) = boards(all_values(material(mine=rows)), {})
    assert [row["full"] for row in board.ranked] == [list(ends) for ends in bounds.values()]
    # The line of a bar is from 2 to 98; a bar is 0.4 wider at each end, so that one of no width can be seen.
    bars = re.findall(r'from [^>]*>.*?rect x="([\d.]+)" y="3" width="([\d.]+)"', board.html())
    assert [float(end) for bar in bars for end in bar] == pytest.approx([25.6, 48.8, 13.6, 8.0], abs=0.11)
    assert "full MRR" not in boards(all_values(material(mine=rescore(printed))), {})[0].html()
