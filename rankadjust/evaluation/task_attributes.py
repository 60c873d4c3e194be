"""What is known of each task besides its rank: relation, query, and its data set.

The workflow's target `tasks` writes them, one row a task, to be joined with anyone's ranks by triple and side.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import read_parquet, readable
from rankadjust.base.vocabulary import TASK_SIDES, TIED
from rankadjust.database.evaluation_set import EvaluationSet

ATTRIBUTES = ("relation", "query")
"""Columns of text. query: what is asked, the same text for tasks of one side with the same question."""

_KEY = ("triple", "side")
# What a join appends to the name of a column that the tasks have, too.
_OF_TABLE = "_of_table"

# How a triple is named by its parts: labels, and times, with tabs; or three numbers with commas.
_NAMED = {"\t": r"^[^\t]*\t[^\t]*\t[^\t]*(\t[^\t]*)*$", ",": r"^\d+,\d+,\d+$"}


def with_queries(tasks: pl.DataFrame, evaluation_set: EvaluationSet | None = None) -> pl.DataFrame:
    """Add what is known of each task: query and relation by the column triple, or all from an evaluation set's triples.

    A triple that is named by its labels with tabs, or by three ids with commas, says itself what is asked on its side.
    The ranks of baselines, and the queries of triples that are named by their lines, come from `EvaluationSet.listing`.
    """
    if not {"triple", "side"} <= {*tasks.columns}:
        return tasks
    listed = None if evaluation_set is None or evaluation_set.listing is None else evaluation_set.listing()
    if listed is not None and evaluation_set is not None and not baselines_in(tasks.columns):
        # The ranks may have other names for the triples.
        with suppress(RankadjustError):
            return with_attributes(tasks, listed.filter(split=evaluation_set.split).drop("num_candidates"))
    for mark, named in _NAMED.items():
        if tasks["triple"].str.contains(named).all():
            relation = pl.col("triple").str.split(mark).list.get(1)
            added = tasks.select(query=_asked("triple", mark), relation=relation)
            return tasks.with_columns(added.select(pl.exclude(tasks.columns)))
    return tasks


def _asked(triple: str, mark: str) -> pl.Expr:
    """Return a named triple with ? in place of the answer of its side."""
    name, part = pl.col(triple), f"[^{mark}]*"
    return (
        pl.when(pl.col("side") == "head")
        .then(name.str.replace(f"^{part}", "?"))
        .otherwise(name.str.replace(f"^({part}{mark}{part}{mark}){part}", "${1}?"))
    )


def with_attributes(tasks: pl.DataFrame, source: str | Path | pl.DataFrame) -> pl.DataFrame:
    """Add the columns of a table of tasks to tasks with the columns triple and side.

    source: a frame or a Parquet file with triple, side, some of num_candidates and ATTRIBUTES, and ranks of baselines;
    its columns line and ids, where it has them, may stand for triple. num_candidates must agree with what the tasks
    have. Raises RankadjustError where a task is not in the table.
    """
    if isinstance(source, pl.DataFrame):
        known, where = source, "the table of tasks"
    else:
        where = str(source)
        with readable(Path(source), "cannot be read as Parquet"):
            known = read_parquet(source)
    for name in _KEY:
        if name not in known.columns:
            raise RankadjustError(f"{where}: there is no column {name}; it has {', '.join(known.columns)}")
        if name not in tasks.columns:
            raise RankadjustError(f"the ranks have no column {name}, by which {where} is joined with them")
    ranks = [f"{name}_{end}" for name in baselines_in(known.columns) for end in TIED]
    added = [name for name in ("num_candidates", *ATTRIBUTES) if name in known.columns] + ranks
    known = (
        _keyed_like(known, tasks["triple"])
        .select(
            pl.col(_KEY).cast(pl.String),
            *(pl.col(name).cast(pl.String if name in ATTRIBUTES else pl.Float64) for name in added),
            found=pl.lit(value=True),
        )
        .unique(_KEY, maintain_order=True)
    )
    joined = tasks.join(known, on=_KEY, how="left", maintain_order="left", suffix=_OF_TABLE)
    missing = joined.filter(pl.col("found").is_null())
    if missing.height:
        triple, side = missing.select(_KEY).row(0)
        raise RankadjustError(
            f"{where}: {missing.height} of {tasks.height} tasks are not in it, such as triple {triple}, side {side}"
        )
    if (counts := f"num_candidates{_OF_TABLE}") in joined.columns:
        for row in joined.filter(pl.col("num_candidates") != pl.col(counts)).head(1).iter_rows(named=True):
            raise RankadjustError(
                f"{where}: triple {row['triple']}, side {row['side']} has {row[counts]:,.0f} "
                f"candidates there, but {row['num_candidates']:,.0f} in the ranks; is the protocol another?"
            )
    return joined.select(*tasks.columns, *(name for name in added if name not in tasks.columns))


def baselines_in(columns: Sequence[str]) -> list[str]:
    """Return the counting baselines whose ranks are columns of a table of tasks (popularity_optimistic and so on)."""
    first, last = (f"_{end}" for end in TIED)
    names = [name.removesuffix(first) for name in columns if name.endswith(first)]
    return [name for name in names if f"{name}{last}" in columns]


def _keyed_like(known: pl.DataFrame, triples: pl.Series) -> pl.DataFrame:
    """Return the table with the name of a triple in the ranks as its column triple: the text, the line or the ids."""
    wanted = triples.unique()
    for name in ("line", "ids"):
        if name in known.columns and wanted.is_in(known[name].cast(pl.String).unique().implode()).all():
            return known.drop("triple").rename({name: "triple"})
    return known


# --- the evaluation set ----------------------------------------------------------------------------------------


def on_side(tasks: pl.DataFrame, side: str) -> pl.DataFrame:
    """Return the tasks of a side. Tasks that do not say their side are taken to be of that side."""
    if side == "both":
        return tasks
    if "side" not in tasks.columns:
        return tasks.with_columns(side=pl.lit(side))
    rows = tasks.filter(side=side)
    if rows.is_empty():
        raise RankadjustError(
            f"none of the {tasks.height:,} ranks is of side {side}; look at the column side"
        )
    return rows


def check_fit(tasks: pl.DataFrame, evaluation_set: EvaluationSet) -> None:
    """Raise RankadjustError where a table of tasks cannot be of the evaluation set, of whatever side that is."""
    given = [side for side in TASK_SIDES if "side" in tasks.columns and side in tasks["side"]]
    for side in given or ["both"]:
        if side not in evaluation_set.sides:
            raise RankadjustError(
                f"{evaluation_set} has no tasks of side {side}, only of {', '.join(evaluation_set.sides)}"
            )
        rows = tasks.filter(side=side) if given else tasks
        expected, here = evaluation_set.of_side(side), f"of side {side}"
        most, counts = expected.largest_count, expected.candidate_counts
        mean = None if counts is None else float(counts.sum(counts.counts)) / counts.total
        worst = max(rows[name].to_numpy().max() for name in ("rank", *TIED) if name in rows.columns)
        own = rows["num_candidates"].to_numpy().mean() if "num_candidates" in rows.columns else None
        fitting = expected.evaluations_of(rows.height, worst)
        hint = f"; they fit {' or '.join(fitting)}" if fitting else ""
        if expected.tasks is not None and rows.height != expected.tasks:
            wrong = f"{expected} has {expected.tasks:,} tasks {here}, but there are {rows.height:,} ranks"
            if not fitting and side == "both":
                hint = "; if all ranks are of one side, give side (--side head, --side tail)"
        elif most is not None and worst > most:
            wrong = f"a rank {here} is {worst:,.10g}, but {expected} has at most {most:,} candidates there"
        elif own is not None and mean is not None and abs(own - mean) > 1e-9 * mean:
            wrong = f"the mean of num_candidates {here} is {own:,.10g}, but {expected} has {mean:,.10g}"
        else:
            continue
        raise RankadjustError(f"{wrong}: are they of another data set, protocol or split?{hint}")
