"""Columns of ranks as programs save them: one for each side, without a header, or with ranks beyond a list of answers.

A search with a beam, or a list of the best k answers, knows no rank beyond k. Such a rank lies between k + 1 and the
number of candidates, so every metric has bounds: its values with the optimistic and with the pessimistic ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, TASK_SIDES, TIED

# Rossi et al. and others write triples with both ranks, without a header.
TRIPLE_WITH_RANKS = (*LABEL_COLUMNS, "rank_head", "rank_tail")
_PAIRS = (("rank_head", "rank_tail"), ("head_rank", "tail_rank"))
# What programs write for an answer that is not among those that were kept.
BEYOND = r"(?i)^(?:inf(?:inity)?|0(?:\.0+)?|-1(?:\.0+)?|miss\w*|)$"


@dataclass(frozen=True)
class Layout:
    """What files of ranks do not say about themselves.

    columns: the names of the columns of an array or of a text without a header. beyond: the number of answers that were
    kept for each task, if ranks beyond them are unknown. most: the number of candidates where the tasks have no column
    of it. known: the files of known triples, for lists of the best answers.
    """

    columns: Sequence[str] = ()
    beyond: int | None = None
    most: int | None = None
    known: Sequence[str | Path] = ()

    @property
    def bounds(self) -> bool:
        """Whether some ranks are known within bounds only, so that realistic ranks mean nothing."""
        return self.beyond is not None or bool(self.known)


def with_sides(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a column of ranks for each side as one with a row for each task, the heads first.

    The two tasks of a row share the column triple: its labels with tabs where the table has them, else its number.
    """
    pair = next((pair for pair in _PAIRS if {*pair} <= {*frame.columns}), None)
    if pair is None or "rank" in frame.columns:
        return frame
    if {*LABEL_COLUMNS} <= {*frame.columns}:
        name = pl.concat_str(pl.col(LABEL_COLUMNS).cast(pl.String), separator="\t")
    else:
        name = pl.int_range(1, pl.len() + 1)
    frame = frame if "triple" in frame.columns else frame.with_columns(triple=name)
    return pl.concat(
        frame.drop(pair).with_columns(rank=frame[column], side=pl.lit(side))
        for column, side in zip(pair, TASK_SIDES, strict=True)
    )


def with_bounds(frame: pl.DataFrame, layout: Layout, where: str) -> pl.DataFrame:
    """Return a table with optimistic and pessimistic ranks; inf, 0, -1, MISS or nothing stand for one beyond the list.

    Raises RankadjustError where the number of candidates, which is the worst such rank, is not known.
    """
    if layout.beyond is None or "rank" not in frame.columns:
        return frame
    if layout.beyond < 1:
        raise RankadjustError(f"beyond is {layout.beyond}; give the number of answers that were kept")
    if "num_candidates" not in frame.columns and layout.most is None:
        raise RankadjustError(
            f"{where}: a rank beyond {layout.beyond} may be as large as the number of candidates, which is not known; "
            "give num_candidates (--num-candidates)"
        )
    has_counts = "num_candidates" in frame.columns
    most = pl.col("num_candidates") if has_counts else pl.lit(layout.most)
    rank = pl.col("rank").cast(pl.String).str.strip_chars()
    is_beyond = rank.is_null() | rank.str.contains(BEYOND)
    number = rank.cast(pl.Float64, strict=False)
    for what, wrong in (
        (f"the list of answers ends at {layout.beyond}", ~is_beyond & (number > layout.beyond)),
        ("the task has fewer candidates", is_beyond & (most.cast(pl.Float64, strict=False) <= layout.beyond)),
    ):
        if (rows := frame.select(wrong.arg_true()).to_series()).len():
            value = frame["rank"][int(rows[0])]
            raise RankadjustError(f"{where}: a rank is {value!r}, but {what} (--beyond {layout.beyond})")
    ends = {"optimistic": pl.lit(layout.beyond + 1), "pessimistic": most}
    return frame.with_columns(
        pl.when(is_beyond).then(ends[name].cast(pl.String)).otherwise(rank).alias(name) for name in TIED
    ).drop("rank")
