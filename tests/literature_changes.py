"""Which rows of the shipped literature another revision read or adjusted in another way, and how.

    .venv/bin/python -m tests.literature_changes b0415d4 > docs/literature-changes.md

Each revision adjusts its own tables with its own code and its own constants. Rows are the same where file and line are.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import polars as pl

PROJECT = Path(__file__).parent.parent
# Runs in the folder of a revision, whose modules come first on the path.
_ADJUST = """
import sys
from pathlib import Path
import polars as pl
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy
tables = [read_tidy(path) for path in sorted(Path("resources/published").glob("*.csv"))]
rescore(pl.concat(tables, how="diagonal")).write_parquet(sys.argv[1])
"""
FACTS = [
    "dataset",
    "split",
    "side",
    "protocol",
    "metric",
    "unit",
    "value",
    "spread",
    "notes",
    "caveat",
    "status",
]
COMPARED = [*FACTS, "number of entities", "expectation"]


def adjusted(revision: str | None, folder: Path) -> pl.DataFrame:
    """Return the rows of a revision, or of the working tree, with every compared column as text."""
    source = PROJECT
    if revision is not None:
        archive = folder / f"{revision}.tar"
        subprocess.run(["git", "archive", "-o", archive, revision], cwd=PROJECT, check=True)
        source = folder / revision
        with tarfile.open(archive) as files:
            files.extractall(source, filter="data")
    rows = folder / "rows.parquet"
    subprocess.run(
        [sys.executable, "-c", _ADJUST, rows], cwd=source, env={"PYTHONPATH": str(source)}, check=True
    )
    bounds = [_rounded(f"expectation_{end}") for end in ("low", "high")]
    expectation = (
        pl.when(bounds[0] != bounds[1])
        .then(pl.format("{} to {}", *bounds))
        .otherwise(pl.coalesce(_rounded("expectation"), bounds[0]))
    )
    return pl.read_parquet(rows).select(
        "file",
        "file_line",
        pl.col(FACTS).cast(pl.String).fill_null(""),
        pl.col("entities").cast(pl.String).fill_null("").alias("number of entities"),
        expectation.fill_null("").alias("expectation"),
    )


def _rounded(column: str) -> pl.Expr:
    # Six digits: another order of summation changes the last of sixteen.
    return pl.col(column).round_sig_figs(6).cast(pl.String)


def changes(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each file, column, and pair of words before and after, with the lines of the file."""
    key = ["file", "file_line"]
    long = [
        rows.unpivot(COMPARED, index=key, variable_name="column", value_name="word")
        for rows in (before, after)
    ]
    return (
        long[0]
        .join(long[1], on=[*key, "column"], suffix="_after")
        .filter(pl.col("word") != pl.col("word_after"))
        .group_by("file", "column", before="word", after="word_after")
        .agg(pl.col("file_line").sort())
        .sort("file", "column", pl.col("file_line").list.first())
    )


def ranges(lines: list[int]) -> str:
    """Return line numbers as people write them: '2 to 5, 9'."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in runs)


def page(revision: str) -> str:
    """Return the page that names every row that changed since a revision."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = (adjusted(name, Path(folder)) for name in (revision, None))
    found = changes(before, after)
    added = after.join(before, on=["file", "file_line"], how="anti").group_by("file").len().sort("file")
    rows = found.explode("file_line").select("file", "file_line").n_unique()
    columns = (
        found.with_columns(rows=pl.col("file_line").list.len())
        .group_by("column")
        .agg(pl.col("rows").sum(), files=pl.col("file").n_unique())
        .sort("rows", descending=True)
    )
    lines = [
        f"# Rows of the literature that changed since {revision}",
        "",
        f"Written by `python -m tests.literature_changes {revision}`, which adjusts the tables of that revision",
        "with its code and its constants, and the tables of this revision with the code and constants of today. A line",
        "has the number that it has in the file of `resources/published/`. The reasons are in",
        "[literature-rows.md](literature-rows.md).",
        "",
        f"Of {before.height:,} rows {rows:,} changed, and {added['len'].sum():,} are new. New files:",
        "",
        "| file | rows |",
        "| --- | --- |",
        *(f"| {name} | {number} |" for name, number in added.iter_rows()),
        "",
        "| column | rows | files |",
        "| --- | --- | --- |",
        *(f"| {name} | {number:,} | {files} |" for name, number, files in columns.iter_rows()),
    ]
    for (file,), part in found.group_by("file", maintain_order=True):
        lines += ["", f"## {file}", "", "| column | before | after | lines |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {name} | {old or '(empty)'} | {new or '(empty)'} | {ranges(numbers)} |"
            for name, old, new, numbers in part.select("column", "before", "after", "file_line").iter_rows()
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
