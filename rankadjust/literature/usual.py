"""Remarks on an MRR that is unusual for the Hits@1, 3 and 10 beside it; such an MRR is never a contradiction.

Hits@1, 3 and 10 of a ranking leave some room for its MRR, but published models use little of it. Over 553 published
results a linear function of the Hits predicts MRR, and the residual has a standard deviation of 0.0019.
`benchmarks/usual_mrr.py` fits the coefficients. It also reports how often rows of a source are flagged with
coefficients that were fitted to the other sources.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.consistency.statements import TaskCounts
from rankadjust.literature.findings import Finding, PrintedValue

HITS = ("hits_at_1", "hits_at_3", "hits_at_10")
MRR = "inverse_harmonic_mean_rank"
# The constant, and the factors of Hits@1, 3 and 10.
COEFFICIENTS = (0.00553, 0.52587, 0.28095, 0.18733)
# A difference beyond this, about five standard deviations, and beyond the rounding is reported.
FAR = 0.01
# Among fewer candidates chance raises all four metrics.
LEAST_CANDIDATES = 200


def usual_mrr(hits: Sequence[float]) -> float:
    """Return the usual MRR for given Hits@1, 3 and 10.

    >>> round(usual_mrr([0.25, 0.37, 0.53]), 3)
    0.34
    """
    constant, *factors = COEFFICIENTS
    return constant + float(np.dot(factors, hits))


def unusual(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> Iterator[Finding]:
    """Yield a remark for each MRR that is further from the usual MRR than rounding and FAR explain."""
    known = {(value.side, value.metric.key): value for value in values if value.adjustment is None}
    for (side, key), value in known.items():
        hits = [known[side, name] for name in HITS if (side, name) in known]
        if key != MRR or len(hits) < len(HITS) or not LEAST_CANDIDATES <= tasks[side].most < np.inf:
            continue
        least, most = (usual_mrr([getattr(hit, end) for hit in hits]) for end in ("low", "high"))
        excess = max(least - value.high, value.low - most) - FAR
        if excess > 0:
            yield Finding(
                row=value.row,
                severity="unusual",
                bound="usual",
                limit=(least + most) / 2,
                excess=excess,
                values="; ".join(hit.text for hit in (value, *hits)),
                message=(
                    f"With {listed(hit.text for hit in hits)} an MRR of about "
                    f"{value.shown((least + most) / 2)} is usual, not {value.number}. "
                    "Nothing is impossible: it is a statistical remark."
                ),
            )
