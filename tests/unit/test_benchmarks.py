"""The documentation shows the stored output of the benchmarks, and the models that they draw are what they say."""

import re

import numpy as np
import polars as pl
import pytest

from benchmarks.cross_side_term import covariance_sums, shared_negatives
from benchmarks.plausible import read_components, shares_of
from benchmarks.power import ERRORS, RANGES, draw_model, printed
from benchmarks.size_and_power import draw
from benchmarks.untrained_models import MODELS, Queries, ranks
from rankadjust.chance.metrics import metric_value, resolve


def test_every_benchmark_is_named_with_what_it_showed_and_imports_no_test(project):
    folder = project / "benchmarks"
    readme = (folder / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in folder.glob("*.*")} - {"README.md"}
    assert [name for name in sorted(files) if f"`{name}`" not in readme] == []
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert [
        name for name, text in texts.items() if re.search(r"^(from|import) tests\b", text, re.MULTILINE)
    ] == []


def test_the_coverages_of_the_documentation_are_the_stored_ones(project):
    page = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    stored = pl.read_csv(project / "benchmarks" / "coverage.csv")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|") and ("| many |" in line or "| few |" in line)
    ]
    assert len(rows) == 36
    for metric, law, triples, *coverages in rows:
        known = stored.filter(
            metric=resolve(metric).key,
            law={"many": "long tail", "few": "shorter tail"}[law],
            triples=int(triples.replace(",", "")),
        )
        expected = dict(known.select("interval", "coverage").iter_rows())
        kinds = ("evaluate", "evaluate, no triples", "percentile")
        assert [float(each) for each in coverages] == [expected[kind] for kind in kinds]


def test_the_untrained_models_of_the_documentation_are_the_stored_ones(project):
    page = (project / "docs" / "methods-random-scorer.md").read_text(encoding="utf-8")
    stored = pl.read_csv(project / "benchmarks" / "untrained_models.csv").filter(metric="MRR")
    section = page.partition("## What the random scorer does not describe")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if "| MRR |" in line]
    assert len(rows) == stored.height == 12
    for row, known in zip(rows, stored.iter_rows(named=True), strict=True):
        assert row == [
            known["dataset"],
            known["model"],
            known["metric"],
            f"{known['mean_z']:.2f} ± {known['mean_z_error']:.2f}",
            f"{known['sd_over_independent']:.2f}",
            f"{known['sd_over_random_scorer']:.2f} ± {known['sd_error']:.2f}",
            f"{100 * known['outside_1.96']:.1f} %",
            f"{100 * known['anchor_first']:.0f} %",
        ]


@pytest.mark.parametrize("model", MODELS)
def test_an_untrained_model_has_one_score_of_a_triple_on_both_sides(model):
    head, relation, tail = np.array([0, 3, 2]), np.array([1, 0, 1]), np.array([4, 1, 2])
    queries = Queries(
        anchor=np.concatenate([tail, head]),
        relation=np.concatenate([relation, relation]),
        answer=np.concatenate([head, tail]),
        is_tail=np.arange(6) >= 3,
        filtered=np.zeros((6, 5), dtype=bool),
        shape=(5, 2),
    )
    scores = MODELS[model](queries, np.random.default_rng(0))
    own = scores[np.arange(6), queries.answer]
    np.testing.assert_allclose(own[:3], own[3:], rtol=1e-9)
    assert np.unique(own.round(9)).size == 3
    # The rank of each answer is one more than the number of better entities.
    np.testing.assert_array_equal(ranks(scores, queries), 1 + (scores > own[:, None]).sum(axis=1))


@pytest.mark.parametrize(("tail", "head"), [(2, 2), (3, 4), (7, 2), (40, 25)])
def test_two_ranks_that_share_one_negative(tail, head):
    """MR: P(the negative beats both truths) = 1/3, not 1/4. Hits@1: s^(N-1) is E[f] but for a constant; integrate."""
    pairs = pl.DataFrame({"tail_candidates": [tail], "head_candidates": [head], "pairs": [3]})
    mean_rank, hits = covariance_sums([resolve("mr"), resolve("hits@1")], pairs)
    assert mean_rank == pytest.approx(3 / 12, rel=1e-12)
    expected = (1 / (tail + head - 1) - 1 / (tail * head)) / ((tail - 1) * (head - 1))
    assert hits == pytest.approx(3 * expected, rel=1e-11)


