"""Refuse phrases that are hard to read (harness/prose.toml) where there are more than were: python -m harness.prose."""

import ast
import csv
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent
KNOWN = HERE / "prose.csv"
PAGES = (
    "*.md",
    "config/**/*.md",
    "docs/*.md",
    "results/README.md",
    "benchmarks/README.md",
    "resources/**/*.md",
)
CODE = ("rankadjust/**/*.py", "scripts/*.py", "harness/**/*.py", "benchmarks/*.py")
MADE_OF_DOCSTRINGS = "docs/api.md"


def phrases() -> dict[str, re.Pattern[str]]:
    """Return the phrases, by name."""
    with (HERE / "prose.toml").open("rb") as file:
        return {
            row["name"]: re.compile(row["pattern"], re.IGNORECASE) for row in tomllib.load(file)["phrase"]
        }


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a Markdown page, without code."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", "``", line)


def prose_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of comments, and of strings that have several words: docstrings, messages."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 3:
            yield from ((node.lineno + row, line) for row, line in enumerate(node.value.splitlines()))
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def occurrences() -> Iterator[tuple[str, int, str, str]]:
    """Yield file, line, phrase and text, in the order of the files."""
    patterns = phrases()
    pages = sorted(
        {path for pattern in PAGES for path in PROJECT.glob(pattern)} - {PROJECT / MADE_OF_DOCSTRINGS}
    )
    texts = [(path, prose_of_page(path.read_text(encoding="utf-8"))) for path in pages]
    texts += [(path, prose_of_code(path)) for pattern in CODE for path in sorted(PROJECT.glob(pattern))]
    for path, lines in texts:
        for number, line in lines:
            for name, pattern in patterns.items():
                for _ in pattern.findall(line):
                    yield path.relative_to(PROJECT).as_posix(), number, name, line.strip()


def main(update: bool) -> int:
    """Print what is new beside the stored counts, or store the counts."""
    rows = list(occurrences())
    counts = Counter((file, name) for file, _, name, _ in rows)
    if update:
        with KNOWN.open("w", encoding="utf-8", newline="") as stored:
            csv.writer(stored, lineterminator="\n").writerows(
                [*key, count] for key, count in sorted(counts.items())
            )
        return 0
    with KNOWN.open(encoding="utf-8", newline="") as stored:
        known = {(name, phrase): int(count) for name, phrase, count in csv.reader(stored)}
    more = {key for key, count in counts.items() if count > known.get(key, 0)}
    for file, number, name, line in rows:
        if (file, name) in more:
            sys.stdout.write(f"{file}:{number}: {name} (harness/prose.toml): {line}\n")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main(update=sys.argv[1:] == ["--update"]))
