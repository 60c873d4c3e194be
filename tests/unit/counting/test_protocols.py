"""Protocols and benchmarks: what the names mean, which combinations are refused, and what mistakes say."""

import dataclasses

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.schemas import read_yaml
from rankadjust.counting.candidates import benchmark_candidates
from rankadjust.counting.protocols import (
    Protocol,
    applies,
    get_protocol,
    load_benchmarks,
    load_protocols,
)
from rankadjust.database.histograms import candidates_table
from rankadjust.database.store import load_candidates

# docs/protocols.md, "Named protocols": in what each differs from the first, whose parameters are the defaults.
NAMED = {
    "filtered": {},
    "filtered-training": {"entities": "training", "unseen": "drop"},
    "filtered-cumulative": {"filter": "cumulative"},
    "raw": {"filter": "none"},
    "pykeen": (
        PYKEEN := {"entities": "training", "unseen": "drop", "duplicates": "drop", "filter": "cumulative"}
    ),
    "pykeen-published": PYKEEN | {"counting": "exclusive"},
    "typed": {"types": "observed"},
    "typed-known": {"types": "known", "data": "one-graph"},
    "time-aware": {"time": "aware"},
    "time-static": {"data": "temporal"},
    "filtered-seen": {"unseen": "drop", "data": "one-graph"},
    "filtered-once": {"duplicates": "drop", "data": "one-graph"},
    "filtered-merged": {"splits": "merged", "duplicates": "drop", "data": "inductive"},
    "filtered-merged-cumulative": {"filter": "cumulative", "splits": "merged", "data": "inductive"},
    "filtered-split": {"filter": "split", "data": "inductive"},
    "filtered-graph": {"filter": "graph", "data": "inductive"},
    "filtered-graph-twice": {"filter": "graph", "counting": "twice", "data": "inductive"},
    "grail": (
        GRAIL := {"filter": "graph", "negatives": 49, "drawn": "with-true-answer", "data": "inductive"}
    ),
    "nodepiece": GRAIL | {"drawn": "with-replacement"},
}


def test_the_shipped_protocols_are_those_of_the_documentation(project):
    shipped = {name: dataclasses.replace(each, description="") for name, each in load_protocols().items()}
    assert shipped == {name: Protocol(name, **parameters) for name, parameters in NAMED.items()}
    page = (project / "docs" / "protocols.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in NAMED)


def test_sampled_names_need_no_entry():
    assert get_protocol("sampled-49").negatives == 49
    assert get_protocol("sampled-500", load_protocols()).name == "sampled-500"


@pytest.mark.parametrize("name", ["sampled-0", "sampled-", "sampled-007", "sampled-5x", "nonsense"])
def test_an_unknown_name_is_refused_with_those_that_exist(name):
    with pytest.raises(RankadjustError, match=f"there is no protocol '{name}'.*(filtered|did you mean)"):
        get_protocol(name)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"filter": "some"}, "filter is 'some'; allowed: all, cumulative, split, graph, none"),
        ({"unseen": "dropped"}, "unseen is 'dropped'; allowed: keep, drop"),
        (
            {"negatives": 0},
            "negatives is 0; give a whole number from 1 on, or leave it out to rank all candidates",
        ),
        ({"negatives": True}, "negatives is True"),
        ({"negatives": 49.0}, "negatives is 49.0"),
        (
            {"name": "sampled-50", "negatives": 49},
            "the name promises another number of negatives than 49; rename the protocol",
        ),
        ({"name": "Mine/best"}, "a name consists of small letters, digits, dots and hyphens"),
        ({"time": "aware", "filter": "none"}, "filter: none filters none; leave one out"),
        ({"types": "observed", "negatives": 9}, "may leave fewer entities than negatives"),
    ],
)
def test_a_combination_without_sense_is_refused_with_the_reason(parameters, message):
    with pytest.raises(RankadjustError) as raised:
        Protocol(**({"name": "mine"} | parameters))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_time_aware_applies_to_temporal_triples_only():
    aware = get_protocol("time-aware")
    assert (
        applies(aware, ["head", "relation", "tail"])
        == "time-aware is for triples with a time, but these have none"
    )
    assert applies(aware, ["head", "relation", "tail", "time"]) is None
    assert applies(aware, ["head", "relation", "tail", "time_start", "time_end"]) is None
    assert applies(get_protocol("time-static"), ["head", "relation", "tail"]) is not None
    assert applies(get_protocol("filtered"), ["head", "relation", "tail", "time"]) is None


