"""From an author's table to the camera-ready one: the table, a figure, the methods, and what to check before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, installed_by
from rankadjust.base.files import write_bytes, write_text
from rankadjust.base.spreadsheets import to_csv
from rankadjust.database.constants import Constants, Database
from rankadjust.database.store import released_seal
from rankadjust.literature.assumptions import with_defaults_named
from rankadjust.literature.rescore import rescore
from rankadjust.literature.results import Results, read_results
from rankadjust.manuscript.checking import report
from rankadjust.manuscript.latex import adjusted_source, float_head, new_columns, table_body
from rankadjust.manuscript.ranks import looks_like_ranks, marks_of_ranks, rows_of_ranks, test_sentence
from rankadjust.manuscript.scores import SCORES, scored
from rankadjust.manuscript.tidy import tidy_frame, tidy_latex
from rankadjust.manuscript.wording import REFERENCES, caption_note, methods
from rankadjust.output.comparison import comparison
from rankadjust.output.rendering import to_markdown, with_columns
from rankadjust.tables.files import SUFFIXES

_SCALE = 4.0


@dataclass(frozen=True)
class Paper:
    """What belongs into a paper.

    values: the printed values, re-scored, with score, shown and mark. files: name -> text or bytes.
    """

    values: pl.DataFrame
    files: Mapping[str, str | bytes]

    def write(self, folder: str | Path) -> None:
        """Write the files into a folder, which is made where there is none."""
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise RankadjustError(f"{folder}: this is a file; name a folder for table.tex and the others")
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            if isinstance(content, str):
                write_text(content, folder / name)
            else:
                write_bytes(content, folder / name)


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
) -> Paper:
    r"""Make what a paper needs of a table of results.

    Parameters
    ----------
    source
        The author's table: LaTeX, Markdown, CSV, HTML, a tidy table, or the result file of a tool. Or the ranks of
        two models or more, as `rankadjust.compare` takes them.
    output
        The folder to write to; None writes nothing.
    dataset, model, split, side, protocol, task
        What the table does not say, or what the ranks are of: those are filtered and of the testing split where
        nothing is given.
    sidecar
        A YAML file that states what the table does not; None means the one beside it.
    score
        'recommended' (docs/which-number.md), or 'index' or 'gain' for every value.
    replace
        Put each adjusted number in place of the printed one, and not into a column beside it.
    figure
        Draw figure.pdf, figure.svg and figure.png.
    database
        As `rankadjust.rescore` takes it; None means the released one.

    Returns
    -------
    Paper
        Its files are table.tex, table.md, table.csv, methods.tex, references.bib, check.md and the figures. A table
        that is LaTeX already keeps every character that is not part of a new column, of a span or of its caption.

    Raises
    ------
    RankadjustError
        Where the file cannot be read, or none of its values can be adjusted.

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
        rows, files = _of_ranks(
            sources, dataset, protocol or "filtered", split or "testing", constants, score
        )
    else:
        facts = {"dataset": dataset, "model": model, "split": split, "side": side}
        facts |= {"protocol": protocol, "task": task}
        found = read_results(sources[0], constants.registry, sidecar, facts)
        rows, files = _of_table(sources[0], found, constants, score, replace=replace)
    files |= {"references.bib": REFERENCES} | (_figures(rows) if figure else {})
    made = Paper(rows, dict(sorted(files.items())))
    if output is not None:
        made.write(output)
    return made


def _of_table(
    path: Path, found: Results, constants: Constants, score: str, *, replace: bool
) -> tuple[pl.DataFrame, dict[str, str | bytes]]:
    """Return the values of a printed table, and the files that follow from it."""
    if found.rows.is_empty():
        raise RankadjustError(f"{path}: no value was read; 'rankadjust read {path}' says why")
    rescored = rescore(with_defaults_named(found.rows), constants)
    places = [name for name in ("grid", "row", "column") if name in rescored.columns]
    rows = scored(rescored.with_columns(pl.col(places).cast(pl.Int64)), constants, score)
    if not rows["index"].count():
        raise RankadjustError(f"{path}: no value could be adjusted; 'rankadjust rescore {path}' says why")
    tables, remarks = _tables(path, found, rows, caption_note(rows), replace=replace)
    return rows, {
        **tables,
        "methods.tex": methods(rows, _database_of(constants)),
        "check.md": report(rows, constants, found.unread, remarks),
    }


