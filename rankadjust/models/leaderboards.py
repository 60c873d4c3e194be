"""Leaderboards of printed values: which models of an evaluation can be told apart, whatever their ranks were.

Each pair has one of the three verdicts of `rankadjust.models.printed`. Models share a letter if neither of them
is known to be better: because they are not separable, or because printed values do not tell.
"""

from collections.abc import Mapping
from itertools import combinations

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import Typed
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.models.printed import (
    SEPARATE,
    scale_of,
    triples_of,
    verdict_of,
    z_between,
)
from rankadjust.models.several import letters

BEST = "best"
WORSE = "worse"

_SET = ("dataset", "protocol", "split")


def leaderboards(results: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Return the results of each evaluation on test data with at least two models, with what their values tell.

    results: the columns of an evaluation, metric, place (1 for the best), model, value, and value_low and value_high,
        the ends of what was rounded; a row for each model. Metrics that are no mean over the tasks are left out.
    constants: of these evaluations; those with an unknown number of tasks are left out.

    Adds triples (evaluated ones; both tasks of one count once), letters (two models share one exactly if it is not
    known which is better) and to_best: best, worse (than the best one, whatever the ranks are), not separable, or
    cannot be known.
    """
    sets = {
        key: EvaluationSet(str(key[0]), str(key[1]), str(key[2]), "both", rows, constants.histograms)
        for key, rows in constants.table.partition_by(_SET, as_dict=True).items()
    }
    additive = [key for key in results["metric"].unique() if resolve(key).additive]
    shown = results.filter(pl.col("split").is_in(TEST_SPLITS), pl.col("metric").is_in(additive))
    parts = [
        judged
        for _, part in shown.sort(*EVALUATION, "metric", "place").group_by(
            [*EVALUATION, "metric"], maintain_order=True
        )
        if part.height > 1 and (judged := _judged(part, sets)) is not None
    ]
    added = {"triples": pl.Int64, "letters": pl.String, "to_best": pl.String}
    return (
        pl.concat(parts)
        if parts
        else results.clear().with_columns(pl.lit(None, kind).alias(name) for name, kind in added.items())
    )


def _judged(part: pl.DataFrame, sets: Mapping[tuple[object, ...], EvaluationSet]) -> pl.DataFrame | None:
    """Return the results of one evaluation and metric with letters, None where the number of tasks is not known."""
    first = part.row(0, named=True)
    evaluation_set = sets.get(tuple(first[name] for name in _SET))
    if evaluation_set is None:
        return None
    metric = resolve(first["metric"])
    try:
        of_side = evaluation_set.of_side(first["side"])
        triples, scale = triples_of(of_side), scale_of(metric, of_side)
    except RankadjustError:
        return None
    printed = {
        name: Typed(name, value, low, high)
        for name, value, low, high in part.select("model", "value", "value_low", "value_high").iter_rows()
    }
    verdicts = {
        (better, worse): verdict_of(*z_between(scale, triples, printed[better], printed[worse]))
        for better, worse in combinations(printed, 2)
    }
    names = list(printed)
    of_model = letters(names, {pair: verdict == SEPARATE for pair, verdict in verdicts.items()})
    to_best = [BEST, *(verdicts[names[0], name] for name in names[1:])]
    return part.with_columns(
        triples=pl.lit(triples, pl.Int64),
        letters=pl.Series([of_model[name] for name in names], dtype=pl.String),
        to_best=pl.Series([WORSE if verdict == SEPARATE else verdict for verdict in to_best]),
    )
