"""A counting baseline as one more model: its ranks of the tasks that others were ranked on, tied as they are.

Each rank that ties allow is equally likely, and a metric is computed from the terms' means over these ranks: the
values of `EvaluationSet.baselines`, task by task. Metrics that are not means over the tasks, as the median, have no
value.
"""

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TIED
from rankadjust.database.counted_baselines import known_baseline
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.evaluation.task_attributes import baselines_in
from rankadjust.models.paired import Model, Paired


def with_baseline(matched: Paired, against: str, evaluation_set: EvaluationSet | None) -> Paired:
    """Add the ranks of a baseline, which the tasks hold. against: its name, or best, the best one on validation."""
    known = baselines_in(matched.tasks.columns)
    name = known_baseline(against, known, "the table of tasks")
    if name is None:
        if evaluation_set is None:
            raise RankadjustError(
                "which baseline is the best one depends on the data set: give dataset (--dataset), too"
            )
        name = known_baseline(evaluation_set.best_baseline(), known, "the table of tasks")
    best, worst = (matched.tasks[f"{name}_{end}"].to_numpy()[None] for end in TIED)
    taken = {model.name for model in matched.models}
    title = f"{name} (counted)" if name in taken else f"{name}"
    return Paired(matched.tasks, [*matched.models, Model(title, best, worst)])
