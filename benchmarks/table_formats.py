"""Measure time and memory of reading tables of each format: 100,000 rows with five values, or 10 MB.

Usage: python -m benchmarks.table_formats [--megabytes] [FORMAT ...] (about five minutes of one core)

`rankadjust.tables.reading.read_tables` reads each file in its own process. A line has the name of the file, its
characters and rows, CPU seconds of its format alone (`read_grids`), CPU seconds in all, and the peak memory in MB,
which includes the memory of the process before reading. With `--megabytes` a file has as many rows as fit into 10 MB,
instead of 100,000. Numbers are drawn at random; in the files named `bold` a fifth of the numbers is emphasised.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rankadjust.tables.files import read_grids
from rankadjust.tables.reading import read_tables

HEADER = ["Model", "MR", "MRR", "Hits@1", "Hits@3", "Hits@10"]
WIDTHS = [12, 6, 6, 6, 6, 7]
CHARACTERS = 10_000_000
Row = Sequence[str]


def rows_of(count: int) -> list[list[str]]:
    draw = random.Random(1)
    return [
        [
            f"Model {number}",
            str(draw.randrange(50, 9999)),
            *(f"0.{draw.randrange(1000, 9999)}" for _ in range(4)),
        ]
        for number in range(count)
    ]


def emphasised(rows: Sequence[Row], before: str, after: str) -> list[list[str]]:
    draw = random.Random(2)
    return [[f"{before}{cell}{after}" if draw.random() < 0.2 else cell for cell in row] for row in rows]


def _csv(rows: Sequence[Row]) -> str:
    return "".join(f"{','.join(row)}\n" for row in [HEADER, *rows])


def _markdown(rows: Sequence[Row]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [HEADER, ["---"] * len(HEADER), *rows])


def _html(rows: Sequence[Row]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>\n"


def _latex(rows: Sequence[Row]) -> str:
    lines = [f"{' & '.join(row)} \\\\\n" for row in [HEADER, *rows]]
    return "\\begin{tabular}{lrrrrr}\n" + lines[0] + "\\midrule\n" + "".join(lines[1:]) + "\\end{tabular}\n"


def _columns(row: Row, gap: str = "  ") -> str:
    return gap.join(cell.ljust(width) for cell, width in zip(row, WIDTHS, strict=True))


def _fixed_width(rows: Sequence[Row]) -> str:
    return "".join(f"{_columns(row)}\n" for row in [HEADER, *rows])


def _json_lines(rows: Sequence[Row]) -> str:
    return "".join(f"{json.dumps(dict(zip(HEADER, row, strict=True)))}\n" for row in rows)


def _yaml(rows: Sequence[Row]) -> str:
    pairs = (", ".join(f"{key}: {cell}" for key, cell in zip(HEADER, row, strict=True)) for row in rows)
    return "".join(f"- {{{one}}}\n" for one in pairs)


def _log(rows: Sequence[Row]) -> str:
    pairs = (", ".join(f"{k}: {cell}" for k, cell in zip(HEADER[1:], row[1:], strict=True)) for row in rows)
    return "".join(f"{row[0]} {one}\n" for row, one in zip(rows, pairs, strict=True))


FILES: dict[str, Callable[[Sequence[Row]], str]] = {
    "plain.csv": _csv,
    "plain.md": _markdown,
    "bold.md": lambda rows: _markdown(emphasised(rows, "**", "**")),
    "plain.html": _html,
    "bold.html": lambda rows: _html(emphasised(rows, "<b>", "</b>")),
    "plain.tex": _latex,
    "bold.tex": lambda rows: _latex(emphasised(rows, r"\textbf{", "}")),
    "plain.txt": _fixed_width,
    "plain.jsonl": _json_lines,
    "plain.yaml": _yaml,
    "plain.log": _log,
}


def measure(path: Path) -> None:
    """Print what it takes to read one file."""
    rows = sum(len(grid.rows) for grid in read_grids(path))
    alone = time.process_time()
    read_grids(path)
    alone = time.process_time() - alone
    before = time.process_time()
    values = read_tables(path).values.height
    seconds = time.process_time() - before
    # Linux counts in kB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    characters = path.stat().st_size
    print(f"{path.name},{characters},{rows},{values},{alone:.1f},{seconds:.1f},{peak:.0f}", flush=True)


def main() -> None:
    """Print a line for each file."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--file"]:
        measure(Path(arguments[1]))
        return
    names = [name for name in arguments if name != "--megabytes"] or list(FILES)
    print("file,characters,rows,values,cpu_seconds_of_the_format,cpu_seconds,peak_mb", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            count = 100_000
            if "--megabytes" in arguments:
                count = int(count * CHARACTERS / len(FILES[name](rows_of(count))))
            path = Path(folder) / name
            path.write_text(FILES[name](rows_of(count)))
            subprocess.run(
                [sys.executable, "-m", "benchmarks.table_formats", "--file", str(path)], check=True
            )


if __name__ == "__main__":
    main()
