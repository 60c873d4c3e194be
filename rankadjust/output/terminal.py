"""Results as text for the terminal: numbers, tables, histograms as bars."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rankadjust.chance.metrics import FAMILIES, resolve
from rankadjust.tables.facts import name_of

NOTHING = "–"
# The protocols that need no entry in config/protocols.yaml.
SAMPLED = "sampled-<q>"
SAMPLED_DESCRIPTION = "The true answer against q sampled negatives, such as sampled-49."
# The k of listed metrics that have one.
_K = 10
_HOW_TO_STATE = (
    "Correct them with these options or in a sidecar (docs/tables.md; --ask writes one), or accept them: "
    "--accept."
)
# The facts that are shown of a file with many tables.
_FACTS = 20
# A note about more metrics names the others, if they are less than half as many.
_MOST_NAMES = 4
_BARS = 12
_BAR_WIDTH = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, thousands apart; a dash for None."""
    if value is None:
        return NOTHING
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def cell(value: object) -> str:
    """Return a number as text with four significant digits, a word as it is, nothing for None."""
    return number(value) if isinstance(value, int | float) else "" if value is None else str(value)


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


def assumed_facts(facts: pl.DataFrame) -> str:
    """Return the facts that were taken because a table does not say them, a block for each file.

    facts: rows of `rankadjust.literature.assumptions.assumptions`.
    """
    blocks = [_assumed_of(str(file), part) for (file,), part in facts.group_by("file", maintain_order=True)]
    return "\n".join([*blocks, _HOW_TO_STATE])


def _assumed_of(file: str, facts: pl.DataFrame) -> str:
    shown = list(map(_assumed_fact, facts.head(_FACTS).iter_rows(named=True)))
    more = [f"  … and {facts.height - _FACTS:,} more"] if facts.height > _FACTS else []
    heading = f"{file} does not say everything. Assumed:"
    return "\n".join([heading, *table(shown[0], shown[1:], left=5).splitlines(), *more])


