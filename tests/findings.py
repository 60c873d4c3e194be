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
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.copies import distinct_results
from rankadjust.literature.full_ranking import add_full_bounds, what_sampling_hides
from rankadjust.literature.rescore import rescore
from rankadjust.literature.statuses import STATUSES
from rankadjust.literature.summaries import (
    below_baselines,
    chance_share,
    comparable,
    not_above_chance,
    protocol_effect,
    surprising,
    usable,
)
from rankadjust.literature.tidy import read_tidy

PROJECT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/literature.md", "docs/methods-baselines.md")
COUNTS = PROJECT / "tests/data/published/counts.csv"
MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"
_BLOCK = re.compile(r"<!-- findings: ([a-z ]+) -->\n(.*?)<!-- end of \1 -->", re.DOTALL)
_TINY = "fewer than 200 entities"


@cache
def rescored() -> pl.DataFrame:
    """Return the rows of all shipped tables, adjusted with the released database."""
    tables = [read_tidy(path) for path in sorted((PROJECT / "resources/published").glob("*.csv"))]
    return rescore(pl.concat(tables, how="diagonal"))


@cache
def flagged() -> pl.DataFrame:
    """Return what `check` finds among these rows."""
    return check(rescored())


@cache
def sampled() -> pl.DataFrame:
    """Return what values among sampled negatives leave open."""
    return what_sampling_hides(add_full_bounds(rescored(), Constants.released()))


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
    shares = {row["candidates"]: percent(row["share"]) for row in chance_share(rows).to_dicts()}
    counted = below_baselines(rows).select("results", "below").sum()
    hidden = sampled().filter(metric=MRR)
    severities = dict(flagged()["severity"].value_counts().iter_rows())
    points = [
        f"**Chance.** In the median it explains {shares['sampled-20']} of a printed MRR or Hits@k with 20 sampled "
        f"negatives, but only {shares['2,000 to 19,999']} on data sets of 2,000 to 20,000 entities "
        "([details](#how-much-of-a-printed-value-chance-explains)).",
        f"**Counting.** {counted['below'].item():,} of {counted['results'].item():,} results on test splits are below "
        "the best scorer that only counts training triples ([details](#how-much-of-it-counting-explains)).",
        f"**Sampling.** {hidden['pairs'].sum():,} pairs of models are ranked among sampled negatives. The printed "
        f"values show for {hidden['known'].sum() or 'none'} of them which model has the higher MRR among all "
        "candidates ([details](#what-sampling-hides)).",
        f"**Mistakes.** In {severities['impossible']} findings the printed values of a model contradict each other: no "
        "ranks have them ([details](#which-published-numbers-are-wrong)).",
        f"**Coverage.** {usable(rows).height:,} of {rows.height:,} values are adjusted. Every other value has a status "
        "that says why not ([details](#statuses)).",
    ]
    return "".join(map(bullet, points))


def opening() -> str:
    shares = {row["candidates"]: row for row in chance_share(rescored()).to_dicts()}
    # What the text says of thousands of entities: chance changes no result visibly there.
    assert not shares["2,000 to 19,999"]["visible"] + shares["20,000 or more"]["visible"]
    of = {name: percent(row["share"]) for name, row in shares.items()}
    counted = below_baselines(rescored())
    full = _with_baseline()
    return paragraph(
        "How much of a published MRR or Hits@k needs no model? In the median, chance explains "
        f"{of['sampled-20']} of it with 20 sampled negatives. In the full ranking it explains {of[_TINY]} on data "
        f"sets of fewer than 200 entities, and {of['2,000 to 19,999']} on data sets of 2,000 to 20,000 entities. "
        "Counting explains much more: on data sets of 200 entities or more the best scorer that only counts training "
        f"triples reaches {percent(full)} of a published value, in the median. {counted['results'].sum():,} published "
        "values of test splits and both sides, each counted once, can be compared with such a scorer under their "
        "protocol, and "
        f"{counted['below'].sum():,} of them are below it."
    )


