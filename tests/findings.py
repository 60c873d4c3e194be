"""The numbers that README.md and docs/ state about the shipped tables and the released database, with their text.

A page holds each between `<!-- findings: NAME -->` and `<!-- end of NAME -->`. After a change of the tables, of the
mapping or of the released database look at the difference and renew them, and the counts of every source and status:

    .venv/bin/python -m tests.findings
"""

import math
import re
import textwrap
from functools import cache
from pathlib import Path

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.copies import distinct_results
from rankadjust.literature.full_ranking import add_full_bounds, what_sampling_hides
from rankadjust.literature.rescore import rescore
from rankadjust.literature.size_correlation import size_correlation
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


@cache
def correlated() -> pl.DataFrame:
    return size_correlation(rescored())


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


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


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
    rows = [
        [
            row["dataset"],
            f"`{row['protocol']}`",
            f"{row['results']:,} ({row['models']})",
            f"{row['below']:,}",
            percent(row["chance_share"]) if row["chance_share"] is not None else "",
            percent(row["counting_share"]) if row["counting_share"] is not None else "",
            f"{row['lowest_model']}: {resolve(row['lowest_metric']).label} {row['lowest_value']:.4g}; "
            f"{row['baseline']} has {row['baseline_value']:.4g}",
        ]
        for row in below_baselines(rescored()).to_dicts()
    ]
    header = [
        *("data set", "protocol", "results (models)", "below counting"),
        *("chance explains", "counting explains", "furthest below, or least above"),
    ]
    return table(header, rows)


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
    rows = [
        [
            row["dataset"] + (" (inference)" if row["split"] == "inference_testing" else ""),
            *("–" if row[name] is None else f"{row[name]:.4f}" for name in ("chance", *names)),
        ]
        for row in found.iter_rows(named=True)
    ]
    return table(["data set", "chance", *(f"`{name}`" for name in names)], rows)


def counting_by_model() -> str:
    found = below_baselines(rescored(), ["model"])
    several = found.filter(pl.col("results") >= 10)
    most = several.sort(
        pl.col("below") / pl.col("results"), "results", "model", descending=[True, True, False]
    )
    return _by("model", most.head(12))


def counting_by_year() -> str:
    return _by("year", below_baselines(rescored(), ["year"]).sort("year", nulls_last=True))


def _by(name: str, found: pl.DataFrame) -> str:
    rows = [
        [
            "not said" if row[name] is None else str(row[name]),
            f"{row['results']:,}",
            f"{row['below']:,}",
            percent(row["chance_share"]) if row["chance_share"] is not None else "",
            percent(row["counting_share"]) if row["counting_share"] is not None else "",
        ]
        for row in found.to_dicts()
    ]
    return table([name, "results", "below counting", "chance explains", "counting explains"], rows)


def most_below() -> str:
    rows = [
        [
            f"{row['model']} ({row['year']})" if row["year"] else row["model"],
            row["dataset"],
            f"`{row['protocol']}`",
            f"{resolve(row['metric']).label} {row['value']:.4g}",
            f"{row['baseline_value']:.4g} ({row['baseline']})",
            f"{row['expectation']:.2g}",
            row["source"],
        ]
        for row in surprising(rescored(), flagged()).to_dicts()
    ]
    return table(["model", "data set", "protocol", "published", "counting", "chance", "source"], rows)


def share() -> str:
    rows = [
        [
            row["candidates"],
            f"{row['results']:,} ({row['datasets']})",
            percent(row["share"]),
            f"{percent(row['share_low'])} to {percent(row['share_high'])}",
            f"{row['visible']:,}",
            f"{row['largest']:.2g}",
        ]
        for row in chance_share(rescored()).to_dicts()
    ]
    header = [
        "ranked among",
        "results (data sets)",
        "median share",
        "half of them",
        "changed visibly",
        "at most by",
    ]
    return table(header, rows)


def protocols() -> str:
    effect = protocol_effect(rescored()).filter(pl.col("metric").str.contains("^(inverse_harmonic|hits)"))
    grouped = effect.group_by("source", "split", "protocol", "other_protocol", maintain_order=True).agg(
        results=pl.len(),
        printed=(pl.col("other_value") - pl.col("value")).median(),
        adjusted=(pl.col("other_index") - pl.col("index")).median(),
        largest=((pl.col("other_index") - pl.col("index")) - (pl.col("other_value") - pl.col("value")))
        .abs()
        .max(),
    )
    rows = [
        [
            re.sub(r" README.*| \(.*|: .*", "", row["source"]),
            row["split"],
            f"`{row['protocol']}` to `{row['other_protocol']}`",
            str(row["results"]),
            f"{row['printed']:+.3f}",
            f"{row['adjusted']:+.3f}",
            f"{row['largest']:.2g}",
        ]
        for row in grouped.sort("other_protocol", "source", "split").to_dicts()
    ]
    header = ["source", "split", "from, to", "results", "printed moves by", "index moves by", "at most apart"]
    return table(header, rows)


