"""The page of a data set: its facts, the values of chance and counting, and the published results above them."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import median
from typing import Any

import polars as pl

from harness.site.literature import Literature
from harness.site.pages import Page
from harness.site.picture import LINES, Line, Picture
from rankadjust.base.vocabulary import KEY, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.data.registry import Dataset
from rankadjust.literature.summaries import ranked_rows
from rankadjust.output.terminal import cell as number
from rankadjust.page.boards import MRR, Board, benchmark_rows
from rankadjust.page.dataset_section import METRICS, chance_rows, dataset_rows
from rankadjust.page.material import usable_values

# The metrics that the page shows for counting baselines.
_COUNTED = (MRR, "hits_at_1", "hits_at_10", "arithmetic_mean_rank")
# A scorer that only finds the same pair under another relation shows a problem of the data from this MRR on.
_REDUNDANT = 0.3


def dataset_pages(literature: Literature) -> list[Page]:
    """Return a page for each data set, and a page that lists them."""
    facts = {name: dataset_facts(name, literature) for name in literature.datasets}
    pages = [_page(name, of_dataset, literature) for name, of_dataset in facts.items()]
    # Data sets with a board come first.
    rows = sorted(facts.values(), key=lambda row: row["standing"] is None)
    listing = Page(
        "d",
        "Data sets",
        f"{len(facts)} benchmarks of link prediction: size, what chance and counting give, the best clean result.",
        template="datasets.md.jinja",
        values={"rows": rows},
        data=[{name: row[name] for name in ("dataset", "counts", "standing")} for row in rows],
        head={"hide": ["navigation"]},
        picture=_overview([row["standing"] for row in rows if row["standing"]], len(rows)),
        cited=("datasets", "Benchmarks of link prediction: chance, counting and published results"),
    )
    return [listing, *pages]


def _overview(standings: list[dict[str, Any]], known: int) -> Picture:
    """Return the counting baseline and the median model on the data sets with most published models."""
    counted = [row for row in standings if row["counting"] is not None]
    lines = [
        Line(
            row["key"][0],
            f"counting {number(row['counting'])}, median of {row['results']} models {number(row['median'])}",
            [row["counting"], row["median"]],
        )
        for row in sorted(counted, key=lambda row: (-row["results"], row["key"]))[:LINES]
    ]
    return Picture(
        "Data sets", f"{known} benchmarks: chance, counting and published models (here MRR)", lines
    )


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
        "boards": [board_facts(other) for other in boards if other is not board],
        "history": [] if board is None else history(board, literature),
        "sources": sorted(set(literature.values.filter(dataset=name)["file"].drop_nulls())),
    }


def _page(name: str, facts: Mapping[str, Any], literature: Literature) -> Page:
    boards = literature.boards.get(name, [])
    board = next(
        (board for board in boards if facts["board"] and list(board.key) == facts["board"]["key"]), None
    )
    drawn = picture(name, facts, board)
    key = "".join(character for character in name if character.isalnum() or character in "-.")
    return Page(
        f"d/{name}",
        name,
        description(name, facts),
        template="dataset.md.jinja",
        values={
            **facts,
            "board": board,
            "usual": usual_protocol(facts),
            "others": _by_evaluation([other for other in boards if other is not board]),
            "label_of": lambda metric: resolve(metric).label,
            "drawn": drawn if drawn.lines else None,
            "metrics": [(metric, resolve(metric).label) for metric in METRICS],
            "counted": [(metric, resolve(metric).label) for metric in _COUNTED],
        },
        data=facts,
        head={"hide": ["navigation"]},
        picture=drawn,
        cited=(key, f"{name}: chance, counting and published results"),
    )


def _by_evaluation(boards: list[Board]) -> list[tuple[tuple[str, ...], list[Board]]]:
    """Return boards of a data set by protocol, split and side."""
    return [(of, list(group)) for of, group in groupby(boards, key=lambda board: board.key[1:4])]


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
    fields = {name: getattr(dataset, name, None) for name in names}
    return fields | {"aliases": [] if dataset is None else list(dataset.aliases)}


def problems(
    dataset: Dataset | None, datasets: pl.DataFrame, baselines: list[dict[str, Any]]
) -> Iterator[str]:
    """Yield a sentence on each problem of a data set that its users should know.

    datasets: the row of the data set in datasets.tsv, if it has a row.
    """
    for row in datasets.with_columns(pl.all().exclude("dataset", "role").cast(pl.Int64)).to_dicts():
        yield from _counted_problems(row)
    redundant = [
        row["values"].get(MRR, 0)
        for row in baselines
        if row["baseline"] == "redundancy" and row["protocol"] == "filtered"
    ]
    if redundant and max(redundant) >= _REDUNDANT:
        yield (
            "Relations repeat or invert each other: a scorer that only looks for the same pair under another relation "
            f"reaches an MRR of {max(redundant):.2g} (filtered)."
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
            yield text[0].upper() + text[1:].removesuffix(".") + "."


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
    records: list[dict[str, Any]] = []
    for year in sorted(set(values["year"])):
        ranked = ranked_rows(values.filter(pl.col("year") <= year), literature.contradictions)
        for row in ranked.filter(place=1).iter_rows(named=True):
            if not records or row["index"] > records[-1]["index"]:
                names = ("model", "value_as_printed", "index", "source", "file")
                records.append({"year": year} | {name: row[name] for name in names})
    return records


def picture(name: str, facts: Mapping[str, Any], board: Board | None) -> Picture:
    """Return every model with a place, the counting baselines and chance on one scale: values of the board's metric."""
    protocol, split, side, metric = board.key[1:] if board else (usual_protocol(facts), None, "both", MRR)
    ranked = board.ranked if board else []
    values = [row["value"] for row in ranked]
    # Rows of counting and chance are of both sides.
    counted = [
        (f"{row['baseline']} (counting)", row["values"][metric])
        for row in facts["baselines"]
        if side == "both" and row["protocol"] == protocol and split in (row["split"], None)
        if metric in row["values"]
    ]
    counted.sort(key=lambda line: -line[1])
    chance = board.scale["chance"] if board else _chance(facts, protocol)
    lines = [Line(_models(len(values)), _in_words(ranked), values)] if values else []
    lines += [Line(label, number(value), [value]) for label, value in counted]
    lines += [] if chance is None else [Line("chance", number(chance), [chance])]
    label = resolve(metric).label
    evaluation = ", ".join(filter(None, (protocol, split)))
    return Picture(
        name,
        _finding(label, evaluation, values, counted[0][1] if counted else None, chance),
        lines,
        guide=counted[0][1] if counted and values else None,
    )


def _chance(facts: Mapping[str, Any], protocol: str | None) -> float | None:
    """Return the expectation of MRR under a protocol, None if only bounds are known."""
    values = (row["values"].get(MRR) for row in facts["chance"] if protocol in (row["protocol"], None))
    return next((value for value in values if isinstance(value, float)), None)


def _models(count: int) -> str:
    return "1 model" if count == 1 else f"{count} models"


def _in_words(ranked: list[dict[str, Any]]) -> str:
    best = number(ranked[0]["value"])
    return (
        best if len(ranked) == 1 else f"median {number(median(row['value'] for row in ranked))}, best {best}"
    )


def _finding(
    label: str, evaluation: str, values: list[float], counting: float | None, chance: float | None
) -> str:
    if chance is None:
        return "The constants of this data set are not known."
    if counting is None or not values:
        return f"By chance, {label} is {number(chance)} ({evaluation})."
    return f"Counting alone has {number(counting)}, the median model {number(median(values))}: {label}, {evaluation}."
