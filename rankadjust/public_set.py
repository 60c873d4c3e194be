"""The public EvaluationSet: the one of the database, and the functions of other packages that take a set."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.base.frames import require_frame
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import find_adjusted, resolve
from rankadjust.chance.typed import typed_value
from rankadjust.database import evaluation_set
from rankadjust.database.constants import Constants
from rankadjust.database.counted_baselines import GAIN

if TYPE_CHECKING:
    from rankadjust.models.compare import Comparison

ADJUSTED = pl.Schema(
    {
        "printed": pl.String,
        "metric": pl.String,
        **dict.fromkeys(("value", "value_low", "value_high", "expectation", "ratio"), pl.Float64),
        **dict.fromkeys(("index", "index_low", "index_high", "z", "z_random_scorer"), pl.Float64),
        **GAIN,
        "possible": pl.Boolean,
        "message": pl.String,
    }
)
"""Columns of the result of `EvaluationSet.adjust`."""


class EvaluationSet(evaluation_set.EvaluationSet):
    """The data set, protocol, split and side that a value belongs to, with their constants.

    Make one with `released`, `of_run`, `from_triples` or `constant`, and ask it for expectations, adjusted values,
    contradictions, or what the ranks of models are worth.

    Attributes
    ----------
    dataset, protocol, split, side : str
        Names as the database has them; side is head, tail or both.
    constants : polars.DataFrame
        The rows of the database for all sides (`rankadjust.database.store.SCHEMA`).
    histograms : Histograms
        How many tasks have how many candidates.
    pairs : polars.DataFrame or None
        Of own triples, how the head and the tail task of a triple go together (`rankadjust.count_candidates`).
    rules : Protocol or None
        The protocol under which these triples were counted.
    counting, listing : callable or None
        They return values of the counting baselines, and a row for every single task.

    Examples
    --------
    >>> fb = EvaluationSet.released("FB15k-237")
    >>> fb.adjust(mrr="0.338", mr="170").select("printed", pl.col("index").round(4), "possible").rows()
    [('0.338', 0.3375, True), ('170', 0.9764, True)]

    """

    def adjust(
        self,
        printed: Mapping[str, float | str] | None = None,
        /,
        *,
        scores: str | None = None,
        against: str | None = None,
        **values: float | str,
    ) -> pl.DataFrame:
        """Adjust printed values for chance, and say which of them are possible at all.

        Parameters
        ----------
        printed : mapping of str to number or str, optional
            Values by the names of their metrics: {"hits@10": "53.3%"}. Text has the rounding of its digits.
        **values : number or str
            The same for names that are words of Python: mrr="0.338".
        scores : str, optional
            Of temporal data: per_time or static, as for `rankadjust.adjust`.
        against : str, optional
            The counting baseline for the gain; None: the best one, chosen on validation.

        Returns
        -------
        polars.DataFrame
            A row for each value: printed, metric, value, expectation, ratio, index and z with their intervals, p;
            baseline, baseline_value and gain, which is (value - baseline_value) / (optimum - baseline_value); and
            possible. Where a value is not possible, message says why, and the numbers are null.

        Raises
        ------
        RankadjustError
            For an unknown metric or baseline, and for values that are not numbers.

        Examples
        --------
        >>> nations = EvaluationSet.released("Nations")
        >>> nations.adjust(mrr="0.430", mr="25").select("printed", pl.col("index").round(3), "possible").rows()
        [('0.430', 0.074, True), ('25', None, False)]

        """
        from rankadjust.evaluation.one_value import adjust  # noqa: PLC0415

        rows: list[dict[str, object]] = []
        for name, value in {**(printed or {}), **values}.items():
            row: dict[str, object] = {"printed": f"{value}", "metric": resolve(name).key, "possible": True}
            try:
                rows.append(
                    asdict(adjust(value, dataset=self, metric=name, scores=scores, against=against)) | row
                )
            except ImpossibleValueError as error:
                rows.append(row | {"possible": False, "message": str(error)})
        return pl.DataFrame(rows, schema=ADJUSTED)

    def evaluate(self, ranks: Any, **options: Any) -> pl.DataFrame:  # noqa: ANN401 - options of evaluate
        """Return every metric of a model's ranks, adjusted for chance: `rankadjust.evaluate` with this set.

        Examples
        --------
        >>> own = EvaluationSet.constant(candidates=10, tasks=3)
        >>> own.evaluate([2, 1, 4], metrics=["mrr"]).select(pl.col("index").round(4)).item()
        0.4107

        """
        from rankadjust.evaluation.evaluate import evaluate  # noqa: PLC0415 - it is slow to import

        return evaluate(ranks, dataset=self, **options)

    def compare(self, *models: Any, **options: Any) -> "Comparison":  # noqa: ANN401 - options of compare
        """Compare models by their ranks: `rankadjust.compare` with this set.

        models: the ranks of two or more models, called A, B and so on, or by the names of their files. Or one mapping
        of names to ranks.

        Examples
        --------
        >>> sampled = EvaluationSet.constant(candidates=50, tasks=4)
        >>> sampled.compare([1, 2, 3, 4], [2, 2, 5, 6], metrics=["mr"]).differences["difference"].item()
        -1.25

        """
        from rankadjust.models.compare import compare  # noqa: PLC0415

        given = models[0] if len(models) == 1 and isinstance(models[0], Mapping) else list(models)
        if isinstance(given, list) and not all(isinstance(model, str | Path) for model in given):
            given = dict(zip(ascii_uppercase, given, strict=False))
        return compare(given, dataset=self, **options)

    def check(self, values: Mapping[str, float | str] | pl.DataFrame) -> pl.DataFrame:
        """Return the contradictions between the printed values of a model, as `rankadjust.check` does.

        Parameters
        ----------
        values : mapping or frame
            The values by metric; or a table with the columns metric, value and, for several models, model. In a
            mapping an unknown metric is refused, and so is a value that the metric cannot have.

        Examples
        --------
        >>> fb = EvaluationSet.released("FB15k-237")
        >>> fb.check({"mrr": 0.34, "hits@10": 0.1})["severity"].to_list()
        ['impossible']

        """
        from rankadjust.literature.contradictions import check  # noqa: PLC0415
        from rankadjust.literature.rescore import rescore  # noqa: PLC0415

        if isinstance(values, Mapping):
            for name, value in values.items():
                metric, adjustment = find_adjusted(name) or (resolve(name), None)
                if adjustment is None:
                    typed_value(value, metric)
                elif read_number(f"{value}") is None:
                    raise RankadjustError(f"{value!r} is not a value; give a number or text such as '0.338'")
            printed = {"metric": list(values), "value": [f"{value}" for value in values.values()]}
            table = pl.DataFrame(printed, schema=dict.fromkeys(printed, pl.String))
        else:
            table = require_frame(values, "the values")
        known = {name: pl.lit(text) for name, text in zip(EVALUATION, self.evaluation, strict=True)}
        found = map(find_adjusted, table["metric"].unique())
        metrics = {base[0].key for base in found if base is not None}
        constants = Constants(self.moments(sorted(metrics)), self.histograms)
        # The database has these names: the registry, which takes long to read, has nothing to add.
        return check(rescore(table.with_columns(**known), constants, registry={}, entities={}), constants)
