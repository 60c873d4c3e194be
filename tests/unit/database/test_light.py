"""Plain numbers of released sets: the same as the tables to the last bit, by the command, the library and a frame."""

import json
from dataclasses import asdict

import polars as pl
import pytest

from rankadjust import EvaluationSet, adjust
from rankadjust.base.io import shipped
from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import READ
from rankadjust.database.constants import Constants
from rankadjust.database.counted_baselines import GAIN
from rankadjust.database.light import BOUNDS, LIGHT, OF_ROW, light_set
from rankadjust.database.light_file import light_file
from rankadjust.literature.rescore import rescore
from tests.imported import heavy_imports


def values_of(held, keys):
    """Return a possible printed value for each metric of a set, near chance or half the way to the optimum."""
    for number, key in enumerate(keys or held.rows):
        row, share = held.rows[key], (0.003, 0.5)[number % 2]
        yield key, f"{row['expectation'] + share * (row['optimum'] - row['expectation']):.5g}"


def require_same_rows(held):
    """Require that each row and the histogram, from which p follows, are those of the tables."""
    tables = EvaluationSet.released(*held.evaluation)
    for key in held.rows:
        metric = resolve(key)
        of_tables = tables.row(metric) | dict(
            zip(("baseline", "baseline_value"), tables.compared(metric, None)[:2], strict=True)
        )
        row = held.row(metric)
        assert row == {name: of_tables.get(name) for name in row}
        assert {*OF_ROW, *BOUNDS} <= {*row}
    assert held.candidate_counts.counts.tolist() == tables.candidate_counts.counts.tolist()
    assert held.candidate_counts.tasks.tolist() == tables.candidate_counts.tasks.tolist()


def require_same(held, keys=(), **options):
    """Require that a value has the same numbers by plain numbers, by the tables, and in a frame of rescored values."""
    tables = EvaluationSet.released(*held.evaluation)
    names = dict(zip(("dataset", "protocol", "split", "side"), held.evaluation, strict=True))
    printed = [*values_of(held, keys)]
    light = [asdict(adjust(text, metric=key, **names, **options)) for key, text in printed]
    assert light == [asdict(adjust(text, metric=key, dataset=tables, **options)) for key, text in printed]
    return names, printed, light


def require_same_in_a_frame(names, printed, light):
    frame = pl.DataFrame(printed, schema=["metric", "value"], orient="row").with_columns(
        **{name: pl.lit(text) for name, text in names.items()},
        model=pl.int_range(pl.len()).cast(pl.String),
    )
    rescored = rescore(frame, Constants.released().only(names["dataset"]))
    assert rescored["status"].unique().to_list() == ["ok"]
    for name in (*READ[:3], "ratio", "index", "index_low", "index_high", "z", "z_random_scorer", *GAIN):
        assert rescored[name].to_list() == [row[name] for row in light], name


def test_one_side_of_one_data_set_is_the_same():
    held = light_set("FB15k-237", "filtered", "testing", "tail")
    assert len(held.rows) > 20
    require_same_in_a_frame(*require_same(held, ("inverse_harmonic_mean_rank", "hits_at_10")))


def test_rows_with_times_say_the_same_for_either_scorer():
    held = light_set("ICEWS14-forecasting", "time-aware", "testing", "both")
    assert held.temporal
    assert any(row["z_random_scorer_scale"] != row.get("z_static_scorer_scale") for row in held.rows.values())
    for scores in (None, "static"):
        for key in ("mrr", "hits@10"):
            names = dict(zip(("dataset", "protocol", "split", "side"), held.evaluation, strict=True))
            tables = EvaluationSet.released(**names)
            assert adjust("0.3", metric=key, **names, scores=scores) == adjust(
                "0.3", metric=key, dataset=tables, scores=scores
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "dataset", ["FB15k-237", "WN18RR", "ICEWS14-forecasting", "GraIL-WN18RR-v3", "CoDEx-M"]
)
def test_all_metrics_protocols_splits_and_sides_are_the_same(dataset):
    table = Constants.released().only(dataset).table
    sets = table.select("dataset", "protocol", "split", "side").unique(maintain_order=True)
    held = [light_set(*names) for names in sets.rows()]
    known = [each for each in held if each is not None]
    assert len(known) > 2
    for number, each in enumerate(known):
        require_same_rows(each)
        # p takes nearly all of the time: each set adjusts some of its metrics, and the next set others. Sides take
        # turns of three, so that by steps of 11 each metric meets two sides.
        some = [*each.rows][number % 11 :: 11]
        require_same_in_a_frame(*require_same(each, some))


@pytest.mark.slow
def test_the_file_is_what_the_released_tables_give():
    assert shipped(LIGHT).read_bytes() == light_file(Constants.released()), "make sums"


def test_rows_are_those_of_the_tables():
    for side in ("head", "both"):
        require_same_rows(light_set("wn18rr", "filtered", "testing", side))


@pytest.mark.parametrize(
    "names",
    [
        ("FB15k-237", "filtered", "validation", "both"),
        ("FB15k-237", "filtered", "testing", "object"),
        ("FB15k-237", "no such", "testing", "both"),
        ("no such", "filtered", "testing", "both"),
        ("Nations", "filtered", "testing", "both"),
    ],
)
def test_what_the_file_does_not_say_is_left_to_the_tables(names):
    assert light_set(*names) is None


def test_one_number_needs_no_polars():
    printed, imported = heavy_imports("adjust", "--dataset", "FB15k-237", "mrr=0.338", "--json")
    assert imported == "[]\n"
    tables = EvaluationSet.released("FB15k-237")
    assert json.loads(printed) == [asdict(adjust("0.338", dataset=tables, metric="mrr"))]
