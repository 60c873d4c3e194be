"""docs/api.md, and the docstrings of the public names of which it is made."""

import inspect
import pydoc
from functools import cache

import griffe
import pytest

import rankadjust
from harness.api_page import api_page
from rankadjust.base.version import VERSION


@cache
def package():
    """Return what the source says of each name; not at import, for which each process that collects would wait."""
    return griffe.load("rankadjust", docstring_parser="numpy", allow_inspection=False)


def found_of(name):
    return package()[f"{rankadjust._MODULES[name]}.{name}"]


def sections(found):
    return {section.kind.value: section.value for section in found.docstring.parsed}


def test_the_page_is_what_the_docstrings_give(project):
    page = (project / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == api_page(), "make it again: make api"


def test_the_page_has_every_public_name(project):
    assert {*rankadjust._MODULES, "__version__"} == set(rankadjust.__all__)
    page = (project / "docs" / "api.md").read_text(encoding="utf-8")
    for name, module in rankadjust._MODULES.items():
        assert f"\n## {name}\n" in page
        assert f"../rankadjust/{module.replace('.', '/')}.py" in page


@pytest.mark.parametrize(
    "name", [name for name in rankadjust._MODULES if inspect.isfunction(getattr(rankadjust, name))]
)
def test_a_docstring_says_what_goes_in_and_out(name):
    found = found_of(name)
    said = sections(found)
    assert [one.name.lstrip("*") for one in said["parameters"]] == [one.name for one in found.parameters]
    assert all(one.annotation for one in said["parameters"] if one.name not in ("cluster", "metrics"))
    assert {"returns", "raises", "examples"} <= set(said)


@pytest.mark.parametrize(
    "name", ["released", "of_run", "from_triples", "constant", "moments", "adjust", "check"]
)
def test_an_evaluation_set_says_what_its_verbs_take(name):
    found = found_of("EvaluationSet").all_members[name]
    named = {one.name for one in found.parameters if one.name not in ("cls", "self")}
    assert {one.name.lstrip("*") for one in sections(found)["parameters"]} == named


def test_the_first_page_of_help_can_be_read():
    page = pydoc.plain(pydoc.render_doc(rankadjust))
    first = page.splitlines()[:40]
    assert any("EvaluationSet.released" in line for line in first)
    assert max(map(len, first)) <= 124
    assert "adjust(" in page


def test_the_package_says_its_version():
    assert rankadjust.__version__ == VERSION
