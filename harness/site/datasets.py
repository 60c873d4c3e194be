"""The page of a data set: its sizes, what a value on it is worth, the boards, and what its users should know."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from harness.site.literature import Literature
from harness.site.pages import Page
from harness.site.rendering import rendered
from rankadjust.chance.metrics import resolve
from rankadjust.data.registry import Dataset
from rankadjust.output.pictures import FONT
from rankadjust.output.terminal import cell as number
from rankadjust.page.adjustment_figure import ACCENT, FAINT, GRID, INK
from rankadjust.page.answers import in_words, metrics_of
from rankadjust.page.boards import MRR, Board

KINDS = {
    "transductive": "Transductive",
    "temporal": "Temporal",
    "inductive": "Inductive",
    "": "Other benchmarks",
}
# A scorer that only finds the same pair under another relation shows a problem of the data from this MRR on.
_REDUNDANT = 0.3
_MOST_CAVEATS = 3


def dataset_pages(literature: Literature) -> list[Page]:
    """Return a page for each data set that has constants, and a page that lists them."""
    facts = {name: dataset_facts(name, literature) for name in literature.datasets}
    pages = [_page(name, of_dataset, literature) for name, of_dataset in facts.items()]
    listed = [
        {name: row[name] for name in ("dataset", "kind", "sizes", "words", "standing")}
        for row in facts.values()
    ]
    listing = Page(
        "d",
        "Data sets",
        f"{len(facts)} benchmarks of link prediction: what chance and counting reach, the median and the best model.",
        template="datasets.md.jinja",
        values={"kinds": by_kind(listed)},
        data=listed,
        cited=("datasets", "Benchmarks of link prediction: chance, counting and published results"),
    )
    return [listing, *pages]


def by_kind(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return rows of data sets by their kind, those with a board first."""
    found = {
        title: sorted((row for row in rows if row["kind"] == kind), key=lambda row: row["standing"] is None)
        for kind, title in KINDS.items()
    }
    return {title: group for title, group in found.items() if group}


def dataset_facts(name: str, literature: Literature) -> dict[str, Any]:
    """Return the facts that the page of a data set shows."""
    known = literature.registry.get(name)
    counts = literature.constants.datasets.filter(dataset=name)
    counted = counts.with_columns(pl.all().exclude("dataset", "role").cast(pl.Int64)).to_dicts()
    evaluations = literature.answers[name]
    usual = tuple(evaluations[0][part] for part in ("protocol", "split", "side"))
    board = next((board for board in literature.boards if board.evaluation == (name, *usual)), None)
    values = literature.values.filter(dataset=name)
    rows = [each for row in board.rows for each in (row, *row["variants"])] if board else []
    return {
        "dataset": name,
        "kind": known.role if known else "",
        "sizes": _sizes(counted[0]) if counted else {},
        "words": evaluations[0]["words"],
        "standing": board.standing if board else None,
        "metric": resolve(board.metric).label if board else None,
        "caveats": list(caveats(known, counted, literature.constants.baselines.filter(dataset=name)))[
            :_MOST_CAVEATS
        ],
        "about": _about(known),
        "evaluations": evaluations,
        "command": command(name, evaluations[0]),
        "sources": sorted({file.removesuffix(".csv") for file in values["file"].drop_nulls()}),
        "read": len({row["source"] for row in rows}),
        "wanted": literature.wanted.filter(dataset=name).to_dicts(),
        "latest": max((row["year"] for row in rows if row["year"]), default=None),
    }


def _page(name: str, facts: Mapping[str, Any], literature: Literature) -> Page:
    own = [board for board in literature.boards if board.evaluation[0] == name]
    usual = (name, *(facts["evaluations"][0][part] for part in ("protocol", "split", "side")))
    key = "".join(character for character in name if character.isalnum() or character in "-.")
    return Page(
        f"d/{name}",
        name,
        description(name, facts),
        template="dataset.md.jinja",
        values={
            **facts,
            "title": KINDS[facts["kind"]] if facts["kind"] else "A benchmark with candidates of its own",
            "board": next((board for board in own if board.evaluation == usual), None),
            "others": [
                (in_words(*board.evaluation[1:]), board) for board in own if board.evaluation != usual
            ],
            "metrics": metrics_of({name: facts["evaluations"]}),
        },
        data={**facts, "boards": [_board_data(board) for board in own]},
        files=embedded(facts) if facts["standing"] else {},
        cited=(key, f"{name}: chance, counting and published results"),
    )


