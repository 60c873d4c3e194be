"""The project's own files: packages named the same everywhere, and nothing that ties them to one machine."""

import re
import tomllib

import polars as pl
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rankadjust.base.provenance import PACKAGE
from rankadjust.base.schemas import read_yaml
from rankadjust.base.version import VERSION

# Pieces of the host names of package indexes, put together here so that this file does not hold one.
INDEX_HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("files", "pythonhosted", "org"))]


def names_and_specifiers(requirements):
    parsed = [Requirement(requirement) for requirement in requirements]
    return {
        re.sub(r"[._-]+", "-", requirement.name).lower(): str(requirement.specifier)
        for requirement in parsed
        if requirement.name != "rankadjust"
    }


def declared(project, *extras):
    """Return the packages of the project and of some extras, by default of all, with the versions that are allowed."""
    metadata = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    optional = metadata["optional-dependencies"]
    wanted = [requirement for extra in extras or optional for requirement in optional[extra]]
    everything = [*metadata["dependencies"], *wanted]
    return names_and_specifiers(everything) | {"python": metadata["requires-python"]}


def test_conda_environment_names_what_a_run_needs_as_conda_does(project):
    """No name is normalised: conda takes zenodo-get and zenodo_get for two packages, and has one of them.

    The names come from the recipes, whose repositories the table names.
    """
    environment = yaml.safe_load((project / "environment.yml").read_text())
    assert environment["channels"] == ["conda-forge", "bioconda"]
    table = pl.read_csv((project / "tests" / "data" / "conda-packages.csv").read_bytes())
    names = dict(table.select("package", "conda").rows()) | {"python": "python"}
    needed = declared(project, "workflow", "cluster").items()
    said = dict(re.fullmatch(r"([\w.-]+)(.*)", line).groups() for line in environment["dependencies"])
    assert {name: str(SpecifierSet(versions)) for name, versions in said.items()} == {
        names[name]: versions for name, versions in needed
    }


def test_what_people_are_told_to_install_exists(project):
    """rankadjust is on no index, so that its extras are named by the folder: '.[workflow]'."""
    extras = tomllib.loads((project / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    paths = [project / "README.md", *project.glob("docs/*.md"), *PACKAGE.rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    assert [path for path, text in texts.items() if re.search(r"install '?rankadjust\[", text)] == []
    named = {extra for text in texts.values() for extra in re.findall(r"pip install '\.\[(\w+)\]'", text)}
    assert {"workflow", "cluster"} <= named <= set(extras)


def test_the_version_is_the_same_everywhere(project):
    metadata = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((project / "CITATION.cff").read_text())
    assert metadata["version"] == citation["version"] == VERSION


def test_the_site_leads_to_every_page_of_the_documentation(project):
    led_to = re.findall(r": docs/([\w-]+\.md)$", (project / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    assert sorted(led_to) == sorted(path.name for path in (project / "docs").glob("*.md"))


@pytest.mark.parametrize(
    ("name", "extras"), [("requirements.lock", ["workflow", "test"]), ("requirements-dev.lock", [])]
)
def test_a_lock_pins_and_hashes_every_declared_package(project, name, extras):
    blocks = re.split(r"^(?=\S)", (project / name).read_text(), flags=re.MULTILINE)
    pinned = {match[1] for block in blocks if (match := re.match(r"([A-Za-z0-9._-]+)==", block))}
    assert {re.sub(r"[._-]+", "-", name).lower() for name in pinned} >= set(declared(project, *extras)) - {
        "python"
    }
    assert all("--hash=sha256:" in block for block in blocks if "==" in block)


def test_nothing_is_installed_without_a_hash(project):
    makefile = (project / "Makefile").read_text().replace("\\\n", " ")
    installing = re.findall(r"(?:pip|\$\$installer) (?:install|sync) [^;&|\n]*", makefile)
    assert len(installing) >= 5
    assert [
        line for line in installing if "--require-hashes" not in line and "--editable ." not in line
    ] == []
    for name in set(re.findall(r"[\w-]+\.lock", " ".join(installing))):
        blocks = re.split(r"^(?=\S)", (project / name).read_text(), flags=re.MULTILINE)
        assert all("--hash=sha256:" in block for block in blocks if "==" in block), name


def test_no_file_of_the_project_names_a_package_index(project):
    folders = ("rankadjust", "scripts", "workflow", "docs", "tests", "config", "harness", ".ci", ".github")
    files = [*project.glob("*.*"), *(path for folder in folders for path in (project / folder).rglob("*.*"))]
    naming = [
        path
        for path in files
        if path.is_file() and any(host.encode() in path.read_bytes() for host in INDEX_HOSTS)
    ]
    assert naming == []


def test_every_schema_describes_every_key(project):
    schemas = sorted((project / "workflow" / "schemas").glob("*.yaml"))
    assert schemas

    def undescribed(node, path):
        if isinstance(node, dict):
            for name, child in node.get("properties", {}).items():
                if isinstance(child, dict) and "description" not in child and "$ref" not in child:
                    yield f"{path}.{name}"
            # A condition repeats keys that are described where they are declared.
            for name, child in node.items() if "if" not in node else ():
                if name != "dependentSchemas":
                    yield from undescribed(child, f"{path}.{name}")
        elif isinstance(node, list):
            for number, child in enumerate(node):
                yield from undescribed(child, f"{path}.{number}")

    assert [key for path in schemas for key in undescribed(read_yaml(path), path.stem)] == []


def test_every_rule_with_a_script_follows_the_modules_that_its_script_imports(project):
    rules = "".join(
        path.read_text(encoding="utf-8") for path in (project / "workflow" / "rules").glob("*.smk")
    )
    # What run_config writes is among its params.
    scripts = set(re.findall(r"scripts/(\w+)\.py", rules)) - {"run_config"}
    followed = re.findall(r'code_of\("(\w+)"\),\s*script:\s*"../../scripts/(\w+)\.py"', rules)
    assert {script for code, script in followed if code == script} == scripts
    assert len(scripts) > 10


def test_github_runs_what_people_run_by_hand(project):
    jobs = yaml.safe_load((project / ".github" / "workflows" / "tests.yml").read_text())["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    makefile = (project / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    assert {command.removeprefix("make ") for command in commands if ".ci/run" not in command} <= targets
    assert any(command.endswith(".ci/run") for command in commands)
