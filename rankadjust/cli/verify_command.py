"""The command verify: a database beside another, or beside the constants that PyKEEN publishes."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import cast

import click

from rankadjust.cli import options
from rankadjust.cli.printing import echo, print_json


@options.command(
    click.Argument(["folder"], type=options.PATH, required=False),
    click.Argument(["other"], type=options.PATH, required=False),
    options.option(
        "--record",
        type=options.PATH,
        help="A table of PyKEEN's constants (metric_adjustments.tsv.gz) to compare with the release.",
    ),
    options.JSON,
    epilog=options.examples(
        "rankadjust verify results/release",
        "rankadjust verify results/release resources/database",
        "rankadjust verify --record metric_adjustments.tsv.gz",
    ),
)
def verify(folder: Path | None, other: Path | None, record: Path | None, as_json: bool) -> None:
    """Compare the database in a folder with another or the release.

    Each file is identical, equal within the stated accuracy, or different. The output lists what differs, and rows with
    constants that contradict each other. The exit code is 1 if anything differs by more than that accuracy.

    With --record FILE, the output says why each constant in PyKEEN's table differs from the release. The exit code is 1
    if a reason is unknown, or a constant is outside our bounds.
    """
    if (folder is None) == (record is None):
        raise click.UsageError("Give either a folder or --record FILE.")
    if folder is None:
        _verify_record(cast(Path, record), as_json=as_json)
        return
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


def _verify_record(record: Path, *, as_json: bool) -> None:
    from rankadjust.data.registry import load_registry
    from rankadjust.database.constants import Constants
    from rankadjust.database.record import OUTSIDE, UNKNOWN, compare_record, read_record, record_summary
    from rankadjust.output.terminal import table

    compared = compare_record(read_record(record), Constants.released(), load_registry())
    if as_json:
        print_json(compared.to_dicts())
    else:
        rows = [
            (name, f"{number:,}", "" if largest is None else f"{100 * largest:.2g} %", reason)
            for name, reason, number, largest in record_summary(compared).iter_rows()
        ]
        echo(table(("data set", "constants", "largest difference", "reason"), rows))
    sys.exit(1 if compared["reason"].is_in([OUTSIDE, UNKNOWN]).any() else 0)
