"""The sections of the page below the leaderboard: data sets, what chance gives on them, and problems."""

import re
from dataclasses import replace

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import load_candidates, load_database, with_released
from rankadjust.literature.contradictions import check, check_against
from rankadjust.literature.rescore import rescore
from rankadjust.literature.summaries import not_above_chance
from rankadjust.page.boards import boards
from rankadjust.page.dataset_section import candidate_texts, chance_rows, dataset_rows, dataset_section
from rankadjust.page.literature_sections import problem_section
from rankadjust.page.material import Material, all_values

PRINTED = pl.DataFrame(
    [
        ("WN18RR", "<b>A</b>", "MRR", "0.226"),
        ("WN18RR", "<b>A</b>", "MR", "3"),
        # By chance MR is about 20,000.
        ("WN18RR", "B", "MR", "20300"),
        ("Unheard", "C", "MRR", "0.5"),
    ],
    schema=["dataset", "model", "metric", "value"],
    orient="row",
).with_columns(
    file=pl.lit("mine.csv"),
    file_line=pl.int_range(2, pl.len() + 2),
    source_url=pl.lit("https://example.org/a"),
)


@pytest.fixture(scope="module")
def released(project):
    return project / "resources" / "database"


@pytest.fixture(scope="module")
def material(released):
    database = load_database()
    rescored = rescore(PRINTED, database)
    # As a run hands them on, through files of separated values.
    comparison = {
        "contradictions": check(rescored, database),
        "not-above-chance": not_above_chance(rescored),
    }
    own = with_released(database.filter(pl.col("dataset") == "Nations"), database)
    return Material(
        tables={"mine": rescored},
        own=frozenset({"mine"}),
        constants=Constants(own, Histograms([load_candidates()])),
        datasets=pl.read_csv(released / "datasets.tsv", separator="\t"),
        comparison={
            name: pl.read_csv(frame.write_csv().encode(), infer_schema_length=None)
            for name, frame in comparison.items()
        },
        licences={"WN18RR": "MIT"},
    )


def rows_of(content, label):
    table = re.search(rf'aria-label="{label}">(.*?)</table>', content, flags=re.DOTALL)[1]
    body = table.partition("<tbody>")[2]
    return [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)]


def test_data_sets_are_those_of_the_run_and_of_its_results(material):
    rows = rows_of(dataset_section(material).content, "Data sets")
    assert [row.strip("|").split("|")[0] for row in sorted(rows)] == ["Nations", "WN18RR"]
    # Counts of the registry, config/datasets.yaml.
    assert "|40,943||11||86,835||3,034||3,134|" in next(row for row in rows if "WN18RR" in row)
    assert "MIT" in next(row for row in rows if "WN18RR" in row)


def test_counts_of_an_inductive_data_set_are_of_its_test_on_new_entities(material):
    (row,) = dataset_rows(material.datasets.filter(pl.col("dataset") == "GraIL-WN18RR-v1"))
    assert (row["training"], row["testing"]) == (5410, 188)


def test_expectations_are_those_of_the_database(material):
    (row,) = [
        row
        for row in chance_rows(material.constants.table.filter(pl.col("dataset") == "Nations"))
        if row["protocol"] == "raw"
    ]
    # Of 14 candidates without a filter, N is 14 and the mean rank is (14 + 1) / 2.
    assert row["values"]["arithmetic_mean_rank"] == pytest.approx(7.5, rel=1e-12)
    assert row["values"]["hits_at_1"] == pytest.approx(1 / 14, rel=1e-12)
    assert row["tasks"] == 402


def test_bounds_stand_where_there_is_no_expectation(material):
    rows = chance_rows(material.constants.table.filter(pl.col("dataset") == "FB15k"))
    values = next(row for row in rows if row["protocol"] == "filtered")["values"]
    low, high = values["hits_at_10"]
    assert 10 / 14951 < low < high < 1
    # Printed values fix the mean number of candidates, hence the expectation of MR (docs/methods.md).
    assert values["arithmetic_mean_rank"] == pytest.approx(7386.8524, abs=1e-4)
    # Of YAGO3-10 nothing of the kind is printed: among 123,182 entities the mean rank is between two bounds, too.
    rows = chance_rows(material.constants.table.filter(pl.col("dataset") == "YAGO3-10"))
    low, high = next(row for row in rows if row["protocol"] == "filtered")["values"]["arithmetic_mean_rank"]
    assert 1 < low < high < (123_182 + 1) / 2


def test_the_least_the_greatest_and_the_median_number_of_candidates_are_said():
    counted = pl.DataFrame(
        {
            "dataset": "Tiny",
            "protocol": "filtered",
            "split": "testing",
            "side": ["head", "head", "tail"],
            "num_candidates": [2, 9, 7],
            "tasks": [3, 3, 1],
        }
    )
    assert candidate_texts(counted) == {"Tiny": "N from 2 to 9, median 7"}
    alike = counted.with_columns(num_candidates=pl.lit(5))
    assert candidate_texts(alike) == {"Tiny": "N is 5 in every task"}


def test_problems_are_told_in_words_and_names_stay_text(material):
    content = problem_section(material).content
    (contradiction,) = rows_of(content, "Contradictions")
    assert "MRR 0.226 and MR 3 contradict each other" in contradiction
    assert "<b>A</b>" not in content
    assert "&lt;b&gt;A&lt;/b&gt;" in content
    (near,) = rows_of(content, "Results at or below chance")
    assert near.startswith("|at|||B|")
    (refused,) = rows_of(content, "Values that are not adjusted")
    assert "Unheard" in refused
    assert content.count('href="https://example.org/a"') == 3


def test_a_run_without_problems_says_so(material):
    fine = rescore(PRINTED.head(1))
    section = problem_section(Material({"mine": fine}, material.constants, material.datasets))
    assert section.content.count("None") == 3
    assert "<table" not in section.content


def test_a_value_that_differs_from_the_literature_is_a_contradiction_of_the_own_row(material):
    """The row repeats what the literature has of the model but for one value: 0.452 there, 0.462 here."""
    printed = {"MRR": "0.452", "Hits@1": "0.411", "Hits@10": "0.537"}
    frame = pl.DataFrame(
        {
            "dataset": "WN18RR",
            "model": "A",
            "metric": list(printed),
            "value": list(printed.values()),
            "file": "paper.csv",
            "file_line": [2, 3, 4],
        }
    )
    literature = rescore(frame, material.constants.table)
    changed = frame.with_columns(
        value=pl.col("value").replace("0.452", "0.462"), file=pl.lit("copy.csv"), model=pl.lit("a")
    )
    copied = rescore(changed, material.constants.table)
    before = replace(material, tables=material.tables | {"copy": copied}, own=frozenset({"mine", "copy"}))
    found = [before.comparison["contradictions"], check_against(copied, literature)]
    after = replace(before, comparison={"contradictions": pl.concat(found, how="diagonal_relaxed")})
    content = problem_section(after).content
    assert "0.462 is 0.452 for A" not in problem_section(before).content
    assert "0.462 is 0.452 for A" in content
    assert content.count("<td>impossible</td>") == found[0].filter(severity="impossible").height > 0
    rows = [row for board in boards(all_values(after), after.comparison) for row in board.ranked]
    told = [row for row in rows if "0.462 is 0.452" in str(row["notes"])]
    assert {row["model"] for row in told} == {"a"}
