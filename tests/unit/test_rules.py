"""The functions that the rules of the workflow are written with."""

import inspect
import re
from types import SimpleNamespace

import pytest

from rankadjust.base.contents import Digests
from rankadjust.base.io import write_sums
from rankadjust.base.mending import Products
from rankadjust.configuration import load_configuration
from rankadjust.plan import Plan
from rankadjust.rules import (
    Start,
    by_dataset,
    configured,
    filled_in,
    grown,
    one_of,
    schemas_of,
    uncompared,
    warnings_about,
)

NATIONS = SimpleNamespace(dataset="Nations", items=lambda: [("dataset", "Nations"), ("partition", "3")])


def test_functions_of_names_become_functions_of_wildcards():
    assert by_dataset(len)(NATIONS) == 7
    assert uncompared(len)(NATIONS, ["a file"]) == 7
    # Snakemake goes by the names.
    assert list(inspect.signature(by_dataset(len)).parameters) == ["wildcards"]
    assert list(inspect.signature(uncompared(len)).parameters) == ["wildcards", "input"]


@pytest.mark.parametrize("amount", [7, len])
def test_a_resource_doubles_with_every_attempt(amount):
    assert [grown(amount)(NATIONS, attempt) for attempt in (1, 2, 3)] == [7, 14, 28]


@pytest.mark.parametrize("names", [["a.b", "c+"], []])
def test_a_pattern_matches_the_names_and_nothing_else(names):
    matched = [name for name in ("a.b", "c+", "axb", "cc", "") if re.fullmatch(one_of(names), name)]
    assert matched == names


def test_outputs_and_schemas(project):
    outputs = ["results/{dataset}.csv", "{dataset}/{partition}.json"]
    assert filled_in(outputs, NATIONS) == ["results/Nations.csv", "Nations/3.json"]
    assert all(path.is_file() for path in schemas_of(project)("benchmarks", "tidy"))


def test_warnings_are_those_of_the_summaries_that_are_there(tmp_path):
    (tmp_path / "Nations.json").write_text('{"warnings": ["two triples", "one loop"]}', encoding="utf-8")
    (tmp_path / "UMLS.json").write_text("{}", encoding="utf-8")
    said = warnings_about(["Nations", "UMLS", "Kinships"], tmp_path)
    assert said == "warning: two triples\nwarning: one loop\n"


def test_a_run_is_configured_by_files_and_the_command_line_and_a_module_by_its_caller(project, tmp_path):
    (tmp_path / "own.yaml").write_text("datasets: [UMLS]\nks: [7]\n")
    given = SimpleNamespace(config={"ks": "5"})

    def values(*, is_main):
        modifier = SimpleNamespace(is_main_snakefile=lambda: is_main)
        workflow = SimpleNamespace(
            modifier=modifier, overwrite_configfiles=[tmp_path / "own.yaml"], config_settings=given
        )
        return configured(workflow, {"datasets": ["Kinships"]}, project)

    assert (values(is_main=True).values["datasets"], values(is_main=True).values["ks"]) == (["UMLS"], [5])
    of_module = values(is_main=False)
    assert of_module.values["datasets"] == ["Kinships"]
    assert (
        of_module.values["ks"]
        == load_configuration([project / "config" / "config.yaml"], {}, ".").values["ks"]
    )
    assert of_module.origins["datasets"] == "the module's config"


@pytest.mark.parametrize("looks", [True, False])
def test_damage_to_the_outputs_of_a_job_is_a_parameter_of_it(tmp_path, monkeypatch, capsys, looks, project):
    monkeypatch.chdir(tmp_path)
    run = load_configuration([project / "config" / "config.yaml"], {}, tmp_path)
    digests = Digests(tmp_path / "digests.json")
    products = Products(tmp_path, digests, look=looks, dry=lambda: False)
    start = Start(run, Plan.of(run), digests, products, looks, {}, None)
    table = tmp_path / "Nations.csv"
    table.write_text("whole")
    write_sums([table], tmp_path / "SHA256SUMS")
    damage = start.damage_to("{dataset}.csv")
    assert damage(NATIONS) == ""
    table.write_text("other")
    assert damage(NATIONS).startswith("Nations.csv: its bytes do not match" if looks else "")
    assert bool(damage(NATIONS)) == looks
    assert ("a run makes it again" in capsys.readouterr().err) == looks
