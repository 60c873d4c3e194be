"""Make high_precision.json: moments at 50 digits, by other formulas than the library's.

Run `python tests/data/moments/high_precision.py` (needs mpmath, takes some minutes). Each value is stored with the
expression it comes from, in which the sum over N runs over the histogram {N: m} and n is the number of tasks.
"""

import json
from itertools import pairwise
from math import comb
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 50

HISTOGRAMS = {
    "small": {1: 1, 2: 1, 3: 1, 1000: 1},
    "few": {7: 2, 1000: 3},
    "constant": {14505: 41000},
    "million": {1000000: 1000000},
    "mixed": {1: 1, 21: 5000, 14000: 300000, 1000000: 695000},
    "many": {104: 10000000},
}
MEDIANS = {"even": {60: 12, 23: 8}, "split": {5: 10, 70: 10}, "uneven": {3: 11, 70: 9}}


def power_sum(p, low, high):
    """Return the sum of j^-p over low < j <= high."""
    if p == 1:
        return mp.digamma(high + 1) - mp.digamma(low + 1)
    return mp.zeta(p, low + 1) - mp.zeta(p, high + 1)


def additive(histogram, first, second):
    n = sum(histogram.values())
    expectation = sum(m * first(count) for count, m in histogram.items()) / n
    variance = sum(m * (second(count) - first(count) ** 2) for count, m in histogram.items()) / mpf(n) ** 2
    return expectation, variance


def mean_gains(histogram, power):
    """Return the mean over 1..N of (1 / log2(1 + j))^power for each N, summed term by term."""
    means, total = {}, mpf(0)
    for low, high in pairwise([0, *sorted(histogram)]):
        total += mp.fsum((mp.log(2) / mp.log(1 + j)) ** power for j in range(low + 1, high + 1))
        means[high] = total / high
    return means


def geometric(histogram, sign):
    n = sum(histogram.values())

    def moment(s):
        power = mpf(s) / n
        # Zeta functions that are nearly equal are subtracted: 30 digits more.
        with mp.workdps(80):
            return mp.exp(
                sum(m * mp.log(power_sum(-power, 0, count) / count) for count, m in histogram.items())
            )

    return moment(sign), moment(2 * sign) - moment(sign) ** 2


def reciprocal(histogram, transform, mean, smallest):
    """Return E and Var of n / S from the integrals, by a double-exponential rule with step 1/20 up to t min S = 120."""
    n = sum(histogram.values())
    total = sum(m * mean(count) for count, m in histogram.items())
    least = sum(m * smallest(count) for count, m in histogram.items())
    first, second, step, x = mpf(0), mpf(0), mpf(1) / 20, mpf(-5)
    while True:
        s = mp.exp(x - mp.exp(-x))
        t = s / total
        if t * least > 120:
            break
        logs = sum(m * mp.log(transform(count, t)) for count, m in histogram.items())
        weight = step * s * (1 + mp.exp(-x)) * mp.exp(logs)
        first, second, x = first + weight, second + s * weight, x + step
    scale = n / total
    return scale * first, scale**2 * (second - first**2)


def rank_transform(count, t):
    return mp.exp(-t) * mp.expm1(-t * count) / mp.expm1(-t) / count


def inverse_rank_transform(count, t):
    """Return the mean of exp(-t / j): term by term up to 4 t + 40, then by the power series of exp."""
    direct = min(count, int(4 * t) + 40)
    total = mp.fsum(mp.exp(-t / j) for j in range(1, direct + 1)) + count - direct
    factor, p = mpf(1), 0
    while direct < count:
        p += 1
        factor *= -t / p
        part = factor * power_sum(p, direct, count)
        total += part
        if abs(part) < mpf(10) ** -55 * total:
            break
    return total / count


