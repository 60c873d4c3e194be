"""The commands that list what there is: datasets, protocols, metrics, show."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.printing import show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


_WORD = click.Argument(["word"], required=False)


def _found(rows: Sequence[Mapping[str, Any]], word: str | None) -> Sequence[Mapping[str, Any]]:
    """Return the rows with a word in their name or in another name; RankadjustError where none has it."""
    from rankadjust.base.words import folded

    found = [
        row
        for row in rows
        if word is None
        or any(folded(word) in folded(name) for name in (row["name"], *row.get("aliases", ())))
    ]
    if not found:
        raise RankadjustError(f"no name contains {word!r}; leave the word out to list all names")
    return found


@options.command(
    *(_WORD, options.RESULTS, options.JSON),
    epilog=options.examples("rankadjust datasets", "rankadjust datasets codex"),
)
def datasets(word: str | None, constants: "Constants", as_json: bool) -> None:
    """List the data sets with tasks, chance and counting baseline.

    With WORD, list only the data sets with this word in a name, and with --results only the data sets of a run.
    """
    from rankadjust.database.overview import known_datasets
    from rankadjust.output.terminal import datasets_text

    rows = _found(known_datasets(constants), word)
    show_result(lambda: rows, lambda: datasets_text(rows), as_json)


@options.command(_WORD, options.JSON)
def protocols(word: str | None, as_json: bool) -> None:
    """List the evaluation protocols.

    With WORD, list only names with this word in them.
    """
    from rankadjust.counting.protocols import load_protocols
    from rankadjust.output.terminal import SAMPLED, SAMPLED_DESCRIPTION

    described = {name: protocol.description for name, protocol in load_protocols().items()}
    described[SAMPLED] = SAMPLED_DESCRIPTION
    rows = _found([{"name": name, "description": text} for name, text in described.items()], word)
    width = max(len(row["name"]) for row in rows) + 2
    lines = [
        textwrap.fill(
            row["description"], 90, initial_indent=row["name"].ljust(width), subsequent_indent=width * " "
        )
        for row in rows
    ]
    show_result(lambda: rows, lambda: "\n".join(lines), as_json)


@options.command(_WORD, options.JSON)
def metrics(word: str | None, as_json: bool) -> None:
    """List the metrics with their names and ranges.

    With WORD, list only names with this word in them.
    """
    from rankadjust.output.terminal import metric_rows, table

    rows = _found(metric_rows(), word)
    header = ("metric", "also called", "range", "better", "adjusted")
    shown = [
        (
            row["name"],
            textwrap.shorten(", ".join(row["aliases"]), 45, placeholder=" …"),
            f"{row['lower']:g} to {'any' if row['upper'] is None else format(row['upper'], 'g')}",
            row["better"] or "",
            "yes" if row["adjusted"] else "no",
        )
        for row in rows
    ]
    note = "k is any whole number, as in hits@10; the range is given for k = 10."
    show_result(lambda: rows, lambda: f"{table(header, shown, left=len(header))}\n{note}", as_json)
