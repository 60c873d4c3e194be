"""Several data sets in one comparison: each is compared by itself, and the p-values are taken together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.database.constants import Constants, Database
from rankadjust.evaluation.rank_files import run_sources
from rankadjust.models.compare import DRAWS, FLIPS, LEVEL, METRICS, Comparison, compare
from rankadjust.models.paired import Source
from rankadjust.models.verdicts import with_letters, with_verdicts

Models = Mapping[str, Source | Sequence[Source]]


def compare_datasets(  # noqa: PLR0913 - options of the public API, by name only
    datasets: Mapping[str, Models | str | Path],
    *,
    protocol: str = "filtered",
    split: str = "testing",
    tasks: Mapping[str, str | Path | pl.DataFrame] | None = None,
    cluster: str | None = None,
    metrics: str | Sequence[str] = METRICS,
    flips: int = FLIPS,
    draws: int = DRAWS,
    seed: int = 0,
    database: Database = None,
) -> dict[str, Comparison]:
    """Compare the same models on several data sets, by data set.

    p_holm is adjusted for all data sets, metrics and pairs of a side, and letters, best and better follow from it.

    Parameters
    ----------
    datasets : mapping of str to models
        For each data set the models by name, as `compare` takes them; or a folder. The folder has a file, or a folder
        of runs, with the name of each model.
    protocol, split : str
        Names in any spelling, or aliases: 'filtered', 'testing'.
    tasks : mapping of str to frame, str or Path, optional
        The attributes of the tasks of those data sets that have a table of them.
    cluster, metrics, flips, draws, seed
        As for `compare`.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released ones. The
        histograms of its candidates come with it.

    Returns
    -------
    dict of str to Comparison
        By data set.

    Raises
    ------
    RankadjustError
        As for `compare`, with the name of the data set; and if a data set lacks a model that another has.

    Examples
    --------
    >>> nations = {"new": [1, 2] * 201, "old": [2, 2] * 201}
    >>> compared = compare_datasets({"Nations": nations}, metrics=["mr"], draws=0)
    >>> compared["Nations"].differences.select("difference", "better").rows()
    [(-0.5, 'new')]

    """
    attributes = tasks or {}
    if unknown := [name for name in attributes if name not in datasets]:
        raise RankadjustError(
            f"there are tasks of {unknown[0]}, but no models; there are {', '.join(datasets)}"
        )
    models = {
        name: models_of(Path(given)) if isinstance(given, str | Path) else given
        for name, given in datasets.items()
    }
    _check_same_models(models)
    constants = Constants.given(database)
    comparisons = {}
    for name, of_dataset in models.items():
        try:
            comparisons[name] = compare(
                of_dataset,
                dataset=name,
                protocol=protocol,
                split=split,
                tasks=attributes.get(name),
                cluster=cluster,
                metrics=metrics,
                flips=flips,
                draws=draws,
                seed=seed,
                database=constants,
            )
        except RankadjustError as error:
            raise RankadjustError(f"{name}: {error}") from None
    return _judged_together(comparisons)


def models_of(folder: Path) -> dict[str, Path]:
    """Return the models of a folder, in the order of their names: its files of ranks, and its folders of runs."""
    if not folder.is_dir():
        raise RankadjustError(
            f"{folder}: there is no such folder; it must have a file or a folder for each model"
        )
    paths: dict[str, Path] = {}
    for path in run_sources(folder, folders=True):
        if path.stem in paths:
            raise RankadjustError(f"{path}: there is another model {path.stem}: {paths[path.stem]}")
        paths[path.stem] = path
    return paths


def _check_same_models(models: Mapping[str, Models]) -> None:
    for first, has in models.items():
        for other, lacks in models.items():
            if missing := [name for name in has if name not in lacks]:
                raise RankadjustError(f"{other}: there is no model {missing[0]}, which {first} has")


def _judged_together(comparisons: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Return the comparisons with p adjusted over all of them."""
    together = with_verdicts(
        pl.concat(
            comparison.differences.with_columns(dataset=pl.lit(name))
            for name, comparison in comparisons.items()
        ),
        LEVEL,
    )
    judged = {}
    for name, comparison in comparisons.items():
        differences = together.filter(dataset=name).drop("dataset")
        values = with_letters(comparison.values, differences, LEVEL).select(comparison.values.columns)
        judged[name] = replace(
            comparison, differences=differences.select(comparison.differences.columns), values=values
        )
    return judged
