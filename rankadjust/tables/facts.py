"""The facts of a printed value, each with its source and, where it is not simply printed, the reason.

`Facts` are what one place states: a header, the labels of a row, a sidecar, the text around a table. A number gets its
facts from all of these together. The texts for people, and the two columns of tidy rows that hold sources and reasons,
are written and read here alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import polars as pl

from rankadjust.base.words import our_word

PRINTED, GIVEN, INFERRED, DEFAULT = "printed", "given", "inferred", "default"
"""The sources of a fact: the value's row or column, a sidecar or an option, elsewhere in the file, the usual choice."""

FIELDS = ("dataset", "model", "metric", "split", "side", "protocol", "ties", "candidates", "unit", "task")
"""The facts of a value besides its number."""

GRADED = ("dataset", "model", "metric", "value", "unit", "split", "side", "protocol", "task")
"""The facts whose source the column `grades` of tidy rows has, in its order."""

EVALUATION = ("dataset", "metric", "split", "side", "protocol", "ties", "candidates", "task")
"""The facts that describe the evaluation, so that all models of a comparison share them."""

DEFAULTS = {"split": "testing", "side": "both", "protocol": "filtered", "ties": "realistic"}
"""The usual choice where a table states none."""

ENTITY_RANKING = "entity prediction"
"""The task whose values are adjusted: entities ranked for every triple of the test set."""

SUBSET = "prediction on a subset"
"""The task of ranking for a part of the test triples."""

QUERIES = "complex query answering"
"""The task of ranking the answers of logical queries with several hops."""

OTHER_CANDIDATES = {
    "ranking among sampled candidates": "sampled-100",
    "ranking among candidates of the type": "typed",
}
"""The tasks that differ from entity prediction only by their protocol, each with an example of it."""


def name_of(fact: str) -> str:
    """Return the name of a fact for people: 'data set' for dataset."""
    return "data set" if fact == "dataset" else fact


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact in our words, its source, the reason (None where it is simply printed or given), and its printed text."""

    value: str
    source: str = PRINTED
    reason: str | None = None
    printed: str | None = None

    def because(self, reason: str) -> "Fact":
        """Return the fact as inferred for this reason; a fact that is inferred already keeps its own."""
        return self if self.source == INFERRED else replace(self, source=INFERRED, reason=reason)

    @property
    def why(self) -> str | None:
        """The source and the reason for people, None for a fact that is simply printed or given."""
        if self.source == DEFAULT:
            return ", ".join(filter(None, (f"{self.value} by default", self.reason)))
        if self.source == INFERRED or not self.reason:
            return self.reason
        return f"as {'printed' if self.source == PRINTED else 'stated'}, {self.reason}"


@dataclass(frozen=True)
class Facts:
    """What one place states; None for a fact that it does not state.

    notes: what is no fact but belongs to the value. rest: words that are not understood. unknown: such words beside the
    name of a metric. conflicts: messages about facts that contradict each other. `facts["side"]` is the word alone.
    """

    dataset: Fact | None = None
    model: Fact | None = None
    metric: Fact | None = None
    split: Fact | None = None
    side: Fact | None = None
    protocol: Fact | None = None
    ties: Fact | None = None
    candidates: Fact | None = None
    unit: Fact | None = None
    task: Fact | None = None
    notes: str | None = None
    rest: str | None = None
    unknown: str | None = None
    conflicts: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str = PRINTED, reason: str | None = None, **words: str | None) -> "Facts":
        """Return facts from our words for them, all of the same source."""
        named: Any = {name: Fact(word, source, reason) for name, word in words.items() if word is not None}
        return cls(**named)

    def __getitem__(self, name: str) -> str | None:
        fact: Fact | None = getattr(self, name)
        return None if fact is None else fact.value

    def stated(self, names: Iterable[str] = FIELDS) -> Iterator[tuple[str, Fact]]:
        """Yield the facts that are stated, with their names."""
        return ((name, fact) for name in names if (fact := getattr(self, name)) is not None)

    def over(self, other: "Facts") -> "Facts":
        """Return these facts, with gaps filled from `other`."""
        gaps = [name for name in _FILLED if getattr(self, name) is None and getattr(other, name) is not None]
        if not gaps and not other.conflicts:
            return self
        taken = {name: getattr(other, name) for name in gaps}
        return replace(self, **taken, conflicts=(*self.conflicts, *other.conflicts))

    def agreeing(self, other: "Facts", here: str, there: str) -> "Facts":
        """Return `over`, with a conflict for each fact that the two state differently; model and metric may differ."""
        conflicts = tuple(
            f"{here} says {mine}, {there} says {theirs}"
            for name in FIELDS
            if name not in ("model", "metric")
            and (mine := self[name]) is not None
            and (theirs := other[name]) is not None
            and (our_word(name, mine) or mine) != (our_word(name, theirs) or theirs)
            # test-dev is a part of the test set, and sampled or typed candidates may be filtered too.
            and not (name == "split" and mine.startswith("test-") and theirs == "testing")
            and not (mine.startswith(("sampled-", "typed")) and theirs == "filtered")
        )
        both = self.over(other)
        return replace(both, conflicts=(*both.conflicts, *conflicts)) if conflicts else both

    def because(self, reason: str, *names: str) -> "Facts":
        """Return these facts, those with the given names (default: all) inferred for this reason."""
        changed: dict[str, Any] = {n: fact.because(reason) for n, fact in self.stated(names or FIELDS)}
        return replace(self, **changed)

    def without(self, *names: str) -> "Facts":
        """Return these facts without some of them."""
        blank: dict[str, Any] = {name: None for name in names if getattr(self, name) is not None}
        return replace(self, **blank) if blank else self

    @cached_property
    def evaluation(self) -> tuple[str | None, ...]:
        """The evaluation that a value belongs to, without the model; gaps are filled with the usual choice."""
        stated = {name: fact.value for name, fact in self.stated(EVALUATION) if fact.source != DEFAULT}
        return tuple(stated.get(name) or DEFAULTS.get(name) for name in EVALUATION)


NOTHING = Facts()
"""No facts."""
_FILLED = tuple(field.name for field in fields(Facts) if field.name != "conflicts")


def reasons_joined(reasons: Mapping[str, str | None]) -> str | None:
    """Return reasons by fact as the column `assumed`: 'split: testing by default; model: not named'."""
    said = (f"{name}: {why.replace('; ', ', ')}" for name, why in reasons.items() if why)
    return "; ".join(said) or None


def reasons_in(text: str | None) -> dict[str, str]:
    """Return the reasons in the column `assumed`, by the name of the fact."""
    parts = (entry.partition(": ") for entry in (text or "").split("; "))
    return {name: why for name, _, why in parts if name in GRADED}


def sources_text(facts: Mapping[str, Fact | None]) -> str:
    """Return the column `grades` of tidy rows: 'dataset printed; split default'."""
    return "; ".join(f"{name} {fact.source}" for name in GRADED if (fact := facts.get(name)))


def is_taken(name: str) -> pl.Expr:
    """Return whether the column `grades` says that nobody states a fact: it is inferred, or a default."""
    return pl.col("grades").str.contains(rf"\b{name} (?:{INFERRED}|{DEFAULT})\b").fill_null(value=False)


def as_given(names: Iterable[str] = GRADED) -> pl.Expr:
    """Return the column `grades` with those of the named facts that nobody states as given."""
    pattern = rf"\b({'|'.join(names)}) (?:{INFERRED}|{DEFAULT})\b"
    return pl.col("grades").str.replace_all(pattern, rf"${{1}} {GIVEN}")
