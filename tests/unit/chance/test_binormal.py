"""The table of docs/methods.md, "What the index is not": one scorer among more and more candidates."""

import numpy as np
import pytest
from scipy.special import ndtr

from rankadjust import EvaluationSet

SHIFT = 2.5


def mean_reciprocal_rank(candidates):
    """Return E 1/r, where r - 1 is binomial with the chance that a wrong answer beats a true score s: the integral of
    (1 - (1 - p)^N) / (N p) over the law of s.
    """
    score, step = np.linspace(-8, SHIFT + 10, 4001, retstep=True)
    beaten = ndtr(-score)
    share = -np.expm1(candidates * np.log1p(-beaten)) / (candidates * beaten)
    density = np.exp(-((score - SHIFT) ** 2) / 2) / (2 * np.pi) ** 0.5
    return float(step * (density @ share))


@pytest.mark.parametrize("candidates", [14, 100, 1000, 14_541, 100_000])
def test_one_scorer_has_another_index_of_mrr_for_each_number_of_candidates(project, candidates):
    values = EvaluationSet.constant(candidates=candidates, tasks=1000)
    beaten = float(ndtr(-SHIFT / 2**0.5))
    mrr, mean_rank = mean_reciprocal_rank(candidates), 1 + (candidates - 1) * beaten
    of_mrr, of_rank = values.adjust(mrr=mrr, mr=mean_rank)["index"]
    line = f"| {candidates:,} | {mrr:.3f} | {of_mrr:.2f} | {of_rank:.2f} |"
    assert line in (project / "docs" / "methods.md").read_text(encoding="utf-8")
    assert of_rank == pytest.approx(2 * ndtr(SHIFT / 2**0.5) - 1)
