"""The usual evaluation of every data set, and the evaluations of code bases."""

import polars as pl
import pytest
from click.testing import CliRunner

from rankadjust import EvaluationSet, adjust, evaluate, rescore
from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.base.schemas import read_yaml, validate
from rankadjust.cli.commands import commands
from rankadjust.counting.evaluators import (
    evaluation_by,
    find_evaluator,
    in_words,
    shipped_evaluators,
    usual_evaluation,
)
from rankadjust.counting.protocols import get_protocol, load_benchmarks
from rankadjust.data.registry import load_registry, names_elsewhere


def test_every_code_base_has_known_protocols(project):
    path = project / "config" / "evaluators.yaml"
    validate(read_yaml(path), "evaluators", path)
    for name, entry in shipped_evaluators().items():
        assert all(find_evaluator(alias) == name for alias in (name.upper(), *entry.get("aliases", ())))
        for each in entry["evaluations"]:
            assert all(get_protocol(name) for name in (each["protocol"], each.get("validation")) if name)


def test_the_usual_protocol_of_a_benchmark_is_one_of_its_own():
    protocols = {}
    for benchmark in load_benchmarks():
        protocols.setdefault(benchmark.dataset, set()).add(benchmark.protocol.name)
    assert {
        name for name, known in protocols.items() if usual_evaluation(name).protocol not in known
    } == set()


def test_the_usual_evaluation_of_a_data_set_that_is_released_is_released():
    released = pl.read_parquet("resources/database/adjustments.parquet")
    held = set(released.select("dataset", "protocol").unique().iter_rows())
    datasets = {dataset for dataset, _ in held}
    assert {name for name in datasets if (name, usual_evaluation(name).protocol) not in held} == set()
    assert {
        name for name in load_registry() if get_protocol(usual_evaluation(name).protocol) is None
    } == set()


@pytest.mark.parametrize(
    ("evaluator", "dataset", "expected"),
    [
        ("ultra", "GraIL-FB15k237-v2", ("filtered-merged-cumulative", "inference_testing", "both")),
        ("RED-GNN", "GraIL-FB15k237-v2", ("filtered-merged", "inference_testing", "both")),
        ("NBFNet (TorchDrug)", "GraIL-FB15k237-v2", None),
        ("TorchDrug", "GraIL-FB15k237-v2", ("filtered-graph-twice", "inference_testing", "both")),
        ("ULTRA", "NELL23K", ("filtered", "testing", "tail")),
        ("PyG", "WN18RR", ("raw", "testing", "tail")),
        ("KBAT", "WN18RR", ("filtered-seen", "testing", "both")),
        ("OGB", "ogbl-biokg", ("sampled-500", "testing", "both")),
        (None, "ogbl-biokg", ("sampled-500", "testing", "both")),
        (None, "ICEWS18", ("time-aware", "testing", "both")),
        (None, "GraIL-FB15k237-v2", ("sampled-49", "inference_testing", "both")),
        (None, "InGram-FB-25", ("filtered", "inference_testing", "both")),
        (None, "tgbl-coin", ("sampled-20", "testing", "tail")),
        (None, "GDELT-forecasting", ("time-aware", "testing", "both")),
    ],
)
def test_the_evaluation_that_names_stand_for(evaluator, dataset, expected):
    if expected is None:
        with pytest.raises(RankadjustError, match="there is no evaluator"):
            EvaluationSet.released(dataset, evaluator=evaluator)
        return
    found = EvaluationSet.released(dataset, evaluator=evaluator)
    assert (found.protocol, found.split, found.side) == expected


# RED-GNN validates on the test triples of the training graph.
VALIDATION = [
    ("LibKGE", "FB15k-237", "filtered-cumulative", "validation"),
    ("RotatE", "FB15k-237", "filtered", "validation"),
    ("RED-GNN", "GraIL-NELL995-v1", "filtered-merged", "testing"),
    ("ULTRA", "GraIL-NELL995-v1", "filtered-merged-cumulative", "validation"),
]


@pytest.mark.parametrize(("evaluator", "dataset", "protocol", "split"), VALIDATION)
def test_validation_values_have_the_filter_of_their_code_base(evaluator, dataset, protocol, split):
    found = EvaluationSet.released(dataset, split="valid", evaluator=evaluator)
    row = {"dataset": dataset, "evaluator": evaluator, "split": "validation", "metric": "MRR", "value": "0.3"}
    rescored = rescore(pl.DataFrame([row]))
    assert (found.protocol, found.split) == (protocol, split)
    assert rescored.select("protocol", "split", "status").row(0) == (protocol, split, "ok")


@pytest.mark.parametrize(
    ("evaluator", "metric", "value", "limit"),
    [("NBFNet", "mrr", "0.7", "at most 0.5"), ("GraIL", "mr", "60", "at most 50")],
)
def test_a_value_that_no_ranks_of_a_code_base_have_is_refused(evaluator, metric, value, limit):
    with pytest.raises(ImpossibleValueError, match=f"is {limit}, .* it can be under filtered and"):
        adjust(value, dataset="GraIL-FB15k237-v1", metric=metric, evaluator=evaluator)


