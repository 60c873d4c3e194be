"""Moments of ranks under chance: this library beside PyKEEN 1.11.1, time and error of both.

    python benchmarks/moments_vs_pykeen.py results/candidates [--venv FOLDER]

Computes expectation and variance of PyKEEN's rank metrics on the testing splits (both sides) of Nations, Kinships and
WN18RR from results/candidates/<dataset>.parquet. PyKEEN runs in a virtual environment of its own, made in
FOLDER (default: a temporary folder) unless there is one, with its closed forms where it has them and with 10,000
samples where it simulates. Errors are relative to values with 40 digits; for the median to a plain convolution, which
is feasible for few candidates only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from mpmath import mp, mpf

from rankadjust.chance.moments import metric_moments

DATASETS = ("Nations", "Kinships", "WN18RR")
SAMPLES = 10_000
PACKAGES = ("torch==2.13.0", "pykeen==1.11.1")
METRICS = {
    "arithmetic_mean_rank": "arithmeticmeanrank",
    "inverse_harmonic_mean_rank": "inverseharmonicmeanrank",
    "hits_at_10": "hitsatk",
    "geometric_mean_rank": "geometricmeanrank",
    "inverse_geometric_mean_rank": "inversegeometricmeanrank",
    "harmonic_mean_rank": "harmonicmeanrank",
    "inverse_arithmetic_mean_rank": "inversearithmeticmeanrank",
    "median_rank": "medianrank",
    "inverse_median_rank": "inversemedianrank",
}

# Runs in PyKEEN's environment: reads {name: counts}, prints {name: {metric: [E, Var, seconds]}}.
OTHER_SIDE = """
import json, sys, time
import numpy as np
from pykeen.metrics.ranking import rank_based_metric_resolver

given = json.load(sys.stdin)
found = {}
for name, counts in given["counts"].items():
    counts = np.repeat(np.array(counts["num_candidates"]), counts["tasks"])
    found[name] = {}
    for key, other in given["metrics"].items():
        metric = rank_based_metric_resolver.make(other)
        options = {} if metric.closed_expectation else {
            "num_samples": given["samples"],
            "generator": np.random.default_rng(0),
            "memory_intense": False,
        }
        started = time.perf_counter()
        expectation = metric.expected_value(num_candidates=counts, **options)
        variance = metric.variance(num_candidates=counts, **options)
        found[name][key] = [float(expectation), float(variance), time.perf_counter() - started, bool(options)]
json.dump(found, sys.stdout)
"""

Histogram = dict[int, int]
Pair = tuple[float, float]


def prepare(folder: Path) -> Path:
    """Return the interpreter of PyKEEN's environment, which is made where it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for package in PACKAGES:
            subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    return python


def high_precision(histogram: Histogram) -> dict[str, tuple[mpf, mpf]]:
    """Return E and Var of all metrics but the medians from power sums (Hurwitz zeta) and integrals, at 40 digits."""
    total = sum(histogram.values())

    def additive(mean: Callable[[int], mpf], mean_of_squares: Callable[[int], mpf]) -> tuple[mpf, mpf]:
        variances = (m * (mean_of_squares(count) - mean(count) ** 2) for count, m in histogram.items())
        return sum(m * mean(count) for count, m in histogram.items()) / total, sum(variances) / mpf(
            total
        ) ** 2

    def geometric(sign: int) -> tuple[mpf, mpf]:
        with mp.workdps(70):
            first, second = (
                mp.exp(sum(m * mp.log(power_sum(-s, 0, count) / count) for count, m in histogram.items()))
                for s in (mpf(sign) / total, mpf(2 * sign) / total)
            )
            return first, second - first**2

    return {
        "arithmetic_mean_rank": additive(
            lambda count: mpf(count + 1) / 2, lambda count: mpf((count + 1) * (2 * count + 1)) / 6
        ),
        "inverse_harmonic_mean_rank": additive(
            lambda count: power_sum(1, 0, count) / count, lambda count: power_sum(2, 0, count) / count
        ),
        "hits_at_10": additive(
            lambda count: mpf(min(10, count)) / count, lambda count: mpf(min(10, count)) / count
        ),
        "geometric_mean_rank": geometric(1),
        "inverse_geometric_mean_rank": geometric(-1),
        "harmonic_mean_rank": reciprocal(histogram, inverse_rank_transforms(list(histogram)), power_sum),
        "inverse_arithmetic_mean_rank": reciprocal(
            histogram,
            lambda t: [mp.exp(-t) * mp.expm1(-t * count) / mp.expm1(-t) / count for count in histogram],
            lambda _, __, count: mpf(count * (count + 1)) / 2,
        ),
    }


def power_sum(power: mpf | int, low: int, high: int) -> mpf:
    """Return the sum of j^-power over low < j <= high."""
    if power == 1:
        return mp.digamma(high + 1) - mp.digamma(low + 1)
    return mp.zeta(power, low + 1) - mp.zeta(power, high + 1)


def reciprocal(
    histogram: Histogram, transforms: Callable[[mpf], list[mpf]], rank_sum: Callable[[int, int, int], mpf]
) -> tuple[mpf, mpf]:
    """Return E and Var of n / S from the integrals of E[exp(-t S)] and t E[exp(-t S)]."""
    total = sum(histogram.values())
    expected = sum(m * rank_sum(1, 0, count) / count for count, m in histogram.items())
    first, second, step, x = mpf(0), mpf(0), mpf(1) / 16, mpf(-5)
    while True:
        s = mp.exp(x - mp.exp(-x))
        logs = (
            m * mp.log(value) for m, value in zip(histogram.values(), transforms(s / expected), strict=True)
        )
        weight = step * s * (1 + mp.exp(-x)) * mp.exp(sum(logs))
        first, second, x = first + weight, second + s * weight, x + step
        if s > 2 and weight * s < mpf(10) ** -35 * second:
            break
    scale = total / expected
    return scale * first, scale**2 * (second - first**2)


