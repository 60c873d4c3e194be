"""What is known of each task besides its rank: relation, query, cardinality, half-link (docs/compare.md, "Where").

The workflow's target `tasks` writes them, one row a task, to be joined with anyone's ranks by triple and side.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import read_csv, read_parquet, readable
from rankadjust.base.parquet import check_parquet
from rankadjust.base.stages import TRIPLES, check_if_sealed, read_product
from rankadjust.base.vocabulary import LABEL_COLUMNS, TIED, time_columns

ATTRIBUTES = ("relation", "query", "cardinality", "half_link")
"""Columns of text. query: what is asked, the same text for tasks of one side with the same question."""


# How a triple is named by its parts: labels, and times, with tabs; or three numbers with commas.
_NAMED = {"\t": r"^[^\t]*\t[^\t]*\t[^\t]*(\t[^\t]*)*$", ",": r"^\d+,\d+,\d+$"}


def with_queries(
    tasks: pl.DataFrame, database: Path | None = None, dataset: str = "", split: str = "testing"
) -> pl.DataFrame:
    """Add the query of each task where it follows from the column triple, or from the triples of a run.

    A triple that is named by its labels with tabs, or by three ids with commas, says itself what is asked on its side.
    Else it may be a line, or the ids, of the split of a data set: then the triples are those that the run of a database
    (`results/database/adjustments.parquet`) left in `results/triples`. Else the tasks are returned as given.
    """
    if "query" in tasks.columns or not {"triple", "side"} <= {*tasks.columns}:
        return tasks
    for mark, named in _NAMED.items():
        if tasks["triple"].str.contains(named).all():
            return tasks.with_columns(query=_asked("triple", mark))
    path = None if database is None else database.parent.parent / "triples" / f"{dataset}.parquet"
    if path is None or not path.is_file():
        return tasks
    triples = read_product(path, TRIPLES, dataset).filter(pl.col("split").cast(pl.String) == split)
    try:
        return with_attributes(tasks, _tasks_of_triples(triples))
    except RankadjustError:
        # The ranks have other names for the triples.
        return tasks


def _asked(triple: str, mark: str) -> pl.Expr:
    """Return a named triple with ? in place of the answer of its side."""
    name, part = pl.col(triple), f"[^{mark}]*"
    return (
        pl.when(pl.col("side") == "head")
        .then(name.str.replace(f"^{part}", "?"))
        .otherwise(name.str.replace(f"^({part}{mark}{part}{mark}){part}", "${1}?"))
    )


def _tasks_of_triples(triples: pl.DataFrame) -> pl.DataFrame:
    """Return triple (with tabs), line, ids, side and query of both tasks of triples in the order of their file."""
    parts = pl.col(*LABEL_COLUMNS, *time_columns(triples.columns)).cast(pl.String)
    named = triples.select(
        triple=pl.concat_str(parts, separator="\t"),
        line=pl.int_range(1, pl.len() + 1),
        ids=pl.concat_str(pl.col(LABEL_COLUMNS).cast(pl.String), separator=","),
    )
    sides = [named.with_columns(side=pl.lit(side)) for side in ("head", "tail")]
    return pl.concat(sides).with_columns(query=_asked("triple", "\t"))


def with_attributes(tasks: pl.DataFrame, source: str | Path | pl.DataFrame) -> pl.DataFrame:
    """Add the columns of a table of tasks to tasks with the columns triple and side.

    source: a frame or a Parquet file with triple, side, some of num_candidates and ATTRIBUTES, and ranks of baselines;
    its columns line and ids, where it has them, may stand for triple. Or the evaluated triples as text, a line each
    with tabs between head, relation and tail, from which the queries follow. num_candidates must agree with what the
    tasks have. Raises RankadjustError where a task is not in the table.
    """
    known = source if isinstance(source, pl.DataFrame) else _read(Path(source))
    where = "the table of tasks" if isinstance(source, pl.DataFrame) else str(source)
    absent = [name for name in ("triple", "side") if name not in known.columns]
    if absent:
        raise RankadjustError(f"{where}: there is no column {absent[0]}; it has {', '.join(known.columns)}")
    lacking = [name for name in ("triple", "side") if name not in tasks.columns]
    if lacking:
        raise RankadjustError(
            f"the ranks have no column {lacking[0]}, which distinguishes the tasks of {where}"
        )
    ranks = [f"{name}_{end}" for name in baselines_in(known.columns) for end in TIED]
    added = [name for name in ("num_candidates", *ATTRIBUTES) if name in known.columns] + ranks
    known = (
        _keyed_like(known, tasks["triple"])
        .select(
            pl.col("triple", "side").cast(pl.String),
            *(pl.col(name).cast(pl.String if name in ATTRIBUTES else pl.Float64) for name in added),
        )
        .unique(["triple", "side"], maintain_order=True)
    )
    joined = tasks.join(known, on=["triple", "side"], how="left", maintain_order="left", suffix="_of_table")
    if added and joined[_joined_name(added[0], tasks)].null_count():
        missing = joined.filter(pl.col(_joined_name(added[0], tasks)).is_null())
        triple, side = missing.select("triple", "side").row(0)
        raise RankadjustError(
            f"{where}: {missing.height} of {tasks.height} tasks are not in it, such as triple {triple}, side {side}"
        )
    if "num_candidates" in added and "num_candidates" in tasks.columns:
        wrong = joined.filter(pl.col("num_candidates") != pl.col("num_candidates_of_table"))
        if wrong.height:
            row = wrong.row(0, named=True)
            raise RankadjustError(
                f"{where}: triple {row['triple']}, side {row['side']} has {row['num_candidates_of_table']:,.0f} "
                f"candidates there, but {row['num_candidates']:,.0f} in the ranks: another protocol?"
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


def _joined_name(name: str, tasks: pl.DataFrame) -> str:
    return f"{name}_of_table" if name in tasks.columns else name


def _read(path: Path) -> pl.DataFrame:
    if path.suffix in (".txt", ".tsv"):
        return _tasks_of_triples(_read_triples(path))
    with readable(path, "cannot be read as Parquet"), path.open("rb") as file:
        check_if_sealed(file)
        check_parquet(file)
        return read_parquet(file)


def _read_triples(path: Path) -> pl.DataFrame:
    with readable(path, "cannot be read as text"):
        table = read_csv(path, separator="\t", has_header=False, quote_char=None)
    if table.width < 3:
        raise RankadjustError(f"{path}: a line must have head, relation and tail with tabs between them")
    return table.select(pl.nth(place).alias(name) for place, name in enumerate(LABEL_COLUMNS))
