"""Read the text around a table and the name of its file, for facts that the table itself does not state."""

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

# Authors name the task and the unit of a table in its caption or in the heading above it.
_NEXT = 2
_CAPTION_WORDS = 20
_MODEL_OPTION = re.compile(r"(?:--model(?:[_-]name)?[ =]|\bmodel(?:_name)?[=:]\s?)([\w.+-]+)")
_IN_PERCENT = re.compile(r"\bin (?:%|percent|per cent)|\(%\)", re.IGNORECASE)

Around = Sequence[tuple[str, str]]
"""The texts around a table, the nearest first; each with a description of its place, for people."""


def texts_around(grid: Grid, stem: str) -> Around:
    """Return the texts around a table; stem: the name of its file."""
    context = [(f"the text '{_shortened(text)}'", text) for text in grid.context]
    return [*context, ("the file's name", stem)]


def metric_around(around: Around) -> Facts:
    """Return the metric of the nearest text, or of the file's name, that names any; nothing if it names several."""
    for where, text in around:
        metrics = metrics_within(text)
        if metrics:
            [(key, words), *others] = metrics.items()
            only = Facts(metric=key, metric_as_printed=words).because(f"from {where}")
            return Facts() if others else only
    return Facts()


def dataset_around(around: Around, names: Names) -> Facts:
    """Return the data set of the nearest text that names a single data set; the reason lists all others."""
    texts = [(where, datasets_within(text, names)) for where, text in around]
    # A text with several data sets leaves the choice among them to the other texts.
    possible = next((set(named) for _, named in texts if len(named) > 1), None)
    alone = (
        (where, *next(iter(named.items())))
        for where, named in texts
        if len(named) == 1 and (possible is None or set(named) <= possible)
    )
    where, dataset, printed = next(alone, (None, None, None))
    if dataset is None:
        return Facts()
    others = dict.fromkeys(name for _, named in texts for name in named if name != dataset)
    also = f", though others name {', '.join(others)}" if others else ""
    return Facts(dataset=dataset, dataset_as_printed=printed).because(f"from {where}{also}")


def task_around(around: Around) -> Facts:
    """Return the task of the caption or heading next to a table, if it names one task and not entity prediction."""
    return _only("task", around, lambda text: set(tasks_within(text)) - {ENTITY_RANKING})


def protocol_around(around: Around) -> Facts:
    """Return the protocol of the caption or heading next to a table, if it names one protocol alone."""
    return _only("protocol", around, protocols_within)


def _only(name: str, around: Around, within: Callable[[str], Collection[str]]) -> Facts:
    """Return the fact of this kind from the nearest short text that names any; nothing if it names several."""
    within_texts = (
        (where, within(text)) for where, text in around[:_NEXT] if len(text.split()) <= _CAPTION_WORDS
    )
    where, facts = next(((where, facts) for where, facts in within_texts if facts), ("", ()))
    only: dict[str, Any] = {name: min(facts)} if len(facts) == 1 else {}
    return Facts(**only).because(f"from {where}")


def model_around(around: Around) -> Facts:
    """Return the model in a command of the texts around a table, such as '--model_name TransE_l2'."""
    named = ((where, match[1]) for where, text in around if (match := _MODEL_OPTION.search(text)))
    where, model = next(named, (None, None))
    return Facts(model=model).because(f"from {where}")


def percent_around(around: Around) -> str | None:
    """Return the place of a text next to the table that declares its numbers percent."""
    return next((where for where, text in around[:_NEXT] if _IN_PERCENT.search(text)), None)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
