"""The command verify: a database beside another."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from rankadjust.cli import options
from rankadjust.cli.printing import echo, print_json


@options.command(
    click.Argument(["folder"], type=options.PATH),
    click.Argument(["other"], type=options.PATH, required=False),
    options.JSON,
    epilog=options.examples(
        "rankadjust verify results/release",
        "rankadjust verify results/release resources/database",
    ),
)
def verify(folder: Path, other: Path | None, as_json: bool) -> None:
    """Compare the database in a folder with another, or the release.

    For each file: identical, equal within the stated accuracy, or what differs. The constants of every row
    have to agree with each other. The exit code is 1 if anything differs by more.
    """
    from rankadjust.database.verification import verify as compare

    comparisons = compare(folder, other)
    if as_json:
        print_json([asdict(comparison) for comparison in comparisons])
    else:
        for comparison in comparisons:
            within = " within the stated accuracy" if comparison.verdict == "equal" else ""
            echo(f"{comparison.file}: {comparison.verdict}{within}")
            for line in comparison.lines:
                echo(f"  {line}")
    sys.exit(1 if any(comparison.verdict == "different" for comparison in comparisons) else 0)
