"""Files between stages: plain Parquet with the number of its layout, and plain JSON."""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.stages import LAYOUTS, read_json, read_product, write_json, write_product

FRAME = pl.DataFrame({"a": [1, 2]})


def test_what_was_written_is_read_again(tmp_path):
    write_product(FRAME, tmp_path / "a.parquet", "moments")
    assert read_product(tmp_path / "a.parquet", "moments").equals(FRAME)
    assert pl.read_parquet(tmp_path / "a.parquet").equals(FRAME)
    write_json({"entities": 4}, tmp_path / "a.json")
    assert read_json(tmp_path / "a.json") == {"entities": 4}


def test_another_layout_is_refused_with_what_makes_the_file_again(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    FRAME.write_parquet(path)
    with pytest.raises(RankadjustError, match=r"a\.parquet: has the layout of another program, .*--force "):
        read_product(path, "moments")
    write_product(FRAME, path, "moments")
    monkeypatch.setitem(LAYOUTS, "moments", 2)
    with pytest.raises(RankadjustError, match=r"has the layout moments 1, .* reads moments 2; make it again"):
        read_product(path, "moments")


@pytest.mark.parametrize("text", [None, "", '{"entities": '])
def test_a_file_that_is_missing_or_damaged_is_one_line(tmp_path, text):
    for name, read in (("a.parquet", lambda path: read_product(path, "moments")), ("a.json", read_json)):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        with pytest.raises(RankadjustError, match=rf"^{path}: "):
            read(path)
