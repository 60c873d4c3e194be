"""Write the accuracy table of docs/methods.md.

    python benchmarks/moments_accuracy.py [docs/methods.md]

Compares the library with stored values at 50 digits (tests/data/moments/high_precision.json) and with identities
for one and two tasks, and writes the largest relative errors of each metric between two marks in the document.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mpmath import mp, mpf

from rankadjust.base.files import write_text
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "data" / "moments" / "high_precision.json"
BEGIN, END = "<!-- accuracy: begin -->", "<!-- accuracy: end -->"
COUNTS = (2, 3, 10, 1000, 10**6, 10**8)


@dataclass(frozen=True)
class Case:
    """Moments that are known, of a metric and a histogram {N: m}."""

    metric: str
    histogram: dict[int, int]
    expectation: mpf
    variance: mpf


def stored() -> Iterator[Case]:
    for case in json.loads(STORED.read_text(encoding="utf-8")):
        histogram = {int(count): tasks for count, tasks in case["histogram"].items()}
        yield Case(case["metric"], histogram, mpf(case["expectation"]), mpf(case["variance"]))


def rank(count: int, tasks: int) -> tuple[mpf, mpf]:
    return mpf(count + 1) / 2, mpf(count**2 - 1) / 12 / tasks


def inverse_rank(count: int) -> tuple[mpf, mpf]:
    mean = (mp.digamma(count + 1) + mp.euler) / count
    return mean, (mp.zeta(2) - mp.zeta(2, count + 1)) / count - mean**2


def identities() -> Iterator[Case]:
    for count in COUNTS:
        for tasks in (1, 2, 10**7):
            yield Case("arithmetic_mean_rank", {count: tasks}, *rank(count, tasks))
        for metric in ("geometric_mean_rank", "harmonic_mean_rank", "median_rank"):
            yield Case(metric, {count: 1}, *rank(count, 1))
        yield Case("median_rank", {count: 2}, *rank(count, 2))
        for metric in (
            "inverse_harmonic_mean_rank",
            "inverse_geometric_mean_rank",
            "inverse_arithmetic_mean_rank",
            "inverse_median_rank",
        ):
            yield Case(metric, {count: 1}, *inverse_rank(count))
        for k in (1, 10):
            share = mpf(min(k, count)) / count
            variance = share * (1 - share)
            yield Case(f"hits_at_{k}", {count: 10**7}, share, variance / 10**7)


def error(found: float | None, expected: mpf) -> float:
    if expected == 0 or found is None:
        return 0.0 if found == expected else float("inf")
    return float(abs(mpf(found) / expected - 1))


def table(cases: list[Case]) -> str:
    """Return the largest errors of each metric as a Markdown table."""
    worst: dict[str, list[tuple[float, float, int, int]]] = {}
    methods: dict[str, str] = {}
    for case in cases:
        found = metric_moments(case.metric, list(case.histogram), list(case.histogram.values()))
        label = resolve(case.metric).label
        errors = error(found.expectation, case.expectation), error(found.variance, case.variance)
        sizes = sum(case.histogram.values()), max(case.histogram)
        worst.setdefault(label, []).append((*errors, *sizes))
        methods[label] = found.method
    lines = [
        "| metric | method | cases | n up to | N up to | error of E | error of Var |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, rows in worst.items():
        expectation, variance, tasks, count = (max(column) for column in zip(*rows, strict=True))
        sizes = f"{len(rows)} | {tasks:.0e} | {count:.0e}"
        lines.append(f"| {label} | {methods[label]} | {sizes} | {expectation:.0e} | {variance:.0e} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", nargs="?", type=Path, default=ROOT / "docs" / "methods.md")
    document = parser.parse_args().document
    mp.dps = 50
    text = document.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    result = table([*identities(), *stored()])
    write_text(f"{before}{BEGIN}\n\n{result}\n\n{END}{after}", document)
    print(result)


if __name__ == "__main__":
    main()
