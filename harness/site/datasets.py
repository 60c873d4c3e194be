"""The page of a data set: its facts, the values of chance and counting, and the published results above them."""

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import polars as pl

from harness.site.literature import Literature
from harness.site.pages import Page
from rankadjust.base.vocabulary import KEY, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.data.registry import Dataset
from rankadjust.literature.comparison import ranked_rows
from rankadjust.page.boards import MRR, Board
from rankadjust.page.charts.drawing import inline
from rankadjust.page.dataset_section import METRICS, chance_rows, dataset_rows
from rankadjust.page.results import usable_values
from rankadjust.page.strip import benchmark_rows

# The metrics that the page shows for counting baselines.
_COUNTED = (MRR, "hits_at_1", "hits_at_10", "arithmetic_mean_rank")
# A scorer that only finds the same pair under another relation shows a problem of the data from this MRR on.
_REDUNDANT = 0.3


def dataset_pages(literature: Literature) -> list[Page]:
    """Return a page for each data set, and a page that lists them."""
    facts = {name: dataset_facts(name, literature) for name in literature.datasets}
    pages = [_page(name, found, literature) for name, found in facts.items()]
    listing = Page(
        "d",
        "Data sets",
        f"{len(facts)} benchmarks of link prediction: size, what chance and counting give, the best clean result.",
        "datasets.md.jinja",
        # Data sets with a board come first.
        {"rows": sorted(facts.values(), key=lambda row: row["standing"] is None)},
    )
    return [listing, *pages]


def dataset_facts(name: str, literature: Literature) -> dict[str, Any]:
    """Return the facts that the page of a data set shows."""
    material = literature.material
    counts = dataset_rows(material.datasets.filter(dataset=name))
    chance = chance_rows(material.constants.table.filter(dataset=name))
    boards = literature.boards.get(name, [])
    board = next((board for board in boards if board.key[4] == MRR), next(iter(boards), None))
    known = literature.registry.get(name)
    baselines = baseline_rows(material.constants.baselines.filter(dataset=name))
    below = material.comparison["below-baselines"].filter(dataset=name)
    return {
        "dataset": name,
        "about": _about(known),
        "counts": counts[0] if counts else None,
        "problems": list(problems(known, material.datasets.filter(dataset=name), baselines)),
        "chance": chance,
        "baselines": baselines,
        "standing": next(iter(benchmark_rows(boards)), None),
        "below": [int(below["below"].sum()), int(below["results"].sum())],
        "board": None if board is None else board_facts(board),
        "history": [] if board is None else history(board, literature),
        "sources": sorted(set(literature.values.filter(dataset=name)["file"].drop_nulls())),
    }


def _page(name: str, facts: Mapping[str, Any], literature: Literature) -> Page:
    boards = literature.boards.get(name, [])
    board = next(
        (board for board in boards if facts["board"] and list(board.key) == facts["board"]["key"]), None
    )
    key = "".join(character for character in name if character.isalnum() or character in "-.")
    return Page(
        f"d/{name}",
        name,
        description(name, facts),
        "dataset.md.jinja",
        {
            **facts,
            "board": board,
            "usual": usual_protocol(facts),
            "others": [other.key for other in boards if other is not board],
            "metrics": [(metric, resolve(metric).label) for metric in METRICS],
            "counted": [(metric, resolve(metric).label) for metric in _COUNTED],
        },
        data=facts,
        head={"hide": ["navigation"]},
        picture=None if board is None or facts["standing"] is None else picture(board, facts["standing"]),
        cited=(key, f"{name}: chance, counting and published results"),
    )


def usual_protocol(facts: Mapping[str, Any]) -> str | None:
    """Return the protocol of the board if it has counting baselines, else the first protocol that has them."""
    known = [row["protocol"] for row in facts["baselines"]]
    board = facts["board"]["key"][1] if facts["board"] else "filtered"
    return board if board in known else next(iter(known), None)


def description(name: str, facts: Mapping[str, Any]) -> str:
    """Return a summary of the page in one sentence."""
    standing = facts["standing"]
    if standing is None:
        return f"{name}: size, licence, known problems, and the values of chance under every protocol."
    counting = (
        "" if standing["counting"] is None else f", counting training triples {standing['counting']:.3g}"
    )
    return (
        f"MRR on {name}: chance has {standing['chance']:.2g}{counting}, the median model {standing['median']:.3g}, "
        f"the best result without a known problem {standing['best']:.3g} ({standing['model']})."
    )


def _about(dataset: Dataset | None) -> dict[str, Any]:
    names = ("role", "licence", "reference", "repository", "pykeen", "ultra")
    found = {name: getattr(dataset, name, None) for name in names}
    return found | {"aliases": [] if dataset is None else list(dataset.aliases)}


