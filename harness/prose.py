"""Refuse phrases that are hard to read (harness/prose.toml) where there are more than harness/prose.csv counts.

python -m harness.prose says where they are; with --update it stores the counts.
"""

import csv
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent
KNOWN = HERE / "prose.csv"
# Made of docstrings, help texts and descriptions.
MADE = ("docs/api.md", "docs/commands.md", "docs/columns.md")
FILES = ("*.md", "config/**/*.md", "docs/*.md", "benchmarks/README.md", "rankadjust/**/*.py", "scripts/*.py")


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a page without its code, or of the docstrings, comments and messages."""
    code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".py":
            # A line with four words in a row is prose.
            if re.search(r"[a-z,]+ [a-z]+ [a-z]+ [a-z]+", line):
                yield number, line
        elif line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", "``", line)


def occurrences() -> Iterator[tuple[str, int, str, str]]:
    """Yield file, line, phrase and text, in the order of the files."""
    rows = tomllib.loads((HERE / "prose.toml").read_text(encoding="utf-8"))["phrase"]
    patterns = {row["name"]: re.compile(row["pattern"], re.IGNORECASE) for row in rows}
    for path in sorted(
        {path for pattern in FILES for path in PROJECT.glob(pattern)} - {PROJECT / made for made in MADE}
    ):
        for number, line in prose(path):
            for name, pattern in patterns.items():
                for _ in pattern.findall(line):
                    yield path.relative_to(PROJECT).as_posix(), number, name, line.strip()


def main(update: bool) -> int:
    """Print what is new beside the stored counts, or store the counts."""
    rows = list(occurrences())
    counts = Counter((file, name) for file, _, name, _ in rows)
    if update:
        with KNOWN.open("w", encoding="utf-8", newline="") as stored:
            csv.writer(stored, lineterminator="\n").writerows([*key, n] for key, n in sorted(counts.items()))
        return 0
    with KNOWN.open(encoding="utf-8", newline="") as stored:
        known = {(name, phrase): int(count) for name, phrase, count in csv.reader(stored)}
    new = [row for row in rows if counts[row[0], row[2]] > known.get((row[0], row[2]), 0)]
    sys.stdout.writelines(
        f"{file}:{number}: {name} (harness/prose.toml): {line}\n" for file, number, name, line in new
    )
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(update=sys.argv[1:] == ["--update"]))