def _assumed_fact(row: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    taken = row["taken"] or "unknown"
    share = None if row["values"] == row["of"] else f"{row['values']:,} of {row['of']:,} values"
    tables = row["tables"] and f"in table {row['tables']}"
    where = ", ".join(filter(None, (share, tables)))
    why = row["why"].removeprefix(taken).lstrip(" ,:")
    return f"  {name_of(row['fact'])}", taken, why, where and f"({where})", row["write"] or ""


def main_rows(result: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `evaluate` that people look at first: both sides together, realistic ranks, micro average."""
    rows = result.filter(
        pl.col("average") == "micro", pl.col("rank_type").is_in(["realistic", *_without_ties(result)])
    )
    return rows.filter(pl.col("side") == "both") if "both" in rows["side"] else rows


def _without_ties(result: pl.DataFrame) -> list[str]:
    return [] if "realistic" in result["rank_type"] else ["given"]


def evaluation(result: pl.DataFrame) -> str:
    """Return the rows of `evaluate` as a table for each average, side and type of rank, with notes."""
    parts = [
        _evaluation_part(key, part)
        for key, part in result.group_by(["average", "side", "rank_type"], maintain_order=True)
    ]
    return "\n\n".join([*parts, *_notes(result)])


def evaluation_table(result: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `evaluate` as a table of text for a paper: value and index with their intervals, and z.

    Columns before the average (what the parts of `evaluate_by` have in common) come first, as they are.
    """
    parts = result.columns[: result.columns.index("average")]
    rows = [
        {name: row[name] for name in parts}
        | ({"tasks": number(row["tasks"])} if parts else {})
        | {
            "average": row["average"],
            "side": row["side"],
            "ranks": row["rank_type"],
            "metric": resolve(row["metric"]).label,
            **dict(
                zip(("value", "95 %", "expectation", "index", "index 95 %", "z"), _cells(row), strict=True)
            ),
            "z (random scorer)": number(row["z_random_scorer"]),
            **dict(zip(_COUNTED, _counted(row), strict=True)),
        }
        for row in result.iter_rows(named=True)
    ]
    table_of_text = pl.DataFrame(rows)
    # What is the same in every row, or in none, is left out.
    alike = [name for name in ("average", "side", "ranks") if table_of_text[name].n_unique() == 1]
    empty = [name for name in table_of_text.columns if table_of_text[name].is_in(["", NOTHING]).all()]
    return table_of_text.drop(*alike, *empty)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return value and interval, expectation, index and interval, and z."""
    return (
        number(row["value"]),
        interval(row["value_low"], row["value_high"]),
        number(row["expectation"]),
        number(row["index"]),
        interval(row["index_low"], row["index_high"]),
        number(row["z"]),
    )


def _evaluation_part(key: tuple[object, ...], part: pl.DataFrame) -> str:
    average, side, rank_type = key
    header = (
        *("", "value", "95 %", "expectation", "index", "95 %", "z", "z (random scorer)"),
        "p (random scorer)",
        *_COUNTED,
    )
    rows = [
        (
            resolve(row["metric"]).label,
            *_cells(row),
            number(row["z_random_scorer"]),
            "" if row["p_random_scorer"] is None else number(row["p_random_scorer"], 2),
            *_counted(row),
        )
        for row in part.iter_rows(named=True)
    ]
    what = f"{average} average, side {side}, {rank_type} ranks: {number(part['tasks'][0])} tasks"
    return f"{what}\n{filled_table(header, rows)}"


_COUNTED = ("counting", "gain", "gain 95 %")


def _counted(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what counting reaches, the gain over it and its interval; nothing where nobody asked for it."""
    if row.get("baseline") is None:
        return "", "", ""
    reached = f"{number(row['baseline_value'])} ({row['baseline']})"
    return reached, number(row["gain"]), interval(row["gain_low"], row["gain_high"])


def strata(result: pl.DataFrame, by: str) -> str:
    """Return the rows of `evaluate_by` as a table for each average, side, type of rank and metric."""
    key = ["average", "side", "rank_type", "metric"]
    parts = []
    for (average, side, rank_type, metric), part in result.group_by(key, maintain_order=True):
        rows = [(row["stratum"], number(row["tasks"]), *_cells(row)) for row in part.iter_rows(named=True)]
        header = (by, "tasks", "value", "95 %", "expectation", "index", "95 %", "z")
        label = resolve(str(metric)).label
        parts.append(
            f"{label}, {average} average, side {side}, {rank_type} ranks\n{filled_table(header, rows)}"
        )
    return "\n\n".join(parts)


def _notes(result: pl.DataFrame) -> list[str]:
    """Return one paragraph with each different reason or warning and the metrics it is about."""
    # If there is no z, the first reason says why.
    of_z = pl.when(pl.col("z").is_not_null()).then("reason_random_scorer")
    notes = pl.concat(
        result.select("metric", note=note).drop_nulls("note") for note in ("reason", of_z, "warning")
    )
    grouped = notes.group_by("note", maintain_order=True).agg(pl.col("metric").unique(maintain_order=True))
    shown = result["metric"].unique(maintain_order=True).to_list()
    lines = [f"{_names(metrics, shown)}: {note}" for note, metrics in grouped.iter_rows()]
    return ["\n".join(lines)] if lines else []


def _names(metrics: Sequence[str], shown: Sequence[str]) -> str:
    """Return the labels of metrics, or what is left out if that is shorter to read."""
    others = [key for key in shown if key not in metrics]
    if len(metrics) <= _MOST_NAMES or 2 * len(others) >= len(metrics):
        return ", ".join(resolve(key).label for key in metrics)
    left_out = ", ".join(resolve(key).label for key in others)
    return f"all metrics but {left_out}" if others else "all metrics"


def histogram(counts: Mapping[int, int], encoding: str | None) -> str:
    """Return how many tasks have how many candidates as bars; plain signs where the encoding has no blocks."""
    lowest, highest = min(counts), max(counts)
    width = -(-(highest - lowest + 1) // _BARS)
    bars = dict.fromkeys(range(lowest, highest + 1, width), 0)
    for candidates, tasks in counts.items():
        bars[lowest + (candidates - lowest) // width * width] += tasks
    longest = max(bars.values())
    draw = _blocks if _can_encode(encoding) else _signs
    rows = [
        (_range(first, min(first + width - 1, highest)), f"{tasks:,}", draw(tasks / longest))
        for first, tasks in bars.items()
    ]
    text = table(("candidates", "tasks", ""), [(name, tasks, "") for name, tasks, _ in rows])
    drawn = zip(text.splitlines(), ["", *(bar for *_, bar in rows)], strict=True)
    return "\n".join(f"{line}  {bar}".rstrip() for line, bar in drawn)


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _blocks(share: float) -> str:
    # Something is never drawn as nothing.
    eighths = max(round(8 * _BAR_WIDTH * share), 1 if share else 0)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def _signs(share: float) -> str:
    return "#" * max(round(_BAR_WIDTH * share), 1 if share else 0)


def _can_encode(encoding: str | None) -> bool:
    try:
        _EIGHTHS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def overview_text(overview: Mapping[str, Any], encoding: str | None) -> str:
    """Return the counts of a data set, and a histogram for each side: of `rankadjust.database.overview.overview`."""
    counts = [f"  {name.replace('_', ' '):32}{text:>14}" for name, text in overview["counts"].items()]
    parts = ["\n".join([overview["dataset"], *counts])]
    for side in overview["sides"]:
        tasks, least, most, mean = (side[name] for name in ("tasks", "least", "most", "mean"))
        number_of_tasks = "an unknown number of" if tasks is None else number(tasks)
        spread = f"{least:,} to {most:,}" if least < most else f"{most:,}"
        average = "" if mean is None or least == most else f", {mean:,.1f} on average"
        lines = [
            f"{overview['protocol']}, {overview['split']}, side {side['side']}: {number_of_tasks} tasks, "
            f"{spread} candidates{average}"
        ]
        if tasks is not None:
            lines.append(histogram(side["candidates"], encoding))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


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
