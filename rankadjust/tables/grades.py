"""Grade the source of each fact of a value: printed, given by a sidecar or an option, inferred, or a default."""

from collections.abc import Container, Iterable

from rankadjust.tables.tokens import Facts

GRADED = ("dataset", "model", "metric", "value", "unit", "split", "side", "protocol", "task")
"""The facts that have a grade, in the order of the column `grades`."""


def grade(
    name: str, known: object, stated: Facts, inferred: Container[str], defaults: Container[str]
) -> str | None:
    """Return the grade of the fact `known`, named `name`; None for a fact that is unknown and has no default.

    stated: the facts that a sidecar or an option gives. inferred: names of the facts with a noted reason. defaults:
    names of the facts that have a default.
    """
    if known is None:
        return "default" if name in defaults else None
    if name in inferred:
        return "inferred"
    return "given" if getattr(stated, name, None) is not None else "printed"


def written(grades: Iterable[tuple[str, str | None]]) -> str:
    """Return grades as the text of the column `grades`: 'dataset printed; split default'."""
    return "; ".join(f"{name} {grade}" for name, grade in grades if grade is not None)
