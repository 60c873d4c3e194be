"""The words that everything shares: splits, sides, and the columns that name them.

A leaf: this module is part of every job's code, so it has only words whose change would change the results.
"""

from collections.abc import Iterable
from itertools import chain

SPLITS = (
    "training",
    "validation",
    "testing",
    "facts",
    "inference",
    "inference_validation",
    "inference_testing",
    # Test sets beside inference_testing, on the same graph: NELL-Ext and FB-Ext have three.
    "inference_testing_2",
    "inference_testing_3",
)
# The splits that are given to a model: the rest is asked for.
KNOWN_SPLITS = ("training", "facts", "inference")
# The splits that published results are about; some papers print values on the training triples too.
PRINTED_SPLITS = tuple(split for split in SPLITS if split not in ("facts", "inference"))
# Of several test sets on the inference graph only the first: the others are looked up by name.
TEST_SPLITS = ("testing", "inference_testing")

# The sides of a triple on which an entity is asked for; "both" is the tasks of the two together.
TASK_SIDES = ("head", "tail")
SIDES = (*TASK_SIDES, "both")

# The protocols that rank the true answer against so many negatives.
SAMPLED = r"^sampled-([0-9]+)$"

# What a row of the database, or of any table of results, is about.
EVALUATION = ("dataset", "protocol", "split", "side")
KEY = (*EVALUATION, "metric")

# The least and the greatest rank that ties allow: two columns of rank files, and of the ranks of baselines.
TIED = ("optimistic", "pessimistic")

# The columns of a triple, and of its time: a point, or an interval.
LABEL_COLUMNS = ("head", "relation", "tail")
TIMES = (("time",), ("time_start", "time_end"))
TIME_COLUMNS = tuple(chain.from_iterable(TIMES))


def time_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the columns that hold the time of a triple: one, two for an interval, or none."""
    present = set(columns)
    return next((names for names in TIMES if present.issuperset(names)), ())
