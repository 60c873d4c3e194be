"""The first screen: what chance and counting reach in each evaluation of a data set, and its published models."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from rankadjust.base.vocabulary import KEY, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.counting.evaluators import Evaluation, usual_evaluation
from rankadjust.counting.evaluators import in_words as evaluation_in_words
from rankadjust.database.constants import Constants
from rankadjust.database.counted_baselines import CHOSEN_ON, chosen
from rankadjust.page.boards import METRICS, Board

# The other protocols have their name.
_AMONG = {
    "filtered": "all entities, known answers filtered",
    "filtered-training": "entities of training, known answers filtered",
    "filtered-cumulative": "all entities, known answers filtered, later splits not",
    "raw": "all entities, nothing filtered",
    "typed": "all entities of the relation's types, known answers filtered",
    "time-aware": "all entities, known answers filtered at the same time",
    "time-static": "all entities, known answers filtered whatever their time",
    "filtered-graph": "all entities, answers of the graph filtered",
    "grail": "49 draws a side, which may be the true answer",
    "nodepiece": "49 draws a side",
}


def metrics_of(known: Mapping[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return label, optimum and increasing of the metrics of `answers`, by the names that the command takes."""
    names = {
        name for evaluations in known.values() for evaluation in evaluations for name in evaluation["metrics"]
    }
    usual = [metric.label.lower() for metric in map(resolve, METRICS)]
    return {
        name: {part: getattr(resolve(name), part) for part in ("label", "optimum", "increasing")}
        for name in sorted(names, key=lambda name: (usual.index(name) if name in usual else len(usual), name))
    }


def answers(constants: Constants, boards: Iterable[Board]) -> dict[str, list[dict[str, Any]]]:
    """Return the evaluations of each data set on test splits, the usual one first.

    config/usual.csv names the usual one; the others go by their number of published results. An evaluation has words,
    protocol, split, side, tasks, metrics (by name: chance or its bounds, counting and its baseline), and of its board,
    if it has one, the metric, values, best model and its year.
    """
    of_board = {board.evaluation: board for board in boards}
    order = {evaluation: place for place, evaluation in enumerate(of_board)}
    wanted = pl.col("metric").is_in({*METRICS, *(board.metric for board in of_board.values())})
    splits = [*CHOSEN_ON, *(split for others in CHOSEN_ON.values() for split in others)]
    counted = chosen(constants.baselines.filter(wanted, pl.col("split").is_in(splits)))
    rows = (
        constants.table.filter(wanted, pl.col("split").is_in(TEST_SPLITS))
        .filter(pl.any_horizontal(pl.col("expectation", "expectation_low").is_not_null()))
        # Under filtered-graph-twice Hits@1 is always 0.
        .filter(pl.col("optimum").ne_missing(pl.col("expectation")))
        .join(counted, on=KEY, how="left", maintain_order="left")
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for key, part in rows.partition_by(KEY[:-1], as_dict=True, maintain_order=True).items():
        dataset, protocol, split, side = map(str, key)
        board = of_board.get((dataset, protocol, split, side))
        own = {*METRICS, board.metric} if board else METRICS
        evaluation = {
            "words": in_words(protocol, split, side),
            "protocol": protocol,
            "split": split,
            "side": side,
            "tasks": part["tasks"][0],
            "metrics": {
                resolve(row["metric"]).label.lower(): _reached(row)
                for row in part.iter_rows(named=True)
                if row["metric"] in own
            },
        }
        if board and board.values:
            best = board.rows[0]
            evaluation |= {"metric": resolve(board.metric).label.lower(), "values": board.values}
            evaluation |= {"best": best["model"], "year": best["year"]}
        if evaluation["metrics"]:
            found.setdefault(dataset, []).append(evaluation)
    for dataset, evaluations in found.items():
        usual = usual_evaluation(dataset)
        evaluations.sort(key=lambda one: _place(one, usual, order.get((dataset, *_options(one)), len(order))))
        if usual.who and not _place(evaluations[0], usual, 0)[0]:
            evaluations[0]["words"] += f" ({usual.who})"
    return found


def _options(evaluation: Mapping[str, Any]) -> tuple[str, str, str]:
    return evaluation["protocol"], evaluation["split"], evaluation["side"]


def _place(evaluation: Mapping[str, Any], usual: Evaluation, place: int) -> tuple[Any, ...]:
    protocol, split, side = _options(evaluation)
    is_other = (
        protocol != usual.protocol or usual.split not in (None, split) or usual.side not in (None, side)
    )
    return (
        is_other,
        place,
        protocol != "filtered",
        protocol,
        split != "inference_testing",
        (side != "both", side != "tail", side),
    )


def _reached(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what chance and counting reach, to ten digits, and the optimum where it is not that of the metric."""
    reached = {
        "chance": row["expectation"],
        "low": row["expectation_low"] if row["expectation"] is None else None,
        "high": row["expectation_high"] if row["expectation"] is None else None,
        "counting": row["baseline_value"],
        "optimum": row["optimum"] if row["optimum"] != resolve(row["metric"]).optimum else None,
    }
    known = {name: float(f"{value:.10g}") for name, value in reached.items() if value is not None}
    return known if row["baseline"] is None else {**known, "baseline": row["baseline"]}


def in_words(protocol: str, split: str, side: str) -> str:
    """Return an evaluation in words.

    >>> in_words("sampled-49", "inference_testing", "both")
    '49 negatives a side, inference test, both sides'
    >>> in_words("raw", "testing", "tail")
    'all entities, nothing filtered, test, tails alone'
    """
    return evaluation_in_words("", _AMONG.get(protocol, protocol), split, side)