def test_negatives_are_shared_unless_they_are_known():
    # (a, r, d) is known: of the pairs of (a, r, b) and (c, r, d) only (c, r, b) is a negative of both.
    known = pl.DataFrame(
        [("a", "r", "b"), ("c", "r", "d"), ("a", "r", "d")], ["head", "relation", "tail"], orient="row"
    )
    evaluated = known.head(2).with_columns(
        tail_candidates=pl.Series([3, 4]), head_candidates=pl.Series([5, 6])
    )
    assert shared_negatives(known, evaluated).rows() == [(4, 5, 1)]


def test_size_and_power_of_the_documentation_are_the_stored_ones(project):
    page = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    stored = pl.read_csv(project / "benchmarks" / "size_and_power.csv")
    labels = set(stored["metric"])
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    sizes = [row for row in rows if len(row) == 5 and row[1] in labels]
    powers = [row for row in rows if len(row) == 6 and row[1] in labels]
    assert (len(sizes), len(powers)) == (9, 9)
    for triples, metric, *shares in sizes:
        known = stored.filter(triples=int(triples.replace(",", "")), metric=metric, shift=0.0)
        found = dict(known.select("cluster", "rejected").iter_rows())
        assert shares == [f"{found[kind]:.3f}" for kind in ("query", "triple", "task")]
        # What is claimed of the test: 5 % give or take 1 % with the right clusters (less where most swaps change
        # nothing, as for Hits@10), and visibly more without.
        assert found["query"] <= 0.06
        assert metric == "Hits@10" or found["query"] >= 0.04
        assert found["triple"] > 0.08
        assert found["task"] > 0.15
    for triples, metric, *shares in powers:
        known = stored.filter(pl.col("shift") > 0, triples=int(triples.replace(",", "")), metric=metric)
        assert shares == [f"{share:.3f}" for share in known.sort("shift")["rejected"]]
    shown = summary_of_compare(project)
    for cluster in ("query", "triple", "task"):
        assert extremes(stored.filter(cluster=cluster, shift=0.0)["rejected"]) in shown
    few, many = (
        stored.filter(triples=triples, metric="MRR", shift=0.2)["rejected"][0] for triples in (500, 5000)
    )
    assert f"in {few:.3f} of the cases, and with 5,000 triples in {many:.3f}" in shown


def summary_of_compare(project):
    """Return the text of docs/compare.md, "The test", on one line."""
    page = (project / "docs" / "compare.md").read_text(encoding="utf-8")
    return " ".join(page.partition("\n## The test")[2].partition("\n## ")[0].split())


def extremes(shares):
    return f"{shares.min():.3f} to {shares.max():.3f}"


def test_models_that_are_drawn_have_shared_queries_and_sides_that_go_together():
    ranks, clusters = draw(5000, 0.0, np.random.default_rng(1))
    assert ranks.shape == (2, 10_000)
    # A geometric law with mean 3.
    assert 5000 / (clusters["query"].max() + 1) == pytest.approx(3, rel=0.1)
    difference = np.diff(np.log(ranks), axis=0)[0]
    head, tail = difference[:5000], difference[5000:]
    # 0.6 and 0.5 of the query and the triple are common to the sides, 0.5 of the task is not: (0.36 + 0.25) / 0.86.
    assert np.corrcoef(head, tail)[0, 1] == pytest.approx(0.61 / 0.86, abs=0.08)
    assert np.mean(difference) == pytest.approx(0, abs=0.05)


def test_the_power_of_the_documentation_is_the_stored_one(project):
    page = (project / "docs" / "literature.md").read_text(encoding="utf-8")
    section = page.partition("### How much is found")[2].partition("\n### ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| M")]
    table = pl.read_csv(project / "benchmarks" / "power.csv")
    assert len(rows) == 35
    for composition, error, *shares in rows:
        stored = table.filter(composition=composition, error=error)
        assert stored.height == 5
        found = stored["found"].mean(), stored["impossible"].mean()
        assert shares == [f"{100 * share:.0f} %" for share in found]
        if error == "none":
            assert found == (0, 0)


