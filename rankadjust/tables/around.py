"""What the text around a table and the name of its file say, where the table itself says nothing."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.tokens import (
    ENTITY_RANKING,
    Facts,
    Names,
    datasets_within,
    metrics_within,
    protocols_within,
    tasks_within,
)

# What is said of the task and the unit of a table stands in its caption or in the heading above it.
_NEXT = 2
_CAPTION_WORDS = 20
_MODEL_OPTION = re.compile(r"(?:--model(?:[_-]name)?[ =]|\bmodel(?:_name)?[=:]\s?)([\w.+-]+)")
_IN_PERCENT = re.compile(r"\bin (?:%|percent|per cent)|\(%\)", re.IGNORECASE)

Around = Sequence[tuple[str, str]]
"""Where a text stands, for people, and the text; the nearest first."""


def texts_around(grid: Grid, stem: str) -> Around:
    """Return the texts around a table; stem: the name of its file."""
    context = [(f"the text '{_shortened(text)}'", text) for text in grid.context]
    return [*context, ("the file's name", stem)]


def metric_around(around: Around) -> Facts:
    """Return the only metric that the nearest text around the table to speak of any, or the file's name, names."""
    for where, text in around:
        found = metrics_within(text)
        if found:
            [(key, words), *others] = found.items()
            only = Facts(metric=key, metric_as_printed=words).because(f"from {where}")
            return Facts() if others else only
    return Facts()


def dataset_around(around: Around, names: Names) -> Facts:
    """Return the data set that the nearest text naming any names alone, and which others are near."""
    texts = [(where, datasets_within(text, names)) for where, text in around]
    # A text that names several leaves the choice to the others, but only among these.
    possible = next((set(found) for _, found in texts if len(found) > 1), None)
    alone = (
        (where, *next(iter(found.items())))
        for where, found in texts
        if len(found) == 1 and (possible is None or set(found) <= possible)
    )
    where, dataset, printed = next(alone, (None, None, None))
    if dataset is None:
        return Facts()
    others = dict.fromkeys(name for _, found in texts for name in found if name != dataset)
    also = f", though others name {', '.join(others)}" if others else ""
    return Facts(dataset=dataset, dataset_as_printed=printed).because(f"from {where}{also}")


def task_around(around: Around) -> Facts:
    """Return the other task of which the caption or heading next to a table speaks, if it speaks of one alone."""
    return _only("task", around, lambda text: set(tasks_within(text)) - {ENTITY_RANKING})


def protocol_around(around: Around) -> Facts:
    """Return the protocol that the caption or heading next to a table names alone."""
    return _only("protocol", around, protocols_within)


def _only(name: str, around: Around, within: Callable[[str], Collection[str]]) -> Facts:
    """Return the fact of a kind that the nearest short text with any names, unless it names several."""
    found = ((where, within(text)) for where, text in around[:_NEXT] if len(text.split()) <= _CAPTION_WORDS)
    where, facts = next(((where, facts) for where, facts in found if facts), ("", ()))
    only: dict[str, Any] = {name: min(facts)} if len(facts) == 1 else {}
    return Facts(**only).because(f"from {where}")


def model_around(around: Around) -> Facts:
    """Return the model that a command in the texts around a table names: '--model_name TransE_l2'."""
    found = ((where, match[1]) for where, text in around if (match := _MODEL_OPTION.search(text)))
    where, model = next(found, (None, None))
    return Facts(model=model).because(f"from {where}")


def percent_around(around: Around) -> str | None:
    """Return where a text next to a table says that its numbers are percent."""
    return next((where for where, text in around[:_NEXT] if _IN_PERCENT.search(text)), None)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
