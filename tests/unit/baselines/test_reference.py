"""Values of baselines against those of an independent program (tests/data/baselines/README.md)."""

import json
from pathlib import Path

import polars as pl
import pytest

from rankadjust.baselines.table import baselines_tables
from rankadjust.baselines.tally import Standings, count_standings
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import load_registry
from tests.mirror import mirrored_files

DATA = Path(__file__).parents[2] / "data" / "baselines"
NAMES = ("mrr", "mr", "hits@1", "hits@3", "hits@10")
METRICS = [resolve(name) for name in NAMES]
SIDES = ("head", "tail", "both")


def values(standings):
    (table,) = baselines_tables([standings], METRICS, [get_protocol("filtered")])
    keys = {metric.key: name for metric, name in zip(METRICS, NAMES, strict=True)}
    return {
        (row["side"], row["baseline"], keys[row["metric"]]): row["value"]
        for row in table.filter(split="testing").iter_rows(named=True)
    }


def test_metrics_follow_from_the_standings_of_nations():
    standings = Standings(pl.read_csv(DATA / "nations.standings.tsv", separator="\t"))
    expected = pl.read_csv(DATA / "nations.reference.tsv", separator="\t")
    assert expected.height == 45
    assert values(standings) == pytest.approx(
        {tuple(key): value for *key, value in expected.iter_rows()}, rel=1e-9
    )


@pytest.mark.shared
@pytest.mark.parametrize("name", ["Nations", "UMLS", "Kinships", "CoDEx-S", "WN18RR", "FB15k-237"])
def test_an_independent_program_agrees(name, shared, tmp_path):
    reference = json.loads((shared / "data/reference/baselines.json").read_text(encoding="utf-8"))[name]
    entry = load_registry()[name]
    files = mirrored_files(entry, shared / "data" / "mirror", tmp_path)
    triples = encode({split: read_triples(path, entry.format) for split, path in files.items()}).triples
    (standings,) = count_standings(triples, ["filtered"])
    expected = {
        (side, baseline, metric): value
        for side in SIDES
        for baseline, of_baseline in reference[side].items()
        for metric, value in of_baseline.items()
    }
    assert values(standings) == pytest.approx(expected, rel=1e-9, abs=1e-15)
