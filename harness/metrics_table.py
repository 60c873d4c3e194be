"""The table of metrics in docs/metrics.md, made from the registry (`make api`)."""

from harness.tables import table, write_tables
from rankadjust.chance.metrics import FAMILIES, Family


def metrics_tables() -> dict[str, str]:
    """Return all registered families of metrics as a table in Markdown, in the order of the registry."""
    header = ("key", "name", "also called", "definition", "better", "perfect ranking")
    return {"metrics": table(header, map(_cells, FAMILIES.values()))}


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
    write_tables("metrics.md", metrics_tables())
