"""What a benchmark prescribes where a table is silent: its protocol and side, and which metric it prints."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankadjust.counting.protocols import Benchmark
from rankadjust.tables.values import Value


def apply_conventions(values: Sequence[Value], benchmarks: Sequence[Benchmark]) -> list[str]:
    """Give values without a protocol that of their benchmark, and its side if it has only one; return what was done.

    A benchmark with several protocols prescribes none of them.
    """
    by_dataset: dict[str, list[Benchmark]] = defaultdict(list)
    for benchmark in benchmarks:
        by_dataset[benchmark.dataset].append(benchmark)
    done: dict[str, None] = {}
    for value in values:
        known = by_dataset.get(value.facts.dataset or "", [])
        if not known:
            continue
        done |= dict.fromkeys(_about_metric(value, known))
        if value.facts.protocol is not None:
            continue
        names = [benchmark.protocol.name for benchmark in known]
        if len(known) > 1:
            done[f"{value.facts.dataset} is ranked under {' or '.join(names)}; state which in a sidecar"] = (
                None
            )
            continue
        sides = known[0].sides
        side = sides[0] if value.facts.side is None and len(sides) == 1 else value.facts.side
        value.facts = replace(value.facts, protocol=names[0], side=side)
        shown = f"protocol {names[0]}" + (f" and side {side}" if len(sides) == 1 else "")
        done[f"{shown} taken from the benchmark {value.facts.dataset}"] = None
    return list(done)


def _about_metric(value: Value, benchmarks: Sequence[Benchmark]) -> Iterator[str]:
    """Say where the metrics of a benchmark are cut at a rank that the header does not name."""
    metric = value.facts.metric or ""
    for key in (key for benchmark in benchmarks for key in benchmark.metrics):
        if key.startswith(f"{metric}_at_"):
            yield f"the evaluator of {value.facts.dataset} gives {key}; state this metric if these values are from it"
