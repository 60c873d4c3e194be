"""The scripts' functions, called without Snakemake, one after the other on a tiny graph."""

import json
import re
import sys
import types

from scripts.baselines import baselines
from scripts.bounds import bounds
from scripts.case_study import case_study
from scripts.compare import compare
from scripts.count import count
from scripts.encode import encode_dataset
from scripts.fetch import fetch
from scripts.figures import figures
from scripts.gather import gather
from scripts.job import job
from scripts.literature import literature
from scripts.moments import moments
from scripts.paper import paper
from scripts.render import render
from scripts.rescore import rescore_tables

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.failures import is_mistake
from rankadjust.base.failures import summary as failures_noted
from rankadjust.base.stages import MOMENTS
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.registry import load_registry
from rankadjust.database.store import load_baselines
from tests.tiny import FILES, REGISTRY, write_tiny

METRICS = ["arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_1"]
TABLE = """\
dataset,model,metric,value,protocol
Tiny,A,mrr,0.61,pykeen
Tiny,A,z_mrr,-0.5,pykeen
Tiny,B,mrr,0.5,pykeen
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory, project):
    """Return a folder in which every script has left its results."""
    folder = tmp_path_factory.mktemp("scripts")
    write_tiny(folder)
    (folder / "table.csv").write_text(TABLE)
    dataset = load_registry(folder / "tiny.yaml")["Tiny"]
    fetch("Tiny", dataset.sources, folder / "bytes", folder / "cache", None, offline=True)
    triples, labels, summary = (
        folder / name for name in ("triples.parquet", "labels.parquet", "summary.json")
    )
    said = []
    encode_dataset(dataset, folder / "bytes", triples, labels, summary, said.append)
    assert said == ["Tiny: 4 entities, 2 relations, 6 / 2 / 3 triples"]
    protocols = [get_protocol(name) for name in ("pykeen", "pykeen-published")]
    histograms, pairs, table = (folder / f"{kind}.parquet" for kind in ("histograms", "pairs", "moments"))
    count(triples, summary, "Tiny", protocols, histograms, pairs)
    moments(histograms, pairs, "Tiny", protocols, METRICS, table)
    reached = folder / "reached.parquet"
    baselines(triples, summary, "Tiny", protocols, METRICS, reached)
    database = folder / "adjustments.parquet"
    gather(
        [(table, MOMENTS, "Tiny")],
        {"Tiny": summary},
        {"Tiny": histograms},
        {"Tiny": reached},
        folder,
    )
    rescore_tables(
        [folder / "table.csv"], database, folder / "none", [folder / "tiny.yaml"], folder / "rescored"
    )
    rescored = folder / "rescored" / "table.parquet"
    case_study(rescored, database, folder / "case.csv")
    figures([rescored], rescored, database, folder / "none", folder / "figures")
    render(
        rescored=[rescored],
        own=["table"],
        literature=[],
        comparison=[],
        figures=folder / "figures",
        databases=[database, folder / "none"],
        registry=[folder / "tiny.yaml"],
        output=folder / "report.html",
    )
    return folder


def test_bytes_are_as_published(made):
    published = FILES / "test.txt"
    assert (made / "bytes" / "testing.txt").read_bytes() == published.read_bytes()


def test_triples_and_summary(made):
    triples = pl.read_parquet(made / "triples.parquet")
    assert triples["split"].cast(pl.String).value_counts().sort("split").rows() == [
        ("testing", 3),
        ("training", 6),
        ("validation", 2),
    ]
    assert json.loads((made / "summary.json").read_text())["entities"] == 4
    labels = pl.read_parquet(made / "labels.parquet").filter(kind="entity")
    assert labels.sort("id")["label"].to_list() == ["a", "b", "c", "d"]


def test_counts_and_moments_name_their_protocol(made):
    # Six training triples, and both sides of each are ranked; pykeen-published leaves the true answer out of N.
    for name, columns in (("histograms", ["split", "side"]), ("pairs", ["split"]), ("moments", ["side"])):
        table = pl.read_parquet(made / f"{name}.parquet")
        assert table["protocol"].unique(maintain_order=True).to_list() == ["pykeen", "pykeen-published"]
        assert set(columns) < set(table.columns)
    tasks = pl.read_parquet(made / "histograms.parquet").filter(split="training", side="head")
    assert tasks.group_by("protocol").agg(pl.col("tasks").sum())["tasks"].to_list() == [6, 6]


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
    given = made / "adjustments.parquet", project / "resources" / "database" / "adjustments.parquet"
    rescore_tables([tmp_path / "mine.csv"], *given, [], tmp_path)
    beside = tmp_path / "literature.parquet"
    # All rows of this table about ogbl-biokg state 501 candidates, and the filter leaves them behind empty chunks.
    literature(
        [tmp_path / "mine.parquet"],
        [project / "resources" / "published" / "dgl-ke.csv"],
        *given,
        [],
        beside,
    )
    assert pl.read_parquet(beside)["protocol"].unique().to_list() == ["sampled-500"]


def test_database_and_summary_table(made):
    database = pl.read_parquet(made / "adjustments.parquet")
    # Two protocols, three splits, three sides, three metrics.
    assert database.height == 2 * 3 * 3 * 3
    assert pl.read_csv(made / "adjustments.tsv.gz", separator="\t").height == database.height
    assert pl.read_csv(made / "datasets.tsv", separator="\t")["entities"].to_list() == [4]
    # The same with three baselines.
    reached = load_baselines(made / "baselines.parquet")
    assert reached.height == 3 * database.height
    assert reached["value"].null_count() == 0
    # The protocols of a data set in the order of their names, each histogram as it was counted.
    candidates = pl.read_parquet(made / "candidates.parquet")
    counted = pl.read_parquet(made / "histograms.parquet").sort("protocol", maintain_order=True)
    assert candidates["dataset"].unique().to_list() == ["Tiny"]
    assert candidates.drop("dataset").equals(counted)


def test_a_paper_of_an_own_table(made, tmp_path):
    given = made / "adjustments.parquet", made / "none", [made / "tiny.yaml"]
    paper(made / "table.csv", *given, tmp_path / "paper")
    assert "MRR" in (tmp_path / "paper" / "table.tex").read_text()
    # What check.md says of a table is not true of the files of another one.
    assert {path.name for path in (tmp_path / "paper").iterdir()} > {"check.md", "figure.pdf", "SHA256SUMS"}


def test_of_a_table_without_adjusted_values_the_check_says_why_there_is_no_paper(made, tmp_path):
    (tmp_path / "odd.csv").write_text("dataset,model,metric,value\nUnheard,A,mrr,0.5\n")
    given = made / "adjustments.parquet", made / "none", []
    paper(tmp_path / "odd.csv", *given, tmp_path / "paper")
    assert "no value could be adjusted" in (tmp_path / "paper" / "check.md").read_text()
    assert {path.name for path in (tmp_path / "paper").iterdir()} == {"check.md", "SHA256SUMS"}


def test_rescored_table(made):
    rescored = pl.read_parquet(made / "rescored" / "table.parquet")
    assert rescored["status"].to_list() == ["ok", "adjusted_as_published", "ok"]
    assert len((made / "rescored" / "table.md").read_text().splitlines()) == rescored.height + 2
    assert pl.read_csv(made / "rescored" / "table.csv").height == rescored.height
    # Nothing is sampled here, so that no full ranking is hidden.
    assert rescored.select("^full_.*$").width == 5
    assert rescored.select(pl.all_horizontal(pl.col("^full_.*$").is_null().all())).item()


def test_case_study_needs_a_printed_and_a_base_value(made):
    audited = pl.read_csv(made / "case.csv")
    assert audited.select("dataset", "model", "adjustment", "recipe").rows() == [
        ("Tiny", "A", "z", "exclusive")
    ]


def test_pictures_and_page(made):
    # The table has MRR on one data set, the database no protocol `filtered`, and the case study no index.
    drawn = ["chance-share"]
    assert sorted(path.stem for path in (made / "figures").glob("*.svg")) == drawn
    assert (made / "figures" / "chance-share.png").read_bytes().startswith(b"\x89PNG")
    page = (made / "report.html").read_text()
    assert sorted(re.findall(r'<figure class="chart" id="figure-([a-z-]+)">', page)) == drawn
    assert "Tiny" in page


def test_entities_in_no_triple_are_candidates(tmp_path):
    # As OpenKE writes it: how many there are, then a label and an id a line.
    write_tiny(tmp_path)
    (tmp_path / "entity2id.txt").write_text("6\na\t0\nb\t1\nc\t2\nd\t3\nx\t4\ny\t5\n")
    entry = REGISTRY.replace("test.txt}", "test.txt, entities: entity2id.txt}")
    listed = "tail], entities: {columns: [entity, ignore], header_lines: 1}}"
    (tmp_path / "tiny.yaml").write_text(entry.replace("tail]}", listed))
    dataset = load_registry(tmp_path / "tiny.yaml")["Tiny"]
    fetch("Tiny", dataset.sources, tmp_path / "Tiny", tmp_path / "cache", None, offline=True)
    triples, labels, summary, histograms, pairs = (tmp_path / name for name in "tlshp")
    said = []
    encode_dataset(dataset, tmp_path / "Tiny", triples, labels, summary, said.append)
    assert said == ["Tiny: 6 entities (2 in no triple), 2 relations, 6 / 2 / 3 triples"]
    count(triples, summary, "Tiny", [get_protocol("filtered"), get_protocol("pykeen")], histograms, pairs)
    # Without the list N = 3 for tails and 2 for heads (tests/workflow), of 4 entities.
    found = pl.read_parquet(histograms).filter(split="testing").sort("protocol", "side")
    assert found.select("protocol", "side", "entities", "num_candidates", "tasks").rows() == [
        ("filtered", "head", 6, 4, 3),
        ("filtered", "tail", 6, 5, 3),
        ("pykeen", "head", 4, 2, 3),
        ("pykeen", "tail", 4, 3, 3),
    ]
    (tmp_path / "entity2id.txt").write_text("6\na\t0\nb\t1\nc\t2\n\t3\n")
    fetch("Tiny", dataset.sources, tmp_path / "Tiny", tmp_path / "cache", None, offline=True)
    with pytest.raises(RankadjustError, match=r"/entity2id\.txt:5: the entity is empty"):
        encode_dataset(dataset, tmp_path / "Tiny", triples, labels, summary, said.append)


def injected(tmp_path, monkeypatch, **wildcards):
    monkeypatch.chdir(tmp_path)
    return types.SimpleNamespace(log=["logs/a.log"], rule="count", wildcards=wildcards)


def test_a_job_logs_and_ends_with_one_line_on_a_mistake(tmp_path, monkeypatch, capsys):
    snakemake = injected(tmp_path, monkeypatch, dataset="Tiny")
    with pytest.raises(SystemExit) as info, job(snakemake):
        raise RankadjustError("train.txt:3: two fields")
    assert info.value.code == 1
    assert (tmp_path / "logs" / "a.log").read_text() == "error: train.txt:3: two fields\n"
    assert failures_noted() == "error: rule count, data set Tiny: train.txt:3: two fields (log: logs/a.log)\n"
    assert is_mistake("logs/a.log")
    assert capsys.readouterr().err == ""


def test_bounds_of_a_data_set_without_training_triples(tmp_path):
    # OpenKE's order is head, tail, relation. Heads of 0: 0, 1; tails: 2, 3, 4; so that of 5 entities N is 4 or 5 on the
    # side of the heads and 3 to 5 on that of the tails, less one where both splits have an answer.
    (tmp_path / "validation.txt").write_text("1\n0 2 0\n")
    (tmp_path / "testing.txt").write_text("2\n0 3 0\n1 4 0\n")
    (tmp_path / "ranges.txt").write_text("1\n0\t2\t0\t1\n0\t3\t2\t3\t4\n")

    def found(totals):
        bounds(tmp_path, "Tiny", 5, totals, ["arithmetic_mean_rank"], tmp_path / "bounds.parquet")
        rows = pl.read_parquet(tmp_path / "bounds.parquet").filter(split="testing")
        assert rows.select("dataset", "protocol").unique().rows() == [("Tiny", "filtered")]
        return {row[0]: row[1:] for row in rows.select("side", "expectation_low", "expectation_high").rows()}

    # Head tasks: 4..5 twice, means 2.5 to 3; tail tasks 3..4 and 3..5, means 2 to (2.5 + 3) / 2.
    assert found({}) == {"head": (2.5, 3.0), "tail": (2.0, 2.75), "both": (2.25, 2.875)}
    # Numbers of candidates of 9 and 8 in all have means of (9 / 2 + 1) / 2 and (8 / 2 + 1) / 2.
    known = {"testing": {"head": 9, "tail": 8}}
    assert found(known) == {"head": (2.75, 2.75), "tail": (2.5, 2.5), "both": (2.625, 2.625)}


def test_the_log_holds_the_traceback_of_an_unexpected_error_and_the_terminal_one_line(
    tmp_path, monkeypatch, capsys
):
    snakemake = injected(tmp_path, monkeypatch)
    with pytest.raises(SystemExit) as info, job(snakemake):
        raise KeyError("no such column")
    assert info.value.code == 1
    log = (tmp_path / "logs" / "a.log").read_text()
    assert log.startswith("Traceback (most recent call last):")
    assert 'raise KeyError("no such column")' in log
    assert failures_noted() == "error: rule count: unexpected KeyError: 'no such column' (log: logs/a.log)\n"
    assert not is_mistake("logs/a.log")
    assert capsys.readouterr().err == ""


def test_a_panic_of_a_library_is_named_as_one(tmp_path, monkeypatch):
    # polars panics where it is to print a frame and this variable is no number.
    monkeypatch.setenv("POLARS_TABLE_WIDTH", "wide")
    with pytest.raises(SystemExit) as info, job(injected(tmp_path, monkeypatch)):
        str(pl.DataFrame({"a": [1]}))
    assert info.value.code == 1
    assert failures_noted().startswith(
        "error: rule count: an internal error of polars: could not parse table width"
    )
    assert failures_noted().endswith(
        "; please report it with the log, or with all that was printed (log: logs/a.log)\n"
    )
    log = (tmp_path / "logs" / "a.log").read_text()
    assert "Traceback (most recent call last):" in log
    assert "error: an internal error of polars: could not parse" in log
    assert not is_mistake("logs/a.log")


def test_an_interrupted_job_says_so_in_its_log_alone(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit) as info, job(injected(tmp_path, monkeypatch)):
        raise KeyboardInterrupt
    assert info.value.code == 130
    assert (tmp_path / "logs" / "a.log").read_text() == "interrupted\n"
    assert failures_noted() == ""
    assert capsys.readouterr().err == ""


def test_what_a_job_tells_stands_in_the_log_and_on_the_terminal(tmp_path, capsys):
    snakemake = types.SimpleNamespace(log=[tmp_path / "a.log"])
    with job(snakemake) as tell:
        tell("Tiny: 4 entities")
        sys.stderr.write("for the log alone\n")
    assert (tmp_path / "a.log").read_text() == "Tiny: 4 entities\nfor the log alone\n"
    assert capsys.readouterr().err == "Tiny: 4 entities\n"
