"""The pieces at the bottom: errors, files, schemas, configuration, provenance, and the layering of the package."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankadjust.base import provenance
from rankadjust.base.errors import RankadjustError
from rankadjust.base.provenance import PACKAGE, code_of, imported_modules
from rankadjust.base.schemas import read_yaml, validate
from rankadjust.configuration import COMMAND_LINE, as_yaml, load_configuration, tables_by_name
from tests.searching import in_profile


@pytest.fixture(scope="module")
def layers(project):
    """Return the packages in the order of the table in docs/architecture.md."""
    page = (project / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z]+)` \|", page.partition("## The library")[2], flags=re.MULTILINE)


def modules_of(package):
    paths = [path.relative_to(package).with_suffix("") for path in package.rglob("*.py")]
    return sorted(".".join(path.parts) for path in paths if path.name != "__init__")


def test_a_package_imports_only_from_packages_above_it_in_the_table(layers):
    package_of = {module: module.partition(".")[0] for module in modules_of(PACKAGE) if "." in module}
    assert sorted(layers) == sorted(set(package_of.values()))
    below = [
        (module, imported)
        for module, package in package_of.items()
        for imported in imported_modules(PACKAGE, module)
        if imported.partition(".")[0] not in layers[: layers.index(package) + 1] and package != layers[-1]
    ]
    assert below == []


def test_no_module_imports_itself_by_a_detour():
    def reachable(module, seen):
        for imported in imported_modules(PACKAGE, module) - seen:
            seen.add(imported)
            reachable(imported, seen)
        return seen

    assert [module for module in modules_of(PACKAGE) if module in reachable(module, set())] == []


def test_subpackages_have_nothing_in_their_init():
    inits = [path for path in PACKAGE.rglob("__init__.py") if path.parent not in (PACKAGE, PACKAGE / "cli")]
    assert inits
    assert [path for path in inits if path.read_bytes()] == []


def make_package(folder, **modules):
    package = folder / "package"
    for name, text in modules.items():
        path = package / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    return package


@pytest.mark.parametrize(
    "line",
    [
        "from package.sub import bottom",
        "from package.sub.bottom import x",
        "import package.sub.bottom",
        "from package.sub import (  # why\n    bottom,\n)",
        "def f():\n    from package.sub import bottom",
        "from package.middle import y",
    ],
)
def test_the_digest_of_a_script_follows_what_it_imports_and_nothing_else(tmp_path, monkeypatch, line):
    package = make_package(
        tmp_path, sub__bottom="x = 1\n", sub__aside="y = 1\n", middle="import package.sub.bottom\ny = 1\n"
    )
    script = tmp_path / "script.py"
    script.write_text(f"{line}\n")
    monkeypatch.setattr(provenance, "_imports", provenance._imports.__wrapped__)
    before = code_of(script, package)
    (package / "sub" / "aside.py").write_text("y = 2\n")
    assert code_of(script, package) == before
    (package / "sub" / "bottom.py").write_text("x = 2\n")
    assert code_of(script, package) != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ks: [1]\ndataset: [UMLS]\n", "config.yaml:2: unknown key 'dataset'; did you mean datasets?"),
        ("ks: [1, ten]\n", "config.yaml:1: ks.1: 'ten' is not of type 'integer'"),
        ("ks: [0]\n", "config.yaml:1: ks.0: 0 is less than the minimum of 1"),
        ("offline: maybe\n", "config.yaml:1: offline: 'maybe' is not of type 'boolean'"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(RankadjustError) as info:
        validate(read_yaml(path), "config", path)
    assert str(info.value) == f"{tmp_path}/{message}"


def test_the_shipped_configuration_is_valid(project):
    run = load_configuration([project / "config" / "config.yaml"], {}, ".")
    assert run.values["datasets"] == ["Nations", "Kinships", "UMLS"]
    assert all(Path(table).is_file() for table in run.values["tables"])


def test_a_folder_with_brackets_is_no_pattern_and_a_file_that_is_there_neither(tmp_path):
    folder = tmp_path / "[2025] x"
    (folder / "t").mkdir(parents=True)
    for name in ("t/b.csv", "t/a.csv", "m[1].csv", "m1.csv"):
        (folder / name).touch()
    (folder / "run.yaml").write_text("tables: ['t/*.csv', 'm[1].csv']\n")
    run = load_configuration([folder / "run.yaml"], {}, tmp_path)
    assert run.values["tables"] == [str(folder / name) for name in ("t/a.csv", "t/b.csv", "m[1].csv")]


def test_later_layers_win_and_paths_follow_the_file_that_names_them(tmp_path):
    first, second = tmp_path / "a" / "one.yaml", tmp_path / "b" / "two.yaml"
    for path in (first, second):
        path.parent.mkdir()
    first.write_text("datasets: [UMLS]\nmirror: copies\ntables: [t/*.csv, x.csv]\n")
    second.write_text("datasets: [Nations]\n")
    (tmp_path / "a" / "t").mkdir()
    (tmp_path / "a" / "t" / "z.csv").touch()
    run = load_configuration([first, second], {"registry": "mine.yaml"}, tmp_path / "c")
    assert run.values == {
        "datasets": ["Nations"],
        "mirror": str(tmp_path / "a" / "copies"),
        "tables": [str(tmp_path / "a" / "t" / "z.csv"), str(tmp_path / "a" / "x.csv")],
        "registry": [str(tmp_path / "c" / "mine.yaml")],
    }
    assert run.origins == {
        "datasets": second,
        "mirror": first,
        "tables": first,
        "registry": COMMAND_LINE,
    }


@pytest.mark.parametrize("word", ["true", "True", "TRUE", True])
def test_words_on_the_command_line_are_values(tmp_path, word):
    overrides = {"offline": word, "mirror": "null", "datasets": "UMLS,Nations", "ks": 10}
    run = load_configuration([], overrides, tmp_path)
    assert run.values == {"offline": True, "mirror": None, "datasets": ["UMLS", "Nations"], "ks": [10]}


def test_tables_are_files_with_different_names(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("x.csv", "a/x.csv", "y.csv"):
        (tmp_path / name).touch()
    x, other_x, y = (str(tmp_path / name) for name in ("x.csv", "a/x.csv", "y.csv"))
    assert tables_by_name([x, y]) == {"x": x, "y": y}
    with pytest.raises(RankadjustError, match=r"z\.csv: there is no such table"):
        tables_by_name([x, str(tmp_path / "z.csv")])
    with pytest.raises(RankadjustError, match="would both become results/rescored/x; rename one"):
        tables_by_name([x, other_x])


def test_a_mirror_on_a_server_stays_an_address(tmp_path):
    run = load_configuration([], {"mirror": "http://127.0.0.1:8000/mirror"}, tmp_path)
    assert run.values["mirror"] == "http://127.0.0.1:8000/mirror"


def test_the_password_of_a_mirror_is_used_and_not_written(tmp_path):
    run = load_configuration([], {"mirror": "http://me:s3cret@host/mirror"}, tmp_path)
    assert run.values["mirror"] == "http://me:s3cret@host/mirror"
    assert "mirror: http://host/mirror\n" in as_yaml(run.values, tmp_path)


def test_a_home_folder_is_put_for_its_sign_and_one_that_is_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = load_configuration([], {"mirror": "~/copies", "tables": "~/x.csv"}, "elsewhere")
    assert run.values == {"mirror": f"{tmp_path}/copies", "tables": [f"{tmp_path}/x.csv"]}
    with pytest.raises(
        RankadjustError, match=r"^~nobody-here/x\.csv: there is no home folder ~nobody-here; "
    ):
        load_configuration([], {"tables": "~nobody-here/x.csv"}, tmp_path)


def test_an_error_is_blamed_on_the_line_that_set_the_key(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("# mine\n\ndatasets: [Nation]\n")
    run = load_configuration([path], {"ks": "1"}, tmp_path)
    with pytest.raises(RankadjustError) as info, run.blamed_on("datasets"):
        raise RankadjustError("unknown")
    assert str(info.value) == f"{path}:3: datasets: unknown"
    with pytest.raises(RankadjustError) as info, run.blamed_on("ks"):
        raise RankadjustError("unknown")
    assert str(info.value) == "--config: ks: unknown"


# Drawing texts is cheap; on a busy machine it still passes for too slow.
@settings(max_examples=in_profile(30), suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(min_size=1), st.integers() | st.text(), max_size=3))
def test_no_override_crashes_the_configuration(overrides):
    # An error of any other kind is a crash.
    with suppress(RankadjustError):
        load_configuration([], overrides, ".")
