"""What a command imports: a process of its own says it."""

import subprocess
import sys

HEAVY = ("highspy", "polars", "scipy", "yaml")

_PROGRAM = f"""
import sys
from rankadjust.cli.commands import commands
try:
    commands(sys.argv[1:])
finally:
    print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""


def heavy_imports(*arguments):
    """Return what `rankadjust` with these arguments prints, and which of HEAVY it imports."""
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments], capture_output=True, text=True, check=False
    )
    # 1: a value to look at.
    assert run.returncode in (0, 1), run.stderr
    return run.stdout, run.stderr