def test_what_fits_another_evaluation_alone_is_told_so(tmp_path):
    words = ["check", "mr=120", "mrr=0.3", "--dataset", "GraIL-NELL995-v1"]
    told = CliRunner().invoke(commands, words).output
    assert "all values are possible under filtered and filtered-cumulative and" in " ".join(told.split())
    ranks = tmp_path / "ranks.csv"
    ranks.write_text("rank\n" + "900\n" * 410)
    with pytest.raises(
        RankadjustError, match=r"at most 50 .* they fit --protocol filtered --split inference"
    ):
        evaluate(ranks, dataset="GraIL-FB15k237-v1")


@pytest.mark.parametrize("command", ["check mrr=0.3", "evaluate {}", "adjust mrr=0.3"])
def test_commands_say_that_documented_entities_are_approximate(command, tmp_path):
    (tmp_path / "ranks.csv").write_text("rank\n1\n2\n3\n")
    words = [*command.format(tmp_path / "ranks.csv").split(), "--dataset", "CoDEx-L"]
    told = CliRunner().invoke(commands, words).output
    assert "Note: approximate and without z" in told
    assert told.count("approximate") == 1


def test_estimated_hits_are_checked_beside_others():
    words = [
        "check",
        "hits@10=0.7",
        "hits@10_50=0.9",
        "--dataset",
        "GraIL-FB15k237-v1",
        "--evaluator",
        "ULTRA",
    ]
    assert "2 values: nothing to look at" in CliRunner().invoke(commands, words).output


def test_what_a_code_base_prints_is_read_as_it_means_it():
    # NBFNet's hits@10_50 has 50 draws (tests/data/evaluators.json, GraIL-FB15k237-v1).
    hits = adjust("0.7", dataset="GraIL-FB15k237-v1", metric="hits@10_50", evaluator="NBFNet")
    assert (hits.metric, hits.expectation) == ("hits_at_10_51", pytest.approx(0.19561944, abs=1e-7))
    # PyG's mean rank is of ranks from 0.
    assert adjust("199", dataset="FB15k-237", metric="MR", evaluator="PyG").value == 200
    assert adjust("0.3", dataset="FB15k-237", metric="MRR", evaluator="PyG").value == 0.3
    first = adjust("0.2", dataset="FB15k-237", metric="MR", evaluator="PyG")
    assert (first.value, first.value_low, first.value_high) == pytest.approx((1.2, 1.15, 1.25))
    row = {"dataset": "FB15k-237", "evaluator": "PyG", "metric": ["MR", "MRR"], "value": ["199", "0.3"]}
    rows = rescore(pl.DataFrame(row))
    assert rows["index"].is_null().to_list() == [True, False]
    assert rows["message"][0].startswith("PyG counts ranks from 0")


def test_a_code_base_without_a_fixed_set_of_candidates_has_no_constants():
    with pytest.raises(RankadjustError, match="MINERVA has no protocol for WN18RR: Answers that the beam"):
        evaluation_by("minerva", "WN18RR")
    # A split of its own.
    with pytest.raises(RankadjustError, match="RNNLogic has no protocol for UMLS: Its UMLS and Kinships"):
        evaluation_by("RNNLogic", "UMLS")
    with pytest.raises(RankadjustError, match="give only one of the two"):
        adjust("0.3", dataset="WN18RR", metric="MRR", protocol="raw", evaluator="PyG")


def test_an_evaluation_is_told_in_words():
    assert in_words("FB15k-237", "filtered", "testing", "both") == "FB15k-237, filtered, test, both sides"
    assert in_words("tgbl-coin", "sampled-20", "testing", "tail") == (
        "tgbl-coin, 20 negatives, test, tails alone (TGB's evaluator)"
    )


def test_a_tidy_table_gets_the_usual_evaluation_or_that_of_its_evaluator():
    rows = [
        ("ogbl-wikikg2", None, None),
        ("GraIL-NELL995-v1", None, None),
        ("GraIL-NELL995-v1", None, "ULTRA"),
        ("GraIL-NELL995-v1", "filtered", None),
        ("NELL23K", None, None),
        ("WN18RR", None, "MINERVA"),
    ]
    table = pl.DataFrame(rows, ["dataset", "protocol", "evaluator"], orient="row").with_columns(
        metric=pl.lit("MRR"), value=pl.lit("0.7")
    )
    rescored = rescore(table)
    assert rescored.select("protocol", "split", "side").rows()[:5] == [
        ("sampled-500", "testing", "both"),
        ("sampled-49", "inference_testing", "both"),
        ("filtered-merged-cumulative", "inference_testing", "both"),
        ("filtered", "inference_testing", "both"),
        ("filtered", "testing", "tail"),
    ]
    assert rescored["status"].to_list() == ["ok", "bounded", "ok", "ok", "ok", "protocol_unknown"]


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_data_set_answers_with_a_number_or_says_how_to_get_one(step):
    names = dict.fromkeys([*load_registry(), *(each.dataset for each in load_benchmarks())])
    answers = {name: answer(name) for name in [*list(names)[::step], "ogbl-ddi"]}
    numbers = {name: each for name, each in answers.items() if isinstance(each, float)}
    assert len(numbers) > 100 / step
    assert all(0 < each < 0.5 for each in numbers.values())
    others = {name: each for name, each in answers.items() if name not in numbers}
    assert "in the data alone; give --num-candidates" in others.pop("ogbl-ddi")
    assert [each for each in others.values() if "count it with" not in each or "\n" in each] == []


