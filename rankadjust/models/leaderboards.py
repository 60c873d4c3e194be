"""Leaderboards of printed values: which models of an evaluation can be told apart, whatever their ranks were.

Each pair has a verdict of `rankadjust.models.printed`, with p adjusted for all pairs of the leaderboard, and for the
choice of the best result of the better model. Models share a letter if neither of them is known to be better.
"""

from collections.abc import Iterator, Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import Typed
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.models.printed import (
    BETTER,
    IF_INDEPENDENT,
    LEVEL,
    UNKNOWN,
    Judge,
    PrintedPair,
    dependences,
    value_range,
)
from rankadjust.models.several import letters

BEST = "best"
_WORSE = {BETTER: "worse", IF_INDEPENDENT: "worse only if triples are independent", UNKNOWN: UNKNOWN}
WORSE, WORSE_IF_INDEPENDENT, _ = _WORSE.values()

_SET = ("dataset", "protocol", "split")
_ADDED = {
    "triples": pl.Int64,
    "letters": pl.String,
    "letters_if_independent": pl.String,
    "to_best": pl.String,
    "assumption": pl.String,
    "corrected_for": pl.String,
}
# Of a mean over runs, and of the best of several results; results without these columns are taken as they are.
_OPTIONAL = {"spread": pl.Float64, "runs": pl.Int64, "results": pl.Int64}


def leaderboards(results: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Return the results of each evaluation on test data with at least two models, with the verdicts on their values.

    results: the columns of an evaluation, metric, place (1 for the best), model, value, and value_low and value_high,
        the ends of the rounding interval; a row for each model. Where they have spread and runs, the standard deviation
        over so many runs, other seeds are taken into account; where they have results, of how many results of the
        model the value is the best, this choice is. Metrics that are not means over the tasks are left out.
    constants: of these evaluations; evaluations with an unknown number of tasks are left out.

    Adds triples (evaluated ones; both tasks of one count once), letters (two models share one exactly if it is not
    known which is better), letters_if_independent (the same, if no triple has to do with another) and to_best: best,
    worse (than the best one), worse only if triples are independent, or cannot be known; the assumption of that, and
    the choices that its p is corrected_for.
    """
    sets = {
        key: EvaluationSet(str(key[0]), str(key[1]), str(key[2]), "both", rows, constants.histograms)
        for key, rows in constants.table.partition_by(_SET, as_dict=True).items()
    }
    absent = [
        pl.lit(None, kind).alias(name) for name, kind in _OPTIONAL.items() if name not in results.columns
    ]
    results = results.with_columns(absent)
    additive = [key for key in results["metric"].unique() if resolve(key).additive]
    shown = results.filter(
        pl.col("split").is_in(TEST_SPLITS),
        pl.col("metric").is_in(additive),
        pl.len().over(*EVALUATION, "metric") > 1,
    )
    parts = [
        part
        for _, rows in shown.sort(*EVALUATION, "metric", "place").group_by(EVALUATION, maintain_order=True)
        for part in _judged_by_metric(rows, sets)
    ]
    return (
        pl.concat(parts)
        if parts
        else results.clear().with_columns(pl.lit(None, kind).alias(name) for name, kind in _ADDED.items())
    )


def _judged_by_metric(
    rows: pl.DataFrame, sets: Mapping[tuple[object, ...], EvaluationSet]
) -> Iterator[pl.DataFrame]:
    """Yield the results of one evaluation with letters, by metric.

    Nothing is yielded where the number of tasks is not known, and no mean rank where the number of candidates is not.
    """
    first = rows.row(0, named=True)
    evaluation_set = sets.get(tuple(first[name] for name in _SET))
    if evaluation_set is None:
        return
    try:
        of_side = evaluation_set.of_side(first["side"])
        # Which tasks share a query is the same for every metric, and takes long to find.
        of_tasks = dependences(of_side)
    except RankadjustError:
        return
    for (key,), part in rows.group_by("metric", maintain_order=True):
        metric = resolve(str(key))
        try:
            limits = value_range(metric, of_side)
        except RankadjustError:
            continue
        yield _judged(part, Judge(metric, *limits, *of_tasks))


def _judged(part: pl.DataFrame, judge: Judge) -> pl.DataFrame:
    """Return the results of one evaluation and metric with letters."""
    # A spread over an unknown number of runs has no stated meaning. The standard error is the root of s^2 / (runs - 1)
    # at most, whether s^2 was divided by the number of runs or by one less.
    error = pl.col("spread") / (pl.col("runs") - 1).sqrt()
    chosen_from = pl.col("results").fill_null(1)
    # A model of the user may share its name with a published one, but not its place.
    place = pl.col("place").cast(pl.String)
    columns = part.select(place, "value", "value_low", "value_high", error, "runs", chosen_from)
    printed = [Typed(*row) for row in columns.iter_rows()]
    names = [best.text for best in printed]
    pairs = {(pair.better.text, pair.worse.text): pair for pair in judge.pairs(printed)}
    of_model = letters(names, {both: pair.verdict == BETTER for both, pair in pairs.items()})
    alone = letters(names, {both: pair.p_if_independent <= LEVEL for both, pair in pairs.items()})
    to_best = [pairs[names[0], name] for name in names[1:]]
    model_of = dict(part.select(place, "model").iter_rows())
    choices = [_choices(len(pairs), pair, model_of) for pair in to_best]
    return part.with_columns(
        triples=pl.lit(judge.alone.triples, pl.Int64),
        letters=pl.Series([of_model[name] for name in names], dtype=pl.String),
        letters_if_independent=pl.Series([alone[name] for name in names], dtype=pl.String),
        to_best=pl.Series([BEST, *(_WORSE[pair.verdict] for pair in to_best)]),
        assumption=pl.Series([None, *(pair.assumption for pair in to_best)], dtype=pl.String),
        corrected_for=pl.Series([None, *choices], dtype=pl.String),
    )


def _choices(pairs: int, pair: PrintedPair, model_of: Mapping[str, str]) -> str:
    """Return the choices that p of a pair is corrected for."""
    of_pairs = "1 pair of models" if pairs == 1 else f"{pairs:,} pairs of models"
    chosen = [pair.better] if pair.worse.spread is None else [pair.better, pair.worse]
    results = [
        f"the best of {one.results} results of {model_of[one.text]}" for one in chosen if one.results > 1
    ]
    return "; ".join([of_pairs, *results])