def test_a_drawn_model_is_within_the_printed_ranges_and_an_error_changes_one_value():
    counts = {"head": np.full(300, 104.0), "tail": np.full(300, 90.0)}
    own, other = (draw_model(counts, RANGES["Kinships"], seed) for seed in (1, 2))
    for value, (low, high) in zip((own["both", "mrr"], own["both", "mr"]), RANGES["Kinships"], strict=True):
        assert low <= value <= high
    # AMRI = 1 - (MR - 1) / ((mean N + 1) / 2 - 1), mean N = 97
    assert own["both", "amri"] == pytest.approx(1 - (own["both", "mr"] - 1) / 48, rel=1e-12)
    changed = {
        error: [key for key, value in plant(own, other).items() if value != own[key]]
        for error, plant in ERRORS.items()
    }
    assert changed["none"] == []
    assert changed["MR x 2"] == [("both", "mr")]
    assert len(changed["MRR, Hits@1 swapped"]) == 2
    assert printed("mr", 181.26) == "181"
    assert printed("mrr", 0.33849) == "0.338"


def test_plausible_ranks_have_the_printed_values_and_are_rarer_the_worse_they_are():
    components = read_components({"head": np.full(400, 104.0), "tail": np.full(400, 90.0)})
    # Every second component alike: smooth, but for the noise of 800 tasks.
    ranks = components.ranks[::2].ravel().astype(float)
    values = {
        metric: printed(metric, float(metric_value(metric, ranks)))
        for metric in ("mr", "mrr", "hits@1", "hits@3", "hits@10", "gmr", "median")
    }
    shares = shares_of(values, components)
    assert shares is not None
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    # The explicit ranks, each with its share of the tasks, have what was printed: half a digit, and the solver's noise.
    weights = np.repeat(shares / 800, 800)
    every = components.ranks.ravel().astype(float)
    assert weights @ every == pytest.approx(float(values["mr"]), abs=0.0501)
    assert np.exp(weights @ np.log(every)) == pytest.approx(float(values["gmr"]), abs=0.00501)
    for k in (1, 3, 10):
        assert weights @ (every <= k) == pytest.approx(float(values[f"hits@{k}"]), abs=5.01e-4)
    assert weights[every <= float(values["median"])].sum() >= 0.5 - 1e-9
    means = [
        weights[(every > low) & (every <= high)].sum() / (high - low)
        for low, high in ((1, 2), (2, 4), (4, 8))
    ]
    assert means == sorted(means, reverse=True)
    # Half of the mean rank is less than the ranks beyond 10 alone add up to.
    assert shares_of(values | {"mr": printed("mr", float(values["mr"]) / 2)}, components) is None


def test_the_wrong_mean_ranks_of_the_documentation_are_the_stored_ones(project):
    page = (project / "docs" / "literature.md").read_text(encoding="utf-8")
    section = page.partition("| mean rank | models |")[2].partition("\n\n")[0]
    shown = [line.strip("| ").split(" | ")[1:] for line in section.splitlines()[2:]]
    stored = pl.read_csv(project / "benchmarks" / "wrong_mean_rank.csv")
    orders = [("none", "all"), ("MR x 0.5", "all"), ("MR x 2", "all")]
    orders += [("MR of another model", factor) for factor in ("below 1.25", "1.25 to 2", "above 2")]
    columns = [f"MR, MRR, Hits{end}" for end in ("", ", median", ", GMR", ", AMRI")]
    assert len(shown) == len(orders)
    for (error, factor), (models, *shares) in zip(orders, shown, strict=True):
        rows = stored.filter(error=error, factor=factor)
        found = dict(rows.select("composition", "plausible").iter_rows())
        assert rows["models"].to_list() == [int(models)] * 4
        assert shares == [f"{100 * found[column]:.0f} %" for column in columns]
        # The true values are those of plausible ranks, and AMRI with another MR is not.
        assert error != "none" or set(found.values()) == {1.0}


