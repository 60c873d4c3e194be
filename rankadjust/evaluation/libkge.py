"""Ranks from a trace of LibKGE: the file trace.yaml of an evaluation with `eval.trace_level: example`.

A trace has one record a line, in YAML's flow style: an evaluated triple has one with `task: sp` (the object is asked
for) and one with `task: po` (the subject is). Millions of lines are read by their keys rather than as YAML, which takes
a thousand times as long.
"""

import re
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import filled

SUFFIXES = (".yaml", ".yml")

_NUMBERS = ("s", "p", "o", "epoch", "rank", "rank_filtered", "rank_filtered_with_test")
_SIDE_OF_TASK = {"sp": "tail", "po": "head"}


def read_trace(path: Path) -> pl.DataFrame:
    """Return triple (LibKGE's three ids with commas), side, rank, relation and query of every evaluated task.

    The rank is the basis of LibKGE's filtered metrics: filtered with the test triples if the trace has it
    (validation data), else filtered. Of several epochs the last counts. Raises
    RankadjustError where the trace has no examples, or examples of several splits.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RankadjustError(f"{path}: cannot be read as a trace of LibKGE ({error})") from None
    examples = pl.DataFrame(
        {"line": [line for line in lines if "event: example_rank" in line]}, schema={"line": pl.String}
    )
    if examples.is_empty():
        raise RankadjustError(
            f"{path}: there is no rank of a single triple; evaluate with LibKGE's option eval.trace_level=example"
        )
    keys = (*_NUMBERS, "task", "split")
    ranks = examples.select(
        pl.col("line").str.extract(rf"[{{ ]{re.escape(key)}: ([^,}}]+)[,}}]").alias(key) for key in keys
    )
    ranks = ranks.with_columns(pl.col(_NUMBERS).cast(pl.Int64, strict=False))
    rank = pl.coalesce("rank_filtered_with_test", "rank_filtered")
    broken = ranks.select(
        (rank.is_null() | ~pl.col("task").is_in(list(_SIDE_OF_TASK))).arg_true()
    ).to_series()
    if broken.len():
        line = examples["line"][int(broken[0])]
        raise RankadjustError(f"{path}: a record has no task sp or po, or no rank_filtered: {line[:80]}…")
    splits = ranks["split"].drop_nulls().unique().sort().to_list()
    if len(splits) > 1:
        raise RankadjustError(
            f"{path}: there are ranks of the splits {' and '.join(splits)}; keep the lines of one"
        )
    ids = ["s", "p", "o"]
    is_tail = pl.col("task") == "sp"
    asked = pl.when(is_tail).then(filled("{},{},?", "s", "p")).otherwise(filled("?,{},{}", "p", "o"))
    return ranks.filter(pl.col("epoch").eq_missing(pl.col("epoch").max())).select(
        triple=pl.concat_str([pl.col(name).cast(pl.String) for name in ids], separator=","),
        side=pl.col("task").replace_strict(_SIDE_OF_TASK),
        rank=rank,
        relation=pl.col("p").cast(pl.String),
        query=asked,
    )
