"""The words that people write for splits, sides, protocols and units, and ours for them (config/published.yaml).

One folding says which spellings of a name are the same, wherever a name is read: `folded`.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from rankadjust.base.io import shipped

PUBLISHED = "config/published.yaml"


@cache
def shipped_mapping() -> Mapping[str, Any]:
    """Return the mapping of printed words as it is shipped: words, rules, adjusted."""
    # Imported here, since reading YAML takes longer than all else that a single name needs.
    from rankadjust.base.schemas import read_yaml  # noqa: PLC0415

    mapping: Mapping[str, Any] = read_yaml(shipped(PUBLISHED))
    return mapping


@lru_cache(maxsize=10_000)
def folded(name: str) -> str:
    """Return a name without case and punctuation: 'FB15k-237', 'fb15k237' and 'FB15K 237' are the same name."""
    return "".join(character for character in name.casefold() if character.isalnum())


def same_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is meant, None if none is."""
    wanted = folded(name)
    return next((entry for entry in known if folded(entry) == wanted), None) if wanted else None


def our_word(column: str, word: str, words: Mapping[str, Mapping[str, str]] | None = None) -> str | None:
    """Return our word for somebody else's, in any spelling; None if we have none.

    column: what it is a word for: split, side, protocol or unit. words: None for the shipped ones. A word of signs
    alone, such as %, is taken as it is.
    """
    known = (shipped_mapping()["words"] if words is None else words).get(column, {})
    exact = word.strip().casefold()
    if exact in known or not any(character.isalpha() for character in exact):
        return known.get(exact)
    same = same_name(word, (entry for entry in known if any(character.isalpha() for character in entry)))
    return None if same is None else known[same]
