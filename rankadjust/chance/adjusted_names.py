"""Names of adjusted metrics: AMR, AMRI, AH@10, "adjusted MRR", "z of MRR", and the keys that we give them.

A key is `z_<metric>`, `adjusted_<metric>`, or `adjusted_<metric>_index` where the metric also has a ratio: the adjusted
mean rank (AMR) is a ratio, and its index (AMRI) has a name of its own. config/published.yaml lists the names that do
not follow this pattern.
"""

import re
from collections.abc import Mapping
from functools import cache

from rankadjust.base.words import shipped_mapping
from rankadjust.chance.metrics import Metric, find, resolve

Names = Mapping[str, tuple[str, str]]
"""A name, in lower case with underscores -> the metric before adjustment, and the adjustment."""

_PREFIXED = re.compile(
    r"(z|adjusted)(?:[\s_-]*+score)?[\s_-]*+(?:of\s++)?\(?(.+?)([\s_-]index)?\)?", re.IGNORECASE
)


@cache
def shipped_names() -> Names:
    """Return the names of adjusted metrics that are listed in config/published.yaml."""
    return names_of(shipped_mapping()["adjusted"])


def names_of(entries: Mapping[str, Mapping[str, str]]) -> Names:
    """Return the names that a mapping of printed words lists; 'ah@k' stands for every k.

    Raises RankadjustError for an unknown metric.
    """
    for entry in entries.values():
        resolve(re.sub(r"@k$", "@10", entry["metric"]))
    return {name: (entry["metric"], entry["adjustment"]) for name, entry in entries.items()}


def split_adjusted(name: str, names: Names | None = None) -> tuple[Metric, str | None]:
    """Return the metric of a name or key before adjustment and ratio, index or z; None for one that is not adjusted.

    names: None means the shipped ones. Raises RankadjustError where there is no such metric.
    """
    return find_adjusted(name, names) or (resolve(name), None)


def find_adjusted(name: str, names: Names | None = None) -> tuple[Metric, str | None] | None:
    """Return what `split_adjusted` does, None where there is no such metric."""
    names = shipped_names() if names is None else names
    folded = re.sub(r"_?@_?|_at_", "@", re.sub(r"[\s-]", "_", name.strip().casefold()))
    stem, at, k = folded.rpartition("@")
    if folded in names or (k.isdecimal() and f"{stem}@k" in names):
        listed, adjustment = names.get(folded) or names[f"{stem}@k"]
        return resolve(re.sub(r"@k$", f"{at}{k}", listed)), adjustment
    prefixed = _PREFIXED.fullmatch(name.strip())
    metric = find(prefixed[2]) if prefixed else None
    if prefixed is None or metric is None:
        # It may begin with a z and be no adjusted metric.
        plain = find(name)
        return None if plain is None else (plain, None)
    if prefixed[1].casefold() == "z":
        return metric, "z"
    return metric, "ratio" if metric.ratio and not prefixed[3] else "index"


def adjusted_key(metric: Metric, adjustment: str | None) -> str:
    """Return the key of a metric after an adjustment, of the metric itself for None."""
    if adjustment is None:
        return metric.key
    if adjustment == "z":
        return f"z_{metric.key}"
    return f"adjusted_{metric.key}{'_index' if metric.ratio and adjustment == 'index' else ''}"
