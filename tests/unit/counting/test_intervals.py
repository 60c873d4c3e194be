"""Bounds on the number of candidates: they hold for every training split, and on real data."""

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import shipped
from rankadjust.base.vocabulary import LABEL_COLUMNS
from rankadjust.chance.bounded_moments import bounded_moments
from rankadjust.chance.metrics import expand
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.intervals import candidate_intervals
from rankadjust.data.read import OPENKE, read_ranges, read_triples
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from tests.searching import in_profile

TRIPLES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=12
)


def frame(rows):
    return pl.DataFrame(rows, schema=list(LABEL_COLUMNS), orient="row")


def ranges_of(*splits):
    """Return what stands at each side of each relation in any of the splits."""
    every = pl.concat(split.select(LABEL_COLUMNS) for split in splits)
    return pl.concat(
        every.select("relation", pl.lit(side).alias("side"), pl.col(side).alias("entity")).unique()
        for side in ("head", "tail")
    )


def slowly(evaluated, ranges, entities):
    """Bound with sets and loops what candidate_intervals bounds with joins: a list of all tasks."""
    known = {row for rows in evaluated.values() for row in rows}
    tasks = []
    for split, rows in evaluated.items():
        for head, relation, tail in rows:
            for side in ("head", "tail"):
                within = {row[2] for row in ranges if row[:2] == (relation, side)}
                query = (relation, tail) if side == "head" else (head, relation)
                answers = [row for row in known if (row[1:] if side == "head" else row[:2]) == query]
                tasks.append((split, side, entities - len(within) + 1, entities - len(answers) + 1))
    return sorted(tasks)


@settings(max_examples=in_profile(60))
@given(training=TRIPLES, validation=TRIPLES, testing=TRIPLES, isolated=st.integers(0, 3))
def test_the_exact_number_of_candidates_is_within(training, validation, testing, isolated):
    splits = {
        name: frame(rows)
        for name, rows in zip(
            ("training", "validation", "testing"), (training, validation, testing), strict=True
        )
    }
    entities = len(
        {entity for rows in (training, validation, testing) for row in rows for entity in row[::2]}
    )
    entities += isolated
    evaluated = {"validation": splits["validation"], "testing": splits["testing"]}
    ranges = ranges_of(*splits.values())
    found = candidate_intervals(evaluated, ranges, entities)
    tasks = sorted(
        (split, side, least, most)
        for split, side, _, least, most, number in found.rows()
        for _ in range(number)
    )
    assert tasks == slowly({"validation": validation, "testing": testing}, ranges.rows(), entities)
    exact = count_candidates(splits, "filtered", isolated).histogram
    for (split, side), part in found.group_by("split", "side"):
        counted = exact.filter(split=split, side=side)
        numbers = sorted(counted["num_candidates"].repeat_by(counted["tasks"]).explode().to_list())
        assert_within(numbers, part)


def assert_within(numbers, part):
    """The k-th smallest N is at least the k-th smallest lower bound, and at most the k-th smallest upper bound."""
    least, most = (
        sorted(part[end].repeat_by(part["tasks"]).explode().to_list()) for end in ("least", "most")
    )
    assert len(numbers) == len(least)
    assert all(low <= number <= high for low, number, high in zip(least, numbers, most, strict=True))


def test_ranges_of_another_data_set_are_refused():
    evaluated = {"testing": frame([(0, 0, 1)])}
    other = pl.DataFrame({"relation": [0, 0], "side": ["head", "tail"], "entity": [0, 2]})
    with pytest.raises(
        RankadjustError, match=r"triple \(0, 0, 1\) has a tail that the ranges of its relation lack"
    ):
        candidate_intervals(evaluated, other, 3)


def test_printed_mean_ranks_fix_the_sum_of_candidates_of_fb15k():
    """MR over AMR is the expected mean rank, hence (N + 1) / 2 on average. Control: WN18RR, which is counted."""
    runs = pl.read_csv(shipped("resources/published/pykeen-runs.csv"))
    printed = runs.pivot("metric", index=["dataset", "model", "side"], values="value")
    expected = printed.with_columns(expected=pl.col("mr") / pl.col("amr"))
    released = Constants.released().table.filter(
        dataset="WN18RR", protocol="pykeen", split="testing", metric="arithmetic_mean_rank"
    )
    control = expected.filter(dataset="WN18RR").join(released, on="side")
    assert control["expected"].to_list() == pytest.approx(control["expectation"].to_list(), rel=1e-14)
    entry = load_registry()["FB15k"]
    number = entry.expected["triples"]["testing"]
    for side, total in entry.total_candidates["testing"].items():
        found = ((2 * expected.filter(dataset="FB15k", side=side)["expected"] - 1) * number).to_list()
        # Sixteen digits of a sum of 9e8: good to a millionth of a candidate.
        assert found == pytest.approx([total] * 4, abs=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "low", "high"), [("FB15k", 0.000683, 0.000733), ("YAGO3-10", 0.000100, 0.000127)]
)
def test_the_bounds_of_data_sets_without_training(shared, name, low, high):
    """shared/design/protocols.md, found independently: six digits after the point."""
    entry = load_registry()[name]
    described = yaml.load(
        (shared / "data" / "sources-more.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    published = next(one for one in described["datasets"] if one["name"] == f"{name}-without-training")
    sums = {file["url"]: file["sha256"] for file in published["files"]}
    paths = {}
    for file in entry.without_training:
        assert sums[file.source.url] == file.sha256
        [part] = file.members
        paths[part] = shared / "data" / "mirror" / file.source.url.removeprefix("https://")
    evaluated = {split: read_triples(paths[split], OPENKE) for split in ("validation", "testing")}
    intervals = candidate_intervals(evaluated, read_ranges(paths["ranges"]), entry.expected["entities"])
    rows = bounded_moments(intervals, expand(["mrr", "mr"], [])).filter(split="testing", side="both")
    assert rows["tasks"].to_list() == [2 * evaluated["testing"].height] * 2
    found = rows.filter(metric="inverse_harmonic_mean_rank")["expectation_low", "expectation_high"].row(0)
    assert [round(bound, 6) for bound in found] == [low, high]
    if entry.total_candidates:
        bounds = bounded_moments(intervals, expand(["mrr", "mr"], []), entry.total_candidates)
        released = Constants.released().table.filter(dataset=name, metric="inverse_harmonic_mean_rank")
        columns = ["split", "side", "expectation_low", "expectation_high", "variance_low", "variance_high"]
        closer = bounds.filter(metric="inverse_harmonic_mean_rank").select(columns)
        both = closer.join(released.select(columns), on=["split", "side"], suffix="_released")
        assert both.height == 6
        for column in columns[2:]:
            assert both[column].to_list() == pytest.approx(both[f"{column}_released"].to_list(), rel=1e-12)
