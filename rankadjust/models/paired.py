"""The ranks of several models on the same tasks, matched by triple and side; a counting baseline.

A model is one run, or several runs with seeds of their own (a folder, one file each).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import is_frame
from rankadjust.base.vocabulary import TIED
from rankadjust.chance.metrics import resolve
from rankadjust.database.counted_baselines import known_baseline
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.evaluation.rank_files import run_files, tasks_from
from rankadjust.evaluation.score_files import as_array
from rankadjust.evaluation.task_attributes import ATTRIBUTES, baselines_in, on_side, with_attributes

Source = str | Path | pl.DataFrame | ArrayLike

_KEY = ("triple", "side")


@dataclass(frozen=True)
class Model:
    """The ranks of one model: a row for each run, in the order of the matched tasks (runs, n).

    worst: where it is given, every whole rank from `ranks` to `worst` is equally likely (runs, n).
    """

    name: str
    ranks: FloatArray
    worst: FloatArray | None = None


@dataclass(frozen=True)
class Paired:
    """n matched tasks, sorted by triple and side, and the models that were ranked on them.

    tasks: triple and side, num_candidates where known, and the attributes that are known (task_attributes).
    """

    tasks: pl.DataFrame
    models: Sequence[Model]


def paired(
    models: Mapping[str, Source | Sequence[Source]],
    attributes: str | Path | pl.DataFrame | None = None,
    side: str = "both",
    least: int = 2,
) -> Paired:
    """Return the matched tasks of at least so many models, by their names.

    models: a file, frame or array, a folder with one file a run, or a list of runs, as `tasks_from` takes
        each. The ranks of arrays are matched by their places.
    attributes: a table of the tasks as the workflow's target `tasks` writes it; its num_candidates belong to the
        tasks.
    side: head or tail: only tasks of this side, which tasks without a column side are taken to be.
    Raises RankadjustError where a run has a task that another run lacks, or another number of candidates for it.
    """
    if len(models) < least:
        raise RankadjustError("there is one model; give the ranks of at least two to compare")
    runs = [(name, _runs(name, source, side)) for name, source in models.items()]
    first_name, first = runs[0][1][0]
    tasks = first.select(name for name in first.columns if name != "rank")
    for _, runs_of_model in runs:
        for name, run in runs_of_model:
            tasks = _matched(tasks, first_name, run, name)
    if attributes is not None:
        tasks = with_attributes(tasks, attributes)
    ranks = [
        Model(name, np.stack([run["rank"].to_numpy() for _, run in runs_of_model]))
        for name, runs_of_model in runs
    ]
    return Paired(tasks, ranks)


def _runs(name: str, source: Source | Sequence[Source], side: str) -> list[tuple[str, pl.DataFrame]]:
    """Return what each run of a model is called in messages, and its tasks."""
    if isinstance(source, str | Path):
        files = run_files(Path(source)) if Path(source).is_dir() else [source]
        return [(str(file), _one_run(file, str(file), side)) for file in files]
    shape = np.shape(as_array(source)) if hasattr(source, "__array__") else ()
    is_list = isinstance(source, Sequence) and len(source) > 0 and isinstance(source[0], Number)
    if is_frame(source) or len(shape) == 1 or is_list:
        return [(name, _one_run(source, name, side))]
    if not isinstance(source, Iterable):
        raise RankadjustError(f"{name}: {source!r} is not a list of ranks")
    if len(shape) == 2 and shape[0] > shape[1]:
        raise RankadjustError(
            f"{name}: an array of the shape {shape} would be {shape[0]} runs of {shape[1]} tasks; a row holds the "
            "ranks of one run, so give array.ravel() for a single run, or array.T"
        )
    runs = list(source)
    if not runs:
        raise RankadjustError(f"{name}: there are no runs")
    return [
        (where := f"{name}, run {number}", _one_run(run, where, side)) for number, run in enumerate(runs, 1)
    ]


def _one_run(source: Any, where: str, side: str) -> pl.DataFrame:  # noqa: ANN401 - whatever holds ranks
    """Return triple, side, one rank and the other columns of each task, sorted by triple and side."""
    tasks = on_side(tasks_from(source, where=where), side)
    if not isinstance(source, str | Path) and not is_frame(source):
        # Of ranks alone the place says which task they are of.
        tasks = tasks.with_columns(triple=pl.int_range(1, pl.len() + 1).cast(pl.String))
    if "triple" not in tasks.columns:
        raise RankadjustError(
            f"{where}: there is no column triple, so its tasks cannot be matched with those of other models"
        )
    if "side" not in tasks.columns:
        tasks = tasks.with_columns(side=pl.lit("both"))
    if "rank" not in tasks.columns:
        tasks = tasks.with_columns(rank=pl.mean_horizontal(TIED))
    kept = [name for name in (*_KEY, "rank", "num_candidates", *ATTRIBUTES) if name in tasks.columns]
    tasks = tasks.select(kept)
    shared = tasks.with_row_index("row", 1).filter(pl.struct(_KEY).is_duplicated())
    if shared.height:
        triple, of_side = shared.select(_KEY).row(0)
        rows = " and ".join(map(str, shared.filter(triple=triple, side=of_side)["row"].head(2)))
        raise RankadjustError(
            f"{where}: {shared.height} rows share triple and side, such as {_task(shared)} in rows {rows} (from 1, the "
            "names of the columns not counted)"
        )
    return tasks.sort(_KEY)


def _matched(tasks: pl.DataFrame, first: str, run: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the tasks with the columns of the run, or raise if the run has other tasks."""
    for here, there, has, lacks in ((tasks, run, first, name), (run, tasks, name, first)):
        missing = here.join(there, on=_KEY, how="anti", maintain_order="left")
        if missing.height:
            raise RankadjustError(
                f"{lacks}: {missing.height} of the {here.height} tasks of {has} are missing, such as {_task(missing)}"
            )
    if "num_candidates" not in run.columns:
        return tasks
    if "num_candidates" not in tasks.columns:
        return tasks.with_columns(run["num_candidates"])
    # Both are sorted by triple and side.
    differs = tasks["num_candidates"] != run["num_candidates"]
    if differs.any():
        place = int(differs.arg_true()[0])
        counts = [frame["num_candidates"][place] for frame in (tasks, run)]
        raise RankadjustError(
            f"{name}: {_task(tasks[place])} has {counts[1]:,.0f} candidates there, but {counts[0]:,.0f} in {first}: "
            "were they evaluated under different protocols?"
        )
    return tasks


