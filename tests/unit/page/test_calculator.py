"""What the calculator of the report is given: the constants of the database, to the last bit, and no more than that."""

import base64
import gzip
import json
import random
import re

import numpy as np
import polars as pl
import pytest

from rankadjust.base.vocabulary import EVALUATION, KEY, PRINTED_SPLITS
from rankadjust.chance.bounds import attainable
from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import BOUNDS
from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms, left_out_by
from rankadjust.database.store import load_database, load_datasets, with_released
from rankadjust.page.calculator import calculator_section
from rankadjust.page.material import Material

WORDS = ("reason", "reason_random_scorer", "reason_static_scorer")
NUMBERS = ("tasks", "expectation", "variance", "variance_random_scorer", "variance_static_scorer", *BOUNDS)


@pytest.fixture(scope="module")
def constants():
    return load_database().filter(pl.col("split").is_in(PRINTED_SPLITS), pl.col("split") != "training")


@pytest.fixture(scope="module")
def content():
    material = Material({}, Constants.released().over(None), load_datasets())
    return str(calculator_section(material).content)


@pytest.fixture(scope="module")
def given(content):
    """Return what the script gets, unpacked as it does it."""
    texts = dict(re.findall(r'<script [^>]*id="calculator-(\w+)">(.*?)</script>', content, flags=re.DOTALL))
    names = json.loads(texts["names"])
    floats = np.frombuffer(gzip.decompress(base64.b64decode(texts["numbers"])), "<f8")
    tables, start = {}, 0
    for table, columns in names["columns"].items():
        height = names["heights"][table]
        tables[table] = {
            name: floats[start + i * height : start + (i + 1) * height] for i, name in enumerate(columns)
        }
        start += height * len(columns)
    assert start == floats.size
    return names, tables


def test_the_numbers_are_those_of_the_database(given, constants):
    names, tables = given
    head, rows = tables["evaluations"], tables["rows"]
    assert (rows["metric"].size, head["rows"].sum()) == (constants.height, constants.height)
    counts = head["rows"].astype(int)
    unpacked = {name: np.array(names[name])[np.repeat(head[name], counts).astype(int)] for name in EVALUATION}
    keys = np.array([metric["key"] for metric in names["metric"]])
    unpacked["metric"] = keys[rows["metric"].astype(int)]
    unpacked["tasks"] = np.repeat(head["tasks"], counts)
    unpacked |= {name: rows[name] for name in NUMBERS[1:]}
    same = unpacked["variance_static_scorer"] == -1
    unpacked["variance_static_scorer"] = np.where(
        same, rows["variance_random_scorer"], unpacked["variance_static_scorer"]
    )
    words = np.array([*names["reason"], None])
    unpacked |= {name: words[np.nan_to_num(rows[name], nan=-1).astype(int)] for name in WORDS}
    wanted = constants.select(*EVALUATION, "metric", *NUMBERS, *WORDS).with_columns(
        pl.col(NUMBERS).cast(pl.Float64)
    )
    found = pl.DataFrame(
        {
            name: pl.Series(values, dtype=wanted.schema[name], strict=False).fill_nan(None)
            if name in NUMBERS
            else pl.Series(values.tolist(), dtype=pl.String)
            for name, values in unpacked.items()
        }
    ).select(wanted.columns)
    # Float by float, bit by bit: no tolerance.
    assert found.sort(KEY).equals(wanted.sort(KEY))


def test_the_limits_are_those_that_the_command_knows(given):
    names, tables = given
    head, rows = tables["evaluations"], tables["rows"]
    histograms = Constants.released().histograms
    draw, known = random.Random(2), 0
    for place in draw.sample(range(head["rows"].size), 40):
        evaluation = [names[name][int(head[name][place])] for name in EVALUATION]
        counted = histograms.candidate_counts(*evaluation)
        counts = None if counted is None else (counted.counts + left_out_by(evaluation[1])).clip(min=1)
        first = int(head["first"][place])
        for row in range(first, first + int(head["rows"][place])):
            metric = resolve(names["metric"][int(rows["metric"][row])]["key"])
            expected = None if counts is None else attainable(metric, counts, counted.tasks)
            found = rows["least"][row], rows["greatest"][row]
            if expected is None:
                assert np.isnan(found).all()
            else:
                # Sums are taken in another order.
                assert found == pytest.approx((expected.least, expected.greatest), rel=1e-12)
                known += 1
    assert known > 500


def test_a_run_with_nothing_to_adjust_has_no_calculator():
    empty = with_released(load_database().clear(), None)
    assert calculator_section(Material({}, Constants(empty, Histograms()), load_datasets().clear())) is None


def test_the_command_needs_the_folder_of_the_run_for_what_the_release_has_not(constants):
    """Nations has another expectation here, and FB15k-237 that of the release."""
    own = constants.filter(pl.col("dataset").is_in(["Nations", "FB15k-237"])).with_columns(
        expectation=pl.col("expectation") + pl.when(pl.col("dataset") == "Nations").then(1e-9).otherwise(0.0)
    )
    together = with_released(own, load_database())
    content = str(calculator_section(Material({}, Constants(together), load_datasets())).content)
    names = json.loads(re.search(r'id="calculator-names">(.*?)</script>', content, flags=re.DOTALL)[1])
    assert set(names["own"]) == {"Nations", "FB15k-237"}
    assert names["local"] == ["Nations"]
