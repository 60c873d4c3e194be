"""What commands read: evaluation sets, tables, answers, and typed values."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.printing import echo, number_of, say_what_was_assumed

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants
    from rankadjust.literature.result_files import Results
    from rankadjust.public_set import EvaluationSet


def of_set(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options that name an evaluation set out of all that were given."""
    names = ("constants", "dataset", "protocol", "evaluator", "split", "triples", "columns")
    return {name: given.pop(name) for name in names}


def chosen_set(
    without: str,
    *,
    constants: "Constants",
    dataset: str | None,
    triples: tuple[Path, Path, Path] | None,
    columns: str | None,
    protocol: str | None,
    evaluator: str | None,
    split: str | None,
    side: str | None,
) -> "EvaluationSet | None":
    """Return the evaluation set that the options name, None where they name neither a data set nor own triples.

    without: what the input then is; options that say more about a data set have no effect on it.
    """
    from rankadjust.public_set import EvaluationSet

    if triples is not None:
        options.refuse("own triples", "dataset", "evaluator", "results")
        return _own_set(triples, columns, protocol or "filtered", split or "testing", side or "both")
    if dataset is None:
        options.refuse(without, "protocol", "evaluator", "split", "results")
        return None
    return EvaluationSet.of(constants, dataset, protocol, split, side, evaluator)


def _own_set(
    triples: tuple[Path, Path, Path], columns: str | None, protocol: str, split: str, side: str
) -> "EvaluationSet":
    """Return the evaluation set of the triples in the files of training, validation (- for none) and test."""
    from rankadjust.data.encode import encode
    from rankadjust.data.read import read_own_triples
    from rankadjust.data.registry import Dataset
    from rankadjust.data.summary import summarise, warnings
    from rankadjust.output.terminal import sentences
    from rankadjust.public_set import EvaluationSet

    names = tuple(columns.split(",")) if columns else ()
    train, valid, test = (None if file == Path("-") else read_own_triples(file, names) for file in triples)
    if train is None or test is None:
        raise RankadjustError(
            "--triples: only validation may be left out (-); give training and test triples"
        )
    own = EvaluationSet.from_triples(train, valid, test, protocol=protocol, split=split, side=side)
    splits = {"training": train, "validation": valid, "testing": test}
    given = {name: frame for name, frame in splits.items() if frame is not None}
    encoded = encode(given)
    described = Dataset(own.dataset, "transductive", (), tuple(given), Path())
    for warning in warnings(encoded, summarise(encoded, described), described):
        echo(sentences(f"warning: {warning}"), err=True)
    return own


def read_table(
    table: Path, constants: "Constants", *, sidecar: Path | None, ask: bool = False, **facts: str | None
) -> "Results":
    """Return what is read of a table. ask: let people answer what the table does not say."""
    from rankadjust.literature.result_files import read_results

    facts = with_protocol_of_evaluator(facts)
    if ask:
        sidecar = _sidecar_of_answers(table, sidecar, constants, facts)
    return read_results(table, constants.registry, sidecar, facts)


def with_protocol_of_evaluator(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with the code base that evaluated (--evaluator) in place of their protocol."""
    from rankadjust.counting.evaluators import evaluator_named

    known = dict(facts)
    if (evaluator := known.pop("evaluator", None)) is not None:
        if known.get("protocol") is not None:
            raise RankadjustError(
                "--evaluator and --protocol both say how values were evaluated; give only one of them"
            )
        known["protocol"] = evaluator_named(evaluator)
    return known


def adjusted_rows(
    read: "Sequence[Results]", constants: "Constants", *, accept: bool = False
) -> "pl.DataFrame":
    """Return the rows of tables, re-scored, and say on standard error which facts were assumed.

    accept: take these facts as if the tables stated them.
    """
    import polars as pl

    from rankadjust.literature.assumptions import accepted, assumptions, with_defaults_named
    from rankadjust.literature.rescore import rescore

    rows = pl.concat([with_defaults_named(table.rows) for table in read], how="diagonal")
    rescored = rescore(accepted(rows) if accept else rows, constants)
    if not accept:
        say_what_was_assumed(assumptions(rescored))
    return rescored


def numbers_read(read: "Sequence[Results]") -> str:
    """Return a line that says how many of the numbers of tables were read."""
    values = sum(table.rows.height for table in read)
    unread = sum(0 if table.reading is None else table.reading.unread.height for table in read)
    return f"{values:,} of {number_of(values + unread, 'number')} read"


def nothing_read(table: Path) -> str:
    """Return a line that says that a table has no value that can be read."""
    return f"{table}: no value was read; 'rankadjust read {table}' says why"


def _sidecar_of_answers(
    table: Path, sidecar: Path | None, constants: "Constants", given: Mapping[str, str | None]
) -> Path | None:
    """Ask for the facts that a table does not say, write the answers into its sidecar, and return its path."""
    from rankadjust.base.io import write_text
    from rankadjust.literature.result_files import read_results
    from rankadjust.output.reading_text import answered, gaps, question, sidecar_stating
    from rankadjust.tables.reading import known_names
    from rankadjust.tables.sidecar import sidecar_of, usual_sidecar

    if not sys.stdin.isatty():
        raise RankadjustError(
            "--ask needs a terminal to answer in; give the facts with options, or in a sidecar"
        )
    reading = read_results(table, constants.registry, sidecar, given).reading
    if reading is None:
        raise RankadjustError(
            f"{table}: a tidy table has no sidecar, because its columns hold the facts; fill them in"
        )
    names = known_names(constants.registry)
    answers = []
    for gap in gaps(reading, names):
        echo(question(gap, reading), err=True)
        while True:
            text = click.prompt("  a number, a name, or - to leave it open", default=gap.default, err=True)
            try:
                answer = answered(gap, text, names)
            except RankadjustError as error:
                echo(f"  {error}", err=True)
                continue
            answers += [(gap, answer)] if answer is not None else []
            break
    path = sidecar or sidecar_of(table) or usual_sidecar(table)
    if answers:
        write_text(sidecar_stating(reading, answers), path)
        echo(f"{number_of(len(answers), 'answer')}: {path}", err=True)
    return path if path.exists() else None


def named_values(values: Sequence[str]) -> list[tuple[str, str]]:
    """Return metric and number of each value."""
    for value in values:
        if "=" not in value:
            raise click.UsageError(
                f"{value} is neither a metric with its value, such as mrr=0.338, nor an existing file."
            )
    return [(name, number) for name, _, number in (value.rpartition("=") for value in values)]


def by_metric_of(values: Sequence[str]) -> dict[str, str]:
    """Return the numbers of typed values by the names of their metrics."""
    from rankadjust.chance.metrics import resolve

    by_metric: dict[str, str] = {}
    keys = set()
    for name, text in named_values(values):
        if (key := resolve(name).key) in keys:
            raise click.UsageError(f"{name} is given twice; leave one of the two out.")
        keys.add(key)
        by_metric[name] = text
    return by_metric
