"""What commands print, and the files that they write."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.public_set import EvaluationSet


def echo(text: str, *, err: bool = False) -> None:
    """Print a text without control sequences of the terminal, since the text may come from any file."""
    from rankadjust.base.errors import visible

    click.echo(visible(text), err=err)


def say_what_was_assumed(assumed: "pl.DataFrame") -> None:
    """List on standard error the facts that a table does not have, and the value assumed for each."""
    from rankadjust.output.terminal import assumed_facts

    if not assumed.is_empty():
        echo(assumed_facts(assumed), err=True)


def say_usual(tasks: "EvaluationSet | None", protocol: str | None, as_json: bool) -> None:
    """Print in words which evaluation was taken, where nobody stated its protocol, and whether it is approximate."""
    from rankadjust.counting.evaluators import in_words
    from rankadjust.database.store import APPROXIMATE

    if tasks is None or as_json:
        return
    if protocol is None:
        echo(in_words(*tasks.evaluation))
    for reason in tasks.constants.filter(method=APPROXIMATE)["reason"][:1]:
        echo(f"Note: {reason}.")


@contextmanager
def at_work() -> Iterator[None]:
    """Say on a terminal, every two seconds, for how long a command is at work."""
    is_done = Event()

    def say() -> None:
        seconds = 0
        while not is_done.wait(2):
            seconds += 2
            click.echo(f"at work for {seconds} s\r", nl=False, err=True)
        if seconds:
            click.echo(f"{30 * ' '}\r", nl=False, err=True)

    thread = Thread(target=say, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        is_done.set()
        if thread.is_alive():
            thread.join()


def number_of(count: int, what: str) -> str:
    """Return a number with what it counts, such as '2 values'."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def write(
    frame: "pl.DataFrame",
    path: Path,
    everything: Callable[[], object] | None = None,
    for_paper: "Callable[[], pl.DataFrame] | None" = None,
) -> None:
    """Write a frame; as JSON what `everything` returns, and as Markdown the table of text of `for_paper`."""
    from rankadjust.base.io import write_csv, write_parquet, write_text

    if path.suffix == ".json" and everything is not None:
        write_text(json.dumps(everything(), ensure_ascii=False, allow_nan=False, indent=2) + "\n", path)
    elif path.suffix == ".md" and for_paper is not None:
        from rankadjust.output.markup import to_markdown

        write_text(to_markdown(for_paper()), path)
    else:
        (write_parquet if path.suffix == ".parquet" else write_csv)(frame, path)


def show_result(
    data: Callable[[], object],
    text: Callable[[], str],
    as_json: bool,
    output: Path | None = None,
    rows: "pl.DataFrame | None" = None,
) -> None:
    """Print data as JSON, or else text; and write the rows to the file that was asked for, as `write` does."""
    if output is not None and rows is not None:
        write(rows, output, data)
    if as_json:
        print_json(data())
    else:
        echo(text())


def print_json(data: object) -> None:
    """Print data as JSON, in ASCII: a terminal would obey some other characters."""
    click.echo(json.dumps(data, allow_nan=False, indent=2))
