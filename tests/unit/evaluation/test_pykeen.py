"""Ranks that PyKEEN's own evaluator leaves in a file, with the real package where it is installed."""

import polars as pl
import pytest

import rankadjust

pipeline = pytest.importorskip("pykeen.pipeline", reason="PyKEEN is not installed (pip install pykeen)")
datasets = pytest.importorskip("pykeen.datasets")
RankWriter = pytest.importorskip("rankadjust.evaluation.pykeen").RankWriter


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("pykeen") / "distmult.parquet"
    result = pipeline.pipeline(
        dataset="Nations",
        model="DistMult",
        training_kwargs={"num_epochs": 5, "use_tqdm": False},
        evaluator=RankWriter,
        evaluator_kwargs={"path": path},
        evaluation_kwargs={"use_tqdm": False},
        random_seed=1,
    )
    return path, result


def test_the_file_has_the_metrics_that_pykeen_reports(trained):
    path, result = trained
    found = rankadjust.evaluate(path, metrics=["mrr", "mr", "hits@10"], dataset="Nations", protocol="pykeen")
    for side in ("head", "tail", "both"):
        for kind in ("optimistic", "realistic", "pessimistic"):
            values = found.filter(side=side, rank_type=kind)
            for metric, value in values.select("metric", "value").iter_rows():
                assert value == pytest.approx(result.get_metric(f"{side}.{kind}.{metric}"), rel=1e-6)


@pytest.mark.parametrize(
    ("metric", "column", "key"),
    [
        ("mrr", "index", "adjusted_inverse_harmonic_mean_rank"),
        ("mr", "index", "adjusted_arithmetic_mean_rank_index"),
        ("mrr", "z", "z_inverse_harmonic_mean_rank"),
        ("mr", "z", "z_arithmetic_mean_rank"),
    ],
)
def test_pykeen_s_evaluator_adjusts_as_we_do(trained, metric, column, key):
    path, result = trained
    found = rankadjust.evaluate(path, metrics=[metric], dataset="Nations", protocol="pykeen")
    row = found.filter(side="both", rank_type="realistic")
    # PyKEEN works with numbers of 32 bits.
    assert row[column].item() == pytest.approx(result.get_metric(f"both.realistic.{key}"), rel=1e-5)


def test_each_testing_triple_is_ranked_once_on_each_side(trained):
    ranks = pl.read_parquet(trained[0])
    # Nations has 201 testing triples.
    assert ranks.group_by("side").agg(pl.col("triple").n_unique(), pl.len()).sort("side").rows() == [
        ("head", 201, 201),
        ("tail", 201, 201),
    ]


def test_a_second_evaluation_replaces_the_first(trained):
    path, result = trained
    evaluator = RankWriter(path)
    validation = datasets.get_dataset(dataset="Nations").validation.mapped_triples
    for _ in range(2):
        evaluator.evaluate(result.model, validation, use_tqdm=False)
        assert pl.read_parquet(path).height == 2 * len(validation)