def _of_ranks(
    sources: Sequence[Path], dataset: str | None, protocol: str, split: str, constants: Constants, score: str
) -> tuple[pl.DataFrame, dict[str, str | bytes]]:
    """Return the values of models known by their ranks, and the files that follow from them."""
    if dataset is None:
        raise RankadjustError("of which data set are these ranks? give --dataset (from Python: dataset=)")
    rows, compared = rows_of_ranks(sources, dataset, protocol=protocol, split=split, constants=constants)
    rows = scored(rows, constants, score, marks_of_ranks(rows))
    return rows, {
        **_tidy_tables(rows, caption_note(rows, tested=True)),
        "methods.tex": f"{methods(rows, _database_of(constants))}{test_sentence(compared)}\n",
        "check.md": f"# Check\n\n```text\n{comparison(compared)}\n```\n",
    }


def _database_of(constants: Constants) -> str | None:
    """Return what names the database of constants; that of a run has no version."""
    seal = released_seal() if constants.file is None else None
    return None if seal is None else f"database {seal.version}"


def _tidy_tables(rows: pl.DataFrame, note: str) -> dict[str, str | bytes]:
    frame = tidy_frame(rows)
    return {"table.tex": tidy_latex(rows, note), "table.md": to_markdown(frame), "table.csv": to_csv(frame)}


def _tables(
    path: Path, found: Results, rows: pl.DataFrame, note: str, *, replace: bool
) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the table as LaTeX, Markdown and CSV by the names of the files, and remarks."""
    if found.reading is None:
        return _tidy_tables(rows, note), []
    reading = found.reading
    new = {table.number: new_columns(table, rows) for table in reading.tables}
    read = {table.number for table in reading.tables if rows.filter(grid=table.number).height}
    shown = [table for table in reading.tables if table.number in read]
    frames = []
    for table in shown:
        added = {
            (row, column): (text,)
            for column, numbers in new[table.number].items()
            for row, (text, _) in numbers.texts.items()
        }
        frames.append(with_columns(table, added, ("adj.",)))
    files: dict[str, str | bytes] = {"table.md": "\n".join(map(to_markdown, frames))}
    for number, frame in enumerate(frames, start=1):
        files["table.csv" if len(frames) == 1 else f"table-{number}.csv"] = to_csv(frame)
    if SUFFIXES.get(path.suffix.lower()) == "LaTeX":
        source = path.read_bytes().decode("utf-8", errors="surrogateescape")
        text, remarks = adjusted_source(source, reading.tables, rows, note=note, replace=replace)
        return {"table.tex": text.encode("utf-8", errors="surrogateescape"), **files}, remarks
    bodies = [
        f"{float_head(note)}{table_body(table, new[table.number], replace=replace)}\\end{{table}}\n"
        for table in shown
    ]
    return {"table.tex": "% \\usepackage{booktabs}\n" + "\n".join(bodies), **files}, []


def _figures(rows: pl.DataFrame) -> dict[str, bytes | str]:
    """Return the figure in three formats by the names of the files; nothing where no model has an index."""
    try:
        from rankadjust.manuscript.figure import chart, plotted  # noqa: PLC0415 - drawing is no part of the plain install
        from rankadjust.output.pictures import pdf_picture, png_picture, svg_picture  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise RankadjustError(
            f"the figure needs the module {error.name}; {installed_by('workflow')}, or leave it out (--no-figure)"
        ) from None
    shown = plotted(rows)
    if shown.is_empty():
        return {}
    specification = chart(shown).to_dict()
    return {
        "figure.pdf": pdf_picture(specification),
        "figure.svg": svg_picture(specification),
        "figure.png": png_picture(specification, _SCALE),
    }