def answer(name):
    try:
        return adjust("0.5", dataset=name, metric="mrr").expectation
    except RankadjustError as error:
        return str(error)


def test_a_documented_number_of_entities_gives_an_approximate_value():
    # PyKEEN documents 77,951 entities of CoDEx-L; ln(N) / N is about the MRR of chance.
    adjusted = adjust("0.3", dataset="codexl", metric="mrr")
    assert (adjusted.status, adjusted.z, adjusted.tasks) == ("approximate", None, None)
    assert adjusted.expectation == pytest.approx(0.000152, rel=1e-2)
    assert "77,951" in adjusted.reason
    with pytest.raises(RankadjustError, match="typed needs its triples"):
        adjust("0.3", dataset="CoDEx-L", metric="mrr", protocol="typed")


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("WN18RRInductive:v1", "GraIL-WN18RR-v1"),
        ("FB15k-237_v1", "GraIL-FB15k237-v1"),
        ("nell_v1_ind", "GraIL-NELL995-v1"),
        ("nell-v1", "GraIL-NELL995-v1"),
        ("WordNet18RR", "WN18RR"),
        ("FB86M", "Freebase-DGL-KE"),
        ("wiki5m_ind", "Wikidata5M-inductive"),
        ("tkgl-smallpedia", "tkgl-smallpedia"),
    ],
)
def test_a_data_set_is_known_under_the_names_of_code_bases(name, dataset):
    assert EvaluationSet.released(name).dataset == dataset
    table = pl.DataFrame({"dataset": [name], "metric": ["MRR"], "value": ["0.5"]})
    assert rescore(table)["dataset"].item() == dataset


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("tgbl-wiki", "write tgbl-wiki-v2 or tgbl-wiki-v1"),
        ("WN18RRInductive", "write GraIL-WN18RR-v1 or GraIL-WN18RR-v2"),
        ("ICEWS14", "write ICEWS14-forecasting or ICEWS14-interpolation"),
    ],
)
def test_a_name_of_several_data_sets_is_asked_about(name, candidates):
    with pytest.raises(RankadjustError, match=f"'{name}' does not say which data set is meant; {candidates}"):
        EvaluationSet.released(name)


def test_every_name_of_a_code_base_means_known_data_sets():
    known = {*load_registry(), *(each.dataset for each in load_benchmarks())}
    known |= {"WIKI-forecasting", "GDELT-forecasting", "Wikidata5M-inductive"}
    assert {name for _, _, ours in names_elsewhere().values() for name in ours} <= known


@pytest.mark.parametrize(
    "command", ["evaluate {ranks}", "compare {ranks} {other}", "check mrr=0.5 hits@10=0.8"]
)
def test_the_usual_evaluation_is_named_first_where_nobody_states_it(command, tmp_path):
    for name, ranks in (("ranks", "a,1\nb,2\nc,3\n"), ("other", "a,2\nb,2\nc,9\n")):
        (tmp_path / f"{name}.csv").write_text(f"triple,rank\n{ranks}")
    files = {name: tmp_path / f"{name}.csv" for name in ("ranks", "other")}
    words = [*command.format(**files).split(), "--dataset", "tgbl-coin", "--side", "tail"]
    assert first_line(words) == "tgbl-coin, 20 negatives, test, tails alone (TGB's evaluator)"
    assert "TGB" not in first_line([*words, "--protocol", "sampled-20"])


def first_line(words):
    result = CliRunner().invoke(commands, words)
    assert result.output, result.exception
    return result.output.splitlines()[0]


def test_estimated_hits_are_rescored_as_the_code_base_draws_them():
    rows = [("GraIL-FB15k237-v1", name, "hits@10_50", "0.7") for name in ("ULTRA", "NBFNet", "AdaProp")]
    rescored = rescore(pl.DataFrame(rows, ["dataset", "evaluator", "metric", "value"], orient="row"))
    assert rescored["metric"].to_list() == ["hits_at_10_50", "hits_at_10_51", "hits_at_10_51"]
    # tests/data/evaluators.json has these expectations, and shared/design/evaluator-gaps.md the z of the first two.
    assert rescored["expectation"].to_list() == pytest.approx([0.2002756, 0.1956194, 0.1963576], abs=1e-6)
    assert rescored["z"].to_list()[:2] == pytest.approx([39.9, 28.7], abs=0.05)
