"""The case study of Hoyt et al. (2022): its printed adjustments, their reproductions, and the correct values.

The sixteen runs were evaluated under the protocol `pykeen`. Most of their printed adjustments used constants of
another origin (docs/case-study.md). A recipe names that origin:

* counted: the constants of the candidates that were ranked;
* exclusive: the constants without the true answer among the candidates, so that N is too small by 1 in every task;
* exclusive, inverted: like exclusive, but with the sign of the mean rank, so that low is good;
* approximate: an index with the expectation E = ln(c) / (c - 1) of MRR, where c is the mean number of candidates.
"""

import polars as pl

COUNTED = "pykeen"
EXCLUSIVE = "pykeen-published"
_MEAN_RANK, _MRR = "arithmetic_mean_rank", "inverse_harmonic_mean_rank"
_RUN = ("dataset", "model", "metric")


def audit(rescored: pl.DataFrame, database: pl.DataFrame) -> pl.DataFrame:
    """Compare each printed adjustment of the case study with its reproduction and with the correct value.

    rescored: the rows of the case study from `rankadjust.rescore`. database: rows of both protocols. Returns one row
    per data set, model, metric and adjustment: value (the metric as printed), printed, reproduced, difference
    (reproduced / printed - 1), recipe, corrected. Data sets that the database lacks are left out.
    """
    values = rescored.filter(pl.col("adjustment").is_null()).select(*_RUN, "value")
    printed = rescored.filter(pl.col("adjustment").is_not_null()).select(*_RUN, "adjustment", printed="value")
    constants = _constants(database)
    counted = constants.filter(recipe="counted").drop("recipe")
    key = ["dataset", "metric", "adjustment"]
    return (
        printed.join(values, on=_RUN)
        .with_columns(recipe=_recipe())
        .join(constants, on=[*key, "recipe"])
        .join(counted, on=key, suffix="_counted")
        .with_columns(
            reproduced=pl.col("scale") * pl.col("value") + pl.col("offset"),
            corrected=pl.col("scale_counted") * pl.col("value") + pl.col("offset_counted"),
        )
        .with_columns(difference=pl.col("reproduced") / pl.col("printed") - 1)
        .select(*_RUN, "adjustment", "value", "printed", "reproduced", "difference", "recipe", "corrected")
        .sort(*_RUN, "adjustment")
    )


def _recipe() -> pl.Expr:
    """Return the recipe of a printed adjustment; the recipes were found by trial, and the tests check them."""
    is_z = pl.col("adjustment") == "z"
    is_index = pl.col("adjustment") == "index"
    return (
        pl.when(is_z & (pl.col("metric") == _MEAN_RANK))
        .then(pl.lit("exclusive, inverted"))
        .when(is_z | (is_index & (pl.col("metric") == "geometric_mean_rank")))
        .then(pl.lit("exclusive"))
        .when(is_index & (pl.col("metric") == _MRR))
        .then(pl.lit("approximate"))
        .otherwise(pl.lit("counted"))
    )


def _constants(database: pl.DataFrame) -> pl.DataFrame:
    """Return scale and offset per data set, metric, adjustment and recipe."""
    rows = database.filter(split="testing", side="both")
    exclusive = _scales(rows.filter(protocol=EXCLUSIVE))
    # By chance the mean rank is (c + 1) / 2: solve for the mean number of candidates c.
    c = 2 * pl.col("expectation") - 1
    expectation = c.log() / (c - 1)
    recipes = {
        "counted": _scales(rows.filter(protocol=COUNTED)),
        "exclusive": exclusive,
        "exclusive, inverted": exclusive.filter(adjustment="z").with_columns(
            -pl.col("scale"), -pl.col("offset")
        ),
        "approximate": rows.filter(protocol=COUNTED, metric=_MEAN_RANK).select(
            "dataset",
            metric=pl.lit(_MRR),
            adjustment=pl.lit("index"),
            scale=1 / (1 - expectation),
            offset=-expectation / (1 - expectation),
        ),
    }
    return pl.concat(frame.with_columns(recipe=pl.lit(recipe)) for recipe, frame in recipes.items())


def _scales(rows: pl.DataFrame) -> pl.DataFrame:
    """Return scale and offset of each adjustment, one row each."""
    offsets = {"ratio": pl.lit(0.0), "index": pl.col("index_offset"), "z": pl.col("z_offset")}
    return pl.concat(
        rows.select("dataset", "metric", adjustment=pl.lit(name), scale=f"{name}_scale", offset=offset)
        for name, offset in offsets.items()
    )
