"""The pages of docs/ show the stored output of the benchmarks, and the models that these draw are what they say."""

import re

import polars as pl
import pytest

from rankadjust.database.store import load_database


def test_every_benchmark_is_named_and_imports_no_test(project):
    folder = project / "benchmarks"
    readme = (folder / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in folder.glob("*.*")} - {"README.md"}
    assert [name for name in sorted(files) if f"`{name}`" not in readme] == []
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert [
        name for name, text in texts.items() if re.search(r"^(from|import) tests\b", text, re.MULTILINE)
    ] == []


def test_coverage_of_the_documentation_is_the_stored_one(project):
    page = (project / "docs" / "methods-intervals.md").read_text(encoding="utf-8")
    stored = pl.read_csv(project / "benchmarks" / "populations.csv")
    weighted = (pl.col("share") * pl.col("replications")).sum() / pl.col("replications").sum()
    rows = {
        "nothing": "none",
        "queries of both sides": "query",
        "relations": "relation",
        "both entities": "entity",
    }
    for name, effects in rows.items():
        cells = next(line for line in page.splitlines() if line.startswith(f"| {name} | ")).split(" | ")[2:]
        known = stored.filter(effects=effects)
        each = [{"kind": "coverage", "metric": "MRR", "triples": number} for number in (500, 2000, 20_000)]
        each += [{"kind": "coverage", "metric": metric} for metric in ("Hits@1", "Hits@10", "MR")]
        each += [{"kind": "size", "metric": "MRR", "runs": runs} for runs in (1, 3, 5)]
        shares = [known.filter(**cell).select(weighted).item() for cell in each]
        assert [float(cell.strip("| ")) for cell in cells] == pytest.approx(shares, abs=0.00051)
        # MR would need more relations than the data sets have.
        assert all(0.93 <= share <= 0.97 for share in shares[:5])
        assert 0.91 <= shares[5] <= 0.97
        assert all(0.025 <= share <= 0.07 for share in shares[6:])


def test_the_widths_of_the_documentation_are_the_stored_ones(project):
    page = (project / "docs" / "sampled.md").read_text(encoding="utf-8")
    section = page.partition("## How wide")[2].partition("\n## ")[0]
    stored = pl.read_csv(project / "benchmarks" / "sampled.csv").filter(tasks=20_000)
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if " to " in line and "|" in line]
    assert len(rows) == stored.height
    for row, known in zip(rows, stored.iter_rows(named=True), strict=True):
        assert int(row[0].replace(",", "")) == known["negatives"]
        for cell, name in zip(row[1:], ("mrr", "hits@10", "auc"), strict=True):
            ends = [float(end) for end in cell.split(" to ")]
            # Three digits are shown.
            assert ends == pytest.approx([known[f"{name}_low"], known[f"{name}_high"]], abs=0.00051)


def test_the_skewness_of_the_random_scorer_is_the_stored_one(project):
    page = (project / "docs" / "methods-random-scorer.md").read_text(encoding="utf-8")
    section = page.partition("## What the size of z means")[2].partition("\n## ")[0]
    table = pl.read_csv(project / "benchmarks" / "random_scorer_skewness.csv")
    for (dataset,), rows in table.group_by("dataset", maintain_order=True):
        cells = [
            f"{skewness} ({100 * share:.2f} %)"
            for skewness, share in rows["skewness", "share_z_3"].iter_rows()
        ]
        assert f"| {dataset} | {rows['tasks'][0]:,} | {' | '.join(cells)} |" in section


def test_every_constant_that_pykeen_writes_is_explained(project):
    """docs/upstream.md has these numbers."""
    table = pl.read_csv(project / "benchmarks" / "pykeen_record.csv")
    rows = dict(table.group_by("reason").agg(pl.col("rows").sum()).iter_rows())
    assert rows == {
        "equal": 414,
        "true answer not counted": 897,
        "true answer not counted, simulation": 498,
    }
    assert table["pykeen"].n_unique() == 11
    of_nations = table.filter(pykeen="nations")
    assert (of_nations["rows"].sum(), of_nations["largest_difference"].max()) == (
        117,
        pytest.approx(0.46122, abs=1e-5),
    )


def test_the_constants_of_pykeen_on_the_page_are_explained_and_beside_those_of_the_database(project):
    """docs/upstream.md: every difference of the stored table has a reason; ours are those that are released."""
    table = pl.read_csv(project / "benchmarks" / "upstream_constants.csv")
    assert table.filter(pl.col("reason") == "not explained").is_empty()
    assert (table["difference"] != 0).all()
    released = load_database().filter(protocol="pykeen", split="testing", side="both")
    both = table.join(released, on=["dataset", "metric"], suffix="_released", validate="1:1")
    assert both.height == table.height
    # The median's law is cut where it is small (docs/methods.md, "Accuracy").
    for name, tolerance in (("expectation", 1e-9), ("variance", 1e-6)):
        off = (pl.col(f"{name}_released") / pl.col(name) - 1).abs()
        assert both.filter(off > tolerance).is_empty()
