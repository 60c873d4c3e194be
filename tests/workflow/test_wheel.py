"""The installed package is whole: what README and the first example of each page show works outside the repository."""

import os
import shlex
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.sessions import sessions

pytestmark = pytest.mark.slow

# On files of tests/data or of resources/, which a user of the command does not have: those sessions run in a checkout.
OF_CHECKOUT = ("tests/", "resources/", "config/", "--results")


@pytest.fixture(scope="module")
def installed(project, tmp_path_factory):
    """Return the folder of an environment with the built wheel and the packages of this one, but not this checkout."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=project,
        check=True,
    )
    venv.create(folder / "environment", symlinks=True)
    python = folder / "environment" / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(python.parents[1])}))
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # A line of a .pth file is a folder to look in; .pth files in it, such as that of this checkout, count for nothing.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return folder, python


def first_sessions(project):
    """Return command and output of all sessions of README, and of the first of every other page."""
    pages = [project / "README.md", *sorted((project / "docs").glob("*.md"))]
    for number, page in enumerate(pages):
        found = sessions(page.read_text(encoding="utf-8"))
        for command, printed in found[: None if number == 0 else 1]:
            if command.startswith("rankadjust ") and not any(word in command for word in OF_CHECKOUT):
                yield command, printed


def test_commands_of_the_pages_work_where_the_package_is_installed(installed, project):
    folder, python = installed
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    shown = list(first_sessions(project))
    assert len(shown) >= 3
    for command, printed in shown:
        done = subprocess.run(
            [python, "-m", *shlex.split(command)],
            cwd=folder,
            env=clean,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (command, done.stdout.rstrip("\n")) == (command, printed)


def test_published_values_come_with_it(installed, project):
    folder, python = installed
    code = "from rankadjust.base.io import shipped; print(len(list(shipped('resources/published').glob('*.csv'))))"
    said = subprocess.run([python, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert int(said.stdout) == len(list((project / "resources" / "published").glob("*.csv"))) > 50
