"""Independent values of data sets from twelve repositories (tests/data/more-sets.json) and those of the release.

The values are those of another implementation, in exact fractions. A task has N candidates, the true answer included.
"""

import json
from pathlib import Path

import pytest

from rankadjust.database.store import load_candidates, load_database

METRICS = {
    "expected_mr": "arithmetic_mean_rank",
    "expected_mrr": "inverse_harmonic_mean_rank",
    "expected_hits_at_10": "hits_at_10",
}
SPLITS = {
    "test": "testing",
    "inference_test": "inference_testing",
    "inference_test1": "inference_testing",
    "inference_test2": "inference_testing_2",
    "inference_test3": "inference_testing_3",
}


def references(duplicates):
    """Yield data set, split, number of candidates and what is known of each side."""
    content = json.loads(Path("tests/data/more-sets.json").read_text(encoding="utf-8"))
    for dataset, graphs in content["sets"].items():
        for split, known in ((split, known) for graph in graphs.values() for split, known in graph.items()):
            sides = known.get(f"duplicates: {duplicates}", {})
            # Of facts with any number of entities every position is a side.
            named = {
                {"all positions": "both"}.get(side, side.replace(" ", "_")): of_side
                for side, of_side in sides.items()
            }
            if named:
                yield dataset, SPLITS[split], known["candidates"], named


def require_same(histogram, constants, entities, sides):
    """Compare one split: how many candidates its tasks have, and what that makes of the metrics."""
    for side, known in sides.items():
        tasks = histogram if side == "both" else histogram.filter(side=side)
        number, weight = tasks["num_candidates"], tasks["tasks"]
        assert (weight.sum(), number.min(), number.max()) == (
            known["tasks"],
            known["min_candidates"],
            known["max_candidates"],
        )
        assert (number * weight).sum() / weight.sum() == pytest.approx(known["mean_candidates"], rel=1e-13)
        assert set(tasks["entities"]) == {entities}
        for name, metric in METRICS.items():
            [expectation] = constants.filter(side=side, metric=metric)["expectation"]
            assert expectation == pytest.approx(known[name], rel=1e-12)


# Where equal triples are one task, the other implementation has values if there are any.
@pytest.mark.parametrize(
    ("protocol", "duplicates", "number"), [("filtered", "keep", 24), ("filtered-once", "drop", 4)]
)
def test_the_release_has_the_independent_values(protocol, duplicates, number):
    database, candidates = (table.filter(protocol=protocol) for table in (load_database(), load_candidates()))
    found = list(references(duplicates))
    assert len(found) == number
    for dataset, split, entities, sides in found:
        of_split = [table.filter(dataset=dataset, split=split) for table in (candidates, database)]
        require_same(*of_split, entities, sides)
