"""The command paper: what a paper needs of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import with_protocol_of_evaluator
from rankadjust.cli.printing import echo, say_what_was_assumed

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


@options.command(
    click.Argument(["source"], type=options.PATH, metavar="TABLE"),
    options.option("--folder", type=options.PATH, default=Path("paper"), help="The folder to write to."),
    *(options.SIDECAR, *options.FACTS),
    options.option(
        "--score",
        type=click.Choice(["recommended", "index", "gain"]),
        help="Add a column of index or gain for each data set, in place of rows for counting and chance.",
    ),
    options.flag("--force", help="Overwrite even files in the folder that this command did not write."),
    options.RESULTS,
    epilog=options.examples(
        "rankadjust paper resources/published/conve.csv",
        "rankadjust paper table.tex --folder camera-ready",
    ),
)
def paper(source: Path, folder: Path, constants: "Constants", **given: Any) -> None:
    """Write the table and the text on methods for a paper.

    TABLE is the table of your paper, in any format that `rankadjust read` takes. It gets a row for counting, and a row
    for chance if chance matters. In LaTeX only the caption changes besides. Facts that the table lacks are assumed and
    listed on standard error, so that you can state them in a sidecar or by an option.
    """
    from rankadjust.literature.assumptions import assumptions
    from rankadjust.manuscript.paper import paper as make_paper

    made = make_paper(source, folder, database=constants, **with_protocol_of_evaluator(given))
    say_what_was_assumed(assumptions(made.values))
    echo(f"{folder}: {', '.join(sorted(made.files))}")
    echo(f"Read {folder / 'check.md'} first.")
