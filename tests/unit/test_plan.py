"""What follows from a configuration before anything runs."""

from dataclasses import replace

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.configuration import load_configuration
from rankadjust.plan import Plan


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


def test_the_work_of_a_data_set_is_that_of_all_that_one_job_computes_with_it(project):
    """Nations has 1,992 triples, Kinships 10,686."""
    made = plan(project, datasets=["Nations", "Kinships"])
    assert [made.work_with(name, {}) for name in made.datasets] == [1992, 10_686]
    assert [made.work_with(name, {"batch_1": ["Nations", "Kinships"]}) for name in made.datasets] == [
        12_678
    ] * 2


def test_what_jobs_are_granted_follows_from_the_triples(project):
    """Nations has 1,992 triples, Wikidata5M 20,624,239.

    Encoding takes 2,000 MB and 150 a million, counting 700 MB and 60 bytes a triple, baselines 700 MB and 150 bytes,
    both 2,000 MB at least; the time is ten minutes and one for each 500,000.
    """
    made = plan(project, datasets=["Nations", "Wikidata5M"], memory_mb=1800)
    granted = [
        made.megabytes_to_encode,
        made.megabytes_to_count,
        made.megabytes_for_baselines,
        made.minutes,
        made.threads_to_encode,
        made.threads_to_count,
    ]
    assert [grant("Nations") for grant in granted] == [2000, 2000, 2000, 10, 1, 1]
    assert [grant("Wikidata5M") for grant in granted] == [2000 + 3093, 2000, 700 + 3093, 51, 2, 2]


def test_small_data_sets_are_computed_together_where_jobs_run_elsewhere(project):
    made = plan(project, datasets=["Nations", "UMLS", "Wikidata5M"])
    assert made.together(elsewhere=True) == {"batch_1": ("Nations", "UMLS")}
    assert replace(made, batch=0).together(elsewhere=True) == {}


def test_here_tiny_data_sets_with_known_files_are_computed_together(project):
    made = plan(project, datasets=["Nations", "UMLS", "Kinships", "CoDEx-S"])
    assert made.together(elsewhere=False) == {"batch_1": ("Nations", "UMLS", "Kinships")}
    changing = dict(made.datasets) | {"UMLS": replace(made.datasets["UMLS"], verified=False)}
    assert replace(made, datasets=changing).together(elsewhere=False) == {"batch_1": ("Nations", "Kinships")}
    assert replace(made, datasets=changing, batch=10_000).together(elsewhere=False) == {
        "batch_1": ("Nations", "UMLS")
    }


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


def test_two_jobs_share_tables_of_many_bytes(project, tmp_path):
    for name, size in zip("abc", (300_000, 500_000, 199_000), strict=True):
        (tmp_path / f"{name}.csv").write_bytes(b"x" * size)
    tables = {name: str(tmp_path / f"{name}.csv") for name in "abc"}
    made = replace(plan(project), tables=tables)
    assert made.rescored_together() == {"rescore_tables": ["a", "b", "c"]}
    (tmp_path / "c.csv").write_bytes(b"x" * 201_000)
    assert made.rescored_together() == {"rescore_tables_1": ["b"], "rescore_tables_2": ["a", "c"]}
    assert replace(made, tables={}).rescored_together() == {}
