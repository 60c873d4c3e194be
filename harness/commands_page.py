"""docs/commands.md: every command and option, made of their help (`make api`)."""

import click

from harness.tables import table, write_tables
from rankadjust.cli.commands import commands


def commands_tables() -> dict[str, str]:
    """Return the tables of commands and options in Markdown."""
    named = {name: commands.commands[name] for name in sorted(commands.commands)}
    taking: dict[tuple[str, str], list[str]] = {}
    for name, command in named.items():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                choices = option.type.choices if isinstance(option.type, click.Choice) else ()
                said = _text(option.help or "") + (f" One of {', '.join(choices)}." if choices else "")
                taking.setdefault((", ".join(option.opts), said), []).append(name)
    options = (
        (f"`{shown}`", said, "all" if len(users) == len(named) else ", ".join(users))
        for (shown, said), users in sorted(taking.items())
    )
    listed = ((f"`{name}`", _text(command.help or "")) for name, command in named.items())
    return {
        "commands": table(("command", "what it does"), listed),
        "options": table(("option", "meaning", "commands"), options),
    }


def _text(text: str) -> str:
    """Return the first paragraph in one line, as a cell of a table."""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    write_tables("commands.md", commands_tables())