def inverse_rank_transforms(counts: list[int]) -> Callable[[mpf], list[mpf]]:
    """Return t -> the means of exp(-t / j), j = 1..N: 400 ranks term by term, the others by a power series."""
    direct, terms = 400, 120
    sums = {
        count: [power_sum(power, direct, count) / mp.factorial(power) for power in range(1, terms)]
        for count in counts
        if count > direct
    }

    def transforms(t: mpf) -> list[mpf]:
        prefix = [mpf(0)]
        for rank in range(1, min(direct, max(counts)) + 1):
            prefix.append(prefix[-1] + mp.exp(-t / rank))
        return [
            (
                prefix[count]
                if count <= direct
                else prefix[direct] + count - direct + (-t) * mp.polyval(sums[count][::-1], -t)
            )
            / count
            for count in counts
        ]

    return transforms


def convolved(histogram: Histogram) -> dict[str, Pair]:
    """Return E and Var of the median and its inverse from the joint law of the middle ranks of an even number of tasks.

    One task after the other is added to the law of the number of ranks up to x with none in (x, y], for all x <= y
    that matter.
    """
    counts = np.repeat(list(histogram), list(histogram.values()))
    half = counts.size // 2
    median = metric_moments("median", list(histogram), list(histogram.values()))
    assert median.expectation is not None
    assert median.variance is not None
    reach = int(12 * median.variance**0.5) + 8
    grid = np.arange(
        max(0, int(median.expectation) - reach), min(counts.max(), int(median.expectation) + reach) + 1.0
    )
    low, high = np.triu_indices(grid.size)
    law = np.zeros((counts.size + 1, low.size))
    law[0] = 1
    for added, count in enumerate(counts, start=1):
        inside, beyond = np.minimum(grid[low] / count, 1), 1 - np.minimum(grid[high] / count, 1)
        law[1 : added + 1] = law[1 : added + 1] * beyond + law[:added] * inside
        law[0] *= beyond
    between = np.zeros((grid.size, grid.size))
    between[low, high] = law[half]
    at_least = [law[order:, low == high].sum(axis=0) for order in (half, half + 1)]
    rows, columns = np.meshgrid(np.arange(grid.size), np.arange(grid.size), indexing="ij")
    both = np.where(rows <= columns, at_least[0][:, None] - between, at_least[1][None, :])
    joint = np.diff(np.diff(both, axis=0), axis=1)
    middle = (grid[1:, None] + grid[None, 1:]) / 2
    result = {}
    for key, values in (("median_rank", middle), ("inverse_median_rank", 1 / middle)):
        mean = (joint * values).sum()
        result[key] = (float(mean), float((joint * (values - mean) ** 2).sum()))
    return result


def own(histogram: Histogram) -> dict[str, tuple[float, float, float]]:
    found = {}
    for key in METRICS:
        started = time.perf_counter()
        moments = metric_moments(key, list(histogram), list(histogram.values()))
        seconds = time.perf_counter() - started
        assert moments.expectation is not None
        assert moments.variance is not None
        found[key] = moments.expectation, moments.variance, seconds
    return found


def error(found: float, expected: mpf | float | None) -> str:
    return "      –" if expected is None else f"{float(abs(mpf(found) / expected - 1)):7.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("candidates", type=Path, help="results/candidates")
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "rankadjust-pykeen")
    arguments = parser.parse_args()
    mp.dps = 40
    histograms: dict[str, Histogram] = {}
    for name in DATASETS:
        counted = pl.read_parquet(arguments.candidates / f"{name}.parquet")
        frame = counted.filter(protocol="filtered", split="testing")
        pooled = frame.group_by("num_candidates").agg(pl.col("tasks").sum()).sort("num_candidates")
        histograms[name] = dict(pooled.iter_rows())
    request = {
        "counts": {
            name: {"num_candidates": list(histogram), "tasks": list(histogram.values())}
            for name, histogram in histograms.items()
        },
        "metrics": METRICS,
        "samples": SAMPLES,
    }
    answer = subprocess.run(
        [prepare(arguments.venv), "-c", OTHER_SIDE],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    theirs = json.loads(answer.stdout.splitlines()[-1])
    metric_moments("ndcg", [3])  # the first call imports and prepares
    print("relative errors of E and Var; seconds for both; s: simulated with 10,000 samples")
    print(f"{'':40} {'this library':>25} {'PyKEEN 1.11.1':>27} {'faster':>9}")
    for name, histogram in histograms.items():
        exact: dict[str, tuple[mpf | float, mpf | float]] = dict(high_precision(histogram))
        if max(histogram) <= 200 and sum(histogram.values()) % 2 == 0:
            exact |= convolved(histogram)
        print(f"{name}: {sum(histogram.values()):,} tasks, {len(histogram)} distinct counts")
        for key, (expectation, variance, seconds) in own(histogram).items():
            other_expectation, other_variance, other_seconds, simulated = theirs[name][key]
            known = exact.get(key, (None, None))
            print(
                f"  {key:38} {error(expectation, known[0])} {error(variance, known[1])} {seconds:8.4f} s"
                f" {error(other_expectation, known[0])} {error(other_variance, known[1])}"
                f" {other_seconds:8.3f} {'s' if simulated else ' '} {other_seconds / seconds:10,.1f} x"
            )


if __name__ == "__main__":
    main()
