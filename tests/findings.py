"""The numbers that README.md and docs/ state about the shipped tables and the released database, with their text.

A page holds each between `<!-- findings: NAME -->` and `<!-- end of NAME -->`. After a change of the tables, of the
mapping or of the released database look at the difference and renew them, and the counts of every source and status:

    .venv/bin/python -m tests.findings
"""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.copies import distinct_results
from rankadjust.literature.full_ranking import FULL_METRICS, add_full_bounds
from rankadjust.literature.mapping import load_rules
from rankadjust.literature.rescore import rescore
from rankadjust.literature.statuses import STATUSES
from rankadjust.literature.summaries import (
    MRR_AND_HITS,
    below_baselines,
    chance_share,
    comparable,
    not_above_chance,
    usable,
    with_gain,
    without_impossible,
)
from rankadjust.literature.tidy import read_tidy
from rankadjust.page.boards import family_of
from rankadjust.page.material import stands_for_model

PROJECT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/literature.md", "docs/statuses.md")
COUNTS = PROJECT / "tests/data/published/counts.csv"
MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"
SINCE = 2021
# Models that are trained on some graphs, so that they can rank on others.
FOUNDATION = ("ARE", "Flock", "KG-ICL", "MOTIF", "SEMMA", "TRIX", "ULTRA")
_BLOCK = re.compile(r"<!-- findings: ([a-z ]+) -->\n(.*?)<!-- end of \1 -->", re.DOTALL)


@cache
def rescored() -> pl.DataFrame:
    """Return the rows of all shipped tables, adjusted with the released database."""
    tables = [read_tidy(path) for path in sorted((PROJECT / "resources/published").glob("*.csv"))]
    return rescore(pl.concat(tables, how="diagonal"))


@cache
def without_trials() -> pl.DataFrame:
    """Return these rows without trials of a search and configurations of a study: no results that stand for a model."""
    return rescored().filter(stands_for_model())


@cache
def flagged() -> pl.DataFrame:
    """Return what `check` finds among these rows."""
    return check(rescored())


@cache
def sampled() -> pl.DataFrame:
    """Return what values among sampled negatives leave open."""
    return what_sampling_hides(add_full_bounds(without_trials(), Constants.released()))


def what_sampling_hides(bounded: pl.DataFrame) -> pl.DataFrame:
    """Return for each evaluation and metric the best printed value, its bounds, and the number of ordered pairs.

    bounded: result of `add_full_bounds`; the rows that `rankadjust.literature.summaries.comparable` keeps are used.
    The order of two models is known if their bounds do not overlap. Returns dataset, protocol, split, metric, models,
    best_model, best (its printed value), full_low and full_high (its bounds), pairs (of models) and known (pairs of
    known order).
    """
    ends = {"low": "full_{}_low", "high": "full_{}_high"}
    of_metric = [
        comparable(bounded)
        .filter(pl.col("metric") == resolve(name).key)
        .with_columns(pl.col(column.format(name)).alias(end) for end, column in ends.items())
        .drop_nulls("low")
        # A model counts once, with its best value: its other values do not make pairs of models.
        .sort("value", descending=True, maintain_order=True)
        .unique(["dataset", "protocol", "split", "model"], keep="first", maintain_order=True)
        for name in FULL_METRICS
    ]
    low, high, best = pl.col("low"), pl.col("high"), pl.col("value").arg_max()
    return (
        pl.concat(of_metric)
        .group_by("dataset", "protocol", "split", "metric")
        .agg(
            models=pl.len().cast(pl.Int64),
            best_model=pl.col("model").get(best),
            best=pl.col("value").max(),
            full_low=low.get(best),
            full_high=high.get(best),
            pairs=pl.len().cast(pl.Int64) * (pl.len().cast(pl.Int64) - 1) // 2,
            # For each model, count the other models whose upper bound is below its lower bound.
            known=high.sort().search_sorted(low, side="left").sum().cast(pl.Int64),
        )
        .sort("metric", "dataset", "protocol", "split")
    )


