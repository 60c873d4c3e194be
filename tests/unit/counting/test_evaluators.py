"""GraIL's data sets as the code bases evaluate them, against constants that were computed independently."""

import json

import polars as pl
import pytest

from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import moments_table
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.read import read_triples
from rankadjust.data.registry import load_registry
from tests.mirror import mirrored_files

# What the reference calls an evaluation, its protocol and split.
EVALUATIONS = {
    "filtered (project default)": ("filtered", "inference_testing"),
    "ULTRA": ("filtered-merged-cumulative", "inference_testing"),
    "ULTRA merge_valid_test=False": ("filtered-split", "inference_testing"),
    "NBFNet-PyG": ("filtered-graph", "inference_testing"),
    "NBFNet": ("filtered-graph-twice", "inference_testing"),
    "RED-GNN": ("filtered-merged", "inference_testing"),
    "AdaProp": ("filtered-merged", "inference_testing"),
    "GraIL": ("grail", "inference_testing"),
    "NodePiece": ("nodepiece", "inference_testing"),
    "ULTRA validation": ("filtered-merged-cumulative", "validation"),
    "RED-GNN validation": ("filtered-merged", "testing"),
}
METRICS = ("arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_10", "hits_at_10_50")


def by_dataset(project):
    return json.loads((project / "tests" / "data" / "evaluators.json").read_text())["datasets"]


@pytest.mark.shared
@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_the_constants_of_each_code_base(evaluation, project, shared, tmp_path):
    protocol, split = EVALUATIONS[evaluation]
    registry = load_registry()
    for name, known in by_dataset(project).items():
        files = mirrored_files(registry[name], shared / "data" / "mirror", tmp_path)
        triples = {each: read_triples(path, registry[name].format) for each, path in files.items()}
        histogram = count_candidates(triples, protocol).histogram.filter(split=split)
        sides = {"both": known[evaluation], "tail": known[evaluation].get("tail", {})}
        for side, expected in sides.items():
            draws = expected.get("hits_at_10_50_negatives", known[evaluation].get("hits_at_10_50_negatives"))
            keys = {
                key: f"hits_at_10_{draws + 1}" if key == METRICS[3] else key
                for key in METRICS
                if key in expected
            }
            rows = moments_table(histogram, [resolve(key) for key in keys.values()], protocol).filter(
                side=side
            )
            assert set(rows["tasks"]) <= {expected.get("tasks")}
            for row, key in zip(rows.iter_rows(named=True), keys, strict=True):
                compare(row, expected[key], expected.get("sd_independent", {}).get(key))
        of_tasks = histogram.select(
            (pl.col("num_candidates") * pl.col("tasks")).sum() / pl.col("tasks").sum()
        )
        mean = sides["both"].get("mean_N", sides["both"].get("mean_pool"))
        assert mean is None or of_tasks.item() == pytest.approx(mean, rel=1e-9)


def compare(row, expectation, deviation):
    # The reference has ten digits.
    if isinstance(expectation, dict):
        assert [row["expectation_low"], row["expectation_high"]] == pytest.approx(
            sorted(expectation.values()), rel=2e-9
        )
        return
    assert row["expectation"] == pytest.approx(expectation, rel=2e-9)
    if deviation is not None:
        assert row["variance"] ** 0.5 == pytest.approx(deviation, rel=2e-9)


def known_answers():
    """Return a graph of entities a to f: (a, r, ?) has b in the inference graph, c in validation, d and e in test."""
    splits = {
        "training": ["a b"],
        "testing": ["a b"],
        "inference": ["a b", "c d", "e f"],
        "inference_validation": ["a c"],
        "inference_testing": ["a d", "a e"],
    }
    return {
        name: pl.DataFrame(
            [(pair[0], "r", pair[2]) for pair in pairs], ["head", "relation", "tail"], orient="row"
        )
        for name, pairs in splits.items()
    }


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("filtered", [(3, 2)]),  # a, f and the answer
        ("filtered-merged", [(3, 3)]),
        ("filtered-split", [(4, 2)]),  # c too
        ("filtered-graph", [(5, 2)]),  # and the other test answer
        ("nodepiece", [(5, 2)]),
        ("grail", [(4, 2)]),  # not a, the entity of the query
        ("raw", [(6, 2)]),
    ],
)
def test_what_a_filter_leaves_of_six_entities(protocol, expected):
    histogram = count_candidates(known_answers(), protocol).histogram
    tails = histogram.filter(split="inference_testing", side="tail")
    assert tails.select("num_candidates", "tasks").rows() == expected


def test_a_true_answer_that_counts_against_itself_has_ranks_from_two():
    histogram = pl.DataFrame(
        {"split": "testing", "side": "tail", "entities": 4, "num_candidates": [3], "tasks": [2]}
    )
    metrics = [resolve(name) for name in ("mr", "mrr", "hits@1", "hits@3", "gmr")]
    rows = moments_table(histogram, metrics, "filtered-graph-twice").filter(side="tail")
    # Ranks 2, 3 and 4 are equally likely.
    assert rows["expectation"].to_list() == pytest.approx([3, (1 / 2 + 1 / 3 + 1 / 4) / 3, 0, 2 / 3, None])
    assert rows["optimum"].to_list()[:4] == [2, 0.5, 0, 1]
    assert rows["variance"].to_list()[0] == pytest.approx(2 / 3 / 2)
