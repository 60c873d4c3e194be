"""What can be asked for, as rows for people and machines."""

import math
from typing import Any

from rankadjust.chance.metrics import FAMILIES

_K = 10

# The protocols that need no entry in config/protocols.yaml.
SAMPLED = "sampled-<q>"
SAMPLED_DESCRIPTION = "The true answer against q sampled negatives, such as sampled-49."


def metric_rows() -> list[dict[str, Any]]:
    """Return a row for each family of metrics: name, key, aliases, lower, upper, optimum, better, adjusted.

    upper is None where nothing bounds it; optimum and better (higher, lower) where no direction is better. Metrics of a
    family with a k are listed for k = 10. adjusted: whether its expectation under chance is known.
    """
    rows = []
    for family in FAMILIES.values():
        metric = family.metric(_K if family.needs_k else None)
        directed = not math.isnan(metric.optimum)
        rows.append(
            {
                "name": f"{family.label}@k" if family.needs_k else family.label,
                "key": family.key,
                "aliases": list(family.names),
                "lower": metric.lower,
                "upper": metric.upper if math.isfinite(metric.upper) else None,
                "optimum": metric.optimum if directed else None,
                "better": ("higher" if metric.increasing else "lower") if directed else None,
                "adjusted": metric.has_moments,
            }
        )
    return rows
