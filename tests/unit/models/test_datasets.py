"""Several data sets in one comparison: what is adjusted together, and what is refused."""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.models.compare import compare, compare_datasets, with_verdicts
from rankadjust.output.comparison_text import comparisons

OPTIONS = {"metrics": ["mrr", "mr"]}


@pytest.fixture(scope="module")
def folder(project):
    return project / "tests" / "data" / "compare-datasets"


@pytest.fixture(scope="module")
def found(folder):
    return compare_datasets({"Nations": folder / "nations", "Kinships": folder / "kinships"}, **OPTIONS)


def test_each_data_set_is_compared_by_itself_and_p_is_adjusted_for_all(found, folder):
    models = ("complex", "distmult")
    alone = {
        name: compare([folder / name.lower() / model for model in models], dataset=name, **OPTIONS)
        for name in found
    }
    for name, one in found.items():
        unchanged = [column for column in one.differences.columns if column not in {"p_holm", "better"}]
        assert one.differences.select(unchanged).equals(alone[name].differences.select(unchanged))
        assert one.values.drop("best").equals(alone[name].values.drop("best"))
    for side in ("head", "tail", "both"):
        rows = pl.concat(one.differences.filter(side=side) for one in found.values())
        assert rows["p_holm"].to_list() == pytest.approx(with_verdicts(rows)["p_holm"].to_list())
        assert (rows["p_holm"] >= rows["p"]).all()


def test_verdicts_follow_from_p_of_all(found):
    for one in found.values():
        for row in one.differences.iter_rows(named=True):
            apart = row["p_holm"] < 0.05
            assert (row["better"] is not None) == apart
            of_models = one.values.filter(side=row["side"], metric=row["metric"])["best"].to_list()
            assert sorted(of_models) == ([False, True] if apart else [True, True])
    text = comparisons(found)
    assert "All 2 data sets together" in text
    assert "complex is better than distmult on Kinships (MRR and MR)." in text


def test_data_sets_may_differ_in_their_sides(folder):
    tables = {
        name: {
            model: pl.read_parquet(folder / name.lower() / model / "seed-1.parquet")
            for model in ("distmult", "complex")
        }
        for name in ("Nations", "Kinships")
    }
    models = {"Nations": {model: ranks.filter(side="tail") for model, ranks in tables["Nations"].items()}}
    found = compare_datasets(models | {"Kinships": tables["Kinships"]}, metrics="mrr")
    assert found["Nations"].differences["side"].to_list() == ["tail"]
    assert found["Kinships"].differences["side"].to_list() == ["head", "tail", "both"]
    assert found["Kinships"].differences["first"].unique().to_list() == ["distmult"]


def test_mistakes_name_the_data_set(folder, tmp_path):
    nations = folder / "nations"
    (tmp_path / "complex.csv").write_text("triple,side,rank\n1,head,1\n")
    with pytest.raises(RankadjustError, match="Kinships: there is no model distmult, which Nations has"):
        compare_datasets({"Nations": nations, "Kinships": tmp_path})
    with pytest.raises(RankadjustError, match=r"^Kinships: .*but there are 201 ranks"):
        compare_datasets({"Kinships": nations})
    with pytest.raises(RankadjustError, match="unknown data set 'Nation'; did you mean Nations"):
        compare_datasets({"Nation": nations})
    with pytest.raises(RankadjustError, match="there is no such folder"):
        compare_datasets({"Nations": tmp_path / "nothing"})
    with pytest.raises(RankadjustError, match="there are tasks of Kinships, but no models"):
        compare_datasets({"Nations": nations}, tasks={"Kinships": tmp_path})
    (tmp_path / "complex.tsv").write_text("triple\tside\trank\n1\thead\t1\n")
    with pytest.raises(RankadjustError, match="there is another model complex"):
        compare_datasets({"Nations": tmp_path})
