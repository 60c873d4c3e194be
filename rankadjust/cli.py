"""The command `rankadjust`: the library for people without the workflow (docs/evaluate.md).

Each command imports what it needs when it runs, so that the light ones start at once.
"""
# A command has a parameter for each of its options, and imports of its own: see above.
# ruff: noqa: PLC0415, PLR0913, PLR0917

import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from rankadjust.base.errors import RankadjustError, exit_with_message

if TYPE_CHECKING:
    import polars as pl

_Command = TypeVar("_Command", bound=Callable[..., None])
_PATH = click.Path(path_type=Path)
_SPLIT = "testing"
_PROTOCOL = "filtered"


def main() -> None:
    """Run the command line; a mistake of the user is one line and exit code 1."""
    with exit_with_message():
        commands()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rankadjust")
def commands() -> None:
    """Chance-adjusted link-prediction metrics."""


def _options(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator for several options, in this order in the help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _known_suffix(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse the name of an output file before anything is computed."""
    if path is not None and path.suffix not in (".parquet", ".tsv", ".csv"):
        raise click.BadParameter(f"{path} is neither .parquet nor .tsv nor .csv")
    return path


_protocol = click.option("--protocol", default=_PROTOCOL, show_default=True, help="How it was evaluated.")
_split = click.option("--split", default=_SPLIT, show_default=True, help="What was evaluated.")
_database = click.option("--database", type=_PATH, help="A database file in place of the released one.")
_candidates = click.option(
    "--candidates", type=_PATH, help="Candidate histograms in place of the released ones."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, all digits, for machines.")


@commands.command()
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option("--dataset", required=True, help="Data set, by name or alias.")
@click.option("--metric", help="Metric of the values, such as mrr or hits@10.")
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@_options(_protocol, _split, _database, _json)
def adjust(
    values: tuple[str, ...],
    dataset: str,
    metric: str | None,
    side: str,
    protocol: str,
    split: str,
    database: Path | None,
    as_json: bool,
) -> None:
    r"""Adjust printed values for chance.

    A VALUE is a number as printed (0.338, 33.8%), or a metric and a number (mrr=0.338). Its digits tell how
    far it may have been rounded, and the index gets the same interval.

    \b
    rankadjust adjust --dataset FB15k-237 --metric mrr 0.338
    rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%
    """
    from rankadjust.database.store import load_database
    from rankadjust.evaluation.one_value import adjust as adjust_value

    named = _named_values(values, metric)
    constants = load_database(database)
    found = [
        adjust_value(
            text, dataset=dataset, metric=name, protocol=protocol, split=split, side=side, database=constants
        )
        for name, text in named
    ]
    if as_json:
        _print_json([asdict(adjusted) for adjusted in found])
        return
    from rankadjust.output.terminal import adjusted_value

    texts = [adjusted_value(adjusted, text) for adjusted, (_, text) in zip(found, named, strict=True)]
    click.echo("\n\n".join(texts))


def _named_values(values: Sequence[str], metric: str | None) -> list[tuple[str, str]]:
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


@commands.command()
@click.argument("ranks", type=_PATH)
@click.option("--dataset", help="Adjust with the database's constants for this data set.")
@_options(_protocol, _split)
@click.option("--num-candidates", type=int, help="Candidates of every task, the true answer included.")
@click.option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
@click.option(
    "--draws", type=click.IntRange(min=0), default=1000, show_default=True, help="Bootstrap samples."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--all", "everything", is_flag=True, help="Print every side, type of rank and average.")
@click.option(
    "--output", type=_PATH, callback=_known_suffix, help="Also write all rows: .parquet, .tsv, .csv."
)
@_options(_database, _candidates, _json)
def evaluate(
    ranks: Path,
    dataset: str | None,
    protocol: str,
    split: str,
    num_candidates: int | None,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    everything: bool,
    output: Path | None,
    database: Path | None,
    candidates: Path | None,
    as_json: bool,
) -> None:
    r"""Compute and adjust every metric of a model's ranks or scores.

    RANKS is a table (.parquet, .csv, .tsv) or a folder of them, with the columns rank (or optimistic and
    pessimistic) and optionally side, triple, num_candidates, weight and group; or scores: an .npz file with
    scores, target and mask, or a folder with scores.npy, target.npy and mask.npy or filter.npz.

    \b
    rankadjust evaluate ranks.parquet --dataset FB15k-237
    rankadjust evaluate ranks.csv --num-candidates 501
    """
    from rankadjust.chance.metrics import FAMILIES
    from rankadjust.evaluation.evaluate import evaluate as evaluate_ranks

    result = evaluate_ranks(
        ranks,
        num_candidates=num_candidates,
        dataset=dataset,
        protocol=protocol,
        split=split,
        database=database,
        candidates=candidates,
        metrics=metrics or tuple(FAMILIES),
        draws=draws,
        seed=seed,
    )
    if output is not None:
        _write(result, output)
    if as_json:
        _print_json(result.to_dicts())
        return
    from rankadjust.output.terminal import evaluation, main_rows

    click.echo(evaluation(result if everything else main_rows(result)))


@commands.command()
@click.argument("dataset")
@_options(_protocol, _split, _database, _candidates, _json)
def show(
    dataset: str, protocol: str, split: str, database: Path | None, candidates: Path | None, as_json: bool
) -> None:
    """Show the counts of a data set and how many candidates its tasks have."""
    from rankadjust.database.overview import overview

    found = overview(dataset, protocol, split, database, candidates)
    if as_json:
        _print_json(asdict(found))
        return
    from rankadjust.output.terminal import overview_text

    click.echo(overview_text(found, sys.stdout.encoding))


@commands.command()
@click.argument("tables", nargs=-1, required=True, type=_PATH, metavar="TABLE...")
@_options(_database)
def check(tables: tuple[Path, ...], database: Path | None) -> None:
    """Report where the printed metrics of a model contradict each other.

    A TABLE is a tidy .csv or .tsv file, or a published table in any format that `rankadjust read` takes.
    The exit code is 1 if anything is reported.
    """
    import polars as pl

    from rankadjust.literature.contradictions import check as find_contradictions
    from rankadjust.literature.rescore import problems, read_tidy, rescore
    from rankadjust.tables.reading import read_table

    read = {".csv": read_tidy, ".tsv": read_tidy}
    frames = [read.get(table.suffix, read_table)(table) for table in tables]
    rescored = rescore(pl.concat(frames, how="diagonal"), database)
    flagged = find_contradictions(rescored)
    for line in [*problems(rescored), *_flags(flagged)]:
        click.echo(line)
    wrong = flagged.height + len(problems(rescored))
    click.echo(f"{rescored.height:,} values: {wrong or 'nothing'} to look at")
    sys.exit(1 if wrong else 0)


def _flags(flagged: "pl.DataFrame") -> list[str]:
    return [
        f"{row.get('file') or 'the table'}:{row.get('file_line') or ''}: {row.get('model') or ''}: {row['message']}"
        for row in flagged.iter_rows(named=True)
    ]


@commands.command()
@click.argument("table", type=_PATH)
@click.option("--sidecar", type=_PATH, help="A YAML file that states what the table does not.")
@click.option("--write-sidecar", type=_PATH, help="Write what was understood as a sidecar to start from.")
@click.option("--output", type=_PATH, help="Write the table with its index beside each value.")
@_options(_database)
def read(
    table: Path, sidecar: Path | None, write_sidecar: Path | None, output: Path | None, database: Path | None
) -> None:
    """Read a published table and say what was understood of it.

    TABLE is Markdown, HTML, LaTeX, reStructuredText, CSV, TSV or plain text.
    """
    from rankadjust.tables.account import describe, draft_sidecar
    from rankadjust.tables.reading import read_tables

    reading = read_tables(table, sidecar)
    click.echo(describe(reading), nl=False)
    if write_sidecar is not None:
        from rankadjust.base.files import write_text

        write_text(draft_sidecar(reading), write_sidecar)
    if output is not None:
        from rankadjust.literature.rescore import rescore
        from rankadjust.output.rendering import adjusted_tables, write_adjusted

        for number, adjusted in enumerate(
            adjusted_tables(reading, rescore(reading.values, database)), start=1
        ):
            many = len(reading.tables) > 1
            write_adjusted(adjusted, output.with_stem(f"{output.stem}-{number}") if many else output)


@commands.command()
@_options(_database)
def datasets(database: Path | None) -> None:
    """List the data sets that are registered or in the database."""
    from rankadjust.database.overview import known_datasets
    from rankadjust.output.terminal import table

    click.echo(
        table(("data set", "kind", "in the database", "also called"), known_datasets(database), left=4)
    )


@commands.command()
def protocols() -> None:
    """List the named evaluation protocols."""
    from rankadjust.counting.protocols import load_protocols

    for name, protocol in load_protocols().items():
        click.echo(
            textwrap.fill(protocol.description, 90, initial_indent=f"{name:18}", subsequent_indent=18 * " ")
        )
    click.echo(f"{'sampled-<q>':18}The true answer against q sampled negatives, such as sampled-49.")


def _write(frame: "pl.DataFrame", path: Path) -> None:
    from rankadjust.base.files import write_parquet, write_text, write_tsv

    if path.suffix == ".parquet":
        write_parquet(frame, path)
    elif path.suffix == ".tsv":
        write_tsv(frame, path)
    else:
        write_text(frame.write_csv(), path)


def _print_json(data: object) -> None:
    try:
        click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2))
    except ValueError:
        raise RankadjustError("a result is not finite and cannot be written as JSON") from None
