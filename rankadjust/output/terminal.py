"""Results as text for the terminal: numbers and tables."""

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import polars as pl

from rankadjust.chance.metrics import FAMILIES
from rankadjust.tables.facts import name_of

NOTHING = "–"
# The protocols that need no entry in config/protocols.yaml.
SAMPLED = "sampled-<q>"
SAMPLED_DESCRIPTION = "The true answer is ranked among q sampled negatives, as in sampled-49."
# The k of listed metrics that have one.
_K = 10
_HOW_TO_STATE = (
    "Correct them with these options or in a sidecar (docs/tables.md; --ask writes one), or accept them: "
    "--accept."
)
# The facts that are shown of a file with many tables.
_FACTS = 20
# The width of sentences and of lists, and how many data sets are described one by one.
_WIDTH, _OF_LISTS, _FEW = 80, 100, 3
_KNOWN = {
    "bounds": "chance is known only within bounds, because the training triples are missing.",
    "sampled": "the benchmark ranks among sampled negatives.",
    "approximate": "nobody counted its candidates, so chance follows from the documented number of entities.",
    "no data": "count it ('snakemake --cores all database --config datasets=NAME'), then --results results.",
}
_LEAST_P = 1e-4


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, thousands apart; a dash for None."""
    if value is None:
        return NOTHING
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def if_known(value: float | None, digits: int = 4) -> str:
    """Return a number as `number` does, nothing for None."""
    return "" if value is None else number(value, digits)


def cell(value: object) -> str:
    """Return a number as text with four significant digits, a word as it is, nothing for None."""
    return number(value) if isinstance(value, int | float) else "" if value is None else str(value)


def p_value(p: float | None) -> str:
    """Return a p with two significant digits, '< 1e-4' below that."""
    return "< 1e-4" if p is not None and p < _LEAST_P else number(p, 2)


def interval(low: float | None, high: float | None, digits: int = 5) -> str:
    """Return an interval in brackets, nothing where an end is not known."""
    return "" if low is None or high is None else f"[{number(low, digits)}, {number(high, digits)}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return rows of text as aligned columns: the first `left` columns flush left, the others flush right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    aligned = (
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return "\n".join(aligned)


def filled_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return rows of text as aligned columns, without those that are empty: without samples there are no intervals."""
    filled = [column for column in range(len(header)) if any(row[column] for row in rows)]
    shown = [[line[column] for column in filled] for line in (header, *rows)]
    return table(shown[0], shown[1:], left)


def sentences(*texts: str, width: int = _WIDTH) -> str:
    """Return texts as lines of at most `width` columns, those after the first of a text moved in."""
    # A number and its % stay on one line.
    kept = [text.replace(" %", "\xa0%") for text in texts]
    lines = (
        fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for text in kept
    )
    return "\n".join(lines).replace("\xa0", " ")


def assumed_facts(facts: pl.DataFrame) -> str:
    """Return the facts that were taken because a table does not say them, a block for each file.

    facts: rows of `rankadjust.literature.assumptions.assumptions`.
    """
    lines = []
    for (file,), part in facts.group_by("file", maintain_order=True):
        shown = list(map(_assumed_fact, part.head(_FACTS).iter_rows(named=True)))
        lines += [f"{file} does not say everything. Assumed:", table(shown[0], shown[1:], left=5)]
        lines += [f"  … and {part.height - _FACTS:,} more"] if part.height > _FACTS else []
    return "\n".join([*lines, _HOW_TO_STATE])


def _assumed_fact(row: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    taken = row["taken"] or "unknown"
    share = None if row["values"] == row["of"] else f"{row['values']:,} of {row['of']:,} values"
    tables = row["tables"] and f"in table {row['tables']}"
    where = ", ".join(filter(None, (share, tables)))
    why = row["why"].removeprefix(taken).lstrip(" ,:")
    return f"  {name_of(row['fact'])}", taken, why, where and f"({where})", row["write"] or ""


def datasets_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of `rankadjust.database.overview.known_datasets` as a table of at most 100 columns, with notes.

    Of a few data sets it says the other names and the protocols, too.
    """
    header = ("data set", "kind", "test tasks", "chance of MRR", "counting", "known")
    shown = [
        (
            *(row["name"], row["kind"], if_known(row["tasks"])),
            if_known(row["chance"])
            or " to ".join(
                number(row[end], 3) for end in ("chance_low", "chance_high") if row[end] is not None
            ),
            *(if_known(row["counting"]), row["known"]),
        )
        for row in rows
    ]
    notes = [f"{kind}: {note}" for kind, note in _KNOWN.items() if any(row["known"] == kind for row in rows)]
    names = [
        f"{row['name']}: {what.replace('_', ' ')} {', '.join(row[key])}"
        for row in rows[: _FEW if len(rows) <= _FEW else 0]
        for key, what in (("aliases", "also called"), ("protocols", "in the database under"))
        if row[key]
    ]
    return f"{table(header, shown, left=2)}\n{sentences(*names, *notes, width=_OF_LISTS)}".rstrip("\n")


def metric_rows() -> list[dict[str, Any]]:
    """Return a row for each family of metrics: name, key, aliases, lower, upper, optimum, better, adjusted.

    upper is None where nothing bounds it; optimum and better (higher, lower) where no direction is better. Metrics of a
    family with a k are listed for k = 10. adjusted: whether its expectation under chance is known.
    """
    rows = []
    for family in FAMILIES.values():
        metric = family.metric(_K if family.needs_k else None)
        directed = not math.isnan(metric.optimum)
        rows.append(
            {
                "name": f"{family.label}@k" if family.needs_k else family.label,
                "key": family.key,
                "aliases": list(family.names),
                "lower": metric.lower,
                "upper": metric.upper if math.isfinite(metric.upper) else None,
                "optimum": metric.optimum if directed else None,
                "better": ("higher" if metric.increasing else "lower") if directed else None,
                "adjusted": metric.has_moments,
            }
        )
    return rows
