"""The workflow as others use it: a module of a workflow of their own, and what they look for first."""

import re
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.servers import snakemakes
from tests.tiny import write_tiny

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
CALLER = """\
configfile: "caller.yaml"

module rankadjust:
    snakefile: "PROJECT/Snakefile"
    config: config["rankadjust"]

use rule * from rankadjust as rankadjust_*

rule size:
    default_target: True
    input: rules.rankadjust_database.output
    output: "size.txt"
    shell: "wc -c < {input[0]} > {output}"
"""
CONFIG = """\
colour: blue
rankadjust: {datasets: [Tiny], protocols: [raw], metrics: [mr], registry: [tiny.yaml], tables: []}
"""


def snakemake(*arguments, cwd):
    return snakemakes.start("--cores", "2", *map(str, arguments), cwd=cwd)


@pytest.fixture
def caller(tmp_path):
    write_tiny(tmp_path)
    (tmp_path / "caller.yaml").write_text(CONFIG)
    (tmp_path / "Snakefile").write_text(CALLER.replace("PROJECT", str(PROJECT)))
    return tmp_path


def test_another_workflow_makes_the_database_with_its_own_configuration(caller):
    done = snakemake(cwd=caller)
    assert done.returncode == 0, done.stderr
    database = pl.read_parquet(caller / "results" / "database" / "adjustments.parquet")
    tiny = database.filter(dataset="Tiny", split="testing", side="both")
    # Without a filter all four entities are candidates: E[MR] = (1 + 4) / 2.
    assert tiny.select("protocol", "metric", "expectation").rows() == [("raw", "arithmetic_mean_rank", 2.5)]
    assert (caller / "size.txt").read_text().strip().isdecimal()


def test_a_mistake_in_the_config_of_the_module_says_whose_it_is(caller):
    (caller / "caller.yaml").write_text(CONFIG.replace("datasets:", "dataset:"))
    done = snakemake("--dry-run", cwd=caller)
    assert done.returncode != 0
    assert "the module's config: unknown key 'dataset'; did you mean datasets" in done.stderr


def test_the_workflow_stands_where_the_catalog_looks_for_it(tmp_path):
    here = snakemake("--dry-run", "--snakefile", PROJECT / "workflow" / "Snakefile", cwd=tmp_path)
    assert here.returncode == 0, here.stderr
    assert re.search(r"^render +1$", here.stdout, flags=re.MULTILINE)
    usage = yaml.safe_load((PROJECT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["report"] is True
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}


def test_lint_finds_nothing_but_that_there_is_no_container(tmp_path):
    # One virtual environment, locked with hashes, serves all rules.
    done = snakemake("--snakefile", PROJECT / "Snakefile", "--lint", cwd=tmp_path)
    found = set(re.findall(r"^ +\* (.*?):?$", done.stdout + done.stderr, flags=re.MULTILINE))
    assert found == {"Specify a conda environment or container for each rule."}