def problems(
    dataset: Dataset | None, datasets: pl.DataFrame, baselines: list[dict[str, Any]]
) -> Iterator[str]:
    """Yield a sentence on each problem of a data set that its users should know.

    datasets: the row of the data set in datasets.tsv, if it has a row.
    """
    for row in datasets.with_columns(pl.all().exclude("dataset", "role").cast(pl.Int64)).to_dicts():
        yield from _counted_problems(row)
    redundant = [row["values"].get(MRR, 0) for row in baselines if row["baseline"] == "redundancy"]
    if redundant and max(redundant) >= _REDUNDANT:
        yield (
            "Relations repeat or invert each other: a scorer that only looks for the same pair under another relation "
            f"reaches an MRR of {max(redundant):.2g}."
        )
    if dataset is None:
        yield "It is not in the registry: its values come from tables, and its files were not read."
        return
    if not dataset.verified:
        yield "Nobody has read its files for this project: the counts come from other publications."
    if dataset.without_training is not None:
        yield "The known address does not give its training triples: the database has bounds instead of constants."
    if dataset.ambiguous_aliases:
        yield f"The literature gives it a name that other data sets have too: {', '.join(dataset.ambiguous_aliases)}."
    for text in (dataset.differs, dataset.unreadable, *dataset.notes):
        if text:
            yield text if text.endswith(".") else f"{text}."


def _counted_problems(row: Mapping[str, Any]) -> Iterator[str]:
    judged = sum(row[name] or 0 for name in row if name in _JUDGED)
    if row["unseen_triples"]:
        yield (
            f"{row['unseen_triples']:,} of {judged:,} evaluation triples hold an entity or a relation that no "
            "training triple has: no model can have learned it."
        )
    if row["role"] == "transductive" and (row["entities_in_training"] or row["entities"]) < row["entities"]:
        unseen = row["entities"] - row["entities_in_training"]
        yield (
            f"{unseen:,} of {row['entities']:,} entities are in no training triple. Programs differ in whether they "
            "rank them; compare `filtered` with `filtered-training`."
        )
    for name, text in (
        ("duplicates_within", "triples occur more than once in their split."),
        (
            "duplicates_between",
            "triples occur in two splits: a model has seen the answer that it is asked for.",
        ),
        ("self_loops", "triples join an entity with itself."),
    ):
        if row[name]:
            yield f"{row[name]:,} {text}"


_JUDGED = (
    "triples_validation",
    "triples_testing",
    "triples_inference_validation",
    "triples_inference_testing",
)


def baseline_rows(baselines: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the counting baselines of a data set on its test splits, both sides, with the metrics of the page."""
    rows = baselines.filter(
        pl.col("side") == "both", pl.col("split").is_in(TEST_SPLITS), pl.col("metric").is_in(_COUNTED)
    ).drop_nulls("value")
    key = ["protocol", "split", "baseline"]
    return [
        dict(zip(key, names, strict=True)) | {"values": dict(part.select("metric", "value").iter_rows())}
        for names, part in rows.sort(*key, "metric").group_by(key, maintain_order=True)
    ]


def board_facts(board: Board) -> dict[str, Any]:
    """Return a board as data."""
    return {"key": list(board.key), "scale": board.scale} | {
        name: getattr(board, name) for name in ("ranked", "second_hand", "refuted")
    }


def history(board: Board, literature: Literature) -> list[dict[str, Any]]:
    """Return the best result with a place at the end of each year, for years that improved it."""
    same = dict(zip(KEY, board.key, strict=True))
    values = usable_values(literature.values).filter(**same).drop_nulls("year")
    found: list[dict[str, Any]] = []
    for year in sorted(set(values["year"])):
        ranked = ranked_rows(values.filter(pl.col("year") <= year), literature.contradictions)
        for row in ranked.filter(place=1).iter_rows(named=True):
            if not found or row["index"] > found[-1]["index"]:
                names = ("model", "value_as_printed", "index", "source", "file")
                found.append({"year": year} | {name: row[name] for name in names})
    return found


def picture(board: Board, standing: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a line from chance to perfect with every model on it, as Vega-Lite."""
    label = resolve(board.key[4]).label
    marks = [("best", standing["best"], standing["model"]), ("median", standing["median"], "median model")]
    marks += [("counting", standing["counting"], f"counting ({board.scale['baseline']})")] * (
        standing["counting"] is not None
    )
    marks.append(("chance", standing["chance"], "chance"))
    shown = pl.DataFrame(
        [{"kind": kind, "value": value, "text": f"{name}  {value:.3g}"} for kind, value, name in marks]
    )
    order = [kind for kind, *_ in marks]
    scale = alt.Scale(domain=[0, 1], nice=False)
    bars = alt.Chart(inline(shown)).encode(
        x=alt.X("value:Q", scale=scale, title=label), y=alt.Y("kind:N", sort=order, axis=None)
    )
    chart = alt.layer(
        bars.mark_bar(size=22).encode(color=alt.Color("kind:N", sort=order, legend=None)),
        bars.mark_text(align="left", dx=6, fontSize=15).encode(text="text:N"),
    ).properties(
        width=540,
        height=180,
        title={
            "text": board.key[0],
            "subtitle": f"{len(board.ranked)} models, {', '.join(board.key[1:4])}: what is chance, what is counting?",
            "fontSize": 26,
            "subtitleFontSize": 14,
        },
    )
    specification: dict[str, Any] = chart.to_dict()
    specification.pop("config", None)
    return specification
