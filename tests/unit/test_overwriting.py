"""No command writes over what it reads, whatever the spelling of the path; a folder keeps files of others."""

import os
import re
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rankadjust import RankadjustError, paper
from rankadjust.base.io import require_free, write_folder
from rankadjust.cli.commands import commands
from rankadjust.cli.options import _Output

SUFFIXES = (".csv", ".md", ".svg", ".yaml")
TABLE = "| Model | Nations MRR |\n|---|---|\n| TuckER | 0.702 |\n"


def takes_a_path(parameter):
    """Say whether text that is given to a parameter may be the path of an input."""
    is_text = isinstance(parameter.type, click.Path | click.types.StringParamType)
    return is_text and not isinstance(parameter.type, _Output)


PAIRS = [
    (command, source, target)
    for command in commands.commands.values()
    for target in command.params
    if isinstance(target.type, _Output)
    for source in command.params
    if takes_a_path(source)
]


@pytest.mark.parametrize(
    ("command", "source", "target"),
    PAIRS,
    ids=[f"{command.name} {source.name} {target.opts[0]}" for command, source, target in PAIRS],
)
def test_an_output_option_refuses_what_any_other_parameter_names(
    command, source, target, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for suffix in SUFFIXES:
        shutil.copy(__file__, f"input{suffix}")
        words = [target.opts[0], f"./input{suffix}", *(["other"] if isinstance(source, click.Option) else [])]
        words += (
            [*source.opts[:1], *[f"input{suffix}"] * source.nargs]
            if isinstance(source, click.Option)
            else [f"input{suffix}"]
        )
        done = CliRunner().invoke(command, words)
        assert (tmp_path / f"input{suffix}").read_bytes() == Path(__file__).read_bytes()
        if isinstance(done.exception, RankadjustError):
            assert str(done.exception).endswith("would be overwritten; name another file")
            refused += 1
        else:
            assert "must end in" in done.output
    assert refused


def test_every_option_that_writes_is_known_to_write():
    written = {
        (name, option.opts[0])
        for name, command in commands.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and isinstance(option.type, click.Path)
        if re.search(r"\b(write|draw)\b", option.help.lower())
    }
    known = {(command.name, target.opts[0]) for command, _, target in PAIRS}
    assert written == known | {("paper", "--folder")}


@pytest.mark.parametrize("spelling", ["link", "hard link", "dots", "in the folder"])
def test_the_spelling_of_a_path_does_not_matter(tmp_path, spelling):
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("rank\n1\n")
    if spelling == "link":
        target.symlink_to(source)
    elif spelling == "hard link":
        os.link(source, target)
    elif spelling == "dots":
        target = tmp_path / "." / ".." / tmp_path.name / "a.csv"
    else:
        source, target = tmp_path, source
    with pytest.raises(RankadjustError, match="would be overwritten; name another file"):
        require_free(target, [source])
    require_free(tmp_path / "new.csv", [source])


def test_a_folder_keeps_the_files_of_others(tmp_path):
    (tmp_path / "methods.tex").write_text("mine")
    with pytest.raises(
        RankadjustError, match=r"methods\.tex: it was not written by this command, or was edited"
    ):
        write_folder({"check.md": "a", "methods.tex": "b"}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["methods.tex"]
    write_folder({"check.md": "a", "methods.tex": "b"}, tmp_path, force=True)
    # What a call wrote, the next may write again; what somebody edited since is theirs.
    write_folder({"check.md": "c", "methods.tex": "d"}, tmp_path)
    assert (tmp_path / "check.md").read_text() == "c"
    (tmp_path / "check.md").write_text("edited")
    with pytest.raises(
        RankadjustError, match=r"check\.md: it was not written by this command, or was edited"
    ):
        write_folder({"check.md": "e", "methods.tex": "f"}, tmp_path)


def test_a_new_sidecar_is_not_written_over_the_one_that_was_read(tmp_path):
    table, sidecar = tmp_path / "table.md", tmp_path / "table.yaml"
    table.write_text(TABLE)
    sidecar.write_text("split: testing # as the paper says\n")
    done = CliRunner().invoke(commands, ["read", str(table), "--write-sidecar", str(sidecar)])
    assert done.exit_code
    assert "would be overwritten" in str(done.exception)
    assert sidecar.read_text() == "split: testing # as the paper says\n"


def test_paper_writes_no_file_over_its_table_not_even_by_force(tmp_path):
    table = tmp_path / "table.md"
    table.write_text(TABLE)
    for force in (False, True):
        with pytest.raises(RankadjustError, match=r"table\.md: it is the input .*would be overwritten"):
            paper(table, tmp_path, force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["table.md"]
