"""Contradictions among typed values of a released set, by plain numbers: without frames that takes half the time.

The tables have more to say of values that are impossible by themselves, and of sets that LIGHT leaves out.
"""

from collections.abc import Mapping
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import typed_value
from rankadjust.database.light import LightSet
from rankadjust.literature.findings import Finding
from rankadjust.literature.one_model import findings_of_model
from rankadjust.literature.single import TaskLists


def findings_of_typed(values: Mapping[str, str], held: LightSet) -> list[Finding] | None:
    """Return what contradicts each other, by row; None where only the tables can say it.

    values: the text of each value by the name of its metric, which is not an adjusted one.
    """
    rows = [_row(place, name, text, held) for place, (name, text) in enumerate(values.items())]
    known = [row for row in rows if row is not None]
    if len(known) < len(rows):
        return None
    lists = TaskLists(lambda *_: held.candidate_counts, lambda _: held.left_out)
    return sorted(findings_of_model(known, lists), key=lambda finding: finding.row)


def _row(place: int, name: str, text: str, held: LightSet) -> dict[str, Any] | None:
    """Return a value as a row of `rescore`, None where it is impossible by itself."""
    metric, number = resolve(name), read_number(text)
    try:
        value = typed_value(text, metric)
    except RankadjustError:
        return None
    if number is None or held.why_impossible(metric, *value.ends) is not None:
        return None
    return {
        **dict(zip(EVALUATION, held.evaluation, strict=True)),
        "_row": place,
        "metric": metric.key,
        "adjustment": None,
        "value": value.value,
        "value_low": value.low,
        "value_high": value.high,
        "value_as_printed": value.text,
        "unit": "percent" if number.percent else None,
        "spread": number.spread,
        "most": None,
        "status": "ok",
        "message": None,
    }
