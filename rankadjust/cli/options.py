"""What the commands take: paths, options that several of them have, and commands with options by the kind of input."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from rankadjust.base.errors import RankadjustError

SPLIT, PROTOCOL = "testing", "filtered"
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
            self.fail("the path is empty", param, ctx)
        if self._suffixes and Path(value).suffix not in self._suffixes:
            self.fail(f"{value} is neither {' nor '.join(self._suffixes)}", param, ctx)
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


METRICS = option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
PROTOCOL_OF_TRIPLES = option(
    "--protocol", default=PROTOCOL, help="Evaluation protocol; 'rankadjust protocols' lists them."
)
SPLIT_OF_TRIPLES = option("--split", default=SPLIT, help="The split that was evaluated.")
_USUAL = "; by default what the table says, or else the usual one of the data set."
DATASET = option("-d", "--dataset", help="Data set, by name or alias; of a table, where it does not say it.")
SIDE = option("--side", help=f"head, tail or both{_USUAL}")
SIDE_OF_RANKS = option(
    "--side", default="both", help="head or tail: of this side only, as are ranks without a column side."
)
EVALUATION = (
    option("--protocol", help=f"Evaluation protocol ('rankadjust protocols' lists them){_USUAL}"),
    option(
        "--evaluator", help="The code base that evaluated so, such as ULTRA or OGB, in place of --protocol."
    ),
    option("--split", help=f"The split that was evaluated{_USUAL}"),
)
"""Which evaluation of the data set it is."""
NUM_CANDIDATES = option(
    "--num-candidates", type=int, help="Candidates of every task, the true answer included."
)
NUM_TASKS = option("--num-tasks", type=int, help="How many ranks a value is the mean of.")
ALL = flag("--all", "everything", help="Print everything: every metric, side, number and reason.")
SCORES = option(
    "--scores",
    type=click.Choice(["per-time", "static"]),
    help="Temporal data: does the model score a triple anew at every time, or once for all times?",
)
COLUMNS = option(
    "--columns",
    help="Names of the columns, with commas, where a file (ranks, or --triples) has no header that names them.",
)
TRIPLES = (
    option(
        "--triples",
        nargs=3,
        type=PATH,
        metavar="TRAIN VALID TEST",
        help="In place of a data set: the files of your own triples, text or Parquet; - for VALID if there is none.",
    ),
    *(COLUMNS, PROTOCOL_OF_TRIPLES, SPLIT_OF_TRIPLES, SIDE_OF_RANKS),
)
"""Own triples; a command gets them as `dataset`, an evaluation set."""
OWN = "own triples"
BY = option(
    "--by",
    type=click.Choice(["relation", "candidates", "cardinality", "half-link"]),
    help="Compare part by part; the tasks of a part have the same value of this.",
)
AGAINST = option(
    "--against",
    help="The counting baseline to compare with: popularity, redundancy, rules, or best (on validation).",
)
POPULATION = option(
    "--for",
    "population",
    type=click.Choice(["triples", "queries", "relations"]),
    help="Which other tasks intervals and p hold for: other test triples of this split, other queries or other "
    "relations; by default triples where the data set was split at random.",
)
OF_DATABASE = (
    option(
        "--results",
        type=PATH,
        help="Use the database and histograms of your own run: the path of its folder results.",
    ),
    option("--database", type=PATH, help="A database file in place of the released one."),
)
"""Where constants come from; a command gets them as `constants`."""
JSON = flag("--json", "as_json", help="Print JSON, all digits, for machines.")
SIDECAR = option(
    "--sidecar",
    type=PATH,
    help="A YAML file with facts that the table lacks, in place of the file beside the table.",
)
ACCEPT = flag("--accept", help="Accept the assumed facts as if the table stated them: no status is assumed.")
ASK = flag(
    "--ask", help="Ask for the facts that the table does not say, and write the answers into its sidecar."
)
FACTS = (
    *(DATASET, *EVALUATION, SIDE),
    option("--model", help="The model, where the table does not say it."),
    option("--task", help="entity prediction, where the table seems to be about another task and is not."),
)
"""What a table does not say."""


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help; the backspace keeps click from rewrapping their lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Command(click.Command):
    """A command that does not write over what it reads.

    In place of the options OF_DATABASE its function gets `constants`, and in place of TRIPLES an evaluation set.
    """

    def invoke(self, ctx: click.Context) -> object:
        """Call the function of the command."""
        if "database" in ctx.params:
            from rankadjust.database.constants import Constants

            results, database = ctx.params.pop("results"), ctx.params.pop("database")
            if results is not None and database is not None:
                raise RankadjustError("--results and --database both name a database; give one of them")
            ctx.params["constants"] = (
                Constants.from_files(database) if results is None else Constants.of_run(results)
            )
        if "triples" in ctx.params:
            from rankadjust.cli.inputs import own_set

            names = [parameter.name or "" for parameter in TRIPLES]
            ctx.params["dataset"] = own_set(**{name: ctx.params.pop(name) for name in names})
        return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the rest of the arguments after options were read.

        Raises RankadjustError if a file that is to be written is an input of the command, or a sidecar beside an input.
        Whatever somebody gave to another option or argument may be the path of an input, also after NAME=.
        """
        rest = super().parse_args(ctx, args)
        words: list[str] = []
        outputs: list[Path] = []
        for parameter in self.params:
            given = ctx.params.get(parameter.name or "")
            if given and isinstance(parameter.type, _Output):
                outputs.append(given)
            elif given:
                words += map(str, given if isinstance(given, list | tuple) else [given])
        if outputs:
            from rankadjust.base.io import require_free
            from rankadjust.tables.sidecar import sidecar_of

            inputs = [Path(text) for word in words for text in (word, word.partition("=")[2]) if text]
            beside = [sidecar for path in inputs if path.is_file() and (sidecar := sidecar_of(path))]
            for path in outputs:
                require_free(path, [*inputs, *beside])
        return rest


class CommandByInput(Command):
    """A command whose options depend on the input that is given.

    kinds: a command for each kind of input, by the name that messages use. kind_of: from the values of all parameters
    to one of these names. The command of the kind then reads the same words, and knows its own options only.
    """

    def __init__(
        self,
        name: str,
        kind_of: Callable[[Mapping[str, Any]], str],
        kinds: Mapping[str, click.Command],
        **settings: Any,
    ) -> None:
        params = {param.name: param for command in kinds.values() for param in command.params}
        super().__init__(name, params=sorted(params.values(), key=_is_of_any_command), **settings)
        self.kinds, self._kind_of = kinds, kind_of

    def make_context(
        self, info_name: str | None, args: list[str], *others: Any, **extra: Any
    ) -> click.Context:
        """Return the context of the command for the kind of input."""
        context = super().make_context(info_name, list(args), *others, **extra)
        if context.resilient_parsing:
            return context
        with context, click.core.augment_usage_errors(context):
            kind = self._kind_of(context.params)
        try:
            return self.kinds[kind].make_context(info_name, args, *others, **extra)
        except click.NoSuchOption as error:
            message = f"{error.option_name} has no effect on {kind}; leave it out."
            raise click.UsageError(message, context) from None


def command(*params: click.Parameter, **settings: Any) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command with these parameters of a function."""
    return click.command(cls=Command, params=sorted(params, key=_is_of_any_command), **settings)


def _is_of_any_command(parameter: click.Parameter) -> bool:
    """Return whether an option is listed last, below what only this command has."""
    return parameter in (*OF_DATABASE, JSON)
