"""Frames of other libraries, and text made of columns."""

import polars as pl
import pytest

from rankadjust.base.frames import filled, require_frame


def with_an_empty_first_chunk():
    """Return rows that a filter left, in two chunks of 0 and 2 rows.

    The filter works on the column: that of a frame drops the empty chunk in polars 2.0, and keeps it in 2.1.
    """
    words = pl.Series("word", ["a", "b"]).append(pl.Series("word", ["c", "c"]))
    kept = pl.DataFrame([pl.Series("number", [2, 3]), words.filter(words == "c")])
    assert [len(chunk) for chunk in kept["word"].get_chunks()] == [0, 2]
    return kept


def test_text_is_made_of_columns_whatever_their_chunks():
    # polars.format panics here, in polars 2.0 and 2.1.
    made = with_an_empty_first_chunk().select(
        filled("{}: {}, twice {}", "number", "word", pl.col("number") * 2)
    )
    assert made.to_dict(as_series=False) == {"number": ["2: c, twice 4", "3: c, twice 6"]}


def test_a_null_leaves_no_text_and_every_value_has_its_place():
    frame = pl.DataFrame({"word": ["a", None]})
    assert frame.select(filled("is {}", "word")).to_series().to_list() == ["is a", None]
    with pytest.raises(ValueError, match="zip"):
        filled("{} and {}", "word")


def test_an_index_with_a_name_is_a_column():
    """In a table by model, pandas has the models in its index: without them they would be one model."""
    pd = pytest.importorskip("pandas")
    by_model = pd.DataFrame({"MRR": [0.3, 0.4]}, index=pd.Index(["A", "B"], name="model"))
    assert require_frame(by_model, "the table").rows() == [("A", 0.3), ("B", 0.4)]
    kept = by_model.reset_index(drop=True)
    assert require_frame(kept, "the table").columns == ["MRR"]
    both = by_model.assign(model=["C", "D"])
    assert require_frame(both, "the table")["model"].to_list() == ["C", "D"]
