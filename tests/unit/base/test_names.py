"""What may be part of a path or of a command line, and what leads out of a folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import contained
from rankadjust.base.schemas import KINDS, problem_with, read_yaml

GOOD = {
    "name": ["FB15k-237", "my graph (1)", "é_2.x", "a+b", "x" * 100],
    "file-name": ["a.txt", "a b[1].zip", "..a", "a..", "-a", "ä"],
    "member": ["a.txt", "d/a.txt", "./a", "d\\a", "a..b/c", "..."],
    "package": ["pykeen", "A", "a.b_c-d", "7zip"],
    "version": ["1.11.1", "2", "1!2.0", "1.0a1", "1.0rc2.post1.dev3", "1.0+local.1"],
}
BAD = {
    "name": ["", ".", "..", ".a", "-a", " a", "a ", "a.", "../a", "a/b", "a\\b", "a\0", "a\n", "C:a", "a,b", "a=b",
             "{a}", "x" * 101, 123, True, None],
    "file-name": ["", ".", "..", "/a", "a/b", "../a", "a\\b", "C:a", "a\0", "a\n", "a\x7f", 1],
    "member": ["", "..", "/a", "\\a", "C:\\a", "c:a", "../a", "a/../b", "a\\..\\b", "a/..", "a\nb", "a\0b", 1],
    "package": ["", "-r", "--pre", "x @ file:///tmp/x", "x[y]", "x==1", "x;y", "../x", "x/y", ".x", "x-", "é", "x\n"],
    "version": ["", "1.*", "1.0 --pre", "1,>0", "v1", "1.0\n", "..", "latest", 1.0],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in GOOD[kind]])
def test_good_names(kind, name):
    assert problem_with(name, kind) is None


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in BAD[kind]])
def test_bad_names(kind, name):
    assert problem_with(name, kind).startswith(repr(name))


@given(st.text(alphabet="a./\\:~ \0\n-", max_size=8))
def test_what_is_accepted_stays_in_its_folder(tmp_path_factory, name):
    folder = tmp_path_factory.getbasetemp() / "folder"
    for kind in ("name", "file-name", "member"):
        if problem_with(name, kind) is None:
            # 'member' may be the folder itself ('./.'), in which no member is.
            assert (folder / name).resolve() == folder or contained(folder / name, folder)
    for kind in ("name", "file-name"):
        if problem_with(name, kind) is None:
            assert (folder / name).resolve().parent == folder


def formats(schema):
    """Return every `format` of a schema, however deep."""
    if isinstance(schema, dict):
        found = {schema["format"]} if isinstance(schema.get("format"), str) else set()
        return found.union(*(formats(value) for value in schema.values()))
    return set().union(*(formats(item) for item in schema)) if isinstance(schema, list) else set()


def test_the_schemas_know_every_kind_and_no_other(project):
    found = [formats(read_yaml(path)) for path in (project / "workflow" / "schemas").glob("*.yaml")]
    assert set().union(*found) == set(KINDS)


@pytest.mark.parametrize("path", [".", "..", "a/../..", "../x", "/", "link", "link/a", "a\0b", "loop/a"])
def test_what_leads_out_of_a_folder_is_refused(tmp_path, path):
    folder = tmp_path / "folder"
    (tmp_path / "folderx").mkdir()
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "folderx")
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(RankadjustError, match=r"leads out of the folder|is not a valid path"):
        contained(folder / path, folder)


def test_what_is_in_a_folder_may_be_behind_links(tmp_path):
    (tmp_path / "real" / "a").mkdir(parents=True)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "link").symlink_to(tmp_path / "real" / "a")
    for path in ("new", "a/b", "link", "link/b", "a/../c"):
        assert contained(tmp_path / "folder" / path, tmp_path / "folder") == tmp_path / "folder" / path
