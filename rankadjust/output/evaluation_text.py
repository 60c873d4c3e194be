"""The rows of `rankadjust.evaluation.evaluate` as text for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.tasks import POPULATIONS
from rankadjust.output.adjusted_text import FIRST_METRICS, counting, meaning, short_table
from rankadjust.output.terminal import filled_table, if_known, interval, number, sentences

_GROUP = ["side", "rank_type"]


def main_rows(result: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `evaluate` that people look at first: both sides together, realistic ranks."""
    types = set(result["rank_type"])
    # Without realistic ranks, the optimistic and the pessimistic ones are bounds.
    kinds = {"realistic"} if "realistic" in types else {"given"} if "given" in types else types
    rows = result.filter(pl.col("rank_type").is_in(kinds))
    return rows.filter(pl.col("side") == "both") if "both" in rows["side"] else rows


def evaluation(result: pl.DataFrame, *, everything: bool = False) -> str:
    """Return rows as a short table for each side and type of rank, with a sentence and what to beware of.

    MRR, Hits@1, Hits@3, Hits@10 and MR come first, and the sentence is about the first row. everything: with every
    index and z, and the reasons why a number is missing.
    """
    order = pl.col("metric").replace_strict(
        {key: place for place, key in enumerate(FIRST_METRICS)},
        default=len(FIRST_METRICS),
        return_dtype=pl.Int64,
    )
    parts = []
    for key, part in result.group_by(_GROUP, maintain_order=True):
        rows = part.sort(order, maintain_order=True).to_dicts()
        shown = short_table(rows, [resolve(row["metric"]).label for row in rows], everything=everything)
        said = [] if rows[0]["expectation"] is None else [meaning(rows[0]), *counting(rows[0])]
        parts += ["\n".join([_title(key, part), shown, *map(sentences, said)]), _errors(rows)]
    # If there is no z, the first reason says why.
    of_z = pl.when(pl.col("z").is_not_null()).then("reason_random_scorer")
    kinds = ("reason", of_z, "warning") if everything else ("warning",)
    notes = pl.concat(result.select("metric", note=note) for note in kinds)
    return "\n\n".join([_population(result), *parts, *_notes(notes)])


def _errors(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the interval of each value, and its standard error for each population that is known."""
    cells = [
        (
            resolve(row["metric"]).label,
            interval(row["value_low"], row["value_high"]),
            *(if_known(row[f"error_{population}"], 2) for population in POPULATIONS),
        )
        for row in rows
    ]
    return filled_table(("", "95 %", *(f"± {population}" for population in POPULATIONS)), cells)


def _population(result: pl.DataFrame) -> str:
    """Return a sentence that says which other tasks the intervals hold for."""
    population, relations = result.select("population", "relations").row(0)
    carried = (
        f", which count like {relations:,.0f} of equal size, so t has "
        f"{min(result['freedom'].drop_nulls().to_list(), default=0):,.1f} degrees of freedom or more"
        if population == "relations"
        else ""
    )
    # A single task has no standard error.
    known = [name for name in POPULATIONS if result[f"error_{name}"].count()]
    errors = f"; ± is the standard error for other {listed(known)}" if known else ""
    return sentences(f"95 % intervals are for {POPULATIONS[population]}{carried}{errors}")


def _title(key: tuple[object, ...], part: pl.DataFrame) -> str:
    side, ranks = key
    tasks = part["tasks"][0]
    return f"side {side}, {ranks} ranks: {number(tasks)} task{'s' * (tasks != 1)}"


def _notes(notes: pl.DataFrame) -> list[str]:
    """Return one paragraph with each different note and the metrics it is about."""
    known = notes.drop_nulls("note").group_by("note", maintain_order=True)
    grouped = known.agg(pl.col("metric").unique(maintain_order=True))
    lines = [f"{', '.join(resolve(key).label for key in keys)}: {note}" for note, keys in grouped.iter_rows()]
    return [sentences(*lines)] if lines else []