def _with_baseline() -> float:
    """Return the median share of MRR and Hits@k on sets of 200 entities or more that the best baseline explains."""
    rows = comparable(rescored()).filter(
        pl.col("gain").is_not_null(),
        pl.col("metric").str.contains("^(inverse_harmonic_mean_rank|hits_at_([1-9]|10))$"),
        pl.col("entities") >= 200,
        pl.col("value") > 0,
    )
    share: float = rows.select((pl.col("baseline_value") / pl.col("value")).median()).item()
    return share


def counting() -> str:
    furthest = "{lowest_model}: {label} {lowest_value:.4g}; {baseline} has {baseline_value:.4g}"
    columns = {
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "results (models)": "{results:,} ({models})",
        "below counting": "{below:,}",
        "chance explains": share_of("chance_share"),
        "counting explains": share_of("counting_share"),
        "furthest below, or least above": lambda row: furthest.format(
            **row, label=label("lowest_metric")(row)
        ),
    }
    return table(below_baselines(rescored()), columns)


def counted() -> str:
    """Return the MRR of chance and of every counting baseline, for each data set of the release and both sides."""
    constants = Constants.released()
    asked = {"protocol": "filtered", "side": "both", "metric": MRR}
    tested = pl.col("split").is_in(["testing", "inference_testing"])
    key = ["dataset", "split"]
    chance = constants.table.filter(tested, **asked).select(*key, chance="expectation")
    names = ("popularity", "redundancy", "rules", "recurrency-multi-step")
    found = (
        constants.baselines.filter(tested, pl.col("baseline").is_in(names), **asked)
        .pivot("baseline", index=key, values="value")
        .join(chance, on=key, validate="1:1")
        .sort(pl.col("dataset").str.to_lowercase(), "split")
    )

    def value(name: str) -> Callable[..., str]:
        return lambda row: "–" if row[name] is None else f"{row[name]:.4f}"

    def title(row: dict[str, Any]) -> str:
        return row["dataset"] + " (inference)" * (row["split"] == "inference_testing")

    columns = {"data set": title, "chance": value("chance"), **{f"`{name}`": value(name) for name in names}}
    return table(found, columns)


def most_below() -> str:
    columns = {
        "model": lambda row: f"{row['model']} ({row['year']})" if row["year"] else row["model"],
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "published": lambda row: f"{label()(row)} {row['value']:.4g}",
        "counting": "{baseline_value:.4g} ({baseline})",
        "chance": "{expectation:.2g}",
        "source": "{source}",
    }
    return table(surprising(rescored(), flagged()), columns)


def share() -> str:
    columns = {
        "ranked among": "{candidates}",
        "results (data sets)": "{results:,} ({datasets})",
        "median share": share_of("share"),
        "half of them": lambda row: f"{percent(row['share_low'])} to {percent(row['share_high'])}",
        "changed visibly": "{visible:,}",
        "at most by": "{largest:.2g}",
    }
    return table(chance_share(rescored()), columns)


def protocols() -> str:
    effect = protocol_effect(rescored()).filter(pl.col("metric").str.contains("^(inverse_harmonic|hits)"))
    printed, adjusted = (pl.col(f"other_{name}") - pl.col(name) for name in ("value", "index"))
    grouped = effect.group_by("source", "split", "protocol", "other_protocol", maintain_order=True).agg(
        results=pl.len(),
        printed=printed.median(),
        adjusted=adjusted.median(),
        largest=(adjusted - printed).abs().max(),
    )
    columns = {
        "source": lambda row: re.sub(r" README.*| \(.*|: .*", "", row["source"]),
        "split": "{split}",
        "from, to": "`{protocol}` to `{other_protocol}`",
        "results": "{results}",
        "printed moves by": "{printed:+.3f}",
        "index moves by": "{adjusted:+.3f}",
        "at most apart": "{largest:.2g}",
    }
    return table(grouped.sort("other_protocol", "source", "split"), columns)


