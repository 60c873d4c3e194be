"""What commands read: the database, standard input, answers, typed values; and which options have no effect on it."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.options import Given
from rankadjust.cli.printing import echo, number_of

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


# Kinds of input of the commands, and for each kind the options that have no effect on it.
RANKS_ALONE, PARTS = "ranks without --dataset", "parts of the tasks (--by)"
BY_OR_AGAINST = "--by and --against"
PARTS_AGAINST = "parts of the tasks compared with a baseline (--by and --against)"
SEVERAL = "several data sets"
FULL_TABLE, TO_SAMPLED = "a table of values", "full ranks (--to-sampled)"
VALUES = "typed values"
NAMED, TIMELESS = "values that name their metric", "a data set without times"
EVERY_ROW, NO_SAMPLES = "--json, which prints every row", "--draws 0"
PAPER_OF_RANKS, PAPER_OF_TABLE = "ranks", "a table"
_OF_DATASET = {"protocol", "split", "scores", "results", "database"}
_WITHOUT_EFFECT = {
    RANKS_ALONE: _OF_DATASET,
    PARTS: {"dataset", "side", *_OF_DATASET},
    PARTS_AGAINST: {"scores", "num_candidates"},
    BY_OR_AGAINST: {"figure"},
    SEVERAL: {"side", "figure", "against", "by"},
    TO_SAMPLED: {"sampled", "num_entities", "tasks", "side", "level", "without_noise", "against"},
    FULL_TABLE: {
        *("num_candidates", "num_entities", "tasks", "protocol"),
        *("negatives", "without_noise", "against", "metrics"),
    },
    NAMED: {"metric"},
    VALUES: {"model", "task", "sidecar", "accept", "ask"},
    TIMELESS: {"scores"},
    EVERY_ROW: {"everything"},
    NO_SAMPLES: {"seed"},
    PAPER_OF_RANKS: {"model", "side", "task", "sidecar", "replace"},
    PAPER_OF_TABLE: set(),
}


def require_effect(context: click.Context, kind: str) -> None:
    """Refuse an option that somebody gave and that has no effect on this kind of input."""
    for option in context.command.params:
        if option.name in _WITHOUT_EFFECT[kind] and is_given(context, option.name):
            raise click.UsageError(f"{option.opts[0]} has no effect on {kind}; leave it out.")


def is_given(context: click.Context, option: str) -> bool:
    """Return whether somebody gave an option, rather than leaving its default."""
    return context.get_parameter_source(option) is ParameterSource.COMMANDLINE


def require_times(context: click.Context, constants: "Constants", dataset: str) -> None:
    """Refuse --scores, which say how a model sees times, for a data set that has none."""
    if is_given(context, "scores") and not constants.has_times(constants.rows(dataset=dataset)["dataset"][0]):
        require_effect(context, TIMELESS)


def constants_of(
    results: Path | None, database: Path | None = None, dataset: str | None = None
) -> "Constants":
    """Return the constants of a run or of a given database; without both, the released constants.

    dataset: keep only the rows of this data set.
    """
    if results is not None and database is not None:
        raise RankadjustError("--results and --database both name a database; give one of them")
    from rankadjust.database.constants import Constants

    constants = Constants.from_files(database) if results is None else Constants.of_run(results)
    return constants if dataset is None else constants.only(dataset)


def standard_input(table: Path) -> Path:
    """Return the file of a table; for -, copy standard input to a file that exists as long as the command runs."""
    if table != Path("-"):
        return table
    from rankadjust.base.io import write_bytes

    folder = click.get_current_context().with_resource(TemporaryDirectory())
    copy = Path(folder) / "standard-input"
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise RankadjustError("standard input is empty; pipe a table into the command")
    write_bytes(data, copy)
    return copy


def sidecar_of_answers(
    table: Path, sidecar: Path | None, constants: "Constants", given: Given
) -> Path | None:
    """Ask for the facts that a table does not say, write the answers into its sidecar, and return its path."""
    from rankadjust.base.io import write_text
    from rankadjust.literature.result_files import read_results
    from rankadjust.tables.account import answered, answers_as_sidecar, questions
    from rankadjust.tables.reading import known_names
    from rankadjust.tables.sidecar import sidecar_of, usual_sidecar

    if not sys.stdin.isatty() or table == Path("-"):
        raise RankadjustError(
            "--ask needs a file, and a terminal to answer in; give the facts with options, or in a sidecar"
        )
    reading = read_results(table, constants.registry, sidecar, given).reading
    if reading is None:
        raise RankadjustError(f"{table}: a tidy table has no sidecar; fill its columns")
    names = known_names(constants.registry)
    answers = []
    for question in questions(reading, names):
        echo(question.text, err=True)
        usual = question.candidates[0] if question.candidates else "-"
        refused = None
        while True:
            text = click.prompt("  a number, a name, or - to leave it open", default=usual, err=True)
            try:
                answer = answered(question, text, names, is_repeated=text == refused)
            except RankadjustError as error:
                echo(f"  {error}", err=True)
                refused = text
                continue
            answers += [(question, answer)] if answer is not None else []
            break
    path = sidecar or sidecar_of(table) or usual_sidecar(table)
    if answers:
        write_text(answers_as_sidecar(reading, answers), path)
        echo(f"{number_of(len(answers), 'answer')}: {path}", err=True)
    return path if path.exists() else None


def named_values(values: Sequence[str], metric: str | None) -> list[tuple[str, str]]:
    """Return metric and number of each value; a lone % belongs to the number before it."""
    joined: list[str] = []
    for value in values:
        if value == "%" and joined:
            joined[-1] += " %"
        else:
            joined.append(value)
    named = []
    for value in joined:
        name, equals, number = value.rpartition("=")
        if not equals and metric is None:
            raise click.UsageError(f"Which metric is {value}? Give --metric, or write mrr={value}.")
        named.append((name if equals else str(metric), number))
    return named


def by_metric_of(values: Sequence[str], twice: str) -> dict[str, str]:
    """Return the numbers of typed values by the names of their metrics; `twice` says what to do about two of one."""
    from rankadjust.chance.metrics import resolve

    by_metric: dict[str, str] = {}
    keys = set()
    for value in values:
        if "=" not in value and value != "%":
            raise click.UsageError(
                f"{value} is neither a metric with its value, such as mrr=0.784, nor an existing file."
            )
    for name, text in named_values(values, None):
        if (key := resolve(name).key) in keys:
            raise click.UsageError(f"{name} is given twice; {twice}.")
        keys.add(key)
        by_metric[name] = text
    return by_metric
