"""What the commands take: paths, and the options that several of them have."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

_PUBLISHED = ("resources", "published")


class _Path(click.Path):
    """A path that ends in one of the suffixes. An empty one comes from an unset variable of the shell.

    resources/published/conve.csv is found wherever rankadjust is installed.
    """

    def __init__(self, *suffixes: str) -> None:
        super().__init__(path_type=Path)
        self._suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the path is empty; is a variable of the shell not set?", param, ctx)
        if self._suffixes and Path(value).suffix not in self._suffixes:
            self.fail(f"{value} must end in {' or '.join(self._suffixes)}", param, ctx)
        if Path(value).parts[:2] == _PUBLISHED and not Path(value).exists():
            from rankadjust.base.io import shipped

            value = shipped(str(value))
        return super().convert(value, param, ctx)


class _Output(_Path):
    """The path of a file that a command writes: no input of the command may be there."""


PATH = _Path()


def option(*names: str, **settings: Any) -> click.Option:
    """Return an option, whose default the help shows; a flag's default is that it is not given."""
    return click.Option(names, show_default="default" in settings, **settings)


def flag(*names: str, help: str) -> click.Option:  # noqa: A002 - click's own name
    """Return an option without a value."""
    return click.Option(names, is_flag=True, help=help)


def output(*suffixes: str, help: str, names: Sequence[str] = ("-o", "--output")) -> click.Option:  # noqa: A002 - click's own name
    """Return an option for a file that the command writes."""
    return click.Option(names, type=_Output(*suffixes), help=help)


METRICS = option("--metric", "metrics", multiple=True, help="Print only this metric (may be repeated).")
_USUAL = "If nothing states it, the usual evaluation of the data set decides."
DATASET = option("-d", "--dataset", help="Name or alias of the data set, if the input names none.")
SIDE = option("--side", help=f"The side, which is head, tail or both. {_USUAL}")
SIDE_OF_RANKS = option(
    "--side",
    default="both",
    help="Take only this side, head or tail. If ranks have no column side, they are all of this side.",
)
EVALUATION = (
    option("--protocol", help=f"The protocol ('rankadjust protocols' lists them). {_USUAL}"),
    option("--evaluator", help="The code that computed the ranks, such as ULTRA, in place of --protocol."),
    option("--split", help=f"The split that was evaluated. {_USUAL}"),
)
"""Which evaluation of the data set it is."""
NUM_CANDIDATES = option(
    "--num-candidates", type=int, help="How many candidates each task has, the true answer included."
)
NUM_TASKS = option("--num-tasks", type=int, help="How many tasks a value is computed from.")
ALL = flag("--all", "everything", help="Print every metric, side and number, and why a number is missing.")
SCORES = option(
    "--scores",
    type=click.Choice(["per-time", "static"]),
    help="For temporal data, whether the model scores a triple anew at each time, or once for all times.",
)
AGAINST = option(
    "--against",
    help="The counting baseline to compare with, which is popularity, redundancy, rules, recurrency, "
    "recurrency-multi-step, or best (the best on validation).",
)
TASKS = option("--tasks", type=PATH, help="A file of facts about each task, made by 'snakemake tasks'.")
POPULATION = option(
    "--for",
    "population",
    type=click.Choice(["triples", "queries", "relations"]),
    help="The population, that is, whether intervals and p are for other test triples of this split, other queries or "
    "other relations. The default follows from how the data set was split.",
)
RESULTS = option(
    "--results",
    type=PATH,
    help="The folder results/ of your own run, to use its constants in place of the release.",
)
"""Where constants come from; a command gets them as `constants`."""
OF_SET = (
    DATASET,
    *EVALUATION,
    option(
        "--triples",
        nargs=3,
        type=PATH,
        metavar="TRAIN VALID TEST",
        help="Your own files of triples, text or Parquet, in place of a data set; - stands for no VALID.",
    ),
    option(
        "--columns",
        help="The names of the columns, separated by commas, if a file of ranks or triples has no header.",
    ),
    RESULTS,
)
"""With a side, what `rankadjust.cli.inputs.chosen_set` takes."""
JSON = flag("--json", "as_json", help="Print JSON with all digits in place of a table.")
SIDECAR = option(
    "--sidecar",
    type=PATH,
    help="A YAML file with facts that the table lacks. The default is the file beside it that ends in .yaml.",
)
ACCEPT = flag(
    "--accept",
    help="Treat assumed facts as if the table stated them, so that no value has the status assumed.",
)
ASK = flag(
    "--ask", help="Ask you for the facts that the table lacks, and write your answers into its sidecar."
)
OF_TABLE = (
    option("--model", help="The name of the model, if the table names none."),
    option("--task", help="Write entity prediction here if the table only seems to be about another task."),
)
FACTS = (DATASET, *EVALUATION, SIDE, *OF_TABLE)
"""What a table does not say."""


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help; the backspace keeps click from rewrapping their lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def refuse(kind: str, *names: str) -> None:
    """Refuse parameters of the command that somebody gave although they have no effect on this kind of input."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[-1]} has no effect on {kind}; leave it out.")


class Command(click.Command):
    """A command that does not write over what it reads; it gets `constants` in place of the option RESULTS."""

    def invoke(self, ctx: click.Context) -> object:
        """Call the function of the command."""
        if "results" in ctx.params:
            from rankadjust.database.constants import Constants

            results = ctx.params.pop("results")
            ctx.params["constants"] = Constants.released() if results is None else Constants.of_run(results)
        return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the rest of the arguments after options were read.

        Raises RankadjustError if a file that is to be written is an input of the command.
        """
        rest = super().parse_args(ctx, args)
        inputs: list[Path] = []
        outputs: list[Path] = []
        for parameter in self.params:
            given = ctx.params.get(parameter.name or "")
            if given and isinstance(parameter.type, _Output):
                outputs.append(given)
            elif given:
                inputs += [
                    Path(str(word)) for word in (given if isinstance(given, list | tuple) else [given])
                ]
        if outputs:
            from rankadjust.base.io import require_free

            for path in outputs:
                require_free(path, inputs)
        return rest


def command(*params: click.Parameter, **settings: Any) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command with these parameters of a function."""
    return click.command(cls=Command, params=list(params), **settings)
