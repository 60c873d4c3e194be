"""The command `rankadjust`: the library for people without the workflow (docs/evaluate.md).

Each command imports its modules when it runs, so that light commands start at once.
"""

import sys

import click

from rankadjust.base.errors import exit_with_message
from rankadjust.cli.adjust_command import adjust
from rankadjust.cli.check_command import check
from rankadjust.cli.compare_command import compare
from rankadjust.cli.evaluate_command import evaluate
from rankadjust.cli.full_command import full
from rankadjust.cli.list_commands import datasets, metrics, protocols
from rankadjust.cli.paper_command import paper
from rankadjust.cli.printing import echo
from rankadjust.cli.read_command import read
from rankadjust.cli.rescore_command import rescore
from rankadjust.cli.verify_command import verify


def main() -> None:
    """Run the command line; a user's mistake prints a message of one line and gives exit code 1."""
    try:
        with exit_with_message():
            sys.exit(commands.main(prog_name="rankadjust", standalone_mode=False))
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(error.ctx.get_usage(), err=True)
        echo(f"error: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        raise KeyboardInterrupt from None


def _print_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from rankadjust.base.version import VERSION
    from rankadjust.database.store import released_version

    echo(f"rankadjust {VERSION}")
    if (released := released_version()) is None:
        echo("database: none, or one that does not say what it is")
    else:
        echo("database {}, schema {}".format(*released))
    context.exit()


# The mark \b makes click leave lines as they are.
_HELP = """\
Adjust link-prediction metrics for chance: one number, a table, or the ranks of a model.

\b
  rankadjust adjust --dataset FB15k-237 mrr=0.338     one printed number
  rankadjust rescore resources/published/conve.csv    a table that is shipped
  rankadjust paper table.tex                          your table, with counting and chance
  rankadjust evaluate ranks.csv --dataset Nations     the ranks of a model
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, help=_HELP)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the versions of the program and of the released database.",
)
def commands() -> None:
    """Run one of the commands."""


_COMMANDS = (adjust, check, compare, datasets, evaluate, full, metrics, paper, protocols, read, rescore)
for _command in (*_COMMANDS, verify):
    commands.add_command(_command)
