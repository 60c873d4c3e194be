"""The command doctor: the state of this machine."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import sys
from pathlib import Path

import click

from rankadjust.cli.options import PATH, json_option
from rankadjust.cli.printing import echo, print_json


@click.command()
@click.argument("folder", type=PATH, default=Path())
@json_option
def doctor(folder: Path, as_json: bool) -> None:
    """Say what is wrong with this machine, the installation and the results in FOLDER, and what to do about it.

    FOLDER is where runs work; unsaid, the folder of work. Of path, locale, clock, disk, versions of packages, shipped
    tables and results there is a line each, and a line for each problem. The exit code is 1 if there is any.
    """
    from rankadjust.doctor import examine

    findings = examine(folder)
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        for about, line, wrong in findings:
            echo(f"{'wrong' if wrong else 'ok':<6} {about:<9} {line}")
    sys.exit(1 if any(finding.wrong for finding in findings) else 0)
