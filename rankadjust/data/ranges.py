"""Reading which entities each relation has on its sides, in OpenKE's layout (type_constrain.txt)."""

from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.data.registry import Format

# The format of the triples beside such a file.
OPENKE = Format(delimiter="whitespace", columns=("head", "tail", "relation"), header_lines=1)

_LONGEST_COUNT = 18


def read_ranges(path: str | Path, name: str | None = None) -> pl.DataFrame:
    """Return the columns relation, side (head, tail) and entity (all String): a row per entity of a range.

    The first line of the file is the number of relations. Of each relation follow two lines, first the heads, then the
    tails: its id, how many entities, and the entities, between tabs. name: what the user calls the file, for errors.

    Raises RankadjustError with file and line where a number does not agree with the lines after it, or is not a number.
    """
    path = Path(path)
    name = name or str(path)
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        raise RankadjustError(f"{name}: the file cannot be read, or is empty") from None
    if not _is_count(first) or len(lines) != 2 * int(first):
        problem = f"the first line is {first[:20]!r}, and {len(lines)} lines follow"
        raise RankadjustError(
            f"{name}:1: {problem}; write the number of relations, each with two lines below"
        )
    parts = [_part(line, f"{name}:{number}") for number, line in enumerate(lines, 2)]
    for number, ((heads, _), (tails, _)) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if heads != tails:
            problem = f"the heads belong to relation {heads}, the tails to {tails}"
            raise RankadjustError(
                f"{name}:{2 * number + 3}: {problem}; put the two lines of a relation together"
            )
    return (
        pl.DataFrame(
            {
                "relation": [relation for relation, _ in parts],
                "side": [*TASK_SIDES] * (len(parts) // 2),
                "entity": [entities for _, entities in parts],
            },
            schema={"relation": pl.String, "side": pl.String, "entity": pl.List(pl.String)},
        )
        .explode("entity")
        .unique(maintain_order=True)
    )


def _part(line: str, place: str) -> tuple[str, list[str]]:
    """Return the relation and the entities of a line."""
    relation, _, rest = line.partition("\t")
    size, *entities = rest.split("\t")
    if not _is_count(size) or int(size) != len(entities) or not entities:
        raise RankadjustError(
            f"{place}: {len(entities)} entities follow the number {size!r}; write how many there are"
        )
    return relation, entities


def _is_count(text: str) -> bool:
    # A superscript is a digit to Python, and thousands of digits are more than it reads.
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_COUNT
