"""The command `rankadjust`: the library for people without the workflow (docs/evaluate.md).

Each command imports its modules when it runs, so that light commands start at once.
"""
# A command has a parameter for each of its options, and imports inside the function: see above.
# ruff: noqa: PLC0415, PLR0913, PLR0917

import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from rankadjust.base.errors import RankadjustError, exit_with_message, installed_by

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants
    from rankadjust.database.light import LightSet

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


_PATH = _Path(path_type=Path)
_SPLIT = "testing"
_PROTOCOL = "filtered"


def main() -> None:
    """Run the command line; a user's mistake prints a message of one line and gives exit code 1."""
    with exit_with_message():
        commands()


class _WithNegativeNumbers(click.Command):
    """A command whose arguments may be negative numbers: -0.1 is a value and not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Replace the hyphen by a minus sign: the number stays the same, and click does not take it as an option.
        return super().parse_args(ctx, [re.sub(r"^-(?=[.,]?\d)", "−", arg) for arg in args])


def _echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text without control sequences of the terminal, since the text may come from any file."""
    from rankadjust.base.visible import visible

    click.echo(visible(text), err=err, nl=nl)


def _examples(*lines: str) -> str:
    """Return examples for the end of a command's help; the backspace keeps click from rewrapping their lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _print_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from rankadjust.base.version import VERSION
    from rankadjust.database.store import released_seal

    seal = released_seal()
    _echo(f"rankadjust {VERSION}")
    if seal is None:
        _echo("database: none, or one that does not say what it is")
    else:
        _echo(f"database {seal.version}, schema {seal.schema}, {seal.digest}")
    context.exit()


# The mark \b makes click leave lines as they are.
_HELP = """\
Chance-adjusted link-prediction metrics: one number, a table, or the ranks of a model.

\b
  rankadjust adjust --dataset FB15k-237 mrr=0.338    one printed number
  rankadjust paper table.tex                         your table for the camera-ready version
  rankadjust evaluate ranks.csv --dataset Nations    the ranks of a model
  rankadjust check table.md                          what cannot be true of a table
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, help=_HELP)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the versions of the program and of the released database.",
)
def commands() -> None:
    """Run one of the commands."""


