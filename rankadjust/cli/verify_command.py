"""The command verify: a database beside another."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import sys
from dataclasses import asdict
from pathlib import Path

import click

from rankadjust.cli.options import PATH, Command, examples, json_option
from rankadjust.cli.printing import echo, print_json


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust verify results/release", "rankadjust verify results/release resources/database"
    ),
)
@click.argument("folder", type=PATH)
@click.argument("other", type=PATH, required=False)
@json_option
def verify(folder: Path, other: Path | None, as_json: bool) -> None:
    """Compare the database in a folder with the database in another folder, or with the release.

    For each file: identical, equal within the stated accuracy, or what differs. The digests of both are checked, and
    that the constants of every row agree with each other. The exit code is 1 if anything differs by more.
    """
    from rankadjust.database.verification import verify as compare

    comparisons = compare(folder, other)
    if as_json:
        print_json([asdict(comparison) for comparison in comparisons])
    else:
        words = {
            "identical": "identical",
            "equal": "equal within the stated accuracy",
            "different": "different",
        }
        for comparison in comparisons:
            echo(f"{comparison.file}: {words[comparison.verdict]}")
            for line in comparison.lines:
                echo(f"  {line}")
    sys.exit(1 if any(comparison.verdict == "different" for comparison in comparisons) else 0)
