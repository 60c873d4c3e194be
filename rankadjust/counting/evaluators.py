"""How code bases evaluate (config/evaluators.yaml), and how most values of a data set came about (config/usual.csv)."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.io import shipped
from rankadjust.base.vocabulary import SAMPLED
from rankadjust.base.words import folded, our_word

SHIPPED_EVALUATORS, SHIPPED_USUAL = "config/evaluators.yaml", "config/usual.csv"


@dataclass(frozen=True)
class Evaluation:
    """How values of a data set came about. split, side: None where nothing special is evaluated; who: does so."""

    protocol: str
    split: str | None = None
    side: str | None = None
    who: str | None = None


@cache
def _usual() -> Sequence[Mapping[str, Any]]:
    # To read YAML takes longer than all else that a single printed value needs.
    with shipped(SHIPPED_USUAL).open(encoding="utf-8", newline="") as file:
        return [{**row, "datasets": row["datasets"].split()} for row in csv.DictReader(file)]


@cache
def shipped_evaluators() -> Mapping[str, Any]:
    """Return the code bases by name, as config/evaluators.yaml describes them."""
    from rankadjust.base.schemas import read_yaml  # noqa: PLC0415

    evaluators: Mapping[str, Any] = read_yaml(shipped(SHIPPED_EVALUATORS))["evaluators"]
    return evaluators


def usual_evaluation(dataset: str) -> Evaluation:
    """Return the evaluation that most published values of a data set follow.

    dataset: its name in the registry; what is not there is filtered.

    >>> usual_evaluation("ogbl-wikikg2")
    Evaluation(protocol='sampled-500', split=None, side='both', who="OGB's evaluator")
    """
    found = _first(_usual(), dataset) or {"protocol": "filtered"}
    return Evaluation(found["protocol"], *(found.get(name) or None for name in ("split", "side", "who")))


def find_evaluator(name: str) -> str | None:
    """Return the name of the code base that is meant, in whatever spelling, None where it is not known."""
    wanted = folded(name)
    for known, entry in shipped_evaluators().items():
        if wanted in map(folded, (known, *entry.get("aliases", ()))):
            return known
    return None


def evaluator_named(name: str) -> str:
    """Return the name of the code base that is meant; RankadjustError with a suggestion where it is not known."""
    found = find_evaluator(name)
    if found is None:
        known = shipped_evaluators()
        hint = did_you_mean(name, list(known)) or f"; known: {', '.join(known)}"
        raise RankadjustError(f"there is no evaluator {name!r} in config/evaluators.yaml{hint}")
    return found


def protocol_or_evaluator(name: str) -> str:
    """Return the name of a protocol, or of the code base that stands for one; RankadjustError for neither."""
    from rankadjust.counting.protocols import get_protocol  # noqa: PLC0415

    try:
        return get_protocol(name).name
    except RankadjustError:
        found = find_evaluator(name)
        if found is None:
            raise
        return found


def evaluation_by(evaluator: str, dataset: str, split: str | None = None) -> Evaluation:
    """Return how a code base evaluates a data set.

    split: the stated one; the validation values of a code base may have another protocol, or be of another split.
    Raises RankadjustError for an unknown code base, and where its evaluation has no constants.

    >>> evaluation_by("ultra", "GraIL-NELL995-v1").protocol
    'filtered-merged-cumulative'
    """
    name = evaluator_named(evaluator)
    entry = shipped_evaluators()[name]
    found = _first(entry["evaluations"], dataset)
    if found is None or found["protocol"] is None:
        why = entry.get("note") or f"it is not known how it evaluates {dataset}"
        raise RankadjustError(f"{name} has no protocol for {dataset}: {why}")
    protocol = found["protocol"]
    if split is not None and our_word("split", split) == "validation":
        protocol, split = found.get("validation", protocol), found.get("validation_split", "validation")
    split = split or found.get("split") or usual_evaluation(dataset).split
    return Evaluation(protocol, split, found.get("side"), name)


def as_evaluator_prints(evaluator: str, metric: str) -> tuple[str, float]:
    """Return the metric that a code base means by a name, and the number to add to its printed value.

    >>> as_evaluator_prints("PyG", "mr")
    ('mr', 1.0)
    """
    entry = shipped_evaluators()[evaluator_named(evaluator)]
    meant = {folded(name): own for name, own in entry.get("metrics", {}).items()}.get(folded(metric), metric)
    is_mean_rank = folded(metric) in {"mr", "meanrank", "arithmeticmeanrank"}
    return meant, 1.0 - entry["first_rank"] if is_mean_rank else 0.0


def in_words(dataset: str, protocol: str, split: str, side: str) -> str:
    """Return an evaluation in words, and who evaluates so where that is the usual one of the data set.

    >>> in_words("ogbl-wikikg2", "sampled-500", "testing", "both")
    "ogbl-wikikg2, 500 negatives a side, test, both sides (OGB's evaluator)"
    """
    sampled, usual = re.fullmatch(SAMPLED, protocol), usual_evaluation(dataset)
    a_side = " a side" if side == "both" else ""
    among = f"{int(sampled[1]):,} negatives{a_side}" if sampled else protocol
    words = {"both": "both sides", "head": "heads alone", "tail": "tails alone"}
    of_sides = words.get(side, side.replace("_", " "))
    parts = [dataset, among, split.replace("testing", "test").replace("_", " "), of_sides]
    is_usual = usual.protocol == protocol and usual.split in (None, split) and usual.side in ("both", side)
    return ", ".join(filter(None, parts)) + (f" ({usual.who})" if usual.who is not None and is_usual else "")


def _first(entries: Sequence[Mapping[str, Any]], dataset: str) -> Mapping[str, Any] | None:
    return next(
        (one for one in entries if any(fnmatchcase(dataset, pattern) for pattern in one["datasets"])), None
    )
