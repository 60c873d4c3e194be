"""What a reader is told first, and the user's own results beside the literature."""

import polars as pl
import pytest

from rankadjust.database.constants import Constants
from rankadjust.literature.rescore import rescore
from rankadjust.literature.summaries import below_baselines, chance_share
from rankadjust.page.literature_sections import (
    counting_headline,
    counting_share,
    finding_section,
    headline,
    own_section,
    placed,
)
from rankadjust.page.material import Material, all_values


def printed(*rows, **columns):
    frame = pl.DataFrame(rows, schema=["dataset", "model", "metric", "value"], orient="row")
    return rescore(frame.with_columns(**{name: pl.lit(value) for name, value in columns.items()}))


def material(own=None, literature=None, tables=None, **comparison):
    nothing = pl.DataFrame()
    mine = {} if own is None else {"mine": own}
    return Material(
        {**mine, **(tables or {})},
        Constants(nothing),
        nothing,
        comparison,
        own=frozenset(mine),
        literature=literature,
    )


@pytest.fixture(scope="module")
def literature():
    return printed(
        ("FB15k-237", "A", "MRR", "0.338"),
        ("FB15k-237", "A", "MRR", "0.330"),
        ("FB15k-237", "B", "MRR", "0.40"),
        ("FB15k-237", "C", "MRR", "0.29"),
        ("FB15k-237", "C", "MR", "150"),
        ("WN18RR", "A", "MRR", "0.47"),
        source="paper",
    )


def test_a_place_counts_each_model_of_the_same_evaluation_once(literature):
    own = printed(("FB15k-237", "A", "MRR", "0.35"))
    (row,) = placed(all_values(material(own, literature)))
    # Before it B, after it A (with its better value) and C; its own name counts apart from that of the literature.
    assert (row["place"], row["models"], row["evaluation"]) == (2, 4, "FB15k-237, filtered")


def test_rounding_leaves_places_open(literature):
    # 0.3 is 0.25 to 0.35: any place between B, which is above, and C, which is 0.285 to 0.295.
    own = printed(("FB15k-237", "mine", "MRR", "0.3"))
    (row,) = placed(all_values(material(own, literature)))
    assert (row["place"], row["best"], row["worst"]) == (3, 2, 4)


def test_of_a_mean_rank_the_lower_one_is_better(literature):
    own = printed(("FB15k-237", "mine", "MR", "140"))
    (row,) = placed(all_values(material(own, literature)))
    assert (row["place"], row["models"]) == (1, 2)


def test_results_with_a_caveat_are_not_counted(literature):
    own = printed(("FB15k-237", "mine", "MRR", "0.35"))
    doubtful = literature.with_columns(caveat=pl.lit("second-hand"))
    (row,) = placed(all_values(material(own, doubtful)))
    assert row["models"] == 1
    assert "stand alone" in own_section(material(own, doubtful)).content


def test_the_place_is_said_in_words_and_names_stay_text(literature):
    own = printed(("FB15k-237", "<img src=x onerror=alert(1)>", "MRR", "0.35"))
    content = own_section(material(own, literature)).content
    assert "2 among 4 on FB15k-237, filtered" in content
    assert "<img" not in content


def test_the_headline_names_the_largest_and_the_smallest_share(literature):
    few = printed(("Nations", "A", "MRR", "0.5"), protocol="sampled-20")
    text = headline(chance_share(pl.concat([literature, few], how="diagonal_relaxed")))
    # By chance the MRR among 21 candidates is the mean of 1 / r: 3.645359 / 21 = 0.17359, of 0.5 it is 35 %.
    assert "35 % where the true answer is ranked among 20 sampled negatives" in text
    assert text.endswith("where 20,000 or more entities are ranked.")


def test_what_counting_explains_is_counted(literature):
    """By hand: popularity has 0.2345 there; of 0.2345 / 0.338, / 0.40 and / 0.29 the first is the median, 0.694."""
    fb = literature.filter(dataset="FB15k-237", metric="inverse_harmonic_mean_rank", status="ok")
    assert counting_share(fb) == pytest.approx(0.2345465 / 0.338, rel=1e-6)
    text = counting_headline(fb, below_baselines(fb))
    assert "reaches 69 % of the median value" in text
    assert text.endswith("0 of 3 published values lie below it.")


def test_findings_are_counted_from_the_comparison(literature):
    comparison = {
        "contradictions": pl.DataFrame({"severity": ["impossible", "suspicious", "impossible"]}),
        "not-above-chance": pl.DataFrame({"chance": ["at", "below", "at", "at"]}),
        "chance-share": chance_share(literature),
    }
    content = finding_section(material(tables={"paper": literature}, **comparison)).content
    assert "in 3 cases; in 2 no ranks" in content
    # One of the four is below chance: that is not where a random scorer is.
    assert "3 printed values could be those of a random scorer; 1 is worse than chance." in content
    # Of all values the one of B is changed most: 0.40 by 0.0007 * (1 - 0.40).
    assert "what B has on FB15k-237" in content or "what C has on FB15k-237" in content


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (["below", "below"], "2 printed values are worse than chance. "),
        (["below"], "1 printed value is worse than chance. "),
        (
            ["at", "below", "below"],
            "1 printed value could be that of a random scorer; 2 are worse than chance. ",
        ),
    ],
)
def test_values_at_and_below_chance_are_told_apart(literature, chance, said):
    comparison = {"not-above-chance": pl.DataFrame({"chance": chance})}
    assert said in finding_section(material(tables={"paper": literature}, **comparison)).content


def test_a_run_without_results_has_no_findings():
    assert finding_section(material()) is None
