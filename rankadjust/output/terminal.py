"""Results as text for the terminal: tables, a sentence that says how good a value is, histograms as bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from rankadjust.chance.drawn_scorer import DRAWS, FAR
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.one_value import Adjusted

if TYPE_CHECKING:
    # With it comes the registry, which `adjust` can do without.
    from rankadjust.database.overview import Overview

_NOTHING = "–"
# By luck, a random scorer has a z between these 19 times out of 20.
_LUCK = 2.0
_HOW_TO_STATE = (
    "Correct them with these options or in a sidecar (docs/tables.md; --ask writes one), or accept them: "
    "--accept."
)
# The facts that are shown of a file with many tables.
_FACTS = 20
_BARS = 12
_BAR_WIDTH = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, thousands apart; a dash for None."""
    if value is None:
        return _NOTHING
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


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
    return f"  {row['fact']}", taken, why, where and f"({where})", row["write"] or ""


def adjusted_value(adjusted: Adjusted, text: str, against: str | None = None) -> str:
    """Return what is known of a value, a line each, and a sentence.

    text: the value as it was given. against: the baseline that was asked for, if any; then a note says why there is no
    gain.
    """
    metric = resolve(adjusted.metric)
    tasks = "unknown number of" if adjusted.tasks is None else number(adjusted.tasks)
    lines = [
        f"{adjusted.dataset}, {adjusted.protocol}, {adjusted.split}, side {adjusted.side}: {tasks} tasks",
        _line(metric.label, text, _interval(adjusted.value_low, adjusted.value_high)),
        _line(
            "expectation",
            number(adjusted.expectation),
            _interval(adjusted.expectation_low, adjusted.expectation_high),
        ),
    ]
    if adjusted.ratio is not None:
        lines.append(_line("ratio", number(adjusted.ratio)))
    lines += [
        _line("index", number(adjusted.index), _interval(adjusted.index_low, adjusted.index_high)),
        _line("z, independent ranks", number(adjusted.z), _interval(adjusted.z_low, adjusted.z_high)),
        _line(
            "z, static scorer" if adjusted.scores_used == "static" else "z, random scorer",
            number(adjusted.z_random_scorer),
        ),
    ]
    if adjusted.p_random_scorer is not None:
        lines.append(_line("p, random scorer", number(adjusted.p_random_scorer, 2)))
    if adjusted.log10_p_independent is not None:
        lines.append(_line("log10 p, independent", number(adjusted.log10_p_independent)))
    if adjusted.baseline is not None:
        lines.append(_line(adjusted.baseline, number(adjusted.baseline_value)))
        lines.append(
            _line("gain over it", number(adjusted.gain), _interval(adjusted.gain_low, adjusted.gain_high))
        )
    # If there is no z, the first note says why.
    notes = [adjusted.reason] if adjusted.z is None else [adjusted.reason, adjusted.reason_random_scorer]
    # A perfect baseline has a sentence of its own.
    if against is not None and adjusted.baseline is None:
        notes.append(adjusted.reason_gain)
    lines += [f"Note: {note}." for note in notes if note is not None]
    return "\n".join([*lines, meaning(adjusted), *counting(adjusted)])


def counting(adjusted: Adjusted) -> list[str]:
    """Return a sentence that says how the value compares with counting training triples, none where nobody counted."""
    if adjusted.baseline is None:
        return []
    metric = resolve(adjusted.metric)
    value = f"{metric.label} {adjusted.value:.6g}"
    known = f"Counting training triples alone reaches {number(adjusted.baseline_value)} ({adjusted.baseline})"
    if adjusted.gain is None:
        return [f"{known}, which is perfect already."]
    low, high = (adjusted.gain if end is None else end for end in (adjusted.gain_low, adjusted.gain_high))
    if high < 0:
        return [f"{known}: {value} is below that."] if metric.increasing else [f"{known}: {value} is worse."]
    if low <= 0:
        return [f"{known}: {value} is no better, as far as its printed digits show."]
    return [f"{known}: {value} is {100 * adjusted.gain:.1f} % of the way from there to perfect."]


