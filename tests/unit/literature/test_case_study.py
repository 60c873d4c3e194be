"""The case study of Hoyt et al. (2022): every printed adjustment is reproduced by its recipe.

The numbers are those of the paper's collated results, in resources/published; Nations and Kinships are counted by
the workflow, here their constants come from tests/data/case-study.csv, written by `snakemake --configfile
config/case-study.yaml` and compared there with an independent implementation in extended precision.
"""

import polars as pl
import pytest

from rankadjust.database.arithmetic import BOUNDS
from rankadjust.database.constants import Constants
from rankadjust.database.store import SCHEMA
from rankadjust.literature.case_study import audit
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy


@pytest.fixture(scope="module")
def audited(project):
    text = pl.read_csv(project / "tests" / "data" / "case-study.csv", infer_schema=False)
    # None of these data sets has bounds.
    whole = text.with_columns(pl.lit(None).alias(name) for name in BOUNDS)
    database = whole.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    table = read_tidy(project / "resources" / "published" / "hoyt2022-case-study.csv")
    return audit(rescore(table, Constants(database)), database)


def test_every_run_and_adjustment_is_there(audited):
    assert audited.height == 16 * 15
    assert audited.select("dataset", "model").n_unique() == 16


def test_every_printed_adjustment_is_reproduced(audited):
    # The printed base metrics are 32-bit numbers in part, which leaves 3e-7.
    assert audited["difference"].abs().max() < 1e-6
    exact = audited.filter(pl.col("recipe").str.starts_with("exclusive"), pl.col("adjustment") == "z")
    assert exact["difference"].abs().max() < 1e-7


@pytest.mark.parametrize(
    ("dataset", "model", "adjustment", "printed", "corrected"),
    # manuscript_16_runs_published_vs_correct.tsv of the development data, found independently.
    [
        ("Nations", "ComplEx", "index", 0.1884352260226497, 0.07469131625115082),
        ("Nations", "ComplEx", "z", -0.7145491959162119, 3.415738142048021),
        ("Nations", "RotatE", "z", 5.466301712559418, 9.447530855186226),
        ("Nations", "TransE", "index", 0.1489095489232511, 0.029625964200585744),
    ],
)
def test_the_corrected_values(audited, dataset, model, adjustment, printed, corrected):
    metric = "inverse_harmonic_mean_rank"
    row = audited.filter(dataset=dataset, model=model, metric=metric, adjustment=adjustment).row(
        0, named=True
    )
    assert row["printed"] == pytest.approx(printed, rel=1e-12)
    assert row["corrected"] == pytest.approx(corrected, rel=1e-9)


@pytest.mark.shared
def test_all_corrected_values_agree_with_the_independent_ones(audited, shared):
    known = pl.read_csv(
        shared / "data" / "reference" / "manuscript_16_runs_published_vs_correct.tsv", separator="\t"
    )
    names = {"fb15k237": "FB15k-237", "wn18rr": "WN18RR", "nations": "Nations", "kinships": "Kinships"}
    compared = 0
    for run in known.iter_rows(named=True):
        for metric in ("inverse_harmonic_mean_rank", "arithmetic_mean_rank", "hits_at_10"):
            index_name = (
                f"adjusted_{metric}_index" if metric == "arithmetic_mean_rank" else f"adjusted_{metric}"
            )
            for adjustment, name in (("index", index_name), ("z", f"z_{metric}")):
                row = audited.filter(
                    pl.col("model").str.to_lowercase() == run["model"],
                    dataset=names[run["dataset"]],
                    metric=metric,
                    adjustment=adjustment,
                ).row(0, named=True)
                # The independent values were printed with 32-bit metrics in part.
                assert row["corrected"] == pytest.approx(run[f"{name}_correct"], rel=1e-6)
                compared += 1
    assert compared == 16 * 6