def clean_mrr(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return each MRR of a model on test data once, without caveats and contradictions, with its family.

    The year of a reproduction is that of the model, where that is older: an old model that is trained well is no gain.
    """
    named = pl.col("model").is_not_null() & pl.col("split").is_in(TEST_SPLITS)
    clean = usable(rescored).filter(named, pl.col("caveat").is_null())
    years = {name: about.get("year") for name, about in load_rules().models.items()}
    of_model = pl.col("family").replace_strict(years, default=None, return_dtype=pl.Int64)
    reproduced = pl.when(pl.col("tags").str.contains("reproduction")).then(of_model)
    return (
        distinct_results(without_impossible(clean, contradictions))
        .filter(metric=MRR)
        .with_columns(
            family=pl.col("model").map_elements(family_of, return_dtype=pl.String),
            tags=pl.col("tags").fill_null(""),
        )
        .with_columns(year=pl.min_horizontal(pl.col("year").cast(pl.Int64), reproduced))
    )


def beside_counting(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the best MRR of each foundation model on each graph where counting has one in the same evaluation.

    rows: of `clean_mrr`. Added are name (without the remark in brackets), seen (the model was pretrained on the graph)
    and above (it is above counting by more than its rounding).
    """
    return (
        rows.filter(pl.col("family").is_in(FOUNDATION), pl.col("gain").is_not_null())
        .with_columns(
            name=pl.col("model").str.replace(r" \(.*", ""),
            seen=pl.col("tags").str.contains("pretrained on this graph"),
            above=pl.coalesce("gain_low", "gain") > 0,
        )
        .sort("gain", "dataset", "name", descending=[True, False, False])
        .unique(["name", "dataset"], keep="first", maintain_order=True)
    )


def records_and_gaps(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each year's best result since SINCE that was a record, and the gap between two sources of one model.

    rows: of `clean_mrr`. The gap of a model is the median difference of the best values of two sources, over all pairs;
    equal values are a copy, and a variant (ComplEx-N3, ComplEx + RP) is another model. Added are models (that have a
    gap), gap (their median), widest and largest (the model with the largest, and that gap), and rise (above the record
    before).
    """
    plain = pl.col("model").str.replace(r"(,| \()[^+]*$", "").str.to_lowercase()
    best = rows.filter(plain == pl.col("family").str.to_lowercase()).group_by(*EVALUATION, "family", "file")
    values = best.agg(pl.col("value").max())
    pairs = values.join(values, on=[*EVALUATION, "family"]).filter(pl.col("file") < pl.col("file_right"))
    gap = (pl.col("value") - pl.col("value_right")).abs()
    gaps = pairs.group_by(*EVALUATION, "family").agg(gap=gap.filter(gap > 0).median()).drop_nulls("gap")
    of_evaluation = (
        gaps.sort("gap", "family")
        .group_by(EVALUATION)
        .agg(
            pl.col("gap").median(),
            models=pl.len(),
            widest=pl.col("family").last(),
            largest=pl.col("gap").last(),
        )
    )
    yearly = rows.drop_nulls("year").sort("value", maintain_order=True).group_by(*EVALUATION, "year").last()
    before = pl.col("value").cum_max().shift().over(EVALUATION)
    is_old = pl.col("year").min().over(EVALUATION) < SINCE
    return (
        yearly.sort("year")
        .with_columns(rise=pl.col("value") - before)
        .filter(is_old, pl.col("year") >= SINCE, pl.col("rise") > 0)
        .join(of_evaluation, on=EVALUATION)
        .sort(*EVALUATION, "year")
    )


def counts() -> pl.DataFrame:
    """Return the number of rows of each file with each status."""
    return rescored().group_by("file", "status").agg(rows=pl.len().cast(pl.Int64)).sort("file", "status")


def blocks(page: str) -> dict[str, str]:
    """Return the text between the marks of a page, by name."""
    return dict(_BLOCK.findall((PROJECT / page).read_text(encoding="utf-8")))


def renewed(page: str) -> str:
    """Return the page with every block computed anew."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    return _BLOCK.sub(
        lambda found: f"<!-- findings: {found[1]} -->\n{FINDINGS[found[1]]()}<!-- end of {found[1]} -->", text
    )


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share > 0.02 else f"{100 * share:.2g} %"


def paragraph(text: str) -> str:
    # A figure and its sign stay on one line.
    return textwrap.fill(text.replace(" %", "\xa0%"), 118, break_on_hyphens=False).replace("\xa0", " ") + "\n"


def table(rows: pl.DataFrame | list[dict[str, Any]], columns: Mapping[str, str | Callable[..., str]]) -> str:
    """Return a Markdown table: the header of each column, with a pattern or a function that a row fills."""
    records = rows.to_dicts() if isinstance(rows, pl.DataFrame) else rows
    cells = [
        [form.format(**row) if isinstance(form, str) else form(row) for form in columns.values()]
        for row in records
    ]
    lines = [list(columns), ["---"] * len(columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def share_of(name: str) -> Callable[..., str]:
    return lambda row: "" if row[name] is None else percent(row[name])


def label(name: str = "metric") -> Callable[..., str]:
    return lambda row: resolve(row[name]).label


def bullet(text: str) -> str:
    """Return a point of a list, broken into lines like a paragraph."""
    first, *others = paragraph(text).splitlines()
    return "\n".join([f"* {first}", *(f"  {line}" for line in others)]) + "\n"


def in_short() -> str:
    """Return the points at the head of docs/literature.md."""
    rows = rescored()
    shares = {row["candidates"]: percent(row["share"]) for row in chance_share(without_trials()).to_dicts()}
    evaluations = below_baselines(without_trials())
    counted = evaluations.select("results", "below").sum()
    wn18 = evaluations.filter(dataset="WN18")["below"].sum()
    hidden = sampled().filter(metric=MRR)
    severities = dict(flagged()["severity"].value_counts().iter_rows())
    points = [
        f"**[Chance](#how-much-of-a-printed-value-chance-explains)** explains {shares['sampled-20']} of a printed MRR "
        "or Hits@k with 20 sampled negatives, in the median, but only "
        f"{shares['2,000 to 19,999']} in full rankings of 2,000 to 20,000 entities.",
        f"**[Counting](#how-much-of-it-counting-explains)** training triples is better than "
        f"{counted['below'].item():,} of {counted['results'].item():,} results on test splits, and {wn18} of these are "
        "on WN18.",
        "**[Sampling](#what-sampling-hides)** hides which model is better. Printed values among sampled negatives show "
        f"for {hidden['known'].sum() or 'none'} of {hidden['pairs'].sum():,} pairs of models which model has the "
        "higher MRR among all candidates.",
        f"**[Mistakes](#which-published-numbers-are-wrong)** are certain in {severities['impossible']} cases, because "
        "no list of ranks has all the values that are printed for a model.",
        f"**Coverage.** {usable(rows).height:,} of {rows.height:,} values in {rows['file'].n_unique()} files are "
        "adjusted, and every other value has a [status](statuses.md) that says why it is not.",
    ]
    return "".join(map(bullet, points))


def opening() -> str:
    shares = {row["candidates"]: row for row in chance_share(without_trials()).to_dicts()}
    # What the text says of thousands of entities: chance changes no result visibly there.
    assert not shares["2,000 to 19,999"]["visible"] + shares["20,000 or more"]["visible"]
    of = {name: percent(row["share"]) for name, row in shares.items()}
    counted = below_baselines(without_trials())
    without = _with_baseline(pl.col("dataset") != "WN18")
    return paragraph(
        f"If the true answer is ranked among only 20 sampled wrong answers, chance explains {of['sampled-20']} of a "
        "published MRR or Hits@k in the median. In the full ranking on data sets of 2,000 to 20,000 entities this "
        f"share is only {of['2,000 to 19,999']}. Counting explains much more, because on data sets of 200 entities or "
        f"more the best counting baseline has {percent(_with_baseline())} of a published value in the median "
        f"({percent(without)} without WN18). {counted['results'].sum():,} published test values can be compared with "
        f"such a baseline, and {counted['below'].sum():,} of them are below it."
    )


def _with_baseline(wanted: pl.Expr | bool = True) -> float:
    """Return the median share of MRR and Hits@k on sets of 200 entities or more that the best baseline explains."""
    rows = comparable(without_trials()).filter(
        pl.col("gain").is_not_null(),
        pl.col("metric").str.contains("^(inverse_harmonic_mean_rank|hits_at_([1-9]|10))$"),
        pl.col("entities") >= 200,
        pl.col("value") > 0,
        wanted,
    )
    share: float = rows.select((pl.col("baseline_value") / pl.col("value")).median()).item()
    return share


def counting() -> str:
    """Return the evaluations with most results, each beside the best counting baseline."""
    columns = {
        "data set": "{dataset}, `{protocol}`",
        "results (models)": "{results:,} ({models})",
        "below counting": "{below:,}",
        "counting explains": share_of("counting_share"),
        f"own until {SINCE - 1}": share_of("until"),
        f"own since {SINCE}": share_of("since"),
    }
    most = below_baselines(without_trials()).sort("results", descending=True, maintain_order=True)
    most = most.unique("dataset", keep="first", maintain_order=True).head(7)
    rows = with_gain(without_trials()).filter(
        pl.col("metric").str.contains(MRR_AND_HITS),
        (pl.col("value") > 0) & pl.col("caveat").is_null(),
        ~pl.col("tags").fill_null("").str.contains("reproduction"),
    )
    ratio, is_new = pl.col("baseline_value") / pl.col("value"), pl.col("year").cast(pl.Int64) >= SINCE
    medians = {"until": ratio.filter(~is_new).median(), "since": ratio.filter(is_new).median()}
    key = ["dataset", "protocol", "split"]
    return table(
        most.join(rows.group_by(key).agg(**medians), on=key, how="left", maintain_order="left"), columns
    )


def foundation() -> str:
    """Return how the foundation models do beside counting, on graphs of their pretraining and on others."""
    found = beside_counting(clean_mrr(without_trials(), flagged()))
    new = found.filter(~pl.col("seen"))
    of_model = pl.col("above").sum().alias("above"), pl.len().alias("graphs"), pl.col("gain").median()
    seen = found.filter("seen").group_by("name").agg(of_model)
    lowest = pl.struct("gain", "dataset").last().alias("lowest")
    columns = {
        "model": "{name}",
        "above counting": "{above} of {graphs}",
        "median gain": "{gain:.2f}",
        "lowest gain": "{lowest[gain]:.2g} ({lowest[dataset]})",
        "pretrained on": "{above_seen} of {graphs_seen}",
        "median gain there": "{gain_seen:.2f}",
    }
    rows = new.group_by("name").agg(*of_model, lowest).join(seen, on="name", suffix="_seen").sort("name")
    graphs = new.group_by("dataset").agg(pl.col("above").any(), every=pl.col("above").all()).sort("dataset")
    related = new.filter(pl.col("dataset").str.contains("^(GraIL-|InGram-)?(FB|WN)|^CoDEx"))["dataset"]
    return (
        table(rows, columns)
        + "\n"
        + paragraph(
            f"On {graphs['every'].sum()} of {graphs.height} graphs that are new to foundation models, all these models "
            f"are above counting, but on {listed(graphs.filter(~pl.col('above'))['dataset'].to_list())} none is. "
            f"But {related.n_unique()} of the {graphs.height} come from the same data as the graphs of the pretraining."
        )
    )


def progress() -> str:
    """Return which records since SINCE are larger than the gap between two sources of one model."""
    text = pl.when(pl.col("tags").str.contains("text")).then(pl.lit(" (text)")).otherwise(pl.lit(""))
    rise = "+" + pl.col("rise").round_sig_figs(2).cast(pl.String)
    name = pl.col("model").str.replace(r" \(.*?\)", "")
    found = (
        records_and_gaps(clean_mrr(without_trials(), flagged()))
        .filter(pl.col("models") >= 3)
        .with_columns(
            said=pl.format("{} {} {}{}", name, "year", rise, text), is_larger=pl.col("rise") > pl.col("gap")
        )
    )
    larger, said = pl.col("is_larger"), pl.col("said")
    rows = found.group_by("dataset", "models", "gap", "widest", "largest", maintain_order=True).agg(
        larger=said.filter(larger).str.join(", "), smaller=said.filter(~larger).str.join(", ")
    )
    columns = {
        "data set": "{dataset}",
        "models": "{models}",
        "gap, median (largest)": "{gap:.3f} ({largest:.3f}, {widest})",
        "records that rise by more": "{larger}",
        "by less": "{smaller}",
    }
    return (
        table(rows, columns)
        + "\n"
        + paragraph(
            f"{found['is_larger'].sum()} of {found.height} records of MRR since {SINCE} rise by more than the median "
            f"gap of their data set, and {found.filter(larger & pl.col('tags').str.contains('text')).height} of these "
            f"are of models that read texts. The median record rises by {found['rise'].median():.3f}, and the median "
            f"gap is {rows['gap'].median():.3f}."
        )
    )


def share() -> str:
    columns = {
        "ranked among": "{candidates}",
        "results": "{results:,}",
        "median share": share_of("share"),
        "changed visibly": "{visible:,}",
    }
    return table(chance_share(without_trials()).filter(pl.col("results") >= 100), columns)


def chance() -> str:
    found = not_above_chance(without_trials(), flagged())
    below = found.filter(chance="below")
    models = below.group_by("model").agg(pl.col("dataset").unique().sort()).sort("model")
    worse = "; ".join(f"{model} on {listed(datasets)}" for model, datasets in models.iter_rows())
    return paragraph(
        f"{found.height - below.height} printed values are within two standard deviations of chance, so they could be "
        f"luck. Another {below.height} values are worse than chance by more than that: {worse}."
    )


def copies() -> str:
    rows = usable(without_trials())
    once = distinct_results(rows)
    repeated = rows.join(once, on=["file", "file_line"], how="anti")
    return paragraph(
        "A result that several sources print counts once on this page. A result is a copy if another source has all "
        f"its values in the same evaluation. Copies have {repeated.height} of the {rows.height:,} adjusted values "
        "without [trials and configurations](#values-with-a-caveat)."
    )


def statuses() -> str:
    count = dict(rescored()["status"].value_counts().iter_rows())
    rows = [{"status": name, "rows": count[name]} for name in STATUSES if name in count]
    return table(rows, {"status": "{status}", "rows": "{rows:,}"})


def hidden() -> str:
    found = sampled()
    of = {key[0]: part for key, part in found.group_by("metric", maintain_order=True)}
    columns = {
        "data set": "{dataset}, `{protocol}`",
        "models": "{models}",
        "best MRR": "{best:.4g}",
        # Rounded outward, as bounds are.
        "its full MRR": lambda row: (
            f"{math.floor(row['full_low'] * 1e4) / 1e4:.4f} to {math.ceil(row['full_high'] * 1e4) / 1e4:.4f}"
        ),
    }
    known = {name: (part["known"].sum(), part["pairs"].sum()) for name, part in of.items()}
    most = of[MRR].sort("models", descending=True, maintain_order=True).head(3)
    return (
        table(most, columns)
        + "\n"
        + paragraph(
            "If the bounds of two models do not overlap, they show which model is better in the full ranking. "
            "They do so for {} of {:,} pairs by MRR, and {} of {:,} by Hits@10.".format(
                *known[MRR], *known["hits_at_10"]
            )
        )
    )


FINDINGS = {
    "in short": in_short,
    "opening": opening,
    "share": share,
    "counting": counting,
    "foundation": foundation,
    "progress": progress,
    "chance": chance,
    "copies": copies,
    "hidden": hidden,
    "statuses": statuses,
}

if __name__ == "__main__":
    counts().write_csv(COUNTS)
    for name in PAGES:
        (PROJECT / name).write_text(renewed(name), encoding="utf-8")
