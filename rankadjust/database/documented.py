"""Constants of data sets that nobody counted: about as many candidates as a source says there are entities."""

from collections.abc import Collection, Mapping
from itertools import product

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES
from rankadjust.base.words import same_name, shipped_mapping
from rankadjust.chance.metrics import expand
from rankadjust.chance.moments import metric_moments
from rankadjust.counting.protocols import get_protocol, load_benchmarks
from rankadjust.data.registry import Dataset, meanings, name_here, resolve_dataset
from rankadjust.database.store import APPROXIMATE, SCHEMA, assemble

_METRICS = ("mr", "mrr", "mrr@k", "hits@k", "ndcg", "ndcg@k", "auc")
_KS = (1, 3, 5, 10, 20, 50, 100)


def documented_entities(registry: Mapping[str, Dataset]) -> dict[str, int]:
    """Return the documented number of entities of each data set, or else its number of entities in training.

    The benchmarks with a constant number of candidates are included. Inductive data sets are left out: their candidates
    are the entities of one of two graphs.
    """
    counts = {
        benchmark.dataset: benchmark.entities
        for benchmark in load_benchmarks()
        if not any(split.startswith("inference") for split in benchmark.tasks)
    } | {
        name: expected.get("entities", expected.get("entities_in_training"))
        for name, dataset in registry.items()
        if dataset.role != "inductive" and (expected := dataset.expected or {})
    }
    return {name: count for name, count in counts.items() if count is not None}


def documented_dataset(
    name: str, registry: Mapping[str, Dataset], held: Collection[str]
) -> tuple[str, int] | None:
    """Return a data set and the number of its entities, None for a name that nobody knows, and for one that is held.

    Raises RankadjustError where a name stands for several data sets, and where no source says how many entities there
    are: it says how to count them.
    """
    others = {name: entry["count"] for name, entry in shipped_mapping()["entities"].items()}
    found = same_name(name_here(name), others)
    if found is None:
        try:
            found = resolve_dataset(name, registry).name
        except RankadjustError:
            if meanings(name, registry):
                raise
            return None
    # What the release has counted is missing in a run alone.
    if found in held or (found in registry and registry[found].verified):
        return None
    entities = {**documented_entities(registry), **others}.get(found)
    if entities is None:
        raise RankadjustError(
            f"{found} is not counted, and no source says how many entities it has; count it with 'snakemake --cores all"
            f" database --config datasets={found}', which fetches its files, and give the folder results (--results)"
        )
    return found, entities


def approximate_rows(dataset: str, entities: int, protocol: str) -> pl.DataFrame:
    """Return rows of a database for tasks with so many candidates each; nothing is known of their number.

    Raises RankadjustError where a protocol ranks far fewer candidates than there are entities.
    """
    rules = get_protocol(protocol)
    if rules.types != "any" or (rules.negatives is not None and rules.constant is None):
        raise RankadjustError(f"{dataset} is not counted, and {protocol} needs its triples")
    size = rules.constant or entities
    why = f"approximate, and no z: there are about as many candidates as documented entities, {entities:,}"
    expected = [(metric.key, metric_moments(metric, [size]).expectation) for metric in expand(_METRICS, _KS)]
    rows = [
        (split, side, key, entities, mean)
        for split, side, (key, mean) in product(("training", "validation", "testing"), SIDES, expected)
    ]
    frame = pl.DataFrame(rows, ["split", "side", "metric", "entities", "expectation"], orient="row")
    texts = {"dataset": dataset, "protocol": protocol, "method": APPROXIMATE}
    texts |= dict.fromkeys(("reason", "reason_random_scorer"), why)
    unknown = dict.fromkeys(("tasks", "variance", "variance_random_scorer"))
    same = (pl.lit(value, SCHEMA[name]).alias(name) for name, value in {**texts, **unknown}.items())
    return assemble([frame.with_columns(*same)])