def embedded(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the strip and the badge of a data set for a README, as SVG."""
    standing = facts["standing"]
    known = [kind for kind in ("chance", "counting", "median", "best") if standing[kind] is not None]
    words = ", ".join(f"{kind} {number(standing[kind])}" for kind in known)
    label = f"best {facts['metric']} on {facts['dataset']}"
    colours = {"ink": INK, "faint": FAINT, "line": GRID, "accent": ACCENT}
    shared = {"colours": colours, "font": FONT}
    return {
        "strip.svg": rendered(
            "strip.svg.jinja", **{**facts, **shared, "words": f"{words} ({standing['model']})"}
        ),
        "badge.svg": rendered("badge.svg.jinja", label=label, text=number(standing["best"]), **shared),
    }


def _board_data(board: Board) -> dict[str, Any]:
    return {name: getattr(board, name) for name in ("evaluation", "metric", "rows", "unplaced")}


def command(name: str, evaluation: Mapping[str, Any]) -> str:
    """Return a command that adjusts the best published value of an evaluation, or 0.5 where none is known."""
    known = evaluation["metrics"]
    metric = evaluation.get("metric", "mrr" if "mrr" in known else next(iter(known)))
    value = evaluation["values"][0] if "values" in evaluation else 0.5
    options = " ".join(f"--{option} {evaluation[option]}" for option in ("protocol", "split", "side"))
    return f"rankadjust adjust --dataset {name} {options} {metric}={value:.6g}"


def description(name: str, facts: Mapping[str, Any]) -> str:
    """Return a summary of the page in one sentence."""
    standing = facts["standing"]
    if standing is None:
        return f"{name}: what chance and counting reach, {facts['words']}."
    counting = (
        "" if standing["counting"] is None else f", counting training triples {standing['counting']:.3g}"
    )
    return (
        f"{facts['metric']} on {name}: chance has {standing['chance']:.2g}{counting}, the median model "
        f"{standing['median']:.3g}, the best {standing['best']:.3g} ({standing['model']})."
    )


def _sizes(row: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a data set; of an inductive one, the test triples of the inference graph."""
    sizes = {
        "entities": row["entities"],
        "relations": row["relations"],
        "training triples": row["triples_training"],
        "test triples": row["triples_inference_testing"] or row["triples_testing"],
    }
    return {name: count for name, count in sizes.items() if count is not None}


def _about(dataset: Dataset | None) -> dict[str, Any]:
    names = ("licence", "reference", "repository", "pykeen", "ultra")
    fields = {name: getattr(dataset, name, None) for name in names}
    return fields | {"aliases": [] if dataset is None else list(dataset.aliases)}


def caveats(dataset: Dataset | None, counted: list[dict[str, Any]], baselines: pl.DataFrame) -> Iterator[str]:
    """Yield what users of a data set should know of it, the most important first.

    counted: the row of the data set in datasets.tsv, if it has a row. baselines: what counting reaches on it.
    """
    redundancy = baselines.filter(
        baseline="redundancy", metric=MRR, protocol="filtered", side="both", split="testing"
    )
    for reached in redundancy["value"].drop_nulls().to_list():
        if reached >= _REDUNDANT:
            yield (
                "Relations repeat or invert each other: a scorer that only looks for the same pair under another "
                f"relation reaches an MRR of {reached:.2g}."
            )
    for row in counted:
        if row["duplicates_between"]:
            yield f"{row['duplicates_between']:,} triples are in two splits: a model has seen the answer."
        if row["unseen_triples"]:
            yield (
                f"{row['unseen_triples']:,} evaluation triples hold an entity or a relation that no training triple "
                "has: no model can have learned it."
            )
        if (
            row["role"] == "transductive"
            and (row["entities_in_training"] or row["entities"]) < row["entities"]
        ):
            unseen = row["entities"] - row["entities_in_training"]
            yield (
                f"{unseen:,} of {row['entities']:,} entities are in no training triple; programs differ in whether "
                "they rank them."
            )
    if dataset is None:
        return
    if dataset.without_training is not None:
        yield "Its training triples cannot be had: chance is known within bounds."
    if dataset.ambiguous_aliases:
        yield f"Other data sets are called {' and '.join(dataset.ambiguous_aliases)} too."
    if dataset.differs:
        yield dataset.differs[0].upper() + dataset.differs[1:].removesuffix(".").replace("`", "") + "."
