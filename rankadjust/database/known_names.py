"""The only resolver of names of data sets, protocols, splits and sides, in every spelling.

`rankadjust.base.words.folded` says which spellings are the same name. config/published.yaml has other people's words
for splits, sides and protocols, the registry has the aliases of data sets, `rankadjust.chance.metrics` the aliases of
metrics.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.words import folded, our_word, same_name
from rankadjust.chance.metrics import Metric, resolve

if TYPE_CHECKING:
    from rankadjust.data.registry import Dataset

DATASET, PROTOCOL, SPLIT, SIDE, METRIC = "dataset", "protocol", "split", "side", "metric"
"""What a name names: the column that holds it."""

Registry = Callable[[], "Mapping[str, Dataset]"]
"""Reads a registry: that takes longer than everything else, and only names that nobody else knows need it."""

Names = str | list[str] | tuple[str, ...]
_BOTH_IN_ONE_LIST = "s+o"


def find_name(kind: str, name: str, known: Collection[str]) -> str | None:
    """Return the one of the known names that is meant, None where none is.

    A word of config/published.yaml stands for ours. For an inductive data set 'test' means
    inference_testing, and so does 'testing' where it has no other test split.
    """
    own = name if name in known else same_name(name, sorted(known))
    if own is not None or kind == DATASET:
        return own
    ours = our_word(kind, name) or name
    wanted = [f"inference_{ours}", ours] if kind == SPLIT else [ours]
    return next((entry for entry in wanted if entry in known), None)


def known_name(
    kind: str, name: str, known: Collection[str], where: str, registry: Registry | None = None
) -> str:
    """Return the known name that is meant, or raise RankadjustError with a suggestion.

    where: what has these names, for the message. registry: the data sets and their aliases, None for the shipped ones.
    """
    said = "data set" if kind == DATASET else kind
    if not isinstance(name, str):
        raise RankadjustError(f"{name!r} is not the name of a {said}; give text such as {sorted(known)[0]!r}")
    if kind == METRIC:
        metric = resolve(name)
        if metric.key in known:
            return metric.key
        raise RankadjustError(why_no_metric(metric, known, where))
    match = find_name(kind, name, known)
    if match is not None:
        return match
    if kind == DATASET:
        from rankadjust.counting.protocols import load_benchmarks  # noqa: PLC0415
        from rankadjust.data.registry import load_registry, name_here, resolve_dataset  # noqa: PLC0415

        benchmarks = {folded(alias): each.dataset for each in load_benchmarks() for alias in each.aliases}
        ours = benchmarks.get(folded(name), name_here(name))
        if ours in known:
            return ours
        meant = resolve_dataset(name, (registry or load_registry)(), sorted(known)).name
        if meant in known:
            return meant
        raise RankadjustError(f"the data set {meant} is registered, but {where} has no rows for it")
    if kind in (PROTOCOL, SIDE) and name.replace(" ", "").casefold() == _BOTH_IN_ONE_LIST:
        raise RankadjustError(
            f"'{name}' of AmpliGraph ranks the heads and the tails of a triple in one list; no data set has constants "
            "for it: evaluate with corrupt_side='s,o', which ranks them apart"
        )
    hint = did_you_mean(name, known) or f"; it has {', '.join(sorted(known))}"
    raise RankadjustError(f"there is no {kind} '{name}' in {where}{hint}")


def why_no_metric(metric: Metric, known: Collection[str], where: str) -> str:
    """Return in words that a metric is not among the known ones, which are keys."""
    labels = [resolve(key).label for key in sorted(known)]
    hint = did_you_mean(metric.label, labels) or f"; it has {', '.join(labels)}"
    return f"{metric.label} is not in {where}{hint}"


def narrowed(rows: pl.DataFrame, where: str, registry: Registry, **names: Names | None) -> pl.DataFrame:
    """Return the rows of a table under these names, in any spelling, by column; None takes all.

    where, registry: as for `known_name`.
    """
    place = where
    for column, given in names.items():
        if given is None:
            continue
        known = rows[column].unique().to_list()
        wanted = given if isinstance(given, list | tuple) else [given]
        found = [known_name(column, name, known, place, registry) for name in wanted]
        rows = rows.filter(pl.col(column).is_in(found))
        place += f"{' for' if place == where else ','} {' and '.join(found)}"
    return rows
