"""Report for an author, before the table is printed: contradictions, assumptions, and what was not adjusted."""

from collections.abc import Sequence

import polars as pl

from rankadjust.database.constants import Constants
from rankadjust.literature.assumptions import assumptions, with_defaults_named
from rankadjust.literature.contradictions import check
from rankadjust.literature.statuses import problems
from rankadjust.literature.tidy import where_of
from rankadjust.output.terminal import assumed_facts


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
        **({"Remarks": "\n".join(f"- {line}" for line in remarks)} if remarks else {}),
    }
    return "\n\n".join(["# Check", *(f"## {title}\n\n{text}" for title, text in parts.items())]) + "\n"