def negatives() -> str:
    found = rescored().filter(pl.col("dataset").str.contains("^tgbl-(wiki|review)-v[12]$"), split="testing")
    rows = []
    for (name, _), group in found.group_by(
        pl.col("dataset").str.replace("[12]$", ""), "model", maintain_order=True
    ):
        if group.height == 2:
            first, second = group.sort("dataset").to_dicts()
            cells = [f"{row['value']:.3f} ({row['index']:+.3f})" for row in (first, second)]
            size = second["protocol"].removeprefix("sampled-")
            rows.append(
                [
                    (name, first["model"]),
                    [str(name).removesuffix("-v"), first["model"], cells[0], cells[1], size],
                ]
            )
    return table(
        ["data set", "model", "20 negatives: MRR (index)", "later version", "its negatives"],
        [cells for _, cells in sorted(rows)],
    )


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
    rows = [
        [
            Path(row["file"]).stem,
            row["dataset"],
            resolve(row["metric"]).label,
            row["models"],
            str(row["below"]),
            str(row["at"]),
            row["evidence"],
        ]
        for row in groups.to_dicts()
    ]
    return table(["source", "data set", "metric", "models", "below", "at chance", "by"], rows)


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


def ties() -> str:
    rows = []
    for negatives in (20, 49, 100, 500):
        size = negatives + 1
        expected = metric_moments("mrr", [size]).expectation
        rows.append([str(negatives), f"{expected:.4f}", f"{2 / (size + 1):.4f}", f"{1 / size:.4f}"])
    header = [
        "negatives",
        "a random ranking, H_N / N",
        "one score for all, 2 / (N + 1)",
        "the true answer last, 1 / N",
    ]
    return table(header, rows)


def correlations() -> str:
    found = correlated().filter(pl.col("datasets") > 4)
    order = {MR: 0, MRR: 1, "hits_at_1": 2, "hits_at_3": 3, "hits_at_10": 4}
    rows = [
        [
            resolve(row["metric"]).label,
            row["ranking"],
            row["sets"],
            f"{row['datasets']} ({row['results']})",
            *(
                f"{row[name]:+.2f} [{row[f'{name}_low']:+.2f}, {row[f'{name}_high']:+.2f}]"
                for name in ("printed", "adjusted")
            ),
        ]
        for row in sorted(found.to_dicts(), key=lambda row: order.get(row["metric"], 9))
        if row["metric"] in order
    ]
    return table(["metric", "ranking", "data sets", "number (results)", "printed", "adjusted"], rows)


def few() -> str:
    found = correlated().filter(pl.col("datasets").is_in([4, 5]), pl.col("sets") == "all")
    raised = found.filter(pl.col("adjusted").abs() > pl.col("printed").abs())
    named = listed(
        [
            f"of {resolve(row['metric']).label} from {row['printed']:+.2f} to {row['adjusted']:+.2f}"
            for row in raised.to_dicts()
        ]
    )
    return paragraph(
        "Metrics with four or five data sets in a ranking are not in the table: so few observations have no interval "
        f"worth printing. Adjustment makes {raised.height} of {found.height} such "
        f"correlations stronger, {named}."
    )


def statuses() -> str:
    count = dict(rescored()["status"].value_counts().iter_rows())
    return table(["status", "rows"], [[name, f"{count[name]:,}"] for name in STATUSES if name in count])


def hidden() -> str:
    found = sampled()
    of = {key[0]: part for key, part in found.group_by("metric")}
    rows = [
        [
            row["dataset"],
            f"`{row['protocol']}`",
            f"{row['models']}",
            f"{row['best']:.4g}",
            # Rounded outward, as bounds are.
            f"{math.floor(row['full_low'] * 1e4) / 1e4:.4f} to {math.ceil(row['full_high'] * 1e4) / 1e4:.4f}",
            f"{row['known']} of {row['pairs']}",
        ]
        for row in of[MRR].iter_rows(named=True)
    ]
    known = {name: (part["known"].sum(), part["pairs"].sum()) for name, part in of.items()}
    header = ["data set", "protocol", "models", "best MRR", "its full MRR", "pairs of models known"]
    return (
        table(header, rows)
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
    "counting by model": counting_by_model,
    "counting by year": counting_by_year,
    "most below": most_below,
    "protocols": protocols,
    "negatives": negatives,
    "chance": chance,
    "copies": copies,
    "ties": ties,
    "correlations": correlations,
    "few": few,
    "hidden": hidden,
    "statuses": statuses,
}

if __name__ == "__main__":
    counts().write_csv(COUNTS)
    for name in PAGES:
        (PROJECT / name).write_text(renewed(name), encoding="utf-8")
