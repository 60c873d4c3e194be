"""Writes `rankadjust.database.light.LIGHT` from the released tables; `make adopt` and `make sums` do."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import polars as pl

from rankadjust.base.io import shipped, write_bytes
from rankadjust.base.vocabulary import KEY, TEST_SPLITS
from rankadjust.chance.drawn_scorer import MOST_TASKS
from rankadjust.database.constants import Constants
from rankadjust.database.counted_baselines import chosen
from rankadjust.database.light import LIGHT, OF_ROW
from rankadjust.database.limits import left_out_by

_SET = ["dataset", "protocol"]


def light_file(constants: Constants) -> bytes:
    """Return the file: the same constants give the same bytes."""
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for (dataset, protocol), content in _contents(constants):
            entry = ZipInfo(f"{dataset}/{protocol}")
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, json.dumps(content, separators=(",", ":")), compresslevel=9)
    return stream.getvalue()


def _contents(constants: Constants) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    # scores is said with the value, and all other names of OF_ROW are columns.
    rows = (
        constants.table.filter(
            pl.col("split").is_in(TEST_SPLITS),
            pl.col("tasks") > MOST_TASKS,
            pl.col("expectation").is_not_null(),
        )
        .join(chosen(constants.baselines), on=KEY, how="inner", maintain_order="left")
        .select(
            *KEY,
            *(name for name in OF_ROW if name in {*constants.table.columns, "baseline", "baseline_value"}),
        )
    )
    candidates = constants.candidates.join(rows, on=[*_SET, "split"], how="semi", maintain_order="left")
    counted = candidates.partition_by(_SET, as_dict=True)
    for key, part in rows.partition_by(_SET, as_dict=True, maintain_order=True).items():
        if key not in counted:
            continue
        splits: dict[str, Any] = {}
        for row in part.drop(_SET).iter_rows(named=True):
            of_split = splits.setdefault(row.pop("split"), {"candidates": {}, "rows": {}})
            side, metric = row.pop("side"), row.pop("metric")
            of_side = of_split["rows"].setdefault(side, {})
            of_side[metric] = {name: value for name, value in row.items() if value is not None}
        for (split, side), counts in counted[key].group_by("split", "side", maintain_order=True):
            columns = (counts[name].to_list() for name in ("num_candidates", "tasks"))
            splits[str(split)]["candidates"][side] = [*columns]
        facts = {"temporal": constants.has_times(key[0]), "left_out": left_out_by(key[1])}
        yield key, {**facts, "splits": splits}


def write_light_file(path: Path) -> None:
    """Write the file of the released constants."""
    write_bytes(light_file(Constants.released()), path)


if __name__ == "__main__":
    write_light_file(shipped(LIGHT))