def negatives() -> str:
    found = rescored().filter(pl.col("dataset").str.contains("^tgbl-(wiki|review)-v[12]$"), split="testing")
    pairs = (
        found.sort("dataset")
        .group_by(pl.col("dataset").str.replace("-v[12]$", ""), "model")
        .agg(pl.col("value", "index"), pl.col("protocol").last())
        .filter(pl.col("value").list.len() == 2)
    )
    columns = {
        "data set": "{dataset}",
        "model": "{model}",
        "20 negatives: MRR (index)": "{value[0]:.3f} ({index[0]:+.3f})",
        "later version": "{value[1]:.3f} ({index[1]:+.3f})",
        "its negatives": lambda row: row["protocol"].removeprefix("sampled-"),
    }
    return table(pairs.sort("dataset", "model"), columns)


def chance() -> str:
    found = not_above_chance(rescored(), flagged())
    groups = (
        found.group_by("file", "dataset", "metric", "evidence", maintain_order=True)
        .agg(
            below=(pl.col("chance") == "below").sum(),
            at=(pl.col("chance") != "below").sum(),
            models=pl.col("model").unique().sort().str.join(", "),
        )
        .sort("file", "dataset", "metric", "evidence")
    )
    columns = {
        "source": lambda row: Path(row["file"]).stem,
        "data set": "{dataset}",
        "metric": label(),
        "models": "{models}",
        "below": "{below}",
        "at chance": "{at}",
        "by": "{evidence}",
    }
    return table(groups, columns)


def copies() -> str:
    rows = usable(rescored())
    once = distinct_results(rows)
    repeated = rows.join(once, on=["file", "file_line"], how="anti")
    counted = repeated.group_by("file").len().sort("len", "file", descending=[True, False])
    named = listed([f"{number} of `{file}`" for file, number in counted.iter_rows()])
    return paragraph(
        "A result counts once. By a result we mean all values that a source prints for a model in one evaluation. It "
        "is a copy if a result of another source for the same data set, protocol, split and side has every value of "
        "it. At least two of these values must have three digits, and at least three if the names of the models "
        f"differ. {repeated.height} of the {rows.height:,} adjusted values belong to copies: {named}."
    )


def statuses() -> str:
    count = dict(rescored()["status"].value_counts().iter_rows())
    rows = [{"status": name, "rows": count[name]} for name in STATUSES if name in count]
    return table(rows, {"status": "{status}", "rows": "{rows:,}"})


def hidden() -> str:
    found = sampled()
    of = {key[0]: part for key, part in found.group_by("metric")}
    columns = {
        "data set": "{dataset}",
        "protocol": "`{protocol}`",
        "models": "{models}",
        "best MRR": "{best:.4g}",
        # Rounded outward, as bounds are.
        "its full MRR": lambda row: (
            f"{math.floor(row['full_low'] * 1e4) / 1e4:.4f} to {math.ceil(row['full_high'] * 1e4) / 1e4:.4f}"
        ),
        "pairs of models known": "{known} of {pairs}",
    }
    known = {name: (part["known"].sum(), part["pairs"].sum()) for name, part in of.items()}
    return (
        table(of[MRR], columns)
        + "\n"
        + paragraph(
            "A pair is known if the bounds of its models do not overlap: then one of the two is better in the full "
            "ranking, at that level. By MRR {} of {:,} pairs are known, by Hits@10 {} of {:,}. ".format(
                *known[MRR], *known["hits_at_10"]
            )
            + "This does not say that the printed order is wrong. It says that the printed values leave it open."
        )
    )


FINDINGS = {
    "in short": in_short,
    "opening": opening,
    "share": share,
    "counted": counted,
    "counting": counting,
    "most below": most_below,
    "protocols": protocols,
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
