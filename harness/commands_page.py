"""docs/commands.md: every command and option, made of their help (`make api`)."""

import sys
from collections.abc import Iterator

import click

from rankadjust.cli.commands import commands

_HEAD = """\
# The command

<!-- Made of the help of the commands: make api. A test compares the two. -->

`rankadjust adjust --help` explains a command with examples, and this page lists all commands and options. `--json`
prints every digit of what a table shows. A mistake in your input ends in one line that begins with `error:`, and
with exit code 1 or 2.

| command | what it does |
|---|---|
"""

_OPTIONS = """
## Options

An option that has no effect on your input is an error. Names of data sets, metrics, splits, sides and protocols may
be aliases, in any case (`fb237`, `test`, `object`).

| option | meaning | commands |
|---|---|---|
"""

_TAB = """
## The Tab key

The shell completes commands and options after one line in its start-up file:

    eval "$(_RANKADJUST_COMPLETE=bash_source rankadjust)"     # ~/.bashrc
    eval "$(_RANKADJUST_COMPLETE=zsh_source rankadjust)"      # ~/.zshrc
"""


def commands_page() -> str:
    """Return the page as Markdown."""
    named = {name: commands.commands[name] for name in sorted(commands.commands)}
    listed = "".join(f"| `{name}` | {_text(command.help or '')} |\n" for name, command in named.items())
    taking: dict[tuple[str, str], list[str]] = {}
    for name, command in named.items():
        for option in _options(command):
            shown = ", ".join(option.opts)
            one_of = (
                f" One of {', '.join(option.type.choices)}." if isinstance(option.type, click.Choice) else ""
            )
            taking.setdefault((shown, _text(option.help or "") + one_of), []).append(name)
    rows = sorted(taking.items())
    options = "".join(
        f"| `{shown}` | {said} | {'all' if len(users) == len(named) else ', '.join(users)} |\n"
        for (shown, said), users in rows
    )
    return _HEAD + listed + _OPTIONS + options + _TAB


def _options(command: click.Command) -> Iterator[click.Option]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield parameter


def _text(text: str) -> str:
    """Return the first paragraph in one line, as a cell of a table."""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(commands_page())