def test_the_bounds_of_sampled_values_hold_as_often_as_stated(project):
    stored = pl.read_csv(project / "benchmarks" / "sampled_coverage.csv")
    least, most = stored["held"].min(), stored["held"].max()
    assert stored["draws"].unique().to_list() == [1000]
    assert least >= 950
    assert stored["without_noise"].all()
    for page in ("docs/sampled.md", "benchmarks/README.md"):
        text = " ".join((project / page).read_text(encoding="utf-8").split())
        assert f"{least:,} to {most:,} of 1,000 draws" in text
        assert f"{stored.height}" in text


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


def test_queries_and_equal_values_of_the_documentation_are_the_stored_ones(project):
    stored = pl.read_csv(project / "benchmarks" / "clusters.csv")
    page = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    coverage = stored.filter(what="coverage")
    for (law, triples), rows in coverage.group_by("law", "triples", maintain_order=True):
        mrr = dict(rows.filter(metric="MRR").select("clusters", "share").iter_rows())
        others = dict(rows.filter(clusters="queries").select("metric", "share").iter_rows())
        shares = [
            *(mrr[kind] for kind in ("triples", "components", "queries")),
            others["Hits@10"],
            others["GMR"],
        ]
        assert f"| {law} | {triples:,} | {' | '.join(f'{share:.3f}' for share in shares)} |" in page
    # 0.93 to 0.97 give or take three standard errors, where there are a hundred queries.
    many = coverage.filter((pl.col("triples") == 3000) | (pl.col("law") == "tail side"), clusters="queries")
    many = many.filter(pl.col("triples") >= 300)
    assert (many["share"] >= 0.93 - 3 * many["error"]).all()
    assert (many["share"] <= 0.97 + 3 * many["error"]).all()
    equal = stored.filter(pl.col("law").str.starts_with("equal"))
    page = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    crossed = stored.filter(pl.col("law").is_in(["both sides", "independent", "ties"]), clusters="queries")
    for (what, law, triples), rows in crossed.filter(pl.col("what") != "coverage").group_by(
        "what", "law", "triples", maintain_order=True
    ):
        shares = " | ".join(f"{share:.3f}" for share in rows["share"])
        assert f"| {what} | {law} | {triples:,} | {shares} |" in page
    size = crossed.filter(what="size")
    shown = summary_of_compare(project)
    assert f"it is {extremes(size['share'])} (by queries)" in shown
    for clusters, words in (("default", "at 5 % in"), ("swaps", "alone in")):
        shares = equal.filter(clusters=clusters)
        assert f"{words} {extremes(shares.filter(triples=300)['share'])}" in shown
        # With few triples neither is right.
        assert f"{shares.filter(triples=100, law='equal MR, 1 % at 5,001')['share'].item():.3f}" in shown
    assert (size["share"] <= 0.05 + 3 * (0.05 * 0.95 / size["replications"]) ** 0.5).all()
    for (law, triples), rows in equal.group_by("law", "triples", maintain_order=True):
        found = dict(rows.select("clusters", "share").iter_rows())
        assert f"| {law} | {triples} | {found['swaps']:.3f} | {found['default']:.3f} |" in page
        # From 300 triples on the size is at most 0.07, where that of swaps alone is up to 1.
        assert triples < 300 or found["default"] <= 0.07 < found["swaps"]


def test_runs_and_tasks_of_the_documentation_are_the_stored_ones(project):
    page = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    stored = pl.read_csv(project / "benchmarks" / "runs_and_tasks.csv")
    shown = summary_of_compare(project)
    means, geometric = (
        stored.filter(pl.col("metric").is_in(names)) for names in (["MRR", "Hits@10"], ["GMR"])
    )
    assert f"{extremes(means['rejected'])} of the cases for MRR and Hits@10" in shown
    assert f"of GMR give {extremes(geometric['rejected'])}" in shown
    cell = ["runs", "seed", "seed_of_second", "clusters"]
    for (runs, seed, second, _), rows in stored.group_by(cell, maintain_order=True):
        shares = " | ".join(f"{share:.3f}" for share in rows["rejected"])
        seeds = f"{seed:g}" if seed == second else f"{seed:g} and {second:g}"
        assert f"| {runs} | {seeds} | {shares} |" in page
    # 5 % give or take three standard errors, whatever the seeds and the number of runs.
    assert stored["rejected"].is_between(0.05 - 0.033, 0.05 + 0.033).all()
    assert stored["rejected"].mean() == pytest.approx(0.05, abs=0.01)
