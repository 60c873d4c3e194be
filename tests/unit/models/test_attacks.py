"""p of equal means, which asks for no law of the ranks."""

import numpy as np
import pytest
from scipy.stats import norm

from rankadjust.models.equal_means import p_of_equal_means, p_of_terms


@pytest.mark.parametrize("law", ["rare and last", "whole clusters", "one side varies more"])
def test_models_with_equal_means_hardly_ever_have_a_small_p_of_equal_means(law):
    """The p that asks for no law of the ranks: of 2,000 pairs with equal means at most 5 % below 0.05."""
    rng = np.random.default_rng(len(law))
    small = 0
    for _ in range(2000):
        triples, way = 200, np.arange(200)
        if law == "rare and last":
            differences = (rng.random(triples) < 0.02) - np.full(triples, 0.02)
        elif law == "whole clusters":
            way = np.repeat(np.arange(20), 10)
            differences = rng.choice([-1.0, 1.0], 20)[way]
        else:
            differences = np.where(rng.random(triples) < 0.1, rng.choice([-1.0, 1.0], triples), 0.0)
        small += p_of_terms(differences, [way]) <= 0.05
    assert small <= 100


def test_p_of_equal_means_by_hand():
    """Robbins's mixture over positive numbers with the scale 9, doubled: sqrt(1 + 18 / 9) exp(-z^2 / 2) / Phi(z)."""
    z = 12 / (18 + 9) ** 0.5
    assert p_of_equal_means(12.0, 18.0, 1.0) == pytest.approx(3**0.5 * np.exp(-z * z / 2) / norm.cdf(z))
    assert p_of_equal_means(0.0, 18.0, 1.0) == 1.0
    # Clusters of two: the same differences, twice as much in common.
    assert p_of_terms(np.ones(12), [np.repeat(np.arange(6), 2)]) == pytest.approx(
        (1 + 24 / 36) ** 0.5 * np.exp(-144 / 120) / norm.cdf(12 / 60**0.5)
    )
