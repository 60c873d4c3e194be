"""Blocks of integer triples come back as they were written, and what is no such file is refused in one line."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SPLITS
from rankadjust.data.blocks import integer_blocks


def write(path, array, columns=("head", "relation", "tail")):
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        pl.DataFrame(array, schema=list(columns), orient="row").write_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["npy", "parquet"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("rows", [1, 4, 5, 100])
def test_blocks_come_back(tmp_path, ending, kind, rows):
    arrays = {"training": np.arange(36).reshape(12, 3).astype(kind), "testing": np.ones((5, 3), kind)}
    paths = {split: write(tmp_path / f"{split}.{ending}", array) for split, array in arrays.items()}
    blocks = list(integer_blocks(paths, rows=rows))
    assert max(block.height for block in blocks) == min(rows, 12)
    names = [split for split, array in arrays.items() for _ in array]
    whole = pl.DataFrame(np.concatenate(list(arrays.values())), schema=["head", "relation", "tail"])
    assert_frame_equal(
        pl.concat(blocks), whole.select(pl.Series(names, dtype=pl.Enum(SPLITS)).alias("split"), pl.all())
    )


def test_columns_in_another_order(tmp_path):
    columns = ("head", "tail", "time", "relation")
    path = write(tmp_path / "a.npy", np.arange(8).reshape(2, 4))
    (block,) = integer_blocks({"training": path}, columns)
    assert block.select("head", "relation", "tail", "time").rows() == [(0, 3, 1, 2), (4, 7, 5, 6)]


def test_what_is_no_file_of_triples_is_refused(tmp_path):
    def refused(path, message, split="training"):
        with pytest.raises(RankadjustError, match=message):
            list(integer_blocks({split: path}))

    refused(tmp_path / "none.npy", r"none\.npy: there is no such file")
    refused(tmp_path / "none.npy", "unknown split 'train'", "train")
    (tmp_path / "a.txt").write_text("1\t2\t3\n")
    refused(tmp_path / "a.txt", r"a\.txt: blocks are read from \.npy and \.parquet files only")
    (tmp_path / "a.npy").write_text("1\t2\t3\n")
    refused(tmp_path / "a.npy", r"a\.npy: no npy file")
    (tmp_path / "a.parquet").write_text("1\t2\t3\n" * 9)
    refused(tmp_path / "a.parquet", r"a\.parquet: no Parquet file")
    refused(
        write(tmp_path / "two.npy", np.zeros((4, 2), int)),
        r"\(4, 2\) of int64; needed are rows of 3 integers",
    )
    refused(
        write(tmp_path / "real.npy", np.zeros((4, 3))), r"\(4, 3\) of float64; needed are rows of 3 integers"
    )
    by_column = write(tmp_path / "by_column.npy", np.zeros((4, 3), int, order="F"))
    refused(by_column, "by column; needed are rows")
    refused(
        write(tmp_path / "b.parquet", np.zeros((4, 3), int), ("h", "r", "t")),
        "lacks the column 'head'; it has h, r, t",
    )
    whole = write(tmp_path / "short.npy", np.zeros((4, 3), int))
    whole.write_bytes(whole.read_bytes()[:-8])
    refused(whole, "ends before its 4 rows do")
