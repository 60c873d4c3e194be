"""Reading: of the file that was named, never of one that its name matches as a pattern."""

import ast
import tomllib
from pathlib import Path

import polars as pl
import pytest

from rankadjust.base.reading import parquet_metadata, parquet_schema, read_csv, read_parquet, scan_parquet

PROJECT = Path(__file__).parents[3]
# Names that polars takes for patterns, each with another file's name that it matches. The last is a home folder to it.
NAMES = [
    ("m[a]", "ma"),
    ("m*", "many"),
    ("m?", "mx"),
    ("{a,b}", "a"),
    ("dim=[100]/m", "dim=1/m"),
    ("~/m", "m"),
]


@pytest.fixture(params=NAMES, ids=[name for name, _ in NAMES])
def named(tmp_path, monkeypatch, request):
    """Return a path without suffix, seen from the working directory; another file matches it as a pattern."""
    monkeypatch.chdir(tmp_path)
    name, other = map(Path, request.param)
    for path, number in ((name, 1), (other, 2)):
        path.parent.mkdir(exist_ok=True)
        frame = pl.DataFrame({f"is {number}": [number]})
        with path.with_name(f"{path.name}.parquet").open("wb") as file:
            frame.write_parquet(file, metadata={"number": str(number)})
        path.with_name(f"{path.name}.csv").write_text(frame.write_csv())
    return name


def test_the_file_that_is_named_is_read(named):
    parquet, csv = (named.with_name(f"{named.name}.{suffix}") for suffix in ("parquet", "csv"))
    for given in (parquet, str(parquet)):
        assert read_parquet(given).rows() == [(1,)]
        assert scan_parquet(given).select(pl.len(), "is 1").collect().rows() == [(1, 1)]
        assert list(parquet_schema(given)) == ["is 1"]
        assert parquet_metadata(given)["number"] == "1"
    assert read_csv(csv).to_dicts() == [{"is 1": "1"}]
    assert read_csv(csv, infer_schema=True).rows() == [(1,)]
    assert read_csv(csv.read_bytes()).rows() == [("1",)]


def test_a_scan_goes_on_with_its_file_when_another_takes_the_name(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [1, 2, 3]}).write_parquet(path)
    scan = scan_parquet(path)
    pl.DataFrame({"x": [7]}).write_parquet(tmp_path / "b.parquet")
    (tmp_path / "b.parquet").replace(path)
    assert [scan.slice(row, 1).collect().item() for row in range(3)] == [1, 2, 3]


def test_an_open_file_is_read_from_its_beginning_and_stays_open(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [1]}).write_parquet(path)
    with path.open("rb") as file:
        file.read()
        assert list(parquet_schema(file)) == ["x"]
        assert read_parquet(file).item() == 1
        assert not file.closed


def test_the_linter_refuses_every_reader_of_polars():
    # A database is no file.
    readers = {f"polars.{name}" for name in dir(pl) if name.startswith(("read_", "scan_"))}
    allowed = {"polars.read_database", "polars.read_database_uri", "polars.scan_arrow_c_stream"}
    ruff = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert readers - allowed <= set(ruff["flake8-tidy-imports"]["banned-api"])
    assert "TID251" in ruff["select"]


def test_frames_and_text_are_written_by_one_module():
    # Methods, which the linter does not know: frame.write_csv() without a path returns text.
    found = [
        f"{path.relative_to(PROJECT)}:{call.lineno}"
        for folder in ("rankadjust", "scripts")
        for path in sorted((PROJECT / folder).rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr.startswith(("write_", "sink_"))
        and (call.args or call.func.attr.startswith("sink_"))
        and not _is_on_temporary(call)
    ]
    # Notes of jobs and of transfers, and a probe of the disk: who reads them knows that they may be cut off.
    assert {place.split(":")[0] for place in found} == {
        "rankadjust/base/claims.py",
        "rankadjust/base/failures.py",
        "rankadjust/data/transfer.py",
    }


def _is_on_temporary(call):
    """Tell whether a file is written that `atomic_path` has yielded."""
    return isinstance(call.func.value, ast.Name) and call.func.value.id == "temporary"
