"""Turn an author's table into the parts of a paper: adjusted table, figure, methods sentences, and a check list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, installed_by
from rankadjust.base.io import to_csv, write_folder
from rankadjust.data.registry import Dataset
from rankadjust.database.constants import Constants, Database
from rankadjust.database.store import released_version
from rankadjust.literature.assumptions import assumptions, with_defaults_named
from rankadjust.literature.contradictions import check as find_contradictions
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import Results, read_results
from rankadjust.literature.statuses import problems
from rankadjust.literature.tidy import where_of
from rankadjust.manuscript.latex_tables import (
    Column,
    adjusted_source,
    as_text,
    columns_of,
    for_a_page,
    in_float,
    new_columns,
    table_body,
    tidy_columns,
)
from rankadjust.manuscript.printed_scores import SCORES, scored
from rankadjust.manuscript.ranks import looks_like_ranks, marks_of_ranks, rows_of_ranks, test_sentence
from rankadjust.manuscript.wording import REFERENCES, caption_note, methods
from rankadjust.output.comparison_text import comparison
from rankadjust.output.markup import to_markdown
from rankadjust.output.terminal import assumed_facts
from rankadjust.tables.files import SUFFIXES

_SCALE = 4.0
_WIDEST = 24
"""A table with more columns does not fit on a page: a tool has written it."""
_MOST_LINES = 60


@dataclass(frozen=True)
class Paper:
    """The files for a paper, and the values behind them.

    values: the printed values, re-scored, with score, shown and mark. files: name -> text or bytes.
    """

    values: pl.DataFrame
    files: Mapping[str, str | bytes]

    def write(self, folder: str | Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
        """Write the files into a folder, which is made if it does not exist.

        Raises RankadjustError where that would overwrite one of the inputs, or a file that was not written here; force:
        overwrite files of others, but no input.
        """
        write_folder(self.files, Path(folder), inputs, force=force)


def paper(  # noqa: PLR0913 - options of the public API, by name only
    source: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    dataset: str | None = None,
    model: str | None = None,
    split: str | None = None,
    side: str | None = None,
    protocol: str | None = None,
    task: str | None = None,
    sidecar: str | Path | None = None,
    score: str = SCORES[0],
    replace: bool = False,
    figure: bool = True,
    database: Database = None,
    force: bool = False,
) -> Paper:
    r"""Make the adjusted table, the figure and the methods sentences of a paper from a table of results.

    Parameters
    ----------
    source
        The author's table: LaTeX, Markdown, CSV, HTML, a tidy table, or the result file of a tool. Or the ranks of
        two models or more, as `rankadjust.compare` takes them.
    output
        The folder to write to; None writes nothing.
    dataset, model, split, side, protocol, task
        Facts that the table does not say, or facts about the ranks. Default for ranks: filtered, testing split.
    sidecar
        A YAML file with facts that the table does not say; None means the sidecar beside the table.
    score
        'recommended' (docs/which-number.md), or 'index' or 'gain' for every value.
    replace
        Put each adjusted number in place of the printed one, and not into a column beside it.
    figure
        Draw figure.pdf, figure.svg and figure.png.
    database
        As `rankadjust.rescore` takes it; None means the released database.
    force
        Overwrite files of the folder that were not written here, or were edited since; never an input.

    Returns
    -------
    Paper
        Its files are table.tex, table.md, table.csv, methods.tex, references.bib, check.md and the figures. If the
        table is LaTeX, only new columns, spans over new columns and the caption change; every other character stays.

    Raises
    ------
    RankadjustError
        If the file cannot be read, or none of its values can be adjusted. If a file would be overwritten that was not
        written here.

    Examples
    --------
    >>> import tempfile
    >>> table = Path(tempfile.mkdtemp(), "table.md")
    >>> _ = table.write_text("| Model | Nations MRR |\n|---|---|\n| TuckER | 0.702 |\n")
    >>> made = paper(table, split="test", side="both", protocol="filtered", figure=False)
    >>> print(made.files["table.csv"])
    Model,Nations MRR,Nations MRR adj.
    TuckER,0.702,0.516
    <BLANKLINE>

    """
    constants = Constants.given(database)
    sources = [Path(source)] if isinstance(source, str | Path) else list(map(Path, source))
    if looks_like_ranks(sources):
        made = _of_ranks(sources, dataset, protocol or "filtered", split or "testing", constants, score)
    else:
        facts = {"dataset": dataset, "model": model, "split": split, "side": side}
        facts |= {"protocol": protocol, "task": task}
        results = read_results(sources[0], constants.registry, sidecar, facts)
        made = paper_of_results(sources[0], results, constants, score=score, replace=replace)
    if figure:
        made = with_figures(made)
    if output is not None:
        given = [*sources, *([Path(sidecar)] if sidecar is not None else [])]
        made.write(output, given, force=force)
    return made


class NothingAdjustedError(RankadjustError):
    """A table without a value that could be adjusted: there is nothing to print."""


def paper_of_results(
    path: Path,
    results: Results,
    constants: Constants,
    registry: Mapping[str, Dataset] | None = None,
    *,
    score: str = SCORES[0],
    replace: bool = False,
) -> Paper:
    """Return the paper of results that were read, without the figure.

    path: the file that the results were read from. registry: the data sets with their aliases; None means the
    registry of the constants. Raises NothingAdjustedError, a RankadjustError.
    """
    if results.rows.is_empty():
        raise NothingAdjustedError(f"{path}: no value was read; 'rankadjust read {path}' says why")
    rescored = rescore(with_defaults_named(results.rows), constants, registry=registry)
    places = [name for name in ("grid", "row", "column") if name in rescored.columns]
    rows = scored(rescored.with_columns(pl.col(places).cast(pl.Int64)), score)
    if not rows["index"].count():
        raise NothingAdjustedError(
            f"{path}: no value could be adjusted; 'rankadjust rescore {path}' says why"
        )
    tables, remarks = _tables(path, results, rows, caption_note(rows), replace=replace)
    check = _check_list(rows, constants, results.unread, remarks)
    return _paper(rows, tables, methods(rows, _database_of(constants)), check)


def _check_list(
    rows: pl.DataFrame, constants: Constants, unread: Sequence[str], remarks: Sequence[str]
) -> str:
    """Return what an author looks at before printing the table, as Markdown.

    rows: the values with score, shown and mark. unread: a line for each cell that could not be read. remarks: further
    remarks for the author on the files that were written.
    """
    facts = assumptions(with_defaults_named(rows))
    findings = find_contradictions(rows.drop("score", "shown", "mark"), constants)
    model = pl.col("model") if "model" in findings.columns else pl.lit(None)
    lines = [
        f"- {where}: {model or 'no model'}: {severity}: {message}"
        for where, model, severity, message in findings.select(
            where_of(findings), model, "severity", "message"
        ).iter_rows()
    ]
    parts = {
        "Contradictions": "\n".join(lines) or "None was found.",
        "What the table does not say": f"```text\n{assumed_facts(facts)}\n```"
        if facts.height
        else "Nothing was assumed.",
        "What was not adjusted": "\n".join(f"- {line}" for line in [*unread, *problems(rows)])
        or "Every value was.",
        **({"Remarks": "\n".join(f"- {line}" for line in remarks)} if remarks else {}),
    }
    return "\n\n".join(["# Check", *(f"## {title}\n\n{text}" for title, text in parts.items())]) + "\n"


def _of_ranks(
    sources: Sequence[Path], dataset: str | None, protocol: str, split: str, constants: Constants, score: str
) -> Paper:
    """Return the paper of models that are known by their ranks, without the figure."""
    if dataset is None:
        raise RankadjustError(
            "the data set of these ranks is missing; give --dataset (from Python: dataset=)"
        )
    rows, compared = rows_of_ranks(sources, dataset, protocol=protocol, split=split, constants=constants)
    rows = scored(rows, score, marks_of_ranks(rows))
    tables = _set_anew([tidy_columns(rows)], caption_note(rows))
    sentences = f"{methods(rows, _database_of(constants))}{test_sentence(compared)}\n"
    return _paper(rows, tables, sentences, f"# Check\n\n```text\n{comparison(compared)}\n```\n")


def _paper(rows: pl.DataFrame, tables: Mapping[str, str | bytes], sentences: str, check: str) -> Paper:
    texts = {"methods.tex": sentences, "references.bib": REFERENCES, "check.md": check}
    return Paper(rows, {**tables, **texts})


def _database_of(constants: Constants) -> str | None:
    """Return the name of the database with its version; None for the database of a run, which has no version."""
    released = released_version() if constants.file is None else None
    return None if released is None else f"database {released[0]}"


def _set_anew(tables: Sequence[Sequence[Column]], note: str) -> dict[str, str | bytes]:
    """Return tables as LaTeX, Markdown and CSV by the names of the files."""
    bodies = "\n".join(in_float(note, table_body(columns)) for columns in tables)
    return {"table.tex": f"% \\usepackage{{booktabs,adjustbox}}\n{bodies}", **_as_text(tables)}


def _as_text(tables: Sequence[Sequence[Column]]) -> dict[str, str | bytes]:
    """Return tables as Markdown and CSV by the names of the files."""
    frames = list(map(as_text, tables))
    names = (
        ["table.csv"] if len(frames) == 1 else [f"table-{number + 1}.csv" for number in range(len(frames))]
    )
    return {
        "table.md": "\n".join(map(to_markdown, frames)),
        **dict(zip(names, map(to_csv, frames), strict=True)),
    }


def _tables(
    path: Path, results: Results, rows: pl.DataFrame, note: str, *, replace: bool
) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the table as LaTeX, Markdown and CSV by the names of the files, and remarks."""
    reading = results.reading
    if reading is None:
        return _set_anew([tidy_columns(rows)], note), []
    shown = [table for table in reading.tables if rows.filter(grid=table.number).height]
    widest = max(len(table.layout.columns) for table in shown)
    written_in = SUFFIXES.get(path.suffix.lower())
    if widest > _WIDEST or written_in in ("JSON", "YAML"):
        kept = for_a_page(rows)
        remark = (
            f"a tool has written these {widest} columns: table.tex has {kept.height} of {rows.height} values; "
            f"'rankadjust rescore {path}' has all"
        )
        return _set_anew([tidy_columns(kept)], note), [remark]
    new = [columns_of(table, new_columns(table, rows), replace=replace) for table in shown]
    if written_in != "LaTeX":
        return _set_anew(new, note), []
    source = path.read_bytes().decode("utf-8", errors="surrogateescape")
    text, remarks = adjusted_source(source, reading.tables, rows, note=note, replace=replace)
    return {"table.tex": text.encode("utf-8", errors="surrogateescape"), **_as_text(new)}, remarks


def with_figures(made: Paper) -> Paper:
    """Return a paper with figure.pdf, figure.svg and figure.png added, if a model has an index."""
    return replace(made, files={**made.files, **_figures(made)})


def _figures(made: Paper) -> dict[str, bytes | str]:
    """Return the figure in three formats by the names of the files; nothing if no model has an index."""
    try:
        from rankadjust.manuscript.figure import chart, plotted  # noqa: PLC0415 - the plain install cannot draw
        from rankadjust.output.pictures import pdf_picture, png_picture, svg_picture  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise RankadjustError(
            f"the figure needs the module {error.name}; {installed_by('workflow')}, or leave it out (--no-figure)"
        ) from None
    shown = plotted(made.values)
    if shown.is_empty():
        return {}
    if shown.height > _MOST_LINES:
        return {
            "check.md": f"{made.files['check.md']!s}\nNo figure: {shown.height:,} results fit on no page.\n"
        }
    specification = chart(shown).to_dict()
    return {
        "figure.pdf": pdf_picture(specification),
        "figure.svg": svg_picture(specification),
        "figure.png": png_picture(specification, _SCALE),
    }
