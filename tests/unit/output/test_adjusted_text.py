"""The short table that every command prints: what is in it, and what is left out because it says nothing."""

import polars as pl

from rankadjust.evaluation.one_value import adjust
from rankadjust.literature.rescore import rescore
from rankadjust.output.adjusted_text import adjusted_values, rescored_text


def rows(dataset, **values):
    names = {name.replace("hits", "hits@"): text for name, text in values.items()}
    return [vars(adjust(text, dataset=dataset, metric=name)) | {"text": text} for name, text in names.items()]


def test_several_values_are_one_table_of_at_most_8_lines():
    lines = adjusted_values(rows("FB15k-237", mrr="0.338", hits10="0.533")).splitlines()
    assert len(lines) <= 8
    assert lines[1].split() == ["value", "chance", "counting", "(popularity)", "gain"]
    # As `rankadjust adjust --json` has them: 0.2345 and 0.3565 are released baselines.
    assert lines[2].split() == ["MRR", "0.338", "0.0007111", "0.2345", "0.1352"]
    assert lines[3].split() == ["Hits@10", "0.533", "0.0007012", "0.3565", "0.2743"]


def test_the_index_is_there_where_chance_is_visible_and_z_where_it_can_be_doubted():
    header, mrr, rank = adjusted_values(rows("FB15k-237", mrr="0.338", mr="177")).splitlines()[1:4]
    assert "index" in header
    assert " z" not in header
    assert (len(mrr.split()), len(rank.split())) == (5, 6)
    # Nations: chance alone has 0.38.
    header, line = adjusted_values(rows("Nations", mrr="0.43")).splitlines()[1:3]
    assert header.split()[-3:] == ["index", "gain", "z"]
    assert float(line.split()[-1]) < 100


def test_rescored_rows_fit_120_columns_and_say_what_a_status_means():
    long = "A model with a name that goes on and on, as names of models in papers do (ours, full)"
    printed = pl.DataFrame({"model": ["A", long], "value": ["0.338", "x"]})
    text = rescored_text(
        rescore(
            printed.with_columns(
                dataset=pl.lit("FB15k-237"), metric=pl.lit("MRR"), protocol=pl.lit("filtered")
            )
        )
    )
    header, *lines = text.splitlines()
    assert header.split() == [
        "model",
        "data",
        "set",
        "metric",
        "value",
        "chance",
        "counting",
        "gain",
        "status",
    ]
    assert max(map(len, [header, *lines[:2]])) <= 120
    assert lines[0].split()[:4] == ["A", "FB15k-237", "MRR", "0.338"]
    assert lines[2].startswith("value_not_a_number (1): ")
