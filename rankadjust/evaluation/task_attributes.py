"""What is known of each task besides its rank: relation, query, cardinality, half-link (docs/compare.md, "Where").

The workflow's target `tasks` writes them, one row a task, to be joined with anyone's ranks by triple and side.
"""

from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.parquet import check_parquet
from rankadjust.base.reading import read_parquet
from rankadjust.base.stages import check_if_sealed

ATTRIBUTES = ("relation", "query", "cardinality", "half_link")
"""Columns of text. query: what is asked, the same text for tasks of one side with the same question."""


def with_attributes(tasks: pl.DataFrame, source: str | Path | pl.DataFrame) -> pl.DataFrame:
    """Add num_candidates and the attributes of a table of tasks to tasks with the columns triple and side.

    source: a frame or a Parquet file with triple, side and some of num_candidates and ATTRIBUTES; its columns line and
    ids, where it has them, may stand for triple. num_candidates must agree with what the tasks have. Raises
    RankadjustError where a task is not in the table.
    """
    known = source if isinstance(source, pl.DataFrame) else _read(Path(source))
    where = "the table of tasks" if isinstance(source, pl.DataFrame) else str(source)
    absent = [name for name in ("triple", "side") if name not in known.columns]
    if absent:
        raise RankadjustError(f"{where}: there is no column {absent[0]}; it has {', '.join(known.columns)}")
    lacking = [name for name in ("triple", "side") if name not in tasks.columns]
    if lacking:
        raise RankadjustError(
            f"the ranks have no column {lacking[0]}, which tells the tasks of {where} apart"
        )
    added = [name for name in ("num_candidates", *ATTRIBUTES) if name in known.columns]
    known = (
        _keyed_like(known, tasks["triple"])
        .select(
            pl.col("triple", "side").cast(pl.String),
            *(pl.col(name).cast(pl.Float64 if name == "num_candidates" else pl.String) for name in added),
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


def _keyed_like(known: pl.DataFrame, triples: pl.Series) -> pl.DataFrame:
    """Return the table with what the ranks call a triple as its column triple: the text, the line or the ids."""
    wanted = triples.unique()
    for name in ("line", "ids"):
        if name in known.columns and wanted.is_in(known[name].cast(pl.String).unique().implode()).all():
            return known.drop("triple").rename({name: "triple"})
    return known


def _joined_name(name: str, tasks: pl.DataFrame) -> str:
    return f"{name}_of_table" if name in tasks.columns else name


def _read(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as file:
            check_if_sealed(file)
            check_parquet(file)
            return read_parquet(file)
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    # A damaged Parquet file can make the parser panic, which is no Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise RankadjustError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]})") from None
