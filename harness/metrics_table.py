"""The table of metrics in docs/metrics.md, made from the registry (`make api`)."""

from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_text
from rankadjust.chance.metrics import FAMILIES, Family

PAGE = Path("docs/metrics.md")
BEGIN, END = "<!-- metrics: begin -->", "<!-- metrics: end -->"
_HEADER = ("key", "name", "also called", "definition", "better", "perfect ranking")


def metrics_table() -> str:
    """Return all registered families of metrics as a Markdown table, in the order of the registry."""
    lines = [_HEADER, ("---",) * len(_HEADER), *map(_cells, FAMILIES.values())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_metrics_table(text: str) -> str:
    """Return a Markdown text with the table between its two marks; RankadjustError where they are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise RankadjustError(f"the text lacks the lines {BEGIN} and {END}, between which the table goes")
    return f"{before}{BEGIN}\n\n{metrics_table()}\n{END}{after}"


def _cells(family: Family) -> tuple[str, ...]:
    name = f"{family.label}@k" if family.needs_k else family.label
    perfect = family.metric(10 if family.needs_k else None).optimum
    depends_on_k = family.needs_k and family.metric(1).optimum != perfect
    better = "–" if family.increasing is None else "high" if family.increasing else "low"
    return (
        f"`{family.key}`",
        name,
        ", ".join(f"`{alias}`" for alias in family.names),
        family.definition.replace("|", "\\|"),
        better,
        "–" if family.increasing is None else f"{perfect:g} for k = 10" if depends_on_k else f"{perfect:g}",
    )


if __name__ == "__main__":
    write_text(with_metrics_table(PAGE.read_text(encoding="utf-8")), PAGE)
