"""The share of a printed MRR or Hits@k that chance explains, by class of candidates."""

import altair as alt
import polars as pl

from rankadjust.literature import comparison
from rankadjust.page.charts.drawing import PANEL_WIDTH, Panel, by_class, inline, largest

KINDS = ("sampled negatives", "all entities")


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `comparison.chance_share`, with a readable name and kind of the class.

    results: re-scored rows.
    """
    # The share of a printed 0 is not a finite number.
    shares = comparison.chance_share(results).filter(
        pl.all_horizontal(pl.col("share", "share_low", "share_high").is_finite())
    )
    is_sampled = pl.col("candidates").str.starts_with("sampled-")
    return shares.with_columns(
        ranked=pl.when(is_sampled)
        .then(
            pl.col("candidates").str.replace("sampled-", "").str.replace(r"^(\d+)(\d{3})$", "${1},$2")
            + pl.lit(" negatives")
        )
        .when(pl.col("candidates").str.contains("entities"))
        .then("candidates")
        .otherwise(pl.col("candidates") + pl.lit(" entities")),
        kind=pl.when(is_sampled).then(pl.lit(KINDS[0])).otherwise(pl.lit(KINDS[1])),
        label=pl.struct("share", "results").map_elements(_label, return_dtype=pl.String),
    )


def _label(row: dict[str, float]) -> str:
    return f"{percent(row['share'])} (n = {row['results']:,})"


def percent(share: float) -> str:
    """Return a share in percent: without decimals above 2 %, else with two significant digits."""
    return f"{100 * share:.0f} %" if share > 0.02 else f"{100 * share:.2g} %"


def draw(shares: pl.DataFrame) -> Panel:
    """Return a line per class, with the median share and a bar from the first to the third quartile."""
    base = alt.Chart(
        inline(shares.select("ranked", "kind", "label", "share", "share_low", "share_high"))
    ).encode(
        y=alt.Y(
            "ranked:N",
            sort=shares["ranked"].to_list(),
            title=None,
            axis=alt.Axis(labelLimit=150, ticks=False, domain=False, offset=8),
        )
    )
    # Leave room for the text behind the longest line.
    longest = max(largest(shares["share_high"]), 0.001)
    ticks = [tick / 10 for tick in range(11) if tick / 10 <= longest + 0.1]
    x = alt.X(
        "share_low:Q",
        title="share explained by chance",
        scale=alt.Scale(domain=[0, 1.65 * longest], nice=False),
        axis=alt.Axis(format=".0%", values=ticks) if longest > 0.2 else alt.Axis(format="~%", tickCount=4),
    )
    colours = by_class("kind", [kind for kind in KINDS if kind in shares["kind"].to_list()])
    quartiles = base.mark_rule(strokeWidth=6, opacity=0.35, strokeCap="round").encode(
        x=x, x2="share_high:Q", color=colours["color"]
    )
    medians = base.mark_point(size=90, opacity=1).encode(
        x="share:Q", tooltip=["ranked:N", "label:N"], **colours
    )
    texts = base.mark_text(style="label", align="left", dx=9).encode(x="share_high:Q", text="label:N")
    return alt.layer(quartiles, medians, texts).properties(width=2 * PANEL_WIDTH, height=alt.Step(26))
