"""The released constants of one evaluation set in plain numbers: one printed value needs neither frames nor all rows.

LIGHT holds a JSON file for each data set and protocol, which `rankadjust.database.light_file` makes from the released
tables. What it leaves out (other splits than test splits, sets so small that p is drawn, values without a counting
baseline) is in the tables alone; `rankadjust.evaluation.one_value` takes them then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from rankadjust.base.io import identity_of, shipped
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric
from rankadjust.database.arithmetic import BOUNDS, READ
from rankadjust.database.limits import Limits
from rankadjust.database.names import DATASET, find_name

LIGHT = "resources/database/light.zip"

OF_ROW = tuple(
    name for name in ("tasks", *READ, "reason", "baseline", "baseline_value") if name not in BOUNDS
)
"""What is kept of a row, where it is known."""


@dataclass(frozen=True, eq=False)
class LightSet:
    """Released constants of a data set, protocol, split and side, with the answers that `adjust` and `check` ask for.

    rows: by metric. candidates: numbers of candidates, and how many tasks have each. left_out: how many candidates of
    each task these numbers leave out.
    """

    dataset: str
    protocol: str
    split: str
    side: str
    temporal: bool
    left_out: int
    rows: Mapping[str, Mapping[str, Any]] = field(repr=False)
    candidates: tuple[list[int], list[int]] = field(repr=False)

    @property
    def evaluation(self) -> tuple[str, str, str, str]:
        """Data set, protocol, split and side."""
        return self.dataset, self.protocol, self.split, self.side

    @cached_property
    def candidate_counts(self) -> CandidateCounts:
        """How many tasks have how many candidates."""
        return CandidateCounts.of(*self.candidates)

    def has_times(self, _dataset: str) -> bool:
        """Return whether the data set is temporal."""
        return self.temporal

    def row(self, metric: Metric) -> dict[str, Any] | None:
        """Return the constants of a metric, None where they are in the tables alone."""
        if metric.key not in self.rows:
            return None
        names = dict(zip(EVALUATION, self.evaluation, strict=True)) | {"metric": metric.key}
        return dict.fromkeys((*OF_ROW, *BOUNDS)) | dict(self.rows[metric.key]) | names

    def why_absent(self, metric: Metric) -> str:
        """Return in words that a metric is in the tables alone."""
        return f"{metric.label} is not among the plain numbers of {self.dataset}; the released tables may have it"

    def why_impossible(self, metric: Metric, low: float, high: float) -> str | None:
        """Return in words the limit that all values from low to high are beyond, None where one is possible."""
        return Limits(lambda *_: self.candidate_counts).why_impossible(self.evaluation, metric, low, high)

    def compared(self, metric: Metric, _against: str | None) -> tuple[str | None, float | None, str | None]:
        """Return the best counting baseline, its value, and nothing to say."""
        row = self.rows[metric.key]
        return row["baseline"], row["baseline_value"], None


def light_set(dataset: str, protocol: str, split: str, side: str) -> LightSet | None:
    """Return a released evaluation set by the names that the database has, None where the tables have to say more."""
    file = shipped(LIGHT)
    if not file.is_file():
        return None
    check_shipped(file)
    names = _names(file, identity_of(file))
    known = find_name(DATASET, dataset, {name.rpartition("/")[0] for name in names})
    if f"{known}/{protocol}" not in names:
        return None
    content = _content(file, f"{known}/{protocol}", identity_of(file))
    of_split = content["splits"].get(split, {})
    if known is None or side not in of_split.get("rows", ()):
        return None
    counted = [pair for name, pair in of_split["candidates"].items() if side in (name, "both")]
    candidates = ([count for pair in counted for count in pair[0]], [n for pair in counted for n in pair[1]])
    return LightSet(
        known,
        protocol,
        split,
        side,
        content["temporal"],
        content["left_out"],
        of_split["rows"][side],
        candidates,
    )


@lru_cache(maxsize=2)
def _names(file: Path, _: tuple[int, ...]) -> frozenset[str]:
    with ZipFile(file) as archive:
        return frozenset(archive.namelist())


@lru_cache(maxsize=8)
def _content(file: Path, name: str, _: tuple[int, ...]) -> dict[str, Any]:
    with ZipFile(file) as archive:
        content: dict[str, Any] = json.loads(archive.read(name))
    return content
