"""The command paper: what a paper needs of a table."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

from pathlib import Path

import click

from rankadjust.cli.inputs import PAPER_OF_RANKS, PAPER_OF_TABLE, constants_of, require_effect
from rankadjust.cli.options import (
    PATH,
    Command,
    database_option,
    examples,
    facts_options,
    options_of,
    results_option,
    sidecar_option,
)
from rankadjust.cli.printing import echo, say_what_was_assumed


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust paper table.tex --output camera-ready",
        "rankadjust paper transe.parquet rotate.parquet --dataset FB15k-237 --output camera-ready",
    ),
)
@click.argument("sources", nargs=-1, required=True, type=PATH, metavar="TABLE | RANKS...")
@click.option("--output", type=PATH, default=Path("paper"), show_default=True, help="The folder to write to.")
@options_of(sidecar_option, facts_options)
@click.option(
    "--score",
    type=click.Choice(["recommended", "index", "gain"]),
    default="recommended",
    show_default=True,
    help="Which adjusted number to put beside a printed one: docs/which-number.md.",
)
@click.option("--replace", is_flag=True, help="Put each adjusted number in place of the printed one.")
@click.option("--no-figure", is_flag=True, help="Draw no figure.")
@click.option("--force", is_flag=True, help="Overwrite files in the folder that this command did not write.")
@options_of(results_option, database_option)
@click.pass_context
def paper(
    context: click.Context,
    /,
    sources: tuple[Path, ...],
    output: Path,
    sidecar: Path | None,
    score: str,
    replace: bool,
    no_figure: bool,
    force: bool,
    results: Path | None,
    database: Path | None,
    **facts: str | None,
) -> None:
    """Make what a paper needs of a table of results: the adjusted table, a figure, the methods, what to check.

    TABLE is the table as its author has it, in any format that `rankadjust read` takes. Standard error lists the facts
    that it lacks and the value assumed for each: state them in a sidecar or by an option. LaTeX keeps every
    character that is not part of a new column, of a span over one, or of the caption. RANKS are files as
    `rankadjust compare` takes them, one for each model.
    """
    from rankadjust.literature.assumptions import assumptions
    from rankadjust.manuscript.paper import paper as make_paper
    from rankadjust.manuscript.ranks import looks_like_ranks
    from rankadjust.manuscript.wording import advice

    is_ranks = looks_like_ranks(list(sources))
    require_effect(context, PAPER_OF_RANKS if is_ranks else PAPER_OF_TABLE)
    made = make_paper(
        list(sources),
        output,
        **facts,
        sidecar=sidecar,
        score=score,
        replace=replace,
        figure=not no_figure,
        database=constants_of(results, database),
        force=force,
    )
    if not is_ranks:
        say_what_was_assumed(assumptions(made.values))
    echo(f"{output}: {', '.join(sorted(made.files))}")
    echo(advice(made.values))
