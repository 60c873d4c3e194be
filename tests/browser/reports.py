"""Report pages made by the scripts of the workflow, without the workflow."""

import csv
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from scripts.compare import compare
from scripts.literature import literature
from scripts.render import render
from scripts.rescore import rescore_tables

from rankadjust.database.store import BASELINES, write_baselines
from tests.copies import FEW, PROJECT

# Each would show if it came into the page as anything but text: as an element, a dialog, a request, an error, or as a
# global named pwned or attacked.
HOSTILE = (
    "<script>pwned = 1</script>",
    "</script><script>pwned = 1</script>",
    '"><img src="http://127.0.0.1:9/x.png" onerror="pwned = 1">',
    "' onmouseover='pwned = 1",
    "<!-- <script>",
    "{{ 7 * 7 }} ${pwned = 1} {% raw %}",
    "javascript:pwned=1",
    "=HYPERLINK(1)",
    "\u202eevil\u202c \u2067rtl\u2069",
    "a\u2028b\u2029c",
    '<img src=x onerror="window.attacked = 3">',
    '" autofocus onfocus="window.attacked = 4',
    "<!-- ]]> &lt;b&gt; \u2028\u202eesrever",
    'A &amp; B <img src=x onerror="window.attacked = 6">',
)
FORMULA = '=HYPERLINK("http://example.org","x")'


def hostile_table(path: Path) -> Path:
    """Write a table with each of these names as model, metric, data set, source, year and notes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["dataset", "model", "metric", "value", "source", "source_url", "year", "notes"])
        for name in (*HOSTILE, FORMULA):
            lines.writerow(["Nations", name, "MRR", "0.5", name, "javascript:window.attacked=5", name, name])
            lines.writerow(["Nations", name, name, "0.5", name, "", name, name])
            lines.writerow([name, name, "MRR", "0.5", name, "", name, name])
            lines.writerow([name, "Model", "MRR", "0.5", name, "", name, name])
    return path


def write_report(
    folder: Path, database: Path, released: Path, tables: Sequence[Path], own: Collection[str] = ()
) -> Path:
    """Return report.html in a folder, of a run with this database (datasets.tsv beside it) and these tables.

    released: the released database, for what the run has no constants of. own: the names of tables that are not the
    shipped literature, of which a few tables are shown beside them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rescored, beside = folder / "rescored", folder / "literature.parquet"
    rescored.mkdir()
    copy = beside_each_other(database, folder / "database")
    made = [str(rescored / f"{table.stem}.parquet") for table in tables]
    rescore_tables([str(table) for table in tables], str(copy), str(released), [], rescored)
    if own:
        shipped = [PROJECT / "resources" / "published" / f"{name}.csv" for name in FEW]
        of_own = [str(rescored / f"{name}.parquet") for name in own]
        literature(of_own, list(map(str, shipped)), str(copy), str(released), [], str(beside))
    page = folder / "report.html"
    compared = _compared(made, [str(beside)] * bool(own), copy, released, folder) if made else []
    render(
        rescored=made,
        own=list(own),
        literature=[str(beside)] * bool(own),
        contradictions=[path for path in compared if path.endswith("contradictions.csv")],
        databases=(str(copy), str(released)),
        output=str(page),
    )
    return page


def beside_each_other(database: Path, folder: Path) -> Path:
    """Return a copy of a database, with what stands beside it."""
    folder.mkdir()
    for name in (database.name, "candidates.parquet", "datasets.tsv", BASELINES):
        if database.with_name(name).exists():
            shutil.copy(database.with_name(name), folder / name)
    if not (folder / BASELINES).exists():
        write_baselines([], folder / BASELINES)
    return folder / database.name


def _compared(
    files: Sequence[str],
    beside: Sequence[str],
    database: Path,
    released: Path,
    folder: Path,
) -> list[str]:
    """Write the tables of results/comparison and return their paths."""
    compare(list(files), list(beside), str(database), str(released), folder)
    return sorted(map(str, folder.glob("*.csv")))
