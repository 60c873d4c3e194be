"""What follows from a configuration before anything runs."""

import os
import time
from dataclasses import replace

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.configuration import load_configuration
from rankadjust.plan import Plan, warnings_about


def plan(project, **settings):
    return Plan.of(load_configuration([project / "config" / "config.yaml"], settings, project))


def test_names_are_resolved_and_data_sets_have_the_protocols_that_apply(project):
    made = plan(
        project, datasets=["nations", "ICEWS14-forecasting"], protocols=["filtered", "time-aware"], ks=[1, 10]
    )
    assert list(made.datasets) == ["Nations", "ICEWS14-forecasting"]
    found = {name: [protocol.name for protocol in protocols] for name, protocols in made.applicable.items()}
    assert found == {"Nations": ["filtered"], "ICEWS14-forecasting": ["filtered", "time-aware"]}
    assert made.counted == ["Nations", "ICEWS14-forecasting"]
    assert {"hits_at_1", "hits_at_10"} <= {*made.metrics}
    assert "hits_at_3" not in made.metrics


def test_a_data_set_to_which_no_protocol_applies_is_not_counted(project):
    assert plan(project, datasets=["Nations"], protocols=["time-aware"]).counted == []


def test_what_is_computed_is_known_by_data_set_and_protocol(project):
    found = plan(
        project, datasets=["Nations"], protocols=["filtered", "time-aware"], without_training=["FB15k"]
    )
    assert found.evaluations == [("Nations", "filtered"), ("FB15k", "filtered")]


def test_triples_that_are_given_take_the_place_of_bounds(project):
    made = plan(project, datasets=["Nations", "FB15k"], without_training=["YAGO3-10", "FB15k"])
    assert list(made.bounded) == ["YAGO3-10"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("datasets", ["Natons"]),
        ("protocols", ["filterd"]),
        ("metrics", ["mr", "mmr"]),
        ("without_training", ["x"]),
    ],
)
def test_a_wrong_name_says_where_it_was_set(project, key, value):
    with pytest.raises(RankadjustError, match=rf"^--config: {key}: "):
        plan(project, **{key: value})


def test_a_table_that_is_dated_in_the_future_is_one_line_with_the_remedy(project, tmp_path):
    table = tmp_path / "my table.csv"
    table.touch()
    os.utime(table, (time.time() + 3600,) * 2)
    with pytest.raises(
        RankadjustError, match=r"my table\.csv: dated in the future.*: touch '.*my table\.csv'$"
    ):
        plan(project, tables=[str(table)])


def test_reading_follows_what_the_registry_says_about_the_files_and_nothing_else(project):
    made = plan(project, datasets=["Nations"])
    entry = made.datasets["Nations"]

    def reading(**changes):
        return replace(made, datasets={"Nations": replace(entry, **changes)}).reading("Nations")

    assert reading(notes=("A remark.",), aliases=()) == reading()
    assert reading(expected={"entities": 13}) != reading()


def test_warnings_are_those_of_the_summaries_that_are_there(tmp_path):
    (tmp_path / "Nations.json").write_text('{"warnings": ["two triples", "one loop"]}', encoding="utf-8")
    (tmp_path / "UMLS.json").write_text("{}", encoding="utf-8")
    said = warnings_about(["Nations", "UMLS", "Kinships"], tmp_path)
    assert said == "warning: two triples\nwarning: one loop\n"
