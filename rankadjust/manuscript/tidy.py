"""A tidy table as people print one: a row for each model, a column for each metric, under the name of its data set."""

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.manuscript.latex import HEADERS, float_head, header_lines, marked
from rankadjust.output.rendering import escape_latex

_EVALUATION = ("dataset", "protocol", "split", "side", "metric")


def tidy_frame(rows: pl.DataFrame) -> pl.DataFrame:
    """Return values with score, shown and mark as text, with a column for the score beside each metric that has one."""
    columns = _columns(rows, latex=False)
    return pl.DataFrame({" / ".join(header): cells for header, cells in columns.items()})


def tidy_latex(rows: pl.DataFrame, note: str) -> str:
    """Return values with score, shown and mark as a LaTeX table for booktabs; note: what its caption says."""
    columns = _columns(rows, latex=True)
    body = [" & ".join(cells) + r" \\" for cells in zip(*columns.values(), strict=True)]
    lines = [r"\toprule", *header_lines(list(columns)), r"\midrule", *body, r"\bottomrule"]
    alignment = "l" + "r" * (len(columns) - 1)
    return (
        f"% \\usepackage{{booktabs}}\n{float_head(note)}\\begin{{tabular}}{{{alignment}}}\n"
        + "".join(f"  {line}\n" for line in lines)
        + "\\end{tabular}\n\\end{table}\n"
    )


def _columns(rows: pl.DataFrame, *, latex: bool) -> dict[tuple[str, ...], list[str]]:
    """Return the columns of the table by their header, from the top down."""
    known = rows.filter(pl.col("value").is_not_null()).with_columns(pl.col("model").fill_null("not named"))
    models = known["model"].unique(maintain_order=True).to_list()
    same = [name for name in ("protocol", "split", "side") if known[name].n_unique() == 1]
    columns: dict[tuple[str, ...], list[str]] = {
        ("Model",): [escape_latex(model) if latex else model for model in models]
    }
    for _, part in known.group_by(_EVALUATION, maintain_order=True):
        about = part.row(0, named=True)
        others = [about[name] for name in ("protocol", "split", "side") if name not in same]
        top = " ".join([about["dataset"] or "", *others])
        cells = {row["model"]: row for row in part.iter_rows(named=True)}
        printed = [str(cells[model]["value_as_printed"]) if model in cells else "" for model in models]
        columns[top, resolve(about["metric"]).label] = [
            escape_latex(text) if latex else text for text in printed
        ]
        scores = part["score"].drop_nulls().unique(maintain_order=True).to_list()
        if scores:
            header = (top, f"{resolve(about['metric']).label} {HEADERS[scores[0]]}")
            shown = [
                (cells[model]["shown"], cells[model]["mark"]) if model in cells else ("", "")
                for model in models
            ]
            columns[header] = [marked(*pair) if latex else pair[0] for pair in shown]
    return columns
