"""How MRR goes with Hits@1, 3 and 10 in the literature: a statistical remark, and never a contradiction.

Of the values of one ranking any three leave the fourth some room, but models use little of it: over 553 published
results a linear function of the Hits gives MRR with a residual whose standard deviation is 0.0019. The coefficients
are fitted by `benchmarks/usual_mrr.py`, which also says how often rows are flagged, each source with coefficients of
the others.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.consistency.statements import TaskCounts
from rankadjust.literature.findings import Finding, PrintedValue

HITS = ("hits_at_1", "hits_at_3", "hits_at_10")
MRR = "inverse_harmonic_mean_rank"
# Constant, and factors of Hits@1, 3 and 10.
COEFFICIENTS = (0.00553, 0.52587, 0.28095, 0.18733)
# What is further off, rounding aside, is told: five standard deviations.
FAR = 0.01
# Among fewer candidates chance has a part in all four.
LEAST_CANDIDATES = 200


def usual_mrr(hits: Sequence[float]) -> float:
    """Return the MRR that usually goes with some Hits@1, 3 and 10.

    >>> round(usual_mrr([0.25, 0.37, 0.53]), 3)
    0.34
    """
    constant, *factors = COEFFICIENTS
    return constant + float(np.dot(factors, hits))


def unusual(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> Iterator[Finding]:
    """Yield a remark for each MRR that is further from the usual one than rounding and FAR explain."""
    known = {(value.side, value.metric.key): value for value in values if value.adjustment is None}
    for (side, key), value in known.items():
        hits = [known[side, name] for name in HITS if (side, name) in known]
        if key != MRR or len(hits) < len(HITS) or not LEAST_CANDIDATES <= tasks[side].most < np.inf:
            continue
        least, most = (usual_mrr([getattr(one, end) for one in hits]) for end in ("low", "high"))
        excess = max(least - value.high, value.low - most) - FAR
        if excess > 0:
            yield Finding(
                row=value.row,
                severity="unusual",
                bound="usual",
                limit=(least + most) / 2,
                excess=excess,
                values="; ".join(one.text for one in (value, *hits)),
                message=(
                    f"With {listed(one.text for one in hits)} an MRR of about "
                    f"{value.shown((least + most) / 2)} is usual, not {value.number}. "
                    "Nothing is impossible: it is a statistical remark."
                ),
            )
