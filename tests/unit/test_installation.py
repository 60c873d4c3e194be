"""What `make` installs: it works in a folder of any name, under any locale."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

EDITABLE = "_editable_impl_rankadjust.pth"


def test_the_command_starts_in_a_folder_with_an_umlaut_whatever_the_locale(project, tmp_path):
    """The environment that `make` made, as far as Python reads it before anything else, in another checkout."""
    checkout = tmp_path / "größe"
    (checkout / "rankadjust").mkdir(parents=True)
    (checkout / "rankadjust" / "__init__.py").write_text("")
    venv.create(checkout / Path(sys.prefix).name, symlinks=True)
    python = checkout / Path(sys.prefix).name / "bin" / "python"
    packages = sysconfig.get_path("purelib", vars={"base": str(python.parents[1])})
    shutil.copy(Path(sysconfig.get_path("purelib")) / EDITABLE, packages)
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