def meaning(adjusted: Adjusted) -> str:
    """Return one sentence that says what the adjusted value means."""
    metric = resolve(adjusted.metric)
    if adjusted.index is None:
        return "There is no index: chance already gives a perfect value."
    value, chance = f"{metric.label} {adjusted.value:.6g}", f"chance ({number(adjusted.expectation)})"
    if adjusted.index < 0:
        comparison = f"{value} is worse than {chance}"
    elif adjusted.status == "bounded":
        low, high = (100 * (end or 0.0) for end in (adjusted.index_low, adjusted.index_high))
        comparison = (
            f"{value} is {low:.1f} to {high:.1f} % of the way from chance to perfect ({metric.optimum:g})"
        )
    else:
        way = f"{100 * adjusted.index:.1f} % of the way"
        comparison = f"{value} is {way} from {chance} to perfect ({metric.optimum:g})"
    return f"{comparison}{_evidence(adjusted)}."


def _evidence(adjusted: Adjusted) -> str:
    if adjusted.draws_reaching is not None:
        return f"; a random scorer is at least as good in {adjusted.draws_reaching:,} of {DRAWS:,} draws"
    known = adjusted.z_random_scorer is not None
    z, null = (
        (adjusted.z_random_scorer, "a random scorer") if known else (adjusted.z, "independent random ranks")
    )
    if z is None:
        return ""
    far = (
        f", no further from it than luck takes {null} (z = {number(z, 2)})"
        if abs(z) < _LUCK
        else f", {number(abs(z), 3)} standard deviations {'above' if z > 0 else 'below'} {null}"
    )
    if abs(z) >= FAR or adjusted.log10_p_independent is None:
        return far
    # The law of rare values is skewed: z alone does not say p.
    p = number(10**adjusted.log10_p_independent, 2)
    return f"{far}; independent random ranks are at least as good with a probability of {p}"


def _line(name: str, value: str, interval: str = "") -> str:
    return f"{name:22}{value:>10}  {interval}".rstrip()


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{number(low, 5)}, {number(high, 5)}]"


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
    empty = [name for name in table_of_text.columns if table_of_text[name].is_in(["", _NOTHING]).all()]
    return table_of_text.drop(*alike, *empty)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return value and interval, expectation, index and interval, and z."""
    return (
        number(row["value"]),
        _interval(row["value_low"], row["value_high"]),
        number(row["expectation"]),
        number(row["index"]),
        _interval(row["index_low"], row["index_high"]),
        number(row["z"]),
    )


def _evaluation_part(key: tuple[object, ...], part: pl.DataFrame) -> str:
    average, side, rank_type = key
    header = (
        "",
        "value",
        "95 %",
        "expectation",
        "index",
        "95 %",
        "z",
        "z (random scorer)",
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
    return reached, number(row["gain"]), _interval(row["gain_low"], row["gain_high"])


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
    lines = [
        f"{', '.join(resolve(key).label for key in metrics)}: {note}" for note, metrics in grouped.iter_rows()
    ]
    return ["\n".join(lines)] if lines else []


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


def overview_text(overview: "Overview", encoding: str | None) -> str:
    """Return the counts of a data set, and a histogram for each side."""
    counts = [f"  {name.replace('_', ' '):32}{text:>14}" for name, text in overview.counts.items()]
    parts = ["\n".join([overview.dataset, *counts])]
    for side in overview.sides:
        tasks = "an unknown number of" if side.tasks is None else number(side.tasks)
        spread = f"{side.least:,} to {side.most:,}" if side.least < side.most else f"{side.most:,}"
        mean = "" if side.mean is None or side.least == side.most else f", {side.mean:,.1f} on average"
        lines = [
            f"{overview.protocol}, {overview.split}, side {side.side}: {tasks} tasks, {spread} candidates{mean}"
        ]
        if side.tasks is not None:
            lines.append(histogram(side.candidates, encoding))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
