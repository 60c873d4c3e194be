"""Properties that the default tests check with few examples, and the slow tests with many."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Return the parameter `examples`: few, and in the slow tests many."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])


def hold(examples: int, holds: Callable[..., None], **strategies: SearchStrategy) -> None:
    """Call a property with this many examples, drawn from the strategies of its arguments."""
    settings(max_examples=examples)(given(**strategies)(holds))()


def in_profile(examples: int) -> int:
    """Return this number of examples for `.ci/run`, and as many fewer for `make test` as its profile has."""
    return max(5, examples * settings.default.max_examples // 100)
