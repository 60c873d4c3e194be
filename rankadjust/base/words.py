"""The words that people write for splits, sides, protocols and units, and ours for them (config/published.yaml)."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from rankadjust.base.files import shipped
from rankadjust.base.schemas import read_yaml

PUBLISHED = "config/published.yaml"


@cache
def shipped_mapping() -> Mapping[str, Any]:
    """Return the mapping of printed words as it is shipped: words, rules, adjusted."""
    mapping: Mapping[str, Any] = read_yaml(shipped(PUBLISHED))
    return mapping


def our_word(column: str, word: str) -> str | None:
    """Return our word for another, in upper or lower case; None where there is none.

    column: what it is a word for: split, side, protocol or unit.
    """
    words: Mapping[str, str] = shipped_mapping()["words"].get(column, {})
    return words.get(word.strip().casefold())
