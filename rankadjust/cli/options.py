"""Options that several commands have."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

Given = dict[str, str | None]
_Command = TypeVar("_Command", bound=Callable[..., None])


class _Path(click.Path):
    """A path. An empty path is refused: it comes from an unset variable of the shell and means no folder."""

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        if not os.fspath(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class _Output(_Path):
    """The path of a file that a command writes: no input of the command may be there."""


PATH, OUTPUT = _Path(path_type=Path), _Output(path_type=Path)
SPLIT = "testing"
PROTOCOL = "filtered"


class Command(click.Command):
    """A command that takes negative numbers as values, and does not write over what it reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the rest of the arguments after options were read."""
        # Replace the hyphen by a minus sign: the number stays the same, and click does not take it as an option.
        rest = super().parse_args(ctx, [re.sub(r"^-(?=[.,]?\d)", "−", arg) for arg in args])
        for option in self.params:
            if isinstance(option.type, _Output) and (path := ctx.params.get(option.name or "")) is not None:
                require_output_free(ctx, path)
        return rest


def require_output_free(context: click.Context, path: Path) -> None:
    """Raise RankadjustError if a file that is to be written is what the command reads, or a sidecar beside that.

    Whatever somebody gave to another option or argument may be the path of an input, also after NAME=.
    """
    from rankadjust.base.io import require_free
    from rankadjust.tables.sidecar import sidecar_of

    inputs = []
    for option in context.command.params:
        if not isinstance(option.type, _Output) and (given := context.params.get(option.name or "")):
            words = [str(word) for word in (given if isinstance(given, tuple) else [given])]
            inputs += [Path(text) for word in words for text in (word, word.partition("=")[2]) if text]
    beside = (sidecar_of(given) for given in inputs if given.is_file())
    require_free(path, [*inputs, *(sidecar for sidecar in beside if sidecar is not None)])


def examples(*lines: str) -> str:
    """Return examples for the end of a command's help; the backspace keeps click from rewrapping their lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def options_of(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator for several options, in this order in the help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def known_suffix(*known: str) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Return a callback that refuses the name of an output file before anything is computed."""

    def refuse(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and path.suffix not in known:
            raise click.BadParameter(f"{path} is neither {' nor '.join(known)}")
        return path

    return refuse


protocol_option = click.option(
    "--protocol",
    default=PROTOCOL,
    show_default=True,
    help="Evaluation protocol; 'rankadjust protocols' lists them.",
)
split_option = click.option("--split", default=SPLIT, show_default=True, help="The split that was evaluated.")
scores_option = click.option(
    "--scores",
    type=click.Choice(["per-time", "static"]),
    help="Temporal data: does the model score a triple anew at every time, or once for all times?",
)
by_option = click.option(
    "--by",
    type=click.Choice(["relation", "candidates", "cardinality", "half-link"]),
    help="Compare part by part; the tasks of a part have the same value of this.",
)
against_option = click.option(
    "--against",
    help="Compare the ranks with this counting baseline: popularity, redundancy, rules, or best (on validation).",
)
results_option = click.option(
    "--results",
    type=PATH,
    help="Use the database and histograms of your own run: the path of its folder results.",
)
database_option = click.option("--database", type=PATH, help="A database file in place of the released one.")
sidecar_option = click.option(
    "--sidecar",
    type=PATH,
    help="A YAML file with facts that the table lacks, in place of the file beside the table.",
)


def facts_options(command: _Command) -> _Command:
    """Add the options that give what a table does not say."""
    when = "where the table does not say it."
    return options_of(
        click.option("--dataset", help=f"The data set, {when}"),
        click.option("--model", help=f"The model, {when}"),
        click.option("--split", help=f"What was evaluated, {when}"),
        click.option("--side", help=f"head, tail or both, {when}"),
        click.option("--protocol", help=f"How it was evaluated, {when}"),
        click.option(
            "--task", help="entity prediction, where the table seems to be about another task and is not."
        ),
    )(command)


accept_option = click.option(
    "--accept",
    is_flag=True,
    help="Accept the assumed facts as if the table stated them: no status is assumed.",
)
ask_option = click.option(
    "--ask",
    is_flag=True,
    help="Ask for the facts that the table does not say, and write the answers into its sidecar.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, all digits, for machines.")


class _Name(click.types.StringParamType):
    """The name of a data set, a metric or a protocol, with completion in the shell."""

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        self._known = known

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the given text, in upper or lower case."""
        names = (name for name in self._known() if name.lower().startswith(incomplete.lower()))
        return [CompletionItem(name) for name in names]


def _datasets() -> Iterable[str]:
    from rankadjust.data.registry import load_registry

    return load_registry()


def _metrics() -> list[str]:
    from rankadjust.output.terminal import metric_rows

    # hits@k is listed for k = 10.
    names = [name for row in metric_rows() for name in (row["key"], *row["aliases"])]
    return [re.sub(r"(?<=@|_)k$", "10", name) for name in names]


def _protocols() -> Iterable[str]:
    from rankadjust.counting.protocols import load_protocols

    return load_protocols()


_COMPLETED = {
    "dataset": _datasets,
    "datasets": _datasets,
    "metric": _metrics,
    "metrics": _metrics,
    "protocol": _protocols,
}


def complete_names(command: click.Command) -> None:
    """Let the shell complete the names of data sets, metrics and protocols in a command's options."""
    for option in command.params:
        if option.name in _COMPLETED and isinstance(option.type, click.types.StringParamType):
            option.type = _Name(_COMPLETED[option.name])
