"""What the first screen is given: chance and counting of every evaluation, as the command says them."""

import polars as pl
import pytest

from rankadjust import adjust
from rankadjust.database.constants import Constants
from rankadjust.literature.rescore import rescore
from rankadjust.page.answers import answers, in_words, metrics_of
from rankadjust.page.boards import boards
from rankadjust.page.material import Material, all_values


@pytest.fixture(scope="module")
def known():
    return answers(Constants.released(), [])


@pytest.mark.parametrize("number", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_every_number_is_what_adjust_says(known, number):
    """Evaluations and metrics, drawn: the same chance, counting and baseline to ten digits, bounds included."""
    drawn = [
        (dataset, evaluation, name)
        for dataset, evaluations in known.items()
        for evaluation in evaluations
        for name in evaluation["metrics"]
    ]
    assert len(drawn) > 5_000
    for dataset, evaluation, name in (
        pl.Series(drawn, dtype=pl.Object).gather_every(len(drawn) // number).to_list()
    ):
        reached = evaluation["metrics"][name]
        value = reached.get("optimum", metrics_of(known)[name]["optimum"])
        options = {part: evaluation[part] for part in ("protocol", "split", "side")}
        adjusted = adjust(value, dataset=dataset, metric=name, **options)
        assert adjusted.tasks == evaluation["tasks"]
        assert reached.get("baseline") == adjusted.baseline
        expected = {
            "chance": adjusted.expectation if adjusted.expectation_low is None else None,
            "low": adjusted.expectation_low,
            "high": adjusted.expectation_high,
            "counting": adjusted.baseline_value,
        }
        numbers = {name: number for name, number in reached.items() if name not in ("baseline", "optimum")}
        known_numbers = {name: number for name, number in expected.items() if number is not None}
        assert numbers == pytest.approx(known_numbers, rel=1e-9), (dataset, options, name)


def test_every_data_set_with_constants_is_there(known):
    table = Constants.released().table
    has_some = pl.any_horizontal(pl.col("expectation", "expectation_low").is_not_null())
    assert set(known) == set(table.filter(has_some)["dataset"])


def test_the_usual_evaluation_comes_first(known):
    """As config/usual.csv has it, then the one with most results; without results, all entities, filtered."""
    words = {name: known[name][0]["words"] for name in ("FB15k-237", "GraIL-WN18RR-v1", "ogbl-wikikg2")}
    assert words == {
        "FB15k-237": "all entities, known answers filtered, test, both sides",
        "GraIL-WN18RR-v1": "49 negatives a side, inference test, both sides (GraIL, NodePiece; ULTRA and "
        "others rank all entities)",
        "ogbl-wikikg2": "500 negatives a side, test, both sides (OGB's evaluator)",
    }
    printed = pl.DataFrame(
        {"model": ["A", "B", "C"], "value": ["0.3", "0.2", "0.25"], "protocol": ["raw", "raw", "filtered"]}
    )
    rows = rescore(
        printed.with_columns(dataset=pl.lit("FB15k-237"), metric=pl.lit("MRR"), year=pl.lit("2020"))
    )
    made = boards(all_values(Material({"mine": rows}, Constants.released())), None)
    first, second = answers(Constants.released(), made)["FB15k-237"][:2]
    assert (first["protocol"], first["values"], first["best"]) == ("filtered", [0.25], "C")
    assert (second["protocol"], second["values"], second["best"]) == ("raw", [0.3, 0.2], "A")
    assert second["year"] == "2020"


def test_words_tell_the_evaluations_of_a_data_set_apart(known):
    for dataset, evaluations in known.items():
        words = [evaluation["words"] for evaluation in evaluations]
        assert len(set(words)) == len(words), dataset
        # Names of protocols and splits are no words.
        assert not any("sampled-" in text or "inference_testing" in text for text in words)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("typed", "all entities of the relation's types, known answers filtered"),
        ("time-aware", "all entities, known answers filtered at the same time"),
        ("filtered-training", "entities of training, known answers filtered"),
        ("sampled-3000", "3,000 negatives a side"),
        ("filtered-graph", "all entities, answers of the graph filtered"),
        ("my-own", "my-own"),
    ],
)
def test_a_protocol_in_words(protocol, words):
    assert in_words(protocol, "testing", "both") == f"{words}, test, both sides"
