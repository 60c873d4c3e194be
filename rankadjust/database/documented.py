"""Constants of data sets that nobody counted: about as many candidates as a source says there are entities."""

from collections.abc import Mapping
from itertools import product

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES
from rankadjust.base.words import same_name, shipped_mapping
from rankadjust.chance.metrics import expand
from rankadjust.chance.moments import metric_moments
from rankadjust.counting.evaluators import evaluation_by, usual_evaluation
from rankadjust.counting.protocols import get_protocol, load_benchmarks
from rankadjust.data.registry import Dataset, meanings, name_here, resolve_dataset
from rankadjust.database.constants import Constants
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


def approximate_rows(
    name: str, constants: Constants, protocol: str | None, evaluator: str | None
) -> pl.DataFrame | None:
    """Return rows of a database for as many candidates as there are documented entities.

    The number of tasks is not known. protocol: None means that of the evaluator, or the usual one. None for a name that
    nobody knows, and where the database has the data set, or the release has counted it. Raises RankadjustError where
    a name stands for several data sets, where no source says how many entities there are, and where a protocol ranks
    far fewer candidates.
    """
    registry = constants.registry
    others = {other: entry["count"] for other, entry in shipped_mapping()["entities"].items()}
    dataset = same_name(name_here(name), others)
    if dataset is None:
        try:
            dataset = resolve_dataset(name, registry).name
        except RankadjustError:
            if meanings(name, registry):
                raise
            return None
    if dataset in constants.table["dataset"] or (dataset in registry and registry[dataset].verified):
        return None
    entities = {**documented_entities(registry), **others}.get(dataset)
    if entities is None:
        raise RankadjustError(
            f"{dataset} is not counted, and no source says how many entities it has; count it with 'snakemake --cores "
            f"all database --config datasets={dataset}', which fetches its files, and give the folder results "
            "(--results)"
        )
    if protocol is None:
        meant = usual_evaluation(dataset) if evaluator is None else evaluation_by(evaluator, dataset)
        protocol = meant.protocol
    rules = get_protocol(protocol)
    if rules.types != "any" or (rules.negatives is not None and rules.constant is None):
        raise RankadjustError(f"{dataset} is not counted, but {protocol} needs its triples")
    size = rules.constant or entities
    why = f"approximate and without z, as N is taken to be the documented number of entities, {entities:,}"
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
