"""Turn an author's table into the parts of a paper: the table with chance and counting, methods, check list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import require_frame
from rankadjust.base.io import write_folder
from rankadjust.data.registry import Dataset
from rankadjust.database.constants import Constants, Database
from rankadjust.database.store import released_version
from rankadjust.literature.assumptions import assumptions, with_defaults_named
from rankadjust.literature.contradictions import check as find_contradictions
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import Results, read_results
from rankadjust.literature.single_values import SEVERITIES
from rankadjust.literature.statuses import problems
from rankadjust.literature.tidy import long_table
from rankadjust.manuscript.latex_tables import (
    Whole,
    additions_to,
    adjusted_source,
    as_text,
    for_a_page,
    in_float,
    table_body,
    tidy_table,
    whole_table,
)
from rankadjust.manuscript.reference_rows import with_chance_matters
from rankadjust.manuscript.wording import (
    REFERENCES,
    caption_note,
    citation_command,
    in_short,
    methods,
)
from rankadjust.output.markup import to_markdown
from rankadjust.output.reading_text import unread_cells
from rankadjust.output.terminal import assumed_facts
from rankadjust.tables.files import SUFFIXES

_WIDEST = 24
"""A table with more columns does not fit on a page: a tool has written it."""
_MOST_POINTS = 8
# The names by which authors call their own model.
_OWN = r"(?i)\b(?:ours?|proposed|this work)\b"


@dataclass(frozen=True)
class Paper:
    """The files for a paper, and the values behind them.

    values: the printed values, re-scored, with chance_matters. files: name -> text or bytes.
    """

    values: pl.DataFrame
    files: Mapping[str, str | bytes]

    @property
    def latex(self) -> str:
        """The table as LaTeX."""
        text = self.files["table.tex"]
        return text if isinstance(text, str) else text.decode("utf-8", errors="surrogateescape")

    def write(self, folder: str | Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
        """Write the files into a folder, which is made if it does not exist.

        Raises RankadjustError where that would overwrite one of the inputs, or a file that was not written here; force:
        overwrite files of others, but no input.
        """
        write_folder(self.files, Path(folder), inputs, force=force)


def paper(  # noqa: PLR0913 - options of the public API, by name only
    source: str | Path | pl.DataFrame,
    output: str | Path | None = None,
    *,
    dataset: str | None = None,
    model: str | None = None,
    split: str | None = None,
    side: str | None = None,
    protocol: str | None = None,
    task: str | None = None,
    sidecar: str | Path | None = None,
    score: str | None = None,
    database: Database = None,
    force: bool = False,
) -> Paper:
    r"""Make the files for a paper from a table of results: rows for counting and chance, methods, and what to check.

    Parameters
    ----------
    source
        The author's table: LaTeX, Markdown, CSV, HTML, a tidy table (a file or a frame), or the result file of a tool.
    output
        The folder to write to; None writes nothing.
    dataset, model, split, side, protocol, task
        Facts that the table does not say.
    sidecar
        A YAML file with facts that the table does not say; None means the sidecar beside the table.
    score
        None adds rows. 'recommended', 'index' or 'gain' adds one column a data set instead, for its MRR, or else its
        Hits@10; recommended is the index where chance is more than 1 % of the values, else the gain.
    database
        As `rankadjust.rescore` takes it; None means the released database.
    force
        Overwrite files of the folder that were not written here, or were edited since; never an input.

    Returns
    -------
    Paper
        Its files are table.tex, table.md, methods.tex, references.bib and check.md. If the table is LaTeX,
        only new rows or columns and the caption change; every other character stays.

    Raises
    ------
    RankadjustError
        If the file cannot be read, or none of its values can be adjusted. If a file would be overwritten that was not
        written here.

    Examples
    --------
    >>> results = pl.DataFrame({"model": "TuckER", "dataset": "Nations", "MRR": ["0.702"]})
    >>> made = paper(results)
    >>> print(made.files["table.md"])
    | Model                 | Nations / MRR |
    | --------------------- | ------------: |
    | TuckER                | 0.702         |
    | Counting (redundancy) | 0.815         |
    | Chance                | 0.384         |
    <BLANKLINE>

    """
    constants = Constants.given(database)
    facts = {"dataset": dataset, "model": model, "split": split, "side": side}
    facts |= {"protocol": protocol, "task": task}
    sources = [Path(source)] if isinstance(source, str | Path) else []
    if sources:
        results = read_results(sources[0], constants.registry, sidecar, facts)
    else:
        results = Results(long_table(require_frame(source, "the table")))
    made = paper_of_results(sources[0] if sources else Path("the table"), results, constants, score=score)
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
    score: str | None = None,
) -> Paper:
    """Return the paper of results that were read.

    path: the file that the results were read from. registry: the data sets with their aliases; None means the
    registry of the constants. Raises NothingAdjustedError, a RankadjustError.
    """
    if results.rows.is_empty():
        raise NothingAdjustedError(f"{path}: no value was read; 'rankadjust read {path}' says why")
    rescored = rescore(with_defaults_named(results.rows), constants, registry=registry)
    if "model" not in rescored.columns:
        rescored = rescored.with_columns(model=pl.lit(None, dtype=pl.String))
    places = [name for name in ("grid", "row", "column") if name in rescored.columns]
    rows = with_chance_matters(rescored.with_columns(pl.col(places).cast(pl.Int64)))
    if not rows["index"].count():
        raise NothingAdjustedError(
            f"{path}: no value could be adjusted; 'rankadjust rescore {path}' says why"
        )
    tables, remarks = _tables(path, results, rows, score)
    sentences = methods(rows, _database_of(constants), citation_command(path))
    return _paper(
        rows, tables, sentences, _check_list(path, rows, constants, unread_cells(results.reading), remarks)
    )


def _check_list(
    path: Path, rows: pl.DataFrame, constants: Constants, unread: Sequence[str], remarks: Sequence[str]
) -> str:
    """Return what an author looks at before printing the table, as Markdown of at most a page.

    unread: a line for each cell that could not be read. remarks: further remarks on the files that were written.
    """
    facts = assumptions(with_defaults_named(rows)) if "file" in rows.columns else pl.DataFrame()
    findings = find_contradictions(rows.with_columns(pl.col("model").fill_null("a model")), constants)
    order = pl.col("severity").replace_strict({name: place for place, name in enumerate(SEVERITIES)})
    findings = findings.filter(pl.col("severity") != "unusual")
    findings = findings.sort(~pl.col("model").str.contains(_OWN), order, maintain_order=True)
    wrong = [
        f"{name}, {dataset}: {severity}: {message}"
        for name, dataset, severity, message in findings.select(
            "model", "dataset", "severity", "message"
        ).iter_rows()
    ]
    parts = {
        "To be corrected first": _points(wrong, f"'rankadjust check {path}' has all")
        or "Nothing contradicts.",
        "Assumed, since the table does not say it": f"```text\n{assumed_facts(facts)}\n```"
        if facts.height
        else "",
        "To be written about chance and counting": _points(in_short(rows, _OWN), "methods.tex has all"),
        "Not placed or not adjusted": _points(
            [*remarks, *unread, *problems(rows)], f"'rankadjust rescore {path}' has all"
        ),
    }
    said = (f"## {title}\n\n{text}" for title, text in parts.items() if text)
    return "\n\n".join(["# Before this is printed", *said]) + "\n"


def _points(lines: Sequence[str], more: str) -> str:
    """Return the first few lines as a Markdown list."""
    rest = [f"- … and {len(lines) - _MOST_POINTS} more: {more}"] if len(lines) > _MOST_POINTS else []
    return "\n".join([*(f"- {line}" for line in lines[:_MOST_POINTS]), *rest])


def _paper(rows: pl.DataFrame, tables: Mapping[str, str | bytes], sentences: str, check: str) -> Paper:
    texts = {"methods.tex": sentences, "references.bib": REFERENCES, "check.md": check}
    return Paper(rows, {**tables, **texts})


def _database_of(constants: Constants) -> str | None:
    """Return the name of the database with its version; None for the database of a run, which has no version."""
    released = released_version() if constants.file is None else None
    return None if released is None else f"database {released[0]}"


def _set_anew(tables: Sequence[Whole], note: str) -> dict[str, str | bytes]:
    """Return tables as LaTeX and Markdown by the names of the files."""
    bodies = "\n".join(in_float(note, table_body(whole)) for whole in tables)
    return {"table.tex": f"% \\usepackage{{booktabs,adjustbox}}\n{bodies}", "table.md": _as_markdown(tables)}


def _as_markdown(tables: Sequence[Whole]) -> str:
    return "\n".join(to_markdown(as_text(whole)) for whole in tables)


def _tables(
    path: Path, results: Results, rows: pl.DataFrame, score: str | None
) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the table as LaTeX and Markdown by the names of the files, and remarks."""
    reading, note = results.reading, caption_note(rows, score)
    if reading is None:
        return _set_anew([tidy_table(rows, score)], note), []
    shown = [table for table in reading.tables if rows.filter(grid=table.number).height]
    widest = max(len(table.columns) for table in shown)
    written_in = SUFFIXES.get(path.suffix.lower())
    if widest > _WIDEST or written_in in ("JSON", "YAML"):
        kept = for_a_page(rows)
        remark = (
            f"a tool has written these {widest} columns: table.tex has {kept.height} of {rows.height} values; "
            f"'rankadjust rescore {path}' has all"
        )
        return _set_anew([tidy_table(kept, score)], note), [remark]
    added = {table.number: additions_to(table, rows, score) for table in shown}
    new = [whole_table(table, added[table.number]) for table in shown]
    if written_in != "LaTeX":
        return _set_anew(new, note), []
    source = path.read_bytes().decode("utf-8", errors="surrogateescape")
    notes = {table.number: caption_note(rows.filter(grid=table.number), score) for table in shown}
    text, remarks = adjusted_source(source, shown, added, notes)
    return {
        "table.tex": text.encode("utf-8", errors="surrogateescape"),
        "table.md": _as_markdown(new),
    }, remarks
