"""The release: whole or refused, and in PyKEEN's layout."""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.chance.moments import moments_table
from rankadjust.data.registry import load_registry
from rankadjust.database.store import assemble, load_database
from rankadjust.database.verification import pykeen_layout, require_sound


@pytest.fixture(scope="module")
def registry():
    shipped = load_registry()
    return {name: shipped[name] for name in ("Nations", "CoDEx-S", "GraIL-WN18RR-v1")}


def database(*keys):
    return pl.DataFrame(
        [
            (dataset, protocol, "testing", "both", "arithmetic_mean_rank", expectation)
            for dataset, protocol, expectation in keys
        ],
        schema=["dataset", "protocol", "split", "side", "metric", "expectation"],
        orient="row",
        schema_overrides={"expectation": pl.Float64},
    )


def test_pykeen_layout_has_its_names_and_columns(registry):
    rows = database(
        ("CoDEx-S", "pykeen", 2.5), ("Nations", "filtered", 4.5), ("GraIL-WN18RR-v1", "pykeen", 3.5)
    )
    layout = pykeen_layout(rows, registry)
    assert layout.columns == ["dataset", "metric", "side", "split", "value"]
    assert layout.rows() == [("codexsmall", "arithmetic_mean_rank", "both", "testing", 2.5)]


@pytest.fixture(scope="module")
def sound():
    """A database with all kinds of rows: usual ones, constant ones (N at most 10), and unknown variances."""
    histogram = pl.DataFrame(
        {
            "split": ["testing", "testing", "validation"],
            "side": ["head", "tail", "tail"],
            "entities": [40, 40, 40],
            "num_candidates": [30, 7, 1],
            "tasks": [12, 12, 3],
        }
    )
    metrics = expand([family.key for family in FAMILIES.values() if family.has_moments], [1, 3, 10])
    moments = (
        moments_table(histogram, metrics)
        .with_columns(
            pl.lit("Nations").alias("dataset"),
            pl.lit("filtered").alias("protocol"),
            variance_random_scorer=pl.when(~pl.col("metric").str.contains("median")).then(
                1.5 * pl.col("variance")
            ),
        )
        .with_columns(
            reason_random_scorer=pl.when(pl.col("variance_random_scorer").is_null()).then(
                pl.lit("not derived")
            )
        )
    )
    unknown = moments.with_columns(
        pl.lit("raw").alias("protocol"),
        *(pl.lit(None, pl.Float64).alias(name) for name in ("variance", "variance_random_scorer")),
        reason=pl.lit("the number of tasks is not confirmed by a source"),
        reason_random_scorer=pl.lit("the number of tasks is not confirmed by a source"),
    )
    return assemble([moments, unknown])


def test_a_sound_database_is_released(sound):
    require_sound(sound)
    constant = sound.filter(pl.col("variance") == 0)
    assert constant.height > 10
    assert constant.filter(~pl.all_horizontal(pl.col("^(index|z).*_scale$").is_null())).is_empty()


@pytest.mark.parametrize(
    ("column", "value", "fault"),
    [
        ("variance", -1e-9, "variance is wrong"),
        ("variance", None, "z_scale does not follow"),
        ("index_scale", 3.6e16, "index_scale does not follow"),
        ("index_offset", 1.0 + 1e-6, "index_offset does not follow"),
        ("ratio_scale", 0.5, "ratio_scale does not follow"),
        ("z_random_scorer_offset", float("nan"), "z_random_scorer_offset does not follow"),
        ("variance_static_scorer", float("nan"), "variance_static_scorer is wrong"),
    ],
)
def test_one_wrong_number_among_all_rows_refuses_the_release(sound, column, value, fault):
    broken = ("Nations", "filtered", "testing", "tail", "arithmetic_mean_rank")
    row = [pl.col(name) == part for name, part in zip(KEY, broken, strict=True)]
    wrong = sound.with_columns(pl.when(*row).then(pl.lit(value, pl.Float64)).otherwise(column).alias(column))
    with pytest.raises(RankadjustError, match=rf"not sound: .*{fault} in 1 row \({', '.join(broken)}\)"):
        require_sound(wrong)


def test_what_is_missing_without_a_reason_refuses_the_release(sound):
    with pytest.raises(RankadjustError, match="a value is missing without a reason in "):
        require_sound(sound.with_columns(reason=pl.lit(None, pl.String)))


def test_every_row_of_the_released_database_is_sound():
    released = load_database()
    assert released.height > 80_000
    require_sound(released)