def medians(histogram):
    """Return E and Var of the median and its inverse from the exact joint law of the middle ranks of two groups."""
    (n1, m1), (n2, m2) = histogram.items()
    half, top = (m1 + m2) // 2, max(n1, n2)

    def passed(k, a, b):
        """Return n1^m1 n2^m2 P(k ranks up to a, the others beyond b)."""
        low1, low2, high1, high2 = min(a, n1), min(a, n2), max(n1 - b, 0), max(n2 - b, 0)
        return sum(
            comb(m1, i)
            * low1**i
            * high1 ** (m1 - i)
            * comb(m2, k - i)
            * low2 ** (k - i)
            * high2 ** (m2 - k + i)
            for i in range(max(0, k - m2), min(m1, k) + 1)
        )

    ranks = range(top + 1)
    at_least = {
        k: [sum(passed(i, a, a) for i in range(k, m1 + m2 + 1)) for a in ranks] for k in (half, half + 1)
    }
    # P(X <= a, Y <= b) of the middle ranks X <= Y.
    both = [
        [at_least[half][a] - passed(half, a, b) if a <= b else at_least[half + 1][b] for b in ranks]
        for a in ranks
    ]
    joint = {
        (a, b): both[a][b] - both[a - 1][b] - both[a][b - 1] + both[a - 1][b - 1]
        for a in range(1, top + 1)
        for b in range(a, top + 1)
    }
    scale = mpf(n1) ** m1 * mpf(n2) ** m2
    values = []
    for function in (lambda s: s, lambda s: 1 / s):
        first = mp.fsum(w * function(mpf(a + b) / 2) for (a, b), w in joint.items()) / scale
        second = mp.fsum(w * function(mpf(a + b) / 2) ** 2 for (a, b), w in joint.items()) / scale
        values.append((first, second - first**2))
    return values


def records():
    for name, histogram in HISTOGRAMS.items():
        gains = mean_gains(histogram, 1), mean_gains(histogram, 2)
        yield (
            name,
            "inverse_harmonic_mean_rank",
            "power_sum(1, 0, N) / N and power_sum(2, 0, N) / N",
            additive(histogram, lambda c: power_sum(1, 0, c) / c, lambda c: power_sum(2, 0, c) / c),
        )
        yield (
            name,
            "ndcg",
            "fsum of (log 2 / log(1 + j))^p, j <= N, p = 1, 2",
            additive(histogram, gains[0].get, gains[1].get),
        )
        for key, sign in (("geometric_mean_rank", 1), ("inverse_geometric_mean_rank", -1)):
            expression = f"E[M^s] = exp(sum m log((zeta(-a) - zeta(-a, N + 1)) / N)), a = s / n, s = {sign}, {2 * sign}"
            yield name, key, expression, geometric(histogram, sign)
        yield (
            name,
            "inverse_arithmetic_mean_rank",
            "n int P dt, n^2 int t P dt, P = prod (e^-t (1 - e^(-t N)) / ((1 - e^-t) N))^m",
            reciprocal(histogram, rank_transform, lambda c: mpf(c + 1) / 2, lambda _: mpf(1)),
        )
        yield (
            name,
            "harmonic_mean_rank",
            "n int P dt, n^2 int t P dt, P = prod (fsum(e^(-t / j), j <= N) / N)^m",
            reciprocal(
                histogram, inverse_rank_transform, lambda c: power_sum(1, 0, c) / c, lambda c: mpf(1) / c
            ),
        )
    for name, histogram in MEDIANS.items():
        keys = ("median_rank", "inverse_median_rank")
        for key, values in zip(keys, medians(histogram), strict=True):
            yield name, key, "exact joint law of the two middle ranks, in whole numbers", values


def main():
    stored = [
        {
            "histogram": (HISTOGRAMS | MEDIANS)[name],
            "metric": key,
            "expression": expression,
            "expectation": mp.nstr(expectation, 30),
            "variance": mp.nstr(variance, 30),
        }
        for name, key, expression, (expectation, variance) in records()
    ]
    Path(__file__).with_suffix(".json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
