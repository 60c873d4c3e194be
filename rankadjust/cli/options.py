"""What the commands take: paths, options that several of them have, and commands with options by the kind of input."""
# Names are looked up when the shell asks for them: a command starts at once.
# ruff: noqa: PLC0415

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

SPLIT, PROTOCOL = "testing", "filtered"


class _Path(click.Path):
    """A path. An empty path is refused: it comes from an unset variable of the shell and means no folder."""

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        if not os.fspath(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class _Output(_Path):
    """The path of a file that a command writes: no input of the command may be there. suffixes: what it may end in."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(path_type=Path)
        self._suffixes = suffixes

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        if self._suffixes and Path(value).suffix not in self._suffixes and os.fspath(value):
            self.fail(f"{value} is neither {' nor '.join(self._suffixes)}", param, ctx)
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)


def option(*names: str, **settings: Any) -> click.Option:  # noqa: ANN401 - click.Option's own
    """Return an option, whose default the help shows; a flag's default is that it is not given."""
    return click.Option(names, show_default="default" in settings, **settings)


def flag(*names: str, help: str) -> click.Option:  # noqa: A002 - click's own name
    """Return an option without a value."""
    return click.Option(names, is_flag=True, help=help)


def output(*suffixes: str, name: str = "--output", help: str) -> click.Option:  # noqa: A002 - click's own name
    """Return an option for a file that the command writes."""
    return click.Option([name], type=_Output(*suffixes), help=help)


def dataset(help: str, *names: str, **settings: Any) -> click.Option:  # noqa: A002, ANN401 - click.Option's own
    """Return the option --dataset of a command."""
    return click.Option(["--dataset", *names], help=help, **settings)


def metric(help: str = "Only this metric (may be repeated).") -> click.Option:  # noqa: A002 - click's own name
    """Return the option --metric of a command that takes several."""
    return click.Option(["--metric", "metrics"], multiple=True, help=help)


ONE_METRIC = option("--metric", help="Metric of the values, such as mrr or hits@10.")
EVALUATION_PROTOCOL = option(
    "--protocol",
    default=PROTOCOL,
    help="Evaluation protocol; 'rankadjust protocols' lists them.",
)
EVALUATION_SPLIT = option("--split", default=SPLIT, help="The split that was evaluated.")
SIDE = option("--side", default="both", help="head, tail or both.")
SCORES = option(
    "--scores",
    type=click.Choice(["per-time", "static"]),
    help="Temporal data: does the model score a triple anew at every time, or once for all times?",
)
BY = option(
    "--by",
    type=click.Choice(["relation", "candidates", "cardinality", "half-link"]),
    help="Compare part by part; the tasks of a part have the same value of this.",
)
AGAINST = option(
    "--against",
    help="Compare the ranks with this counting baseline: popularity, redundancy, rules, or best (on validation).",
)
POPULATION = option(
    "--for",
    "population",
    type=click.Choice(["triples", "queries", "relations"]),
    help="Which other tasks intervals and p hold for: other test triples of this split, other queries or other "
    "relations; by default triples where the data set was split at random.",
)
RESULTS = option(
    "--results",
    type=PATH,
    help="Use the database and histograms of your own run: the path of its folder results.",
)
DATABASE = option("--database", type=PATH, help="A database file in place of the released one.")
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
_WHEN = "where the table does not say it."
DATASET_FACT = dataset(f"The data set, {_WHEN}")
MODEL_FACT = option("--model", help=f"The model, {_WHEN}")
SPLIT_FACT = option("--split", help=f"What was evaluated, {_WHEN}")
SIDE_FACT = option("--side", help=f"head, tail or both, {_WHEN}")
PROTOCOL_FACT = option("--protocol", help=f"How it was evaluated, {_WHEN}")
TASK_FACT = option(
    "--task", help="entity prediction, where the table seems to be about another task and is not."
)
FACTS = (DATASET_FACT, MODEL_FACT, SPLIT_FACT, SIDE_FACT, PROTOCOL_FACT, TASK_FACT)
"""What a table does not say."""


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help; the backspace keeps click from rewrapping their lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Command(click.Command):
    """A command that takes negative numbers as values, and does not write over what it reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the rest of the arguments after options were read."""
        # Replace the hyphen by a minus sign: the number stays the same, and click does not take it as an option.
        rest = super().parse_args(ctx, [re.sub(r"^-(?=[.,]?\d)", "−", arg) for arg in args])
        for parameter in self.params:
            if isinstance(parameter.type, _Output) and ctx.params.get(parameter.name or "") is not None:
                require_output_free(ctx, ctx.params[parameter.name or ""])
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
        **settings: Any,  # noqa: ANN401 - of click.Command
    ) -> None:
        params = {param.name: param for command in kinds.values() for param in command.params}
        super().__init__(name, params=list(params.values()), **settings)
        self.kinds, self._kind_of = kinds, kind_of

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - of click.Context
    ) -> click.Context:
        """Return the context of the command for the kind of input."""
        context = super().make_context(info_name, list(args), parent, **extra)
        if context.resilient_parsing:
            return context
        with context, click.core.augment_usage_errors(context):
            kind = self._kind_of(context.params)
        try:
            return self.kinds[kind].make_context(info_name, args, parent, **extra)
        except click.NoSuchOption as error:
            message = f"{error.option_name} has no effect on {kind}; leave it out."
            raise click.UsageError(message, context) from None


def command(*params: click.Parameter, **settings: Any) -> Callable[[Callable[..., None]], Command]:  # noqa: ANN401
    """Return a decorator that makes a command with these parameters of a function."""
    return click.command(cls=Command, params=list(params), **settings)


def require_output_free(context: click.Context, path: Path) -> None:
    """Raise RankadjustError if a file that is to be written is an input of the command, or a sidecar beside an input.

    Whatever somebody gave to another option or argument may be the path of an input, also after NAME=.
    """
    from rankadjust.base.io import require_free
    from rankadjust.tables.sidecar import sidecar_of

    words: list[str] = []
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        if given and not isinstance(parameter.type, _Output):
            words += map(
                str, given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
            )
    inputs = [Path(text) for word in words for text in (word, word.partition("=")[2]) if text]
    beside = (sidecar_of(given) for given in inputs if given.is_file())
    require_free(path, [*inputs, *(sidecar for sidecar in beside if sidecar is not None)])
