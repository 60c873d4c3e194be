"""Report for an author, before the table is printed: contradictions, assumptions, and values that others print."""

from collections.abc import Sequence

import polars as pl

from rankadjust.base.words import folded
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.literature.assumptions import assumptions, with_defaults_named
from rankadjust.literature.confirmed import published
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import of_datasets, rescore
from rankadjust.literature.statuses import problems
from rankadjust.literature.tidy import where_of
from rankadjust.output.markup import to_markdown
from rankadjust.output.terminal import assumed_facts

_EVALUATION = ("dataset", "protocol", "split", "side", "metric")


def report(rows: pl.DataFrame, constants: Constants, unread: Sequence[str], remarks: Sequence[str]) -> str:
    """Return a report in Markdown.

    Parameters
    ----------
    rows
        The values with score, shown and mark (`rankadjust.manuscript.scores.scored`).
    constants
        The constants that the rows were re-scored with.
    unread
        A line for each cell that could not be read.
    remarks
        Further remarks for the author on the files that were written.

    """
    facts = assumptions(with_defaults_named(rows))
    findings = check(rows.drop("score", "shown", "mark"), constants)
    lines = [
        f"- {where}: {model or 'no model'}: {severity}: {message}"
        for where, model, severity, message in findings.select(
            where_of(findings),
            "model" if "model" in findings.columns else pl.lit(None),
            "severity",
            "message",
        ).iter_rows()
    ]
    parts = {
        "Contradictions": "\n".join(lines) or "None was found.",
        "What the table does not say": f"```text\n{assumed_facts(facts)}\n```"
        if facts.height
        else "Nothing was assumed.",
        "What was not adjusted": "\n".join(f"- {line}" for line in [*unread, *problems(rows)])
        or "Every value was.",
        "What the literature prints": _literature(rows, constants),
        **({"Remarks": "\n".join(f"- {line}" for line in remarks)} if remarks else {}),
    }
    return "\n\n".join(["# Check", *(f"## {title}\n\n{text}" for title, text in parts.items())]) + "\n"


def _literature(rows: pl.DataFrame, constants: Constants) -> str:
    """Return the printed values of the same models in the same evaluation, as a Markdown table."""
    if published().is_empty():
        return (
            "The published tables are part of the repository; a package without it has none to compare with."
        )
    names = {folded(name) for name in rows["model"].drop_nulls()}
    same = published().filter(pl.col("model").map_elements(folded, return_dtype=pl.String).is_in(list(names)))
    if not names or same.is_empty():
        return "None of the published tables has a model of one of these names."
    # To adjust what these models reach on other data sets would take most of the time.
    near = of_datasets(same, rows["dataset"].drop_nulls().unique().to_list(), constants)
    others = rescore(near, constants).filter(pl.col("index").is_not_null())
    ours = rows.filter(pl.col("index").is_not_null(), pl.col("model").is_not_null())
    folded_name = pl.col("model").map_elements(folded, return_dtype=pl.String)
    both = (
        ours.with_columns(name=folded_name)
        .select("name", *_EVALUATION, "model", here=pl.col("value_as_printed"), value="value")
        .join(
            others.with_columns(name=folded_name).select(
                "name", *_EVALUATION, there=pl.col("value_as_printed"), source="source"
            ),
            on=["name", *_EVALUATION],
            maintain_order="left_right",
        )
    )
    if both.is_empty():
        return "None of the published tables has one of these models in the same evaluation."
    labels = pl.Series([resolve(key).label for key in both["metric"]], dtype=pl.String)
    table = both.select(
        pl.col("dataset").alias("data set"),
        "model",
        labels.alias("metric"),
        pl.col("here").alias("here"),
        pl.col("there").alias("there"),
        "source",
    ).unique(maintain_order=True)
    return to_markdown(table)