def _task(rows: pl.DataFrame) -> str:
    triple, side = rows.select(_KEY).row(0)
    return f"triple {triple}" + ("" if side == "both" else f", side {side}")


def with_baseline(matched: Paired, against: str, evaluation_set: EvaluationSet | None) -> Paired:
    """Add a counting baseline as one more model: its ranks, tied as they are, from the table of tasks.

    against: its name, or best, the best one on validation. Each rank that ties allow is equally likely, and a metric is
    computed from the terms' means over these ranks, so that its value is that of `EvaluationSet.baselines`. Metrics
    that are not means over the tasks, as the median, have no value.
    """
    known = baselines_in(matched.tasks.columns)
    name = known_baseline(against, known, "the table of tasks")
    if name is None:
        if evaluation_set is None:
            raise RankadjustError(
                "which baseline is the best one depends on the data set: give dataset (--dataset), too"
            )
        best_one, _, why = evaluation_set.of_side("both").compared(resolve("mrr"), None)
        if best_one is None:
            raise RankadjustError(f"{evaluation_set}: {why}")
        name = known_baseline(best_one, known, "the table of tasks")
    best, worst = (matched.tasks[f"{name}_{end}"].to_numpy()[None] for end in TIED)
    taken = {model.name for model in matched.models}
    title = f"{name} (counted)" if name in taken else f"{name}"
    return Paired(matched.tasks, [*matched.models, Model(title, best, worst)])
