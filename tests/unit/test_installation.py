"""What `make` installs: it works in a folder of any name, under any locale."""

import getpass
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from rankadjust.configuration import share_with_jobs

# Older versions of hatchling name it _rankadjust.pth.
EDITABLE = "*rankadjust.pth"


def test_the_command_starts_in_a_folder_with_an_umlaut_whatever_the_locale(project, tmp_path):
    """The environment that `make` made, as far as Python reads it before anything else, in another checkout."""
    checkout = tmp_path / "größe"
    (checkout / "rankadjust").mkdir(parents=True)
    (checkout / "rankadjust" / "__init__.py").write_text("")
    venv.create(checkout / Path(sys.prefix).name, symlinks=True)
    python = checkout / Path(sys.prefix).name / "bin" / "python"
    packages = sysconfig.get_path("purelib", vars={"base": str(python.parents[1])})
    (editable,) = Path(sysconfig.get_path("purelib")).glob(EDITABLE)
    shutil.copy(editable, packages)
    said = subprocess.run(
        [
            python,
            "-c",
            "import os, rankadjust, sys; sys.stdout.buffer.write(os.fsencode(rankadjust.__file__))",
        ],
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"LC_ALL": "C"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert said.stdout.decode() == str(checkout / "rankadjust" / "__init__.py")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user whom the system does not know")
@pytest.mark.parametrize(
    ("user", "home", "expected"), [("12345", "", "/usr/.venv"), ("12345", "/own", "/own"), ("0", "", "")]
)
def test_make_gives_a_home_to_whom_the_system_does_not_know(project, user, home, expected):
    becoming = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
    make = ["make", "--file", "-", "--eval", "say: ; @echo $$HOME", "say"]
    said = subprocess.run(
        [*becoming, *make],
        input=(project / "Makefile").read_text(encoding="utf-8"),
        env={"PATH": "/usr/bin:/bin"} | ({"HOME": home} if home else {}),
        cwd="/usr",
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == expected


def test_a_run_has_a_name_for_a_user_whom_the_system_does_not_know(project, monkeypatch):
    """As in a container that is run by the number of a user; 2³¹ - 2 is nobody's."""
    names = ("LOGNAME", "USER", "LNAME", "USERNAME")
    monkeypatch.setattr(os, "environ", {key: value for key, value in os.environ.items() if key not in names})
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 2)
    # In a folder with a blank, a run names the interpreter anew.
    monkeypatch.setattr(sys, "executable", sys.executable)
    with pytest.raises((KeyError, OSError)):
        getpass.getuser()
    share_with_jobs({"mirror": None, "offline": True}, project)
    assert getpass.getuser() == str(2**31 - 2)