def _options(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator for several options, in this order in the help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _known_suffix(*known: str) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Return a callback that refuses the name of an output file before anything is computed."""

    def refuse(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and path.suffix not in known:
            raise click.BadParameter(f"{path} is neither {' nor '.join(known)}")
        return path

    return refuse


_protocol = click.option(
    "--protocol",
    default=_PROTOCOL,
    show_default=True,
    help="Evaluation protocol; 'rankadjust protocols' lists them.",
)
_split = click.option("--split", default=_SPLIT, show_default=True, help="The split that was evaluated.")
_scores = click.option(
    "--scores",
    type=click.Choice(["per-time", "static"]),
    help="Temporal data: does the model score a triple anew at every time, or once for all times?",
)
_by = click.option(
    "--by",
    type=click.Choice(["relation", "candidates", "cardinality", "half-link"]),
    help="Compare part by part; the tasks of a part have the same value of this.",
)
_against = click.option(
    "--against",
    help="Compare the ranks with this counting baseline: popularity, redundancy, rules, or best (on validation).",
)
_results = click.option(
    "--results",
    type=_PATH,
    help="Use the database and histograms of your own run: the path of its folder results.",
)
_database = click.option("--database", type=_PATH, help="A database file in place of the released one.")
_sidecar = click.option(
    "--sidecar",
    type=_PATH,
    help="A YAML file with facts that the table lacks, in place of the file beside the table.",
)


def _facts(command: _Command) -> _Command:
    """Add the options that give what a table does not say."""
    when = "where the table does not say it."
    return _options(
        click.option("--dataset", help=f"The data set, {when}"),
        click.option("--model", help=f"The model, {when}"),
        click.option("--split", help=f"What was evaluated, {when}"),
        click.option("--side", help=f"head, tail or both, {when}"),
        click.option("--protocol", help=f"How it was evaluated, {when}"),
        click.option(
            "--task", help="entity prediction, where the table seems to be about another task and is not."
        ),
    )(command)


_accept = click.option(
    "--accept",
    is_flag=True,
    help="Accept the assumed facts as if the table stated them: no status is assumed.",
)
_ask = click.option(
    "--ask",
    is_flag=True,
    help="Ask for the facts that the table does not say, and write the answers into its sidecar.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, all digits, for machines.")


# Kinds of input of the commands, and for each kind the options that have no effect on it.
_RANKS, _RANKS_ALONE, _PARTS = "files of ranks", "ranks without --dataset", "parts of the tasks (--by)"
_BY_OR_AGAINST = "--by and --against"
_PARTS_AGAINST = "parts of the tasks compared with a baseline (--by and --against)"
_PRINTED, _SEVERAL = "printed values", "several data sets"
_FULL_TABLE, _TO_SAMPLED = "a table of values", "full ranks (--to-sampled)"
_VALUES = "typed values"
_NAMED, _TIMELESS = "values that name their metric", "a data set without times"
_EVERY_ROW, _NO_SAMPLES = "--json, which prints every row", "--draws 0"
_PAPER_OF_RANKS, _PAPER_OF_TABLE = "ranks", "a table"
_OF_DATASET = {"protocol", "split", "scores", "results", "database"}
_WITHOUT_EFFECT = {
    _RANKS: {"runs"},
    _RANKS_ALONE: _OF_DATASET,
    _PARTS: {"dataset", "side", *_OF_DATASET},
    _PARTS_AGAINST: {"scores", "num_candidates"},
    _BY_OR_AGAINST: {"figure"},
    _PRINTED: {
        *("tasks", "cluster", "metrics", "flips", "draws", "seed", "everything", "figure", "against", "by"),
    },
    _SEVERAL: {"side", "runs", "figure", "against", "by"},
    _TO_SAMPLED: {"sampled", "num_entities", "tasks", "side", "level", "without_noise", "assume", "against"},
    _FULL_TABLE: {
        *("num_candidates", "num_entities", "tasks", "protocol"),
        *("negatives", "without_noise", "assume", "against", "metrics"),
    },
    _NAMED: {"metric"},
    _VALUES: {"model", "task", "sidecar", "accept", "ask"},
    _TIMELESS: {"scores"},
    _EVERY_ROW: {"everything"},
    _NO_SAMPLES: {"seed"},
    _PAPER_OF_RANKS: {"model", "side", "task", "sidecar", "replace"},
    _PAPER_OF_TABLE: set(),
}


def _require_effect(context: click.Context, kind: str) -> None:
    """Refuse an option that somebody gave and that has no effect on this kind of input."""
    for option in context.command.params:
        if option.name in _WITHOUT_EFFECT[kind] and _is_given(context, option.name):
            raise click.UsageError(f"{option.opts[0]} has no effect on {kind}; leave it out.")


def _is_given(context: click.Context, option: str) -> bool:
    """Return whether somebody gave an option, rather than leaving its default."""
    return context.get_parameter_source(option) is ParameterSource.COMMANDLINE


def _require_times(context: click.Context, constants: "Constants", dataset: str) -> None:
    """Refuse --scores, which say how a model sees times, for a data set that has none."""
    if _is_given(context, "scores") and not constants.has_times(
        constants.rows(dataset=dataset)["dataset"][0]
    ):
        _require_effect(context, _TIMELESS)


def _constants(results: Path | None, database: Path | None = None, dataset: str | None = None) -> "Constants":
    """Return the constants of a run or of a given database; without both, the released constants.

    dataset: keep only the rows of this data set.
    """
    if results is not None and database is not None:
        raise RankadjustError("--results and --database both name a database; give one of them")
    from rankadjust.database.constants import Constants

    constants = Constants.from_files(database) if results is None else Constants.of_run(results)
    return constants if dataset is None else constants.only(dataset)


def _standard_input(table: Path) -> Path:
    """Return the file of a table; for -, copy standard input to a file that exists as long as the command runs."""
    if table != Path("-"):
        return table
    from rankadjust.base.files import write_bytes

    folder = click.get_current_context().with_resource(TemporaryDirectory())
    copy = Path(folder) / "standard-input"
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise RankadjustError("standard input is empty; pipe a table into the command")
    write_bytes(data, copy)
    return copy


def _sidecar_of_answers(
    table: Path, sidecar: Path | None, constants: "Constants", given: Given
) -> Path | None:
    """Ask for the facts that a table does not say, write the answers into its sidecar, and return its path."""
    from rankadjust.base.files import write_text
    from rankadjust.literature.results import read_results
    from rankadjust.tables.asking import answered, answers_as_sidecar, questions
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
        _echo(question.text, err=True)
        usual = question.candidates[0] if question.candidates else "-"
        refused = None
        while True:
            text = click.prompt("  a number, a name, or - to leave it open", default=usual, err=True)
            try:
                answer = answered(question, text, names, is_repeated=text == refused)
            except RankadjustError as error:
                _echo(f"  {error}", err=True)
                refused = text
                continue
            answers += [(question, answer)] if answer is not None else []
            break
    path = sidecar or sidecar_of(table) or usual_sidecar(table)
    if answers:
        write_text(answers_as_sidecar(reading, answers), path)
        _echo(f"{_number_of(len(answers), 'answer')}: {path}", err=True)
    return path if path.exists() else None


def _say_what_was_assumed(assumed: "pl.DataFrame") -> None:
    """List on standard error the facts that a table does not have, and the value assumed for each."""
    from rankadjust.output.terminal import assumed_facts

    if not assumed.is_empty():
        _echo(assumed_facts(assumed), err=True)


def _say_if_times_are_ignored(constants: "Constants | LightSet", dataset: str, protocol: str) -> None:
    """Say on standard error that a data set has times, if the name of the protocol does not mention times."""
    if protocol == _PROTOCOL and constants.has_times(dataset):
        _echo(
            f"note: {dataset} has times, and the protocol {protocol} ignores them: it filters out every answer that "
            "was ever true. If the evaluation filtered out only answers that are true at the same time, give "
            "--protocol time-aware; if it ignored times on purpose, give --protocol time-static, which gives the same "
            "numbers",
            err=True,
        )


def _say_if_histograms_are_missing(constants: "Constants") -> None:
    """Say on standard error which file is missing, if p cannot be computed without its histograms."""
    if constants.missing_histograms is not None:
        _echo(
            f"note: {constants.missing_histograms} is missing, so there is no p; put the candidates.parquet of the "
            "same run there",
            err=True,
        )


@commands.command(
    cls=_WithNegativeNumbers,
    epilog=_examples(
        "rankadjust adjust --dataset FB15k-237 --metric mrr 0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
    ),
)
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option("--dataset", required=True, help="Data set, by name or alias.")
@click.option("--metric", help="Metric of the values, such as mrr or hits@10.")
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@click.option(
    "--against",
    help="Compare values with this counting baseline (popularity, redundancy, rules), not the best one.",
)
@_options(_protocol, _split, _scores, _results, _database, _json)
@click.pass_context
def adjust(
    context: click.Context,
    /,
    values: tuple[str, ...],
    dataset: str,
    metric: str | None,
    side: str,
    against: str | None,
    protocol: str,
    split: str,
    scores: str | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
) -> None:
    """Adjust printed values for chance, and compare them with counting training triples.

    A VALUE is a number as printed (0.338, 33.8%, 0,338), or a metric and a number (mrr=0.338). Its digits say how
    far it may have been rounded, and the index gets the same interval.
    """
    from rankadjust.database.light import light_set
    from rankadjust.evaluation.one_value import adjust as adjust_value

    named = _named_values(values, metric)
    if all("=" in value or value == "%" for value in values):
        _require_effect(context, _NAMED)
    known = None if (results or database or scores) else light_set(dataset, protocol, split, side)
    if (constants := None if known else _constants(results, database, dataset)) is not None:
        _require_times(context, constants, dataset)
    adjusted_values = [
        adjust_value(
            text,
            dataset=dataset,
            metric=name,
            protocol=protocol,
            split=split,
            side=side,
            scores=scores,
            against=against,
            database=constants,
        )
        for name, text in named
    ]
    if constants is not None and any(adjusted.log10_p_independent is None for adjusted in adjusted_values):
        _say_if_histograms_are_missing(constants)
    if (of_times := known or constants) is not None:
        _say_if_times_are_ignored(of_times, adjusted_values[0].dataset, adjusted_values[0].protocol)
    if as_json:
        _print_json([asdict(adjusted) for adjusted in adjusted_values])
        return
    from rankadjust.output.value import adjusted_value

    texts = [
        adjusted_value(adjusted, text, against)
        for adjusted, (_, text) in zip(adjusted_values, named, strict=True)
    ]
    _echo("\n\n".join(texts))


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


@commands.command(
    epilog=_examples(
        "rankadjust evaluate ranks.parquet --dataset FB15k-237",
        "rankadjust evaluate ranks.csv --num-candidates 501",
    )
)
@click.argument("ranks", type=_PATH)
@click.option("--dataset", help="Adjust with the database's constants for this data set.")
@_options(_protocol, _split, _scores)
@click.option(
    "--side",
    default="both",
    show_default=True,
    help="head or tail: ranks without a column side are of this side; of a table with both, only this side is read.",
)
@_options(_by, _against)
@click.option(
    "--tasks",
    type=_PATH,
    help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with tabs).",
)
@click.option("--num-candidates", type=int, help="Candidates of every task, the true answer included.")
@click.option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--all", "everything", is_flag=True, help="Print every side, type of rank and average.")
@click.option(
    "--output",
    type=_PATH,
    callback=_known_suffix(".parquet", ".tsv", ".csv", ".json", ".md", ".tex"),
    help="Also write all rows (.parquet, .tsv, .csv, .json), or the printed rows as a table (.md, .tex).",
)
@_options(_results, _database, _json)
@click.pass_context
def evaluate(
    context: click.Context,
    /,
    ranks: Path,
    dataset: str | None,
    scores: str | None,
    side: str,
    by: str | None,
    against: str | None,
    tasks: Path | None,
    num_candidates: int | None,
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the evaluation and of the bootstrap, handed on
) -> None:
    """Compute and adjust every metric of a model's ranks or scores.

    RANKS is a table (.parquet, .csv, .tsv) or a folder of them, with the columns rank (or optimistic and
    pessimistic) and optionally side, triple, num_candidates, weight and group; or scores: an .npz file with
    scores, target and mask, or a folder with scores.npy, target.npy and mask.npy or filter.npz.
    """
    from rankadjust.chance.metrics import FAMILIES
    from rankadjust.evaluation.evaluate import evaluate as evaluate_ranks

    if as_json and (output is None or output.suffix not in (".md", ".tex")):
        _require_effect(context, _EVERY_ROW)
    if options["draws"] == 0:
        _require_effect(context, _NO_SAMPLES)
    if by is not None and against is not None:
        _require_effect(context, _PARTS_AGAINST)
        options |= {"dataset": dataset, "side": side, "against": against, "tasks": tasks}
        options |= {"database": _constants(results, database)} | ({"metrics": metrics} if metrics else {})
        _show_comparison(_compare_by([str(ranks)], by, options, everything), output, as_json=as_json)
        return
    if by is not None:
        _require_effect(context, _PARTS)
        from rankadjust.evaluation.strata import METRICS, evaluate_by

        sampled = {name: options[name] for name in ("draws", "seed")}
        metrics = metrics or METRICS
        of_parts = evaluate_by(
            ranks, by, tasks=tasks, num_candidates=num_candidates, metrics=metrics, **sampled
        )
        _show_evaluation(of_parts, output, everything, as_json, by)
        return
    if dataset is None:
        if results is not None:
            raise RankadjustError("--results needs --dataset: name the data set that these ranks belong to")
        _require_effect(context, _RANKS_ALONE)
    constants = _constants(results, database, dataset)
    if dataset is not None:
        _require_times(context, constants, dataset)
    result = evaluate_ranks(
        ranks if tasks is None else _with_attributes(ranks, tasks),
        num_candidates=num_candidates,
        dataset=dataset,
        side=side,
        scores=scores,
        against=against,
        database=constants,
        metrics=metrics or tuple(FAMILIES),
        **options,
    )
    if dataset is not None and result["log10_p_independent"].null_count():
        _say_if_histograms_are_missing(constants)
    _show_evaluation(result, output, everything, as_json)


def _show_evaluation(
    result: "pl.DataFrame", output: Path | None, everything: bool, as_json: bool, by: str | None = None
) -> None:
    """Print an evaluation, of parts of the tasks if `by` names them, and write it to a file if one was given."""
    from rankadjust.output.terminal import evaluation, evaluation_table, main_rows, strata

    shown = result if everything else main_rows(result)
    if output is not None:
        named = shown if by is None else shown.rename({"stratum": by})
        _write(result, output, result.to_dicts, lambda: evaluation_table(named))
    _show(result.to_dicts, lambda: evaluation(shown) if by is None else strata(shown, by), as_json)


def _with_attributes(ranks: Path, tasks: Path) -> "pl.DataFrame":
    from rankadjust.evaluation.rank_files import tasks_from
    from rankadjust.evaluation.task_attributes import with_attributes

    return with_attributes(tasks_from(ranks), tasks)


@commands.command(
    epilog=_examples(
        "rankadjust compare transe.parquet rotate.parquet --dataset FB15k-237",
        "rankadjust compare transe.parquet --dataset FB15k-237 --results results --against popularity",
        "rankadjust compare --dataset FB15k-237 mrr=0.358 mrr=0.353",
        "rankadjust compare --dataset FB15k-237=fb15k-237/ --dataset WN18RR=wn18rr/",
    )
)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    help="Adjust with the database's constants for this data set; NAME=FOLDER, repeated, compares several.",
)
@_options(_protocol, _split)
@click.option(
    "--side", default="both", show_default=True, help="head, tail or both, of printed values and of ranks."
)
@click.option(
    "--runs",
    type=int,
    help="How many runs each printed value is a mean over; their standard error is at most ±.",
)
@_options(_against, _by)
@click.option(
    "--tasks",
    multiple=True,
    help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with tabs); "
    "of several data sets NAME=FILE each.",
)
@click.option(
    "--cluster",
    type=click.Choice(["triple", "query", "relation"]),
    help="The tasks that are swapped together; by default query where triples are known to share queries, else triple.",
)
@click.option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
@click.option("--flips", type=int, default=10_000, show_default=True, help="Random swaps of the test.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of swaps and bootstrap.")
@click.option("--all", "everything", is_flag=True, help="Print every side.")
@click.option(
    "--output",
    type=_PATH,
    callback=_known_suffix(".md", ".tex", ".csv", ".json"),
    help="Also write a table for a paper (.md, .tex), the differences (.csv) or everything (.json).",
)
@click.option(
    "--figure",
    type=_PATH,
    callback=_known_suffix(".svg"),
    help="Also draw the share of tasks with a rank of at most k, for every k, beside chance: .svg.",
)
@_options(_results, _database, _json)
@click.pass_context
def compare(
    context: click.Context,
    /,
    models: tuple[str, ...],
    datasets: tuple[str, ...],
    tasks: tuple[str, ...],
    side: str,
    runs: int | None,
    against: str | None,
    by: str | None,
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    figure: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the test and of the data set, handed on
) -> None:
    """Say whether one model is better than another.

    A MODEL is a file of ranks as `rankadjust evaluate` takes it, with the columns triple and side, or a folder with one
    such file for each run (seed). Or every MODEL is a printed value, such as mrr=0.358: then what can be said without
    ranks is said. Or, with --dataset NAME=FOLDER, no MODEL is named: each folder has such a file or folder for each
    model, with the same names in all.
    """
    if results is not None and not datasets:
        raise RankadjustError("--results needs --dataset: name the data set that these models were tested on")
    kind = _kind_of_comparison(models, datasets)
    _require_effect(context, kind)
    if kind == _RANKS_ALONE:
        _require_effect(context, _RANKS)
    if by is not None or against is not None:
        _require_effect(context, _BY_OR_AGAINST)
    if as_json:
        _require_effect(context, _EVERY_ROW)
    about = {name: options[name] for name in ("protocol", "split")}
    about["database"] = _constants(results, database)
    test = {name: options[name] for name in ("cluster", "flips", "draws", "seed")}
    test |= {"metrics": metrics} if metrics else {}
    if kind == _SEVERAL:
        compared = _compare_datasets(datasets, tasks, about | test, everything)
    elif len(datasets) > 1 or len(tasks) > 1:
        raise click.UsageError(
            "Several data sets are given as --dataset NAME=FOLDER, each with its own models."
        )
    elif kind == _PRINTED:
        compared = _compare_printed(models, datasets, about | {"side": side, "runs": runs})
    else:
        known = about | {"dataset": datasets[0] if datasets else None, "side": side}
        attributes = Path(tasks[0]) if tasks else None
        known_of_tasks = known | test | {"tasks": attributes, "against": against}
        if by is not None:
            compared = _compare_by(models, by, known_of_tasks, everything)
        else:
            compared = _compare_ranks(models, known_of_tasks, everything)
        if figure is not None:
            _draw(models, attributes, figure, **known)
    _show_comparison(compared, output, as_json=as_json)


def _kind_of_comparison(models: Sequence[str], datasets: Sequence[str]) -> str:
    if any("=" in given for given in datasets):
        if models:
            raise click.UsageError("--dataset NAME=FOLDER brings its own models; leave MODEL out.")
        return _SEVERAL
    if not models:
        raise click.UsageError(
            "No models are given. Give files of ranks, printed values, or --dataset NAME=FOLDER."
        )
    if all("=" in model and not Path(model).exists() for model in models):
        return _PRINTED
    return _RANKS if datasets else _RANKS_ALONE


class _Found(NamedTuple):
    """A comparison in four forms: text for the terminal, all results for JSON, a table for a paper, and rows."""

    text: str
    everything: object
    for_paper: "pl.DataFrame"
    rows: "pl.DataFrame"


def _show_comparison(compared: _Found, output: Path | None, *, as_json: bool) -> None:
    """Print a comparison, and write it to a file if the user gave one."""
    if output is not None:
        _write(compared.rows, output, lambda: compared.everything, lambda: compared.for_paper)
    _show(lambda: compared.everything, lambda: compared.text, as_json)


def _compare_ranks(models: Sequence[str], options: dict[str, Any], everything: bool) -> _Found:
    from rankadjust.models.compare import compare as compare_models
    from rankadjust.output.comparison import comparison, for_machines, paper_table

    compared = compare_models([Path(model) for model in models], **options)
    text = comparison(compared, every_side=everything)
    return _Found(text, for_machines(compared), paper_table(compared), compared.differences)


def _compare_by(models: Sequence[str], by: str, options: dict[str, Any], everything: bool) -> _Found:
    from rankadjust.models.compare import compare_by
    from rankadjust.output.comparison import comparison_by, paper_table_by

    compared = compare_by([Path(model) for model in models], by, **options)
    text = comparison_by(compared, by, every_side=everything)
    return _Found(text, compared.to_dicts(), paper_table_by(compared, by), compared)


def _by_dataset(given: Sequence[str], option: str) -> dict[str, Path]:
    """Return the paths of NAME=PATH by name."""
    paths: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (equals and name and path):
            raise click.UsageError(
                f"{option} {text}: of several data sets each needs its path, as {option} NAME=PATH."
            )
        if name in paths:
            raise click.UsageError(f"{option}: {name} is given twice.")
        paths[name] = Path(path)
    return paths


def _compare_datasets(
    datasets: Sequence[str], tasks: Sequence[str], options: dict[str, Any], everything: bool
) -> _Found:
    from rankadjust.models.datasets import compare_datasets
    from rankadjust.output.comparison import comparisons, for_machines, of_datasets, paper_table

    folders, attributes = _by_dataset(datasets, "--dataset"), _by_dataset(tasks, "--tasks")
    compared = compare_datasets(folders, tasks=attributes, **options)
    return _Found(
        comparisons(compared, every_side=everything),
        {name: for_machines(of_dataset) for name, of_dataset in compared.items()},
        of_datasets({name: paper_table(of_dataset) for name, of_dataset in compared.items()}, "data set"),
        of_datasets({name: of_dataset.differences for name, of_dataset in compared.items()}, "dataset"),
    )


def _draw(
    models: Sequence[str],
    tasks: Path | None,
    path: Path,
    *,
    dataset: str | None,
    protocol: str,
    split: str,
    side: str,
    database: "Constants",
) -> None:
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.models.compare import names_of
    from rankadjust.models.paired import paired
    from rankadjust.models.rank_curves import rank_curves

    try:
        from rankadjust.output.rank_curve import write_rank_curves
    except ModuleNotFoundError as error:
        raise RankadjustError(f"--figure needs the module {error.name}; {installed_by('workflow')}") from None
    pairs = paired(names_of([Path(model) for model in models]), tasks, side)
    known = None
    if dataset is not None and "num_candidates" not in pairs.tasks.columns:
        sides = pairs.tasks["side"].unique().to_list()
        side = sides[0] if len(sides) == 1 else "both"
        known = EvaluationSet.of(database, dataset, protocol, split, side).tails
    counts, number = (None, None) if known is None else (known.counts, known.tasks)
    write_rank_curves(rank_curves(pairs, counts, number), path)


def _compare_printed(models: Sequence[str], datasets: Sequence[str], options: dict[str, Any]) -> _Found:
    from rankadjust.models.printed import compare_printed
    from rankadjust.output.comparison import printed_pair, printed_paper_table, printed_rows

    if not datasets:
        raise click.UsageError("Give --dataset: how much a difference means depends on the number of tasks.")
    of_metric: dict[str, list[str]] = {}
    for name, text in _named_values(models, None):
        of_metric.setdefault(name, []).append(text)
    pairs = [
        pair
        for metric, texts in of_metric.items()
        for pair in compare_printed(texts, dataset=datasets[0], metric=metric, **options)
    ]
    return _Found(
        "\n".join(printed_pair(pair) for pair in pairs),
        [asdict(pair) for pair in pairs],
        printed_paper_table(pairs),
        printed_rows(pairs),
    )


@commands.command(
    cls=_WithNegativeNumbers,
    epilog=_examples(
        "rankadjust full --dataset GraIL-WN18RR-v2 --sampled 50 mrr=0.784 hits@10=0.901",
        "rankadjust full --num-candidates 2757 --tasks 20000 --sampled 50 mrr=0.784 --against mrr=0.75",
        "rankadjust full --to-sampled 50 ranks.csv --num-candidates 2757",
        "rankadjust full my_table.md --output my_table-full.csv",
    ),
)
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option("--sampled", type=int, help="Number of negatives of each task, without the true answer.")
@click.option(
    "--num-candidates", type=int, help="Candidates of each task in the full ranking, true answer included."
)
@click.option(
    "--num-entities", type=int, help="The same, for a full ranking that leaves out no known answer."
)
@click.option("--tasks", type=int, help="How many ranks were averaged.")
@click.option(
    "--dataset", help="Take the numbers of candidates and tasks, and the way to draw, from this set."
)
@_options(_protocol)
@click.option("--split", help="The split that was evaluated; by default the benchmark's, or testing.")
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@click.option(
    "--negatives",
    type=click.Choice(["without-replacement", "with-replacement"]),
    help="How the negatives are drawn, uniformly; by default as in the benchmark, or without replacement.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Probability that the bounds hold."
)
@click.option("--without-noise", is_flag=True, help="Take the printed values as the expected ones.")
@click.option(
    "--assume", multiple=True, type=click.Choice(["falling"]), help="A further assumption (docs/sampled.md)."
)
@click.option(
    "--against", multiple=True, help="A printed value of a second model: is the first model better?"
)
@click.option("--metric", "metrics", multiple=True, help="Bound only this metric (may be repeated).")
@click.option(
    "--to-sampled",
    type=int,
    metavar="Q",
    help="The reverse: the values that the full ranks in the file VALUE give among Q negatives.",
)
@_options(_sidecar)
@click.option(
    "--output",
    type=_PATH,
    callback=_known_suffix(".parquet", ".tsv", ".csv"),
    help="For a table: write all its rows with their bounds.",
)
@_options(_results, _database, _json)
@click.pass_context
def full(
    context: click.Context,
    /,
    values: tuple[str, ...],
    sampled: int | None,
    against: tuple[str, ...],
    to_sampled: int | None,
    without_noise: bool,
    sidecar: Path | None,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the evaluation and of the bounds, handed on
) -> None:
    """Bound the metrics of the full ranking by values printed among sampled negatives.

    A VALUE is a metric and a number, such as mrr=0.784; several sharpen each other. The true value is within the bounds
    whatever the ranks are, but for the noise of the draws with the stated probability. Or VALUE is one table, as
    `rankadjust rescore` takes it: each row among sampled negatives gets the bounds that all values of its model give;
    --sampled, --dataset, --split and --side say what the table does not.
    """
    from rankadjust.output import full as texts

    if options["dataset"] is not None or results or database:
        options["database"] = _constants(results, database)
    is_table = len(values) == 1 and to_sampled is None and Path(values[0]).is_file()
    if (sidecar or output) and not is_table:
        raise click.UsageError("--sidecar and --output need a table of values; leave them out.")
    if is_table:
        _require_effect(context, _FULL_TABLE)
        given = {name: options[name] for name in ("dataset", "split", "side") if _is_given(context, name)}
        if sampled is not None:
            given["protocol"] = f"sampled-{sampled}"
        _full_table(
            Path(values[0]), sidecar, given, options["level"], output, _constants(results, database), as_json
        )
        return
    if to_sampled is not None:
        _require_effect(context, _TO_SAMPLED)
        expected = _to_sampled(values, to_sampled, options)
        _show(expected.to_dicts, lambda: texts.to_sampled_text(expected, to_sampled), as_json)
        return
    second = "--against takes the values of a second model"
    named = _by_metric(values, second)
    if sampled is None:
        raise click.UsageError("The number of sampled negatives is missing. Give --sampled.")
    options |= {"sampled": sampled, "noise": not without_noise}
    if against:
        from rankadjust.sampling.difference import full_difference

        pair = full_difference(named, _by_metric(against, second), **options)
        _show(lambda: asdict(pair), lambda: texts.full_difference_text(pair), as_json)
    else:
        from rankadjust.sampling.bounds import full_bounds

        bounds = full_bounds(named, **options)
        _show(lambda: asdict(bounds), lambda: texts.full_bounds_text(bounds), as_json)


def _full_table(
    table: Path,
    sidecar: Path | None,
    given: Given,
    level: float,
    output: Path | None,
    constants: "Constants",
    as_json: bool,
) -> None:
    from rankadjust.literature.assumptions import assumptions, with_defaults_named
    from rankadjust.literature.full_ranking import add_full_bounds
    from rankadjust.literature.rescore import rescore
    from rankadjust.literature.results import read_results
    from rankadjust.output.full import full_table_text

    results = read_results(table, constants.registry, sidecar, given)
    rescored = rescore(with_defaults_named(results.rows), constants)
    _say_what_was_assumed(assumptions(rescored))
    for line in results.unread:
        _echo(line, err=True)
    bounded = add_full_bounds(rescored, constants, level)
    if output is not None:
        _write(bounded, output)
    _show(bounded.to_dicts, lambda: full_table_text(bounded), as_json)


def _by_metric(values: Sequence[str], twice: str) -> dict[str, str]:
    from rankadjust.chance.metrics import resolve

    by_metric: dict[str, str] = {}
    keys = set()
    for value in values:
        if "=" not in value and value != "%":
            raise click.UsageError(
                f"{value} is neither a metric with its value, such as mrr=0.784, nor an existing file."
            )
    for name, text in _named_values(values, None):
        if (key := resolve(name).key) in keys:
            raise click.UsageError(f"{name} is given twice; {twice}.")
        keys.add(key)
        by_metric[name] = text
    return by_metric


def _to_sampled(values: Sequence[str], sampled: int, options: dict[str, Any]) -> "pl.DataFrame":
    from rankadjust.sampling.expected import to_sampled as expected

    if len(values) > 1:
        raise click.UsageError("--to-sampled takes one file of ranks.")
    names = ("num_candidates", "dataset", "protocol", "split", "metrics", "database")
    known = {name: options[name] for name in names if name in options}
    return expected(
        Path(values[0]), sampled=sampled, negatives=options["negatives"] or "without-replacement", **known
    )


@commands.command()
@click.argument("dataset")
@_options(_protocol, _split, _results, _database, _json)
def show(
    dataset: str, protocol: str, split: str, results: Path | None, database: Path | None, as_json: bool
) -> None:
    """Show the counts of a data set and how many candidates its tasks have."""
    from rankadjust.database.overview import overview
    from rankadjust.output.terminal import overview_text

    shown = overview(dataset, protocol, split, _constants(results, database))
    _show(lambda: asdict(shown), lambda: overview_text(shown, sys.stdout.encoding), as_json)


@commands.command(
    epilog=_examples(
        "rankadjust check my_table.md",
        "rankadjust check --dataset FB15k-237 mrr=0.338 hits@1=0.241 hits@10=0.533",
    )
)
@click.argument("tables", nargs=-1, required=True, type=_PATH, metavar="TABLE | VALUE...")
@_options(_sidecar, _facts, _accept, _ask, _results, _database, _json)
def check(
    tables: tuple[Path, ...],
    sidecar: Path | None,
    accept: bool,
    ask: bool,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Report printed metrics of a model that contradict each other, copied rows, and unread cells.

    A contradiction is impossible, or possible with tied ranks only, or suspicious: docs/literature.md, "Consistency".
    A TABLE is a tidy table, or a published one in any format that `rankadjust read` takes. Standard error lists the
    facts that it lacks, and the value assumed for each. VALUEs are the metrics of one model on one data set.
    The exit code is 1 if anything is reported, or nothing was read.
    """
    if any("=" in table.name for table in tables) and not any(table.exists() for table in tables):
        _require_effect(click.get_current_context(), _VALUES)
        _check_values([str(table) for table in tables], given, results, database, as_json)
    if sidecar is not None and len(tables) > 1:
        raise RankadjustError("--sidecar is about one table; check each table that needs one by itself")
    import polars as pl

    from rankadjust.literature.assumptions import accepted, assumptions, with_defaults_named
    from rankadjust.literature.contradictions import check as find_contradictions
    from rankadjust.literature.rescore import rescore
    from rankadjust.literature.results import read_results
    from rankadjust.literature.statuses import problems

    constants = _constants(results, database)
    for table in tables if ask else ():
        _sidecar_of_answers(table, sidecar, constants, given)
    tables = tuple(map(_standard_input, tables))
    read_tables = [read_results(table, constants.registry, sidecar, given) for table in tables]
    rows = pl.concat([with_defaults_named(result.rows) for result in read_tables], how="diagonal")
    rows = accepted(rows) if accept else rows
    rescored = rescore(rows, constants)
    assumed = assumptions(rescored)
    _say_what_was_assumed(assumed)
    flagged = find_contradictions(rescored, constants)
    unread = [line for result in read_tables for line in result.unread]
    empty = [
        f"{table}: no value was read; 'rankadjust read {table}' says why"
        for table, result in zip(tables, read_tables, strict=True)
        if result.rows.is_empty()
    ]
    _report_check(
        [*empty, *unread, *problems(rescored), *_flags(flagged)], rescored.height, flagged, assumed, as_json
    )


def _check_values(
    values: Sequence[str], given: Given, results: Path | None, database: Path | None, as_json: bool
) -> NoReturn:
    """Report typed metrics of one model that contradict each other, and end the command."""
    if (dataset := given["dataset"]) is None:
        raise click.UsageError(
            "Give --dataset: which values are possible together depends on its candidates."
        )
    chosen = {name: text for name in ("split", "side", "protocol") if (text := given[name]) is not None}
    by_metric = _by_metric(values, "leave one of the two out")
    if not (results or database or as_json):
        from rankadjust.database.light import light_set
        from rankadjust.literature.typed_values import findings_of_typed

        held = light_set(dataset, **{"protocol": _PROTOCOL, "split": _SPLIT, "side": "both", **chosen})
        findings = None if held is None else findings_of_typed(by_metric, held)
        if findings is not None:
            _report_lines([_flag(finding.severity, finding.message) for finding in findings], len(by_metric))
    from rankadjust.database.evaluation_set import EvaluationSet

    constants = _constants(results, database)
    flagged = EvaluationSet.of(constants, dataset, **chosen).check(by_metric)
    lines = [_flag(*row) for row in flagged.select("severity", "message").iter_rows()]
    _report_check(lines, len(by_metric), flagged, None, as_json)


def _report_check(
    lines: Sequence[str], values: int, flagged: "pl.DataFrame", assumed: "pl.DataFrame | None", as_json: bool
) -> NoReturn:
    if as_json:
        _print_json(
            {
                "values": values,
                "assumed": [] if assumed is None else assumed.to_dicts(),
                "reported": lines,
                "contradictions": flagged.to_dicts(),
            }
        )
        sys.exit(1 if lines else 0)
    _report_lines(lines, values)


def _report_lines(lines: Sequence[str], values: int) -> NoReturn:
    for line in lines:
        _echo(line)
    _echo(f"{_number_of(values, 'value')}: {len(lines) or 'nothing'} to look at")
    sys.exit(1 if lines else 0)


def _flag(severity: str, message: str) -> str:
    return f"{severity.replace('_', ' ')}: {message}"


def _number_of(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _flags(flagged: "pl.DataFrame") -> list[str]:
    import polars as pl

    from rankadjust.base.frames import filled
    from rankadjust.literature.tidy import where_of

    # A value that is impossible by itself is reported as a wrong row.
    shown = flagged.filter(pl.col("status") != "value_impossible")
    model = pl.col("model").fill_null("") if "model" in shown.columns else pl.lit("")
    severity = pl.col("severity").str.replace_all("_", " ")
    lines = shown.select(filled("{}: {}: {}: {}", where_of(shown), model, severity, "message"))
    return lines.to_series().to_list()


@commands.command(
    epilog=_examples(
        "rankadjust rescore my_table.md", "rankadjust rescore results.csv --output results-adjusted.csv"
    )
)
@click.argument("table", type=_PATH)
@_options(_sidecar, _facts, _accept, _ask)
@click.option(
    "--output",
    type=_PATH,
    callback=_known_suffix(".md", ".parquet", ".tsv", ".csv"),
    help="Write the rows, all columns (.parquet, .tsv, .csv) or a readable table (.md).",
)
@_options(_results, _database, _json)
def rescore(
    table: Path,
    sidecar: Path | None,
    accept: bool,
    ask: bool,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Adjust every value of a table of results, each row with its status.

    TABLE is a tidy table, or a published one in any format that `rankadjust read` takes. Standard error lists the
    facts that it lacks and the value assumed for each, wrong rows, and unread cells. The exit code is 1 if nothing
    could be adjusted.
    """
    import polars as pl

    from rankadjust.literature.assumptions import accepted, assumptions, with_defaults_named
    from rankadjust.literature.rescore import rescore as adjust_rows
    from rankadjust.literature.rescore import summary
    from rankadjust.literature.results import read_results
    from rankadjust.literature.statuses import problems

    constants = _constants(results, database)
    if ask:
        sidecar = _sidecar_of_answers(table, sidecar, constants, given)
    table = _standard_input(table)
    read_table = read_results(table, constants.registry, sidecar, given)
    if read_table.rows.is_empty():
        raise RankadjustError(f"{table}: no value was read; 'rankadjust read {table}' says why")
    rows = with_defaults_named(read_table.rows)
    rescored = adjust_rows(accepted(rows) if accept else rows, constants)
    _say_what_was_assumed(assumptions(rescored))
    for line in [*read_table.unread, *problems(rescored)]:
        _echo(line, err=True)
    if rescored.filter(pl.col("index").is_not_null())["log10_p_independent"].null_count():
        _say_if_histograms_are_missing(constants)
    if output is not None:
        _write(rescored, output)
    if as_json:
        _print_json(rescored.to_dicts())
    elif output is None:
        from rankadjust.output.formatting import number, readable
        from rankadjust.output.terminal import table as aligned

        shown = readable(rescored)
        shown = shown.select(column.name for column in shown if column.count())
        _echo(aligned(shown.columns, [[number(cell) for cell in row] for row in shown.iter_rows()]))
    if not as_json:
        _echo("; ".join([summary(rescored), *([str(output)] if output else [])]))
    if not rescored["index"].count():
        sys.exit(1)


@commands.command(
    epilog=_examples(
        "rankadjust read my_table.md --write-sidecar my_table.yaml",
        "rankadjust read results.json --tidy values.csv",
    )
)
@click.argument("table", type=_PATH)
@_options(_sidecar, _facts, _ask)
@click.option("--write-sidecar", type=_PATH, help="Write the shortest sidecar that states what was assumed.")
@click.option(
    "--tidy",
    type=_PATH,
    callback=_known_suffix(".csv", ".tsv", ".parquet"),
    help="Write the values that were read, a row for each.",
)
@click.option("--output", type=_PATH, help="Write the table with its index beside each value.")
@_options(_results, _database, _json)
def read(
    table: Path,
    sidecar: Path | None,
    ask: bool,
    write_sidecar: Path | None,
    tidy: Path | None,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Read a table of results, and show its values, the assumptions, and the unread cells.

    TABLE is Markdown, HTML, LaTeX, reStructuredText, CSV, TSV, plain text, or the JSON or YAML that a tool writes. The
    exit code is 1 if nothing was read.
    """
    from rankadjust.literature.results import read_results

    constants = _constants(results, database)
    if ask:
        sidecar = _sidecar_of_answers(table, sidecar, constants, given)
    table = _standard_input(table)
    read_table = read_results(table, constants.registry, sidecar, given)
    reading = read_table.reading
    if as_json:
        unread = [] if reading is None else reading.unread.to_dicts()
        missing = [] if reading is None else reading.missing.to_dicts()
        remarks = [] if reading is None else list(reading.remarks)
        values = read_table.rows if reading is None else reading.values
        _print_json({"values": values.to_dicts(), "unread": unread, "missing": missing, "remarks": remarks})
    elif reading is None:
        _echo(f"{table.name}: a tidy table of {_number_of(read_table.rows.height, 'value')}, taken as it is")
    else:
        _echo(read_table.understood, nl=False)
    if tidy is not None:
        _write(read_table.rows.drop("file", "file_line") if reading is None else reading.values, tidy)
    if reading is None and (write_sidecar or output):
        raise RankadjustError(f"{table}: a tidy table has no sidecar and no layout; adjust it with 'rescore'")
    if write_sidecar is not None and reading is not None:
        from rankadjust.base.files import write_text
        from rankadjust.tables.account import draft_sidecar

        write_text(draft_sidecar(reading), write_sidecar)
    if output is not None and reading is not None:
        from rankadjust.literature.rescore import rescore
        from rankadjust.output.rendering import adjusted_tables, write_adjusted

        for number, adjusted in enumerate(
            adjusted_tables(reading, rescore(reading.values, constants)), start=1
        ):
            many = len(reading.tables) > 1
            write_adjusted(adjusted, output.with_stem(f"{output.stem}-{number}") if many else output)
    if read_table.rows.is_empty():
        sys.exit(1)


@commands.command(
    epilog=_examples(
        "rankadjust paper table.tex --output camera-ready",
        "rankadjust paper transe.parquet rotate.parquet --dataset FB15k-237 --output camera-ready",
    )
)
@click.argument("sources", nargs=-1, required=True, type=_PATH, metavar="TABLE | RANKS...")
@click.option(
    "--output", type=_PATH, default=Path("paper"), show_default=True, help="The folder to write to."
)
@_options(_sidecar, _facts)
@click.option(
    "--score",
    type=click.Choice(["recommended", "index", "gain"]),
    default="recommended",
    show_default=True,
    help="Which adjusted number to put beside a printed one: docs/which-number.md.",
)
@click.option("--replace", is_flag=True, help="Put each adjusted number in place of the printed one.")
@click.option("--no-figure", is_flag=True, help="Draw no figure.")
@_options(_results, _database)
@click.pass_context
def paper(
    context: click.Context,
    /,
    sources: tuple[Path, ...],
    output: Path,
    sidecar: Path | None,
    score: str,
    replace: bool,
    no_figure: bool,
    results: Path | None,
    database: Path | None,
    **facts: str | None,
) -> None:
    """Make what a paper needs of a table of results: the adjusted table, a figure, the methods, what to check.

    TABLE is the table as its author has it, in any format that `rankadjust read` takes. Standard error lists the facts
    that it lacks and the value assumed for each: state them in a sidecar or by an option. LaTeX keeps every
    character that is not part of a new column, of a span over one, or of the caption. RANKS are files as
    `rankadjust compare` takes them, one for each model.
    """
    from rankadjust.literature.assumptions import assumptions
    from rankadjust.manuscript.paper import paper as make_paper
    from rankadjust.manuscript.ranks import looks_like_ranks
    from rankadjust.manuscript.wording import advice

    is_ranks = looks_like_ranks(list(sources))
    _require_effect(context, _PAPER_OF_RANKS if is_ranks else _PAPER_OF_TABLE)
    made = make_paper(
        list(sources),
        output,
        **facts,
        sidecar=sidecar,
        score=score,
        replace=replace,
        figure=not no_figure,
        database=_constants(results, database),
    )
    if not is_ranks:
        _say_what_was_assumed(assumptions(made.values))
    _echo(f"{output}: {', '.join(sorted(made.files))}")
    _echo(advice(made.values))


@commands.command(
    epilog=_examples(
        "rankadjust verify results/release", "rankadjust verify results/release resources/database"
    )
)
@click.argument("folder", type=_PATH)
@click.argument("other", type=_PATH, required=False)
@_json
def verify(folder: Path, other: Path | None, as_json: bool) -> None:
    """Compare the database in a folder with the database in another folder, or with the release.

    For each file: identical, equal within the stated accuracy, or what differs. The digests of both are checked, and
    that the constants of every row agree with each other. The exit code is 1 if anything differs by more.
    """
    from rankadjust.database.verification import verify as compare

    comparisons = compare(folder, other)
    if as_json:
        _print_json([asdict(comparison) for comparison in comparisons])
    else:
        words = {
            "identical": "identical",
            "equal": "equal within the stated accuracy",
            "different": "different",
        }
        for comparison in comparisons:
            _echo(f"{comparison.file}: {words[comparison.verdict]}")
            for line in comparison.lines:
                _echo(f"  {line}")
    sys.exit(1 if any(comparison.verdict == "different" for comparison in comparisons) else 0)


@commands.command()
@click.argument("folder", type=_PATH, default=Path())
@_json
def doctor(folder: Path, as_json: bool) -> None:
    """Say what is wrong with this machine, the installation and the results in FOLDER, and what to do about it.

    FOLDER is where runs work; unsaid, the folder of work. Of path, locale, clock, disk, versions of packages, shipped
    tables and results there is a line each, and a line for each problem. The exit code is 1 if there is any.
    """
    from rankadjust.doctor import examine

    findings = examine(folder)
    if as_json:
        _print_json([finding._asdict() for finding in findings])
    else:
        for about, line, wrong in findings:
            _echo(f"{'wrong' if wrong else 'ok':<6} {about:<9} {line}")
    sys.exit(1 if any(finding.wrong for finding in findings) else 0)


@commands.command()
@_options(_results, _database, _json)
def datasets(results: Path | None, database: Path | None, as_json: bool) -> None:
    """List the data sets that are registered or in the database."""
    from rankadjust.database.overview import known_datasets
    from rankadjust.output.terminal import table

    rows = known_datasets(_constants(results, database))
    names = ("name", "kind", "protocols", "aliases")
    lists = [[*row[:2], *(text.split(", ") if text else [] for text in row[2:])] for row in rows]
    header = ("data set", "kind", "in the database", "also called")
    _show(
        lambda: [dict(zip(names, row, strict=True)) for row in lists],
        lambda: table(header, rows, left=4),
        as_json,
    )


@commands.command()
@_options(_json)
def protocols(as_json: bool) -> None:
    """List the named evaluation protocols."""
    from rankadjust.counting.protocols import load_protocols
    from rankadjust.output.listings import SAMPLED, SAMPLED_DESCRIPTION

    rows = {name: protocol.description for name, protocol in load_protocols().items()}
    rows[SAMPLED] = SAMPLED_DESCRIPTION
    if as_json:
        _print_json([{"name": name, "description": description} for name, description in rows.items()])
        return
    width = max(map(len, rows)) + 2
    for name, description in rows.items():
        _echo(textwrap.fill(description, 90, initial_indent=name.ljust(width), subsequent_indent=width * " "))


@commands.command()
@_options(_json)
def metrics(as_json: bool) -> None:
    """List the metrics: their names, the range of their values, and which direction is better."""
    from rankadjust.output.listings import metric_rows
    from rankadjust.output.terminal import table

    rows = metric_rows()
    header = ("metric", "also called", "range", "better", "adjusted")
    shown = [
        (
            row["name"],
            ", ".join(row["aliases"]),
            f"{row['lower']:g} to {'any' if row['upper'] is None else format(row['upper'], 'g')}",
            row["better"] or "",
            "yes" if row["adjusted"] else "no",
        )
        for row in rows
    ]
    note = "k is any whole number, as in hits@10; the range is given for k = 10."
    _show(lambda: rows, lambda: f"{table(header, shown, left=len(header))}\n{note}", as_json)


def _write(
    frame: "pl.DataFrame",
    path: Path,
    everything: Callable[[], object] | None = None,
    for_paper: "Callable[[], pl.DataFrame] | None" = None,
) -> None:
    """Write a frame; as JSON what `everything` returns, and as Markdown or LaTeX the table of text of `for_paper`."""
    from rankadjust.base.files import write_csv, write_parquet, write_text, write_tsv

    if path.suffix == ".json" and everything is not None:
        write_text(_json_text(everything()) + "\n", path)
    elif path.suffix in (".md", ".tex") and for_paper is not None:
        from rankadjust.output.rendering import to_latex, to_markdown

        write_text((to_latex if path.suffix == ".tex" else to_markdown)(for_paper()), path)
    elif path.suffix == ".md":
        from rankadjust.output.formatting import markdown_table

        write_text(markdown_table(frame), path)
    else:
        {".parquet": write_parquet, ".tsv": write_tsv}.get(path.suffix, write_csv)(frame, path)


def _show(data: Callable[[], object], text: Callable[[], str], as_json: bool) -> None:
    """Print data as JSON, or else text."""
    if as_json:
        _print_json(data())
    else:
        _echo(text())


def _print_json(data: object) -> None:
    from rankadjust.base.visible import visible_json

    click.echo(visible_json(_json_text(data)))


def _json_text(data: object) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)
    except ValueError:
        raise RankadjustError("a result is not finite and cannot be written as JSON") from None


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
    from rankadjust.output.listings import metric_rows

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
for _option in [option for command in commands.commands.values() for option in command.params]:
    if _option.name in _COMPLETED and isinstance(_option.type, click.types.StringParamType):
        _option.type = _Name(_COMPLETED[_option.name])
