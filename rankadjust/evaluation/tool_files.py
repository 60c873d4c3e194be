"""Ranks in files of the best answers to each query, as AnyBURL and PyClause write them: a triple, then two lists.

    a r b
    Heads: a    0.9    c    0.4
    Tails: c    0.8    b    0.7

There are tabs between the answers and their scores.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import readable
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format

_SIDES = {"Heads:": "head", "Tails:": "tail"}


def holds_answers(path: Path) -> bool:
    """Return whether a path is a text whose second line has the best heads or tails of a triple."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        lines = [file.readline(100_000) for _ in range(2)]
    return lines[1].startswith(tuple(side.encode() for side in _SIDES))


def read_answers(path: Path, known: Sequence[str | Path], most: int | None) -> pl.DataFrame:
    """Return the filtered ranks of the true answers in a file of the best answers to each query.

    known: files of the known triples, tab or blanks between their labels; an answer that makes a known triple does not
    count. most: the number of candidates, the worst rank of an answer that is not in its list. The columns are triple
    (labels with tabs), side, optimistic and pessimistic; they differ for equal scores, and beyond the end of the list.
    """
    if not known:
        raise RankadjustError(
            f"{path}: other known answers in these lists must not count, so give the known triples (--known train.txt "
            "--known valid.txt --known test.txt)"
        )
    others: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for file in known:
        with readable(file, "cannot be read as triples"), Path(file).open(encoding="utf-8") as text:
            delimiter = "tab" if "\t" in text.readline() else "whitespace"
        for head, relation, tail in read_triples(Path(file), Format(delimiter)).iter_rows():
            others["head", relation, tail].add(head)
            others["tail", relation, head].add(tail)
    rows = []
    for triple, side, answers in _lists(path):
        head, relation, tail = triple
        true, given = (head, tail) if side == "head" else (tail, head)
        filtered = others[side, relation, given] - {true}
        scores = {name: score for name, score in answers if name not in filtered}
        own = scores.get(true)
        better = len(scores) if own is None else sum(score > own for score in scores.values())
        worst = most if own is None else sum(score >= own for score in scores.values())
        if worst is None:
            raise RankadjustError(
                f"{path}: {' '.join(triple)}: the {side} is not among the answers, so its rank may be as large as "
                "the number of candidates; give num_candidates (--num-candidates)"
            )
        rows.append(("\t".join(triple), side, better + 1, max(worst, better + 1)))
    return pl.DataFrame(rows, schema=["triple", "side", "optimistic", "pessimistic"], orient="row")


def _lists(path: Path) -> Iterator[tuple[Sequence[str], str, list[tuple[str, float]]]]:
    """Yield triple, side and answers with their scores of each list in a file."""
    triple: Sequence[str] = ()
    with readable(path, "cannot be read as lists of answers"):
        lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        word, _, rest = line.partition(" ")
        if not line.strip():
            continue
        if word not in _SIDES:
            triple = line.split("\t") if "\t" in line else line.split()
            if len(triple) != 3:
                raise RankadjustError(
                    f"{path}: line {number}: not a triple of head, relation and tail: {line[:80]}"
                )
            continue
        cells = rest.strip("\t ").split("\t") if rest.strip() else []
        try:
            answers = [(name, float(score)) for name, score in zip(cells[::2], cells[1::2], strict=True)]
        except ValueError:
            raise RankadjustError(
                f"{path}: line {number}: not answers and scores with tabs between them: {line[:80]}"
            ) from None
        yield triple, _SIDES[word], answers
