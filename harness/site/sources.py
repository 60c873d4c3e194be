"""The page of a source: each value with a verdict, and each contradiction with the least change that removes it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from harness.site.literature import Literature
from harness.site.pages import Page
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import resolve
from rankadjust.literature.single_values import SEVERITIES
from rankadjust.literature.statuses import USABLE
from rankadjust.literature.summaries import not_above_chance
from rankadjust.page.answers import in_words
from rankadjust.page.material import place_of

_WORST_FIRST = {name: place for place, name in enumerate(SEVERITIES)}
# What to do about a contradiction that no single value mends, by its bound.
_ADVICE = {
    "usual": "Nothing has to change; compare the digits with the source.",
    "repeated_row": "Look up in the source which of the two rows is right.",
}
_LOOK = "Look the values up in the source."
_RESULT = ("file", "model", *EVALUATION)


def source_pages(literature: Literature) -> list[Page]:
    """Return a page for each file of the literature, and a page that lists them."""
    values = with_verdict(literature)
    facts = [
        source_facts(str(file), part, literature.contradictions.filter(file=file), literature.datasets)
        for (file,), part in values.sort("file", "file_line").group_by("file", maintain_order=True)
    ]
    listing = Page(
        "p",
        "Sources",
        f"{len(facts)} sources of published results: every value, its verdict, and the contradictions between them.",
        template="sources.md.jinja",
        values={"rows": facts},
        data=[_summary(of_source) for of_source in facts],
        cited=("sources", "Printed results of link prediction, each with a verdict"),
    )
    return [listing, *(_page(of_source) for of_source in facts)]


def with_verdict(literature: Literature) -> pl.DataFrame:
    """Return all values with the columns `verdict` (a few words) and `reason`.

    The verdict names the first objection that applies: the value contradicts other values, it has a caveat, it cannot
    be adjusted, it is not above chance, it is below counting.
    """
    contradictions = literature.contradictions.group_by(_RESULT, maintain_order=True).agg(
        pl.col("severity").sort_by(pl.col("severity").replace_strict(_WORST_FIRST)).first(),
        contradiction=pl.col("message").unique(maintain_order=True).str.join(" "),
    )
    near = not_above_chance(literature.values, literature.contradictions).select(
        "file", "file_line", "chance"
    )
    values = literature.values.join(
        contradictions, on=_RESULT, how="left", nulls_equal=True, maintain_order="left"
    ).join(near, on=["file", "file_line"], how="left", maintain_order="left")
    refused = ~pl.col("status").is_in([*USABLE, "adjusted_as_published"])
    below = pl.col("gain_high") < 0
    return values.with_columns(
        verdict=pl.when(pl.col("severity").is_not_null())
        .then(pl.col("severity").str.replace_all("_", " "))
        .when(pl.col("caveat").is_not_null())
        .then(pl.lit("caveat"))
        .when(refused)
        .then(pl.lit("not adjusted"))
        .when(pl.col("chance").is_not_null())
        .then(pl.col("chance") + pl.lit(" chance"))
        .when(below)
        .then(pl.lit("below counting"))
        .otherwise(pl.lit("no known problem")),
        reason=pl.when(pl.col("severity").is_not_null())
        .then("contradiction")
        .when(pl.col("caveat").is_not_null())
        .then("caveat")
        .when(pl.col("status") != "ok")
        .then("message"),
    )


def source_facts(
    file: str, values: pl.DataFrame, contradictions: pl.DataFrame, pages: Collection[str]
) -> dict[str, Any]:
    """Return the facts that the page of a source shows. pages: the data sets that have a page."""
    names = [
        *EVALUATION,
        *(
            "model",
            "table",
            "result",
            "value_as_printed",
            "expectation",
            "index",
            "baseline",
            "baseline_value",
        ),
    ]
    shown = [
        {name: row[name] for name in (*names, "gain", "verdict", "reason")}
        | {"metric": _label(row), "url": place_of(row), "words": _words(row)}
        for row in values.iter_rows(named=True)
    ]
    verdicts = (
        values["verdict"]
        .value_counts(sort=True, name="values")
        .sort("values", "verdict", descending=[True, False])
    )
    return {
        "source": file.removesuffix(".csv"),
        "titles": values["source"].drop_nulls().unique(maintain_order=True).to_list(),
        "urls": sorted(set(values["source_url"].drop_nulls())),
        "datasets": sorted({*values["dataset"].drop_nulls()} & {*pages}, key=str.casefold),
        "verdicts": dict(verdicts.iter_rows()),
        "contradictions": [
            row | {"advice": row["mended"] or _ADVICE.get(row["bound"], _LOOK), "words": _words(row)}
            for row in contradictions.sort(
                pl.col("severity").replace_strict(_WORST_FIRST), maintain_order=True
            )
            .select("severity", "bound", "model", *EVALUATION, "values", "mended", "message", "source_line")
            .iter_rows(named=True)
        ],
        "values": shown,
        "results": _results(shown),
    }


def _results(values: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return values by the words of their evaluation, a row for each model: its values, and what is wrong with them."""
    found: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
    for value in values:
        rows = found.setdefault(value["words"], {})
        row = rows.setdefault(
            (value["model"], value["result"]),
            {"model": value["model"], "url": value["url"], "values": [], "wrong": {}},
        )
        row["values"].append((value["metric"], value["value_as_printed"]))
        if value["verdict"] != "no known problem":
            row["wrong"].setdefault((value["verdict"], value["reason"]), []).append(value["metric"])
    return {words: list(rows.values()) for words, rows in found.items()}


def _page(facts: Mapping[str, Any]) -> Page:
    source, titles = facts["source"], facts["titles"]
    title = titles[0] if len(titles) == 1 else f"{source} ({len(titles)} sources)"
    sound = facts["verdicts"].get("no known problem", 0)
    return Page(
        f"p/{source}",
        title,
        f"{len(facts['values'])} printed values of {title}, adjusted for chance: {sound} without a known problem, "
        f"{len(facts['contradictions'])} contradictions.",
        template="source.md.jinja",
        values={**facts, "title": title, "severities": _severities(facts["contradictions"])},
        data={name: fact for name, fact in facts.items() if name != "results"},
        cited=(source, f"{title}, adjusted for chance"),
    )


def _summary(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the list of sources: numbers in place of values and contradictions."""
    numbers = {name: len(facts[name]) for name in ("values", "contradictions")}
    return {name: fact for name, fact in facts.items() if name != "results"} | numbers


def _label(row: Mapping[str, Any]) -> str:
    if row["status"] == "metric_unknown" or row["metric"] is None:
        return str(row["metric_as_printed"] or row["metric"])
    adjustment = {"index": "adjusted ", "ratio": "ratio of ", "z": "z of "}.get(row["adjustment"] or "", "")
    return adjustment + resolve(row["metric"]).label


def _words(row: Mapping[str, Any]) -> str:
    """Return the data set and the evaluation of a value in words, as far as it has them."""
    names = (row["protocol"], row["split"], row["side"])
    return ", ".join(filter(None, (row["dataset"], in_words(*names) if all(names) else None)))


def _severities(contradictions: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return what each severity of these contradictions means, the worst first."""
    found = {row["severity"] for row in contradictions}
    return {name: meaning for name, meaning in SEVERITIES.items() if name in found}
