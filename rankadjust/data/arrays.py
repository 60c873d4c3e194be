"""Integer triples in files of arrays: checked, and written as encoded triples block by block, whatever their number."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import put_parquet
from rankadjust.base.progress import progress
from rankadjust.base.reading import scan_parquet
from rankadjust.base.stages import TRIPLES, sealed_parquet
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, time_columns
from rankadjust.data.blocks import encoded_blocks, integer_blocks
from rankadjust.data.registry import Dataset, Format
from rankadjust.data.summary import summarise_blocks

# Counting keeps tables by id of up to 2 GB each.
_LARGEST = 2**31 - 1
# Memory that the summary takes for a triple, with freed memory that allocators keep, and for an entity in each of seven
# splits and two graphs.
_SUMMARISED = 100
_MASKS = 9
_KIND_OF = {"head": "entities", "relation": "relations", "tail": "entities"}


def write_encoded(
    paths: Mapping[str, Path], form: Format, output: str | Path, names: Mapping[str, str], dataset: str
) -> dict[str, int]:
    """Write the triples of files of arrays as encoded triples, and return the number of entities and of relations.

    paths: a file for each split. names: what the user calls each, for errors. dataset: its name,
    for the seal (rankadjust.base.stages). The triples have the form
    that rankadjust.data.encoding gives them, with the ids unchanged: there are as many entities and relations as the
    format declares, or one more than the largest id. Times become text.

    Raises RankadjustError with file and row (from 0) for an id that is negative, too large or not below the declared
    number, and for whatever `integer_blocks` refuses.
    """
    most = {"entities": form.num_entities, "relations": form.num_relations}
    most_seen = dict.fromkeys(most, 0)

    def blocks(
        columns: list[str] | None, predicate: pl.Expr | None, _limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        if predicate is not None:
            raise AssertionError("nothing is filtered here")
        with progress("encoding", None, "triples") as report:
            for split in (name for name in SPLITS if name in paths):
                row = 0
                where = names.get(split, str(paths[split]))
                for block in integer_blocks({split: paths[split]}, form.stored, names={split: where}):
                    for column in LABEL_COLUMNS:
                        largest = _checked(block[column], most[_KIND_OF[column]], where, row)
                        most_seen[_KIND_OF[column]] = max(most_seen[_KIND_OF[column]], largest + 1)
                    for name in time_columns(block.columns):
                        if block[name].null_count():
                            raise RankadjustError(f"{where}: a triple has no {name}; drop it or fill it in")
                    row += block.height
                    report(block.height)
                    yield _as_encoded(block).select(columns or pl.all())
                if not row:
                    raise RankadjustError(f"{where}: no triples; leave an empty split out")

    times = {name: pl.String() for name in time_columns(form.columns)}
    schema = {"split": pl.Enum(SPLITS), **dict.fromkeys(LABEL_COLUMNS, pl.UInt32()), **times}
    with sealed_parquet(output, TRIPLES, dataset) as (temporary, metadata):
        put_parquet(register_io_source(blocks, schema=schema, is_pure=True), temporary, metadata)
    return {kind: most[kind] or most_seen[kind] for kind in most}


def summarise_arrays(
    triples: str | Path, entities: int, relations: int, dataset: Dataset, memory: float
) -> dict[str, Any]:
    """Return the summary (rankadjust.data.summary) of encoded triples of so many entities and relations.

    memory: bytes that it may take besides a block. Entities that occur in no triple count as well. In inductive
    data they belong to neither graph and are not counted. Raises RankadjustError where memory does not suffice for
    them.
    """
    left = memory - _MASKS * entities
    if left <= 0:
        raise RankadjustError(
            f"{entities:,} entities take up to {_MASKS * entities / 1e9:.1f} GB, and {memory / 1e9:.1f} GB are given; "
            "set memory_mb higher"
        )
    height = scan_parquet(triples).select(pl.len()).collect().item()
    parts = -int(-_SUMMARISED * height // left)
    summary = summarise_blocks(encoded_blocks(triples), entities, relations, dataset, parts)
    if dataset.role == "inductive":
        summary["entities"] -= summary["isolated_entities"]
        summary["isolated_entities"] = 0
    return summary


def _as_encoded(block: pl.DataFrame) -> pl.DataFrame:
    times = time_columns(block.columns)
    return block.select(
        "split", pl.col(LABEL_COLUMNS).cast(pl.UInt32), *(pl.col(name).cast(pl.String) for name in times)
    )


def _checked(ids: pl.Series, number: int | None, where: str, row: int) -> int:
    """Return the largest id of a block that begins at a row; raise where one is not allowed."""
    if not ids.dtype.is_integer():
        raise RankadjustError(f"{where}: {ids.name} is {ids.dtype}; ids are integers")
    if ids.null_count():
        place = int(ids.is_null().to_numpy().argmax())
        raise RankadjustError(f"{where}: row {row + place} (from 0) has no {ids.name}")
    values = ids.to_numpy()
    limit = _LARGEST if number is None else number - 1
    for place in (int(values.argmin()), int(values.argmax())):
        value = int(values[place])
        if not 0 <= value <= limit:
            remedy = "ids begin at 0 and are below 2,147,483,648; number them anew"
            if number is not None and value > limit:
                remedy = (
                    f"format.num_{_KIND_OF[ids.name]} is {number:,}, and ids are below; correct one of them"
                )
            raise RankadjustError(
                f"{where}: row {row + place} (from 0) has the {ids.name} {value:,}; {remedy}"
            )
    return int(values.max())
