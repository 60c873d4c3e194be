"""What the scripts' functions write that no run in tests/workflow shows, on a tiny graph and without Snakemake."""

from pathlib import Path

from scripts.bounds import bounds
from scripts.compare import compare
from scripts.count import count
from scripts.database import database
from scripts.encode import encode_dataset
from scripts.fetch import fetch
from scripts.literature import literature
from scripts.moments import moments
from scripts.paper import paper
from scripts.rescore import rescore_tables

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_product
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.registry import load_registry
from tests.release import write_part
from tests.tiny import FILES, REGISTRY, write_tiny

METRICS = ["arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_1"]
TABLE = """\
dataset,model,metric,value,protocol
Tiny,A,mrr,0.61,pykeen
Tiny,A,z_mrr,-0.5,pykeen
Tiny,B,mrr,0.5,pykeen
"""


def encoded(folder):
    """Fetch and encode Tiny as the registry in a folder says; return triples and summary."""
    dataset = load_registry(folder / "tiny.yaml")["Tiny"]
    fetch("Tiny", dataset.sources, folder / "bytes", folder / "cache", None, offline=True)
    triples, summary = folder / "triples.parquet", folder / "summary.json"
    encode_dataset(dataset, folder / "bytes", triples, folder / "labels.parquet", summary)
    return triples, summary


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a database of Tiny under two protocols, and a table that was re-scored with it."""
    folder = tmp_path_factory.mktemp("scripts")
    write_tiny(folder)
    (folder / "table.csv").write_text(TABLE)
    triples, summary = encoded(folder)
    protocols = [get_protocol(name) for name in ("pykeen", "pykeen-published")]
    histograms, pairs, table = (folder / f"{kind}.parquet" for kind in ("Tiny", "pairs", "moments"))
    count(triples, summary, protocols, histograms, pairs)
    moments(histograms, pairs, "Tiny", protocols, METRICS, table)
    benchmarks = folder / "benchmarks.parquet"
    write_product(pl.read_parquet(table).clear(), benchmarks, "benchmarks")
    database([table], [], benchmarks, [histograms], [], [summary], folder)
    given = folder / "adjustments.parquet", folder / "none", [folder / "tiny.yaml"]
    rescore_tables([folder / "table.csv"], *given, folder / "rescored")
    return folder


def test_bytes_are_as_published(made):
    assert (made / "bytes" / "testing.txt").read_bytes() == (FILES / "test.txt").read_bytes()
    labels = pl.read_parquet(made / "labels.parquet").filter(kind="entity")
    assert labels.sort("id")["label"].to_list() == ["a", "b", "c", "d"]


def test_counts_and_moments_name_their_protocol(made):
    # Six training triples, and both sides of each are ranked; pykeen-published leaves the true answer out of N.
    for name, columns in (("Tiny", ["split", "side"]), ("pairs", ["split"]), ("moments", ["side"])):
        table = pl.read_parquet(made / f"{name}.parquet")
        assert table["protocol"].unique(maintain_order=True).to_list() == ["pykeen", "pykeen-published"]
        assert set(columns) < set(table.columns)
    tasks = pl.read_parquet(made / "Tiny.parquet").filter(split="training", side="head")
    assert tasks.group_by("protocol").agg(pl.col("tasks").sum())["tasks"].to_list() == [6, 6]


def test_the_database_has_a_row_for_each_metric_and_the_histograms_as_they_were_counted(made):
    table = pl.read_parquet(made / "adjustments.parquet")
    # Two protocols, three splits, three sides, three metrics.
    assert table.height == 2 * 3 * 3 * 3
    assert pl.read_csv(made / "adjustments.tsv.gz", separator="\t").height == table.height
    assert pl.read_csv(made / "datasets.tsv", separator="\t")["entities"].to_list() == [4]
    # The protocols of a data set in the order of their names.
    candidates = pl.read_parquet(made / "candidates.parquet")
    counted = pl.read_parquet(made / "Tiny.parquet").sort("protocol", maintain_order=True)
    assert candidates.filter(dataset="Tiny").drop("dataset").equals(counted)


def test_a_printed_adjustment_is_kept_and_every_row_stands_in_every_form(made):
    rescored = pl.read_parquet(made / "rescored" / "table.parquet")
    assert rescored["status"].to_list() == ["ok", "adjusted_as_published", "ok"]
    assert len((made / "rescored" / "table.md").read_text().splitlines()) == rescored.height + 2
    assert pl.read_csv(made / "rescored" / "table.csv").height == rescored.height


def test_a_row_that_repeats_the_literature_but_for_one_value_is_among_the_contradictions(made, tmp_path):
    printed = "dataset,model,metric,value,protocol\n" + "".join(
        f"Tiny,A,{metric},{value},pykeen\n"
        for metric, value in (("mrr", 0.612), ("mr", 1.93), ("hits@1", 0.402))
    )
    for name, text in (("published", printed), ("mine", printed.replace("0.402", "0.412"))):
        (tmp_path / f"{name}.csv").write_text(text)
    given = made / "adjustments.parquet", made / "none"
    rescore_tables([tmp_path / "mine.csv"], *given, [made / "tiny.yaml"], tmp_path)
    mine, beside = tmp_path / "mine.parquet", tmp_path / "literature.parquet"
    literature([mine], [tmp_path / "published.csv"], *given, [made / "tiny.yaml"], beside)
    for shown in ([], [beside]):
        compare([mine], shown, *given, tmp_path / "comparison")
        found = pl.read_csv(tmp_path / "comparison" / "contradictions.csv", infer_schema=False)
        told = found.filter(pl.col("message").str.contains("0.412 is 0.402", literal=True))
        assert told["metric"].to_list() == ["hits_at_1"] * len(shown)


def test_an_own_table_on_sampled_candidates_is_shown_beside_the_literature(made, tmp_path, project):
    row = "ogbl-biokg,M,sampled-500,test,both,mrr,0.85"
    (tmp_path / "mine.csv").write_text(f"dataset,model,protocol,split,side,metric,value\n{row}\n")
    released = write_part(tmp_path / "released", "ogbl-biokg")
    given = made / "adjustments.parquet", released
    rescore_tables([tmp_path / "mine.csv"], *given, [], tmp_path)
    beside = tmp_path / "literature.parquet"
    # All rows of this table about ogbl-biokg state 501 candidates, and the filter leaves them behind empty chunks.
    published = [project / "resources" / "published" / "dgl-ke.csv"]
    literature([tmp_path / "mine.parquet"], published, *given, [], beside)
    assert pl.read_parquet(beside)["protocol"].unique().to_list() == ["sampled-500"]


def test_of_a_table_without_adjusted_values_the_check_says_why_there_is_no_paper(made, tmp_path):
    (tmp_path / "odd.csv").write_text("dataset,model,metric,value\nUnheard,A,mrr,0.5\n")
    paper(tmp_path / "odd.csv", made / "adjustments.parquet", made / "none", [], tmp_path / "paper")
    assert "no value could be adjusted" in (tmp_path / "paper" / "check.md").read_text()
    assert [path.name for path in (tmp_path / "paper").iterdir()] == ["check.md"]


def test_entities_in_no_triple_are_candidates(tmp_path, capsys):
    # As OpenKE writes it: how many there are, then a label and an id a line.
    write_tiny(tmp_path)
    (tmp_path / "entity2id.txt").write_text("6\na\t0\nb\t1\nc\t2\nd\t3\nx\t4\ny\t5\n")
    entry = REGISTRY.replace("test.txt}", "test.txt, entities: entity2id.txt}")
    listed = "tail], entities: {columns: [entity, ignore], header_lines: 1}}"
    (tmp_path / "tiny.yaml").write_text(entry.replace("tail]}", listed))
    triples, summary = encoded(tmp_path)
    said = "Tiny: 6 entities (2 in no triple), 2 relations, 6 / 2 / 3 triples\n"
    assert capsys.readouterr().out == said
    histograms, pairs = tmp_path / "histograms", tmp_path / "pairs"
    count(triples, summary, [get_protocol("filtered"), get_protocol("pykeen")], histograms, pairs)
    # Without the list N = 3 for tails and 2 for heads (tests/workflow), of 4 entities.
    found = pl.read_parquet(histograms).filter(split="testing").sort("protocol", "side")
    assert found.select("protocol", "side", "entities", "num_candidates", "tasks").rows() == [
        ("filtered", "head", 6, 4, 3),
        ("filtered", "tail", 6, 5, 3),
        ("pykeen", "head", 4, 2, 3),
        ("pykeen", "tail", 4, 3, 3),
    ]
    (tmp_path / "entity2id.txt").write_text("6\na\t0\nb\t1\nc\t2\n\t3\n")
    with pytest.raises(RankadjustError, match=r"/entity2id\.txt:5: the entity is empty"):
        encoded(tmp_path)


def test_bounds_of_a_data_set_without_training_triples(tmp_path):
    # OpenKE's order is head, tail, relation. Heads of 0: 0, 1; tails: 2, 3, 4; so that of 5 entities N is 4 or 5 on the
    # side of the heads and 3 to 5 on that of the tails, less one where both splits have an answer.
    (tmp_path / "validation.txt").write_text("1\n0 2 0\n")
    (tmp_path / "testing.txt").write_text("2\n0 3 0\n1 4 0\n")
    (tmp_path / "ranges.txt").write_text("1\n0\t2\t0\t1\n0\t3\t2\t3\t4\n")

    def found(totals):
        output = tmp_path / "bounds.parquet"
        bounds(Path(tmp_path), "Tiny", 5, totals, ["arithmetic_mean_rank"], output)
        rows = pl.read_parquet(output).filter(split="testing")
        assert rows.select("dataset", "protocol").unique().rows() == [("Tiny", "filtered")]
        return {row[0]: row[1:] for row in rows.select("side", "expectation_low", "expectation_high").rows()}

    # Head tasks: 4..5 twice, means 2.5 to 3; tail tasks 3..4 and 3..5, means 2 to (2.5 + 3) / 2.
    assert found({}) == {"head": (2.5, 3.0), "tail": (2.0, 2.75), "both": (2.25, 2.875)}
    # Numbers of candidates of 9 and 8 in all have means of (9 / 2 + 1) / 2 and (8 / 2 + 1) / 2.
    known = {"testing": {"head": 9, "tail": 8}}
    assert found(known) == {"head": (2.75, 2.75), "tail": (2.5, 2.5), "both": (2.625, 2.625)}
