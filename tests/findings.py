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
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.copies import distinct_results
from rankadjust.literature.full_ranking import FULL_METRICS, add_full_bounds
from rankadjust.literature.rescore import rescore
from rankadjust.literature.statuses import STATUSES
from rankadjust.literature.summaries import (
    IS_BELOW,
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

PROJECT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/literature.md", "docs/statuses.md")
COUNTS = PROJECT / "tests/data/published/counts.csv"
MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"
_BLOCK = re.compile(r"<!-- findings: ([a-z ]+) -->\n(.*?)<!-- end of \1 -->", re.DOTALL)


@cache
def rescored() -> pl.DataFrame:
    """Return the rows of all shipped tables, adjusted with the released database."""
    tables = [read_tidy(path) for path in sorted((PROJECT / "resources/published").glob("*.csv"))]
    return rescore(pl.concat(tables, how="diagonal"))


@cache
def without_trials() -> pl.DataFrame:
    """Return these rows without the trials of a search for hyperparameters, which are no results of a model."""
    return rescored().filter(pl.col("caveat").fill_null("").str.starts_with("trial:").not_())


@cache
def flagged() -> pl.DataFrame:
    """Return what `check` finds among these rows."""
    return check(rescored())


@cache
def sampled() -> pl.DataFrame:
    """Return what values among sampled negatives leave open."""
    return what_sampling_hides(add_full_bounds(without_trials(), Constants.released()))


def surprising(
    rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None, count: int = 10
) -> pl.DataFrame:
    """Return the published MRR and Hits@k (k up to 10) that are furthest below counting, one per model and data set.

    At most two results of a data set are returned, so that no benchmark fills the list. Models with a value that
    contradictions, a frame of `check`, calls impossible are left out: an MRR below its own Hits@1 is a misprint and
    not a finding. Returns the columns of an evaluation, metric, model, source, year, value, expectation, baseline,
    baseline_value and below (the distance).
    """
    columns = ["metric", "model", "source", "year", "value", "expectation", "baseline", "baseline_value"]
    return (
        without_impossible(with_gain(rescored), contradictions)
        .filter(IS_BELOW, pl.col("metric").str.contains(MRR_AND_HITS), pl.col("model").is_not_null())
        .with_columns(below=pl.col("baseline_value") - pl.col("value"))
        .sort("below", "dataset", "model", "source", descending=[True, False, False, False])
        .unique(["dataset", "model"], keep="first", maintain_order=True)
        .filter(pl.int_range(pl.len()).over("dataset") < 2)
        .head(count)
        .select(*EVALUATION, *columns, "below")
    )


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
    counted = below_baselines(without_trials()).select("results", "below").sum()
    hidden = sampled().filter(metric=MRR)
    severities = dict(flagged()["severity"].value_counts().iter_rows())
    points = [
        f"**Chance.** It explains a median of {shares['sampled-20']} of a printed MRR or Hits@k with 20 sampled "
        f"negatives, but only {shares['2,000 to 19,999']} in full rankings of 2,000 to 20,000 entities "
        "([details](#how-much-of-a-printed-value-chance-explains)).",
        f"**Counting.** {counted['below'].item():,} of {counted['results'].item():,} results on test splits are below "
        "the best scorer that only counts training triples ([details](#how-much-of-it-counting-explains)).",
        f"**Sampling.** {hidden['pairs'].sum():,} pairs of models are ranked among sampled negatives. The printed "
        f"values show for {hidden['known'].sum() or 'none'} of them which model has the higher MRR among all "
        "candidates ([details](#what-sampling-hides)).",
        f"**Mistakes.** In {severities['impossible']} findings the printed values of a model contradict each other: no "
        "ranks have them ([details](#which-published-numbers-are-wrong)).",
        f"**Coverage.** {usable(rows).height:,} of {rows.height:,} values in {rows['file'].n_unique()} files are "
        "adjusted. Every other value has a status "
        "that says why not ([statuses.md](statuses.md)).",
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
        f"In the median, chance explains {of['sampled-20']} of a published MRR or Hits@k with 20 sampled "
        f"negatives, and {of['2,000 to 19,999']} in the full ranking on data sets of 2,000 to 20,000 entities. "
        "Counting explains much more: on data sets of 200 entities or more the best scorer that only counts training "
        f"triples reaches {percent(_with_baseline())} of a published value, in the median of these ratios "
        f"({percent(without)} without WN18). {counted['results'].sum():,} published values of test "
        f"splits can be compared with such a scorer, and {counted['below'].sum():,} of them are below it."
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
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "results (models)": "{results:,} ({models})",
        "below counting": "{below:,}",
        "chance explains": share_of("chance_share"),
        "counting explains": share_of("counting_share"),
    }
    most = below_baselines(without_trials()).sort("results", descending=True, maintain_order=True).head(10)
    return table(most, columns)


def most_below() -> str:
    columns = {
        "model": lambda row: f"{row['model']} ({row['year']})" if row["year"] else row["model"],
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "published": lambda row: f"{label()(row)} {row['value']:.4g}",
        "counting": "{baseline_value:.4g} ({baseline})",
        "chance": "{expectation:.2g}",
        "source": lambda row: re.sub(r" README.*| \(.*|: .*|, comm.*", "", row["source"]),
    }
    return table(surprising(without_trials(), flagged()).head(6), columns)


def share() -> str:
    columns = {
        "ranked among": "{candidates}",
        "results (data sets)": "{results:,} ({datasets})",
        "median share": share_of("share"),
        "half of them": lambda row: f"{percent(row['share_low'])} to {percent(row['share_high'])}",
        "changed visibly": "{visible:,}",
        "at most by": "{largest:.2g}",
    }
    return table(chance_share(without_trials()), columns)


def negatives() -> str:
    rows = rescored().filter(pl.col("dataset").is_in(["tgbl-wiki-v1", "tgbl-wiki-v2"]), split="testing")
    pairs = (
        rows.sort("dataset")
        .group_by("model")
        .agg(pl.col("value", "index"), pl.col("protocol").last())
        .filter(pl.col("value").list.len() == 2)
    )
    row = pairs.sort(pl.col("index").list.get(0) - pl.col("index").list.get(1)).row(-1, named=True)
    return paragraph(
        f"{row['model']} on tgbl-wiki has an MRR of {row['value'][0]:.3f} (index {row['index'][0]:.3f}) among 20 "
        f"negatives, and {row['value'][1]:.3f} (index {row['index'][1]:.3f}) among "
        f"{row['protocol'].removeprefix('sampled-')} in the later version of the data set."
    )


def chance() -> str:
    found = not_above_chance(without_trials(), flagged())
    below = found.filter(chance="below")
    models = below.group_by("model").agg(pl.col("dataset").unique().sort()).sort("model")
    worse = "; ".join(f"{model} on {listed(datasets)}" for model, datasets in models.iter_rows())
    return paragraph(
        f"{found.height - below.height} printed values are within two standard deviations of chance, and "
        f"{below.height} are worse than that: {worse}."
    )


def copies() -> str:
    rows = usable(without_trials())
    once = distinct_results(rows)
    repeated = rows.join(once, on=["file", "file_line"], how="anti")
    counted = repeated.group_by("file").len().sort("len", "file", descending=[True, False])
    named = listed([f"{number} of `{file}`" for file, number in counted.iter_rows()])
    return paragraph(
        "A result counts once, even if two sources print it. By a result we mean all values that a source prints for "
        "a model in one evaluation. It is a copy if another source has every value of it; at least two of these must "
        "have three digits, and three if the names of the models differ. "
        f"{repeated.height} of the {rows.height:,} adjusted values belong to copies: {named}."
    )


def statuses() -> str:
    count = dict(rescored()["status"].value_counts().iter_rows())
    rows = [{"status": name, "rows": count[name]} for name in STATUSES if name in count]
    return table(rows, {"status": "{status}", "rows": "{rows:,}"})


def hidden() -> str:
    found = sampled()
    of = {key[0]: part for key, part in found.group_by("metric", maintain_order=True)}
    columns = {
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "models": "{models}",
        "best MRR": "{best:.4g}",
        # Rounded outward, as bounds are.
        "its full MRR": lambda row: (
            f"{math.floor(row['full_low'] * 1e4) / 1e4:.4f} to {math.ceil(row['full_high'] * 1e4) / 1e4:.4f}"
        ),
    }
    known = {name: (part["known"].sum(), part["pairs"].sum()) for name, part in of.items()}
    most = of[MRR].sort("models", descending=True, maintain_order=True).head(5)
    return (
        table(most, columns)
        + "\n"
        + paragraph(
            "A pair of models is known if their bounds do not overlap. By MRR {} of {:,} pairs are known, by Hits@10 "
            "{} of {:,}. ".format(*known[MRR], *known["hits_at_10"])
            + "So the printed order may be right, but the printed values do not show it."
        )
    )


FINDINGS = {
    "in short": in_short,
    "opening": opening,
    "share": share,
    "counting": counting,
    "most below": most_below,
    "negatives": negatives,
    "chance": chance,
    "copies": copies,
    "hidden": hidden,
    "statuses": statuses,
}

if __name__ == "__main__":
    counts().write_csv(COUNTS)
    for name in PAGES:
        (PROJECT / name).write_text(renewed(name), encoding="utf-8")