@pytest.mark.parametrize(
    ("splits", "reason"),
    [
        (["training", "testing"], None),
        (["facts", "testing"], None),
        (["testing"], "pykeen looks at the training split, but there is none"),
        (["testing", "inference"], "pykeen looks at the training split, but there is none"),
        (["training", "inference", "inference_testing"], None),
        (
            ["training", "inference_testing"],
            "pykeen uses the inference graph, but the data have no split 'inference'",
        ),
    ],
)
def test_protocols_that_look_at_training_need_it(splits, reason):
    assert applies(get_protocol("pykeen"), ["head", "relation", "tail"], splits) == reason
    assert applies(get_protocol("time-static"), ["head", "relation", "tail"]) is not None
    assert applies(get_protocol("filtered"), ["head", "relation", "tail"], splits) is None


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_users_add_protocols_of_their_own(tmp_path):
    path = write(
        tmp_path / "mine.yaml",
        "protocols:\n  filtered-distinct:\n    description: As filtered, duplicates once.\n    duplicates: drop\n",
    )
    protocols = load_protocols(path)
    assert get_protocol("filtered-distinct", protocols) == Protocol(
        "filtered-distinct", duplicates="drop", description="As filtered, duplicates once."
    )
    assert "filtered" in protocols
    with pytest.raises(RankadjustError, match="did you mean"):
        get_protocol("filtered-distinct")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("protocols:\n  raw:\n    description: x\n", "mine.yaml:2: the protocol 'raw' exists already"),
        (
            "protocols:\n  mine:\n    description: x\n    filter: al\n",
            "mine.yaml:4: protocols.mine.filter is 'al'",
        ),
        ("protocols:\n  mine:\n    description: x\n    filters: all\n", "mine.yaml:4: unknown key"),
        ("protocols:\n  mine: {filter: all}\n", "lacks the key 'description'"),
        (
            "protocols:\n  mine:\n    description: x\n    time: aware\n    filter: none\n",
            "mine.yaml:2: protocol 'mine': time: aware says which",
        ),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(RankadjustError) as raised:
        load_protocols(write(tmp_path / "mine.yaml", text))
    assert message in str(raised.value)


# Benchmarks


def test_the_released_benchmarks_have_the_numbers_of_the_configuration():
    released, shipped = load_candidates(), candidates_table({})
    shipped = shipped.join(released, on=["dataset", "protocol"], how="semi")
    assert shipped.height > 100
    assert shipped.join(released, on=shipped.columns, how="anti", nulls_equal=True).is_empty()


def test_rows_of_a_benchmark_have_the_columns_of_a_histogram():
    (benchmark,) = [
        entry
        for entry in load_benchmarks()
        if (entry.dataset, entry.protocol.name) == ("GraIL-NELL995-v1", "sampled-49")
    ]
    assert benchmark.approximate
    assert "with replacement" in benchmark.note
    # How tasks share queries and triples is unknown; 225 entities and 100 triples are those of the published files.
    assert benchmark_candidates(benchmark).rows() == [
        (split, side, 225, 50, tasks, None, None, None, None)
        for split, tasks in (("inference_validation", 101), ("inference_testing", 100))
        for side in ("head", "tail")
    ]


def test_tasks_with_common_negatives_are_counted_as_of_one_query():
    benchmark = next(entry for entry in load_benchmarks() if entry.common_negatives)
    counted = benchmark_candidates(dataclasses.replace(benchmark, tasks={"testing": 5}))
    # Every task of a split and side, with every other: 5 * 4.
    assert counted.select("tasks", "shared_pairs", "static_shared_pairs", "repeated_pairs").rows() == [
        (5, 20, 20, None)
    ]


def test_every_benchmark_has_a_constant_number_of_candidates():
    benchmarks = load_benchmarks()
    assert len({(benchmark.dataset, benchmark.protocol.name) for benchmark in benchmarks}) == len(benchmarks)
    for benchmark in benchmarks:
        protocol = benchmark.protocol
        raw = protocol.filter == "none" and protocol.types == "any" and benchmark.entities is not None
        assert raw or protocol.negatives is not None, benchmark.dataset


def test_a_run_counts_temporal_protocols_by_default_where_there_are_times(project):
    default = read_yaml(project / "config" / "config.yaml")["protocols"]
    triples = ("head", "relation", "tail")
    own = {
        columns: {name for name in default if applies(get_protocol(name), columns) is None}
        for columns in (triples, (*triples, "time"), (*triples, "time_start", "time_end"))
    }
    static, *temporal = own.values()
    for names in temporal:
        assert names - static == {"time-aware", "time-static"}
