"""Compare values with each other: protocols of tools and benchmarks, rows of the same model, repeated values."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

from rankadjust.base.words import folded
from rankadjust.counting.protocols import Benchmark
from rankadjust.tables.cells import is_numeric
from rankadjust.tables.tokens import EVALUATION, Facts, is_bookkeeping, role_of
from rankadjust.tables.values import States, Value

# Optuna's tables of trials put this before PyKEEN's keys. PyKEEN judges trials on validation triples.
_TRIAL = "user_attrs_"
# The keys of PyKEEN's results, which come from its own evaluation.
_PYKEEN = re.compile(
    rf"^{_TRIAL}(?:avg|best|worst)\.|(?:^|\.|^{_TRIAL})(?:both|head|tail)\.(?:realistic|optimistic|pessimistic|avg|best|worst)\b"
    r"|(?:^|\.)adjusted_mean_rank(?:_index)?\.(?:both|head|tail)$"
)
# The columns of PyKEEN's MetricResults.to_df(), and of the tables of its ablation studies.
_PYKEEN_COLUMNS = ({"Side", "Type", "Metric"}, {"evaluator", "training_loop"})
# LibKGE's keys: raw ranks, and filtered ranks, which on validation data ignore the test set.
_LIBKGE = re.compile(r"(?:mean_rank|mean_reciprocal_rank|hits_at_\d+)(?P<filtered>_filtered)?")


def apply_conventions(values: Sequence[Value], benchmarks: Sequence[Benchmark]) -> None:
    """Give values without a protocol the protocol of their tool or benchmark, and the side if it has a single side.

    A benchmark with several protocols prescribes none of them.
    """
    by_dataset: dict[str | None, list[Benchmark]] = defaultdict(list)
    for benchmark in benchmarks:
        by_dataset[benchmark.dataset].append(benchmark)
    done: dict[Facts, tuple[Facts, dict[str, str]]] = {}
    headers = {value.header for value in values}
    for value in values:
        facts = value.facts
        if protocol := _of_libkge(value, headers):
            value.facts = replace(facts, protocol=protocol)
            if protocol == "raw":
                value.assumed["protocol"] = "raw, as LibKGE writes it beside filtered"
        elif facts.protocol is None and _is_of_pykeen(value):
            value.facts = replace(facts, protocol="pykeen")
            value.assumed["protocol"] = "of PyKEEN, whose keys these are"
            if facts.split is None and value.header.startswith(_TRIAL):
                value.facts = replace(value.facts, split="validation")
                value.assumed["split"] = "of PyKEEN's trials"
        if known := by_dataset.get(facts.dataset):
            if value.facts not in done:
                done[value.facts] = _convention(value.facts, known)
            value.facts, why = done[value.facts]
            value.assumed |= why


def _is_of_pykeen(value: Value) -> bool:
    has_columns = any(value.labels.keys() >= columns for columns in _PYKEEN_COLUMNS)
    return _PYKEEN.search(value.header) is not None or has_columns


def _of_libkge(value: Value, headers: Set[str]) -> str | None:
    """Return the protocol that LibKGE means by the key of a value; headers: all keys of the file.

    LibKGE (kge/job/entity_ranking.py) writes raw ranks, ranks filtered with `filter_splits`, and, under keys that end
    in _filtered_with_test, ranks filtered with the test set too. A plain key means raw ranks only if the file also has
    the filtered key.
    """
    match = _LIBKGE.fullmatch(value.header)
    if not match:
        return None
    if match["filtered"]:
        is_cumulative = value.facts.split == "validation" and not value.stated.protocol
        return "filtered-cumulative" if is_cumulative else None
    is_raw = value.facts.protocol is None and f"{value.header}_filtered" in headers
    return "raw" if is_raw else None


def _convention(facts: Facts, known: Sequence[Benchmark]) -> tuple[Facts, dict[str, str]]:
    keys = [
        key for convention in known for key in convention.metrics if key.startswith(f"{facts.metric}_at_")
    ]
    why = {"metric": f"as printed, though the evaluator of {facts.dataset} gives {keys[0]}"} if keys else {}
    names = [benchmark.protocol.name for benchmark in known]
    if facts.protocol is not None:
        return facts, why
    if len(known) > 1:
        why["protocol"] = f"filtered by default, though {facts.dataset} is ranked under {' or '.join(names)}"
        return facts, why
    why["protocol"] = f"{names[0]} from the benchmark"
    side = facts.side
    if side is None and len(known[0].sides) == 1:
        side = known[0].sides[0]
        why["side"] = f"{side} from the benchmark"
    return replace(facts, protocol=names[0], side=side), why


def tell_apart(values: Sequence[Value]) -> list[str]:
    """Name rows apart that have the same model, by adding the labels that differ in brackets; return the rest.

    Rows have the same model where they agree in everything but their number. A name that a sidecar states is kept. The
    returned remarks report the rows whose labels do not differ.
    """
    groups: dict[tuple[Any, ...], dict[int, Value]] = defaultdict(dict)
    for value in values:
        groups[value.key()][value.cell[0]] = value
    telling: set[str] | None = None
    added: dict[tuple[str | None, int], tuple[str, str]] = {}
    repeated: dict[str | None, int] = {}
    for rows in groups.values():
        if len(rows) == 1:
            continue
        telling = _configuration(values) if telling is None else telling
        model = next(iter(rows.values())).model
        headers = _telling_headers(list(rows.values()), telling)
        if not headers or any(value.patterned for value in rows.values()):
            repeated[model] = max(repeated.get(model, 0), len(rows))
            continue
        for row, value in rows.items():
            words = [_described(header, value.labels[header]) for header in headers]
            why = f"told apart by {', '.join(headers)}"
            added[model, row] = ", ".join(filter(None, words)), why
    reasons = dict.fromkeys(why for _, why in added.values())
    for value in values:
        suffix, why = added.get((value.model, value.cell[0]), ("", ""))
        if suffix:
            value.model = f"{value.model} ({suffix})" if value.model else suffix
            value.assumed["model"] = why
        elif reasons and not value.patterned:
            value.assumed.setdefault("model", f"as printed, where others are {'; '.join(reasons)}")
    return [
        f"{count} rows of '{model or ''}' have the same data set, split, side, protocol and metric"
        for model, count in repeated.items()
    ]


def _configuration(values: Sequence[Value]) -> set[str]:
    """Return the label columns that may distinguish models: no metrics, row numbers, or costs such as time or size."""
    columns: dict[str, dict[int, str]] = defaultdict(dict)
    for value in values:
        for header, text in value.labels.items():
            if text != value.facts.metric_as_printed:
                columns[header][value.cell[0]] = text
    return {
        header
        for header, texts in columns.items()
        if not any(map(is_bookkeeping, header.split(" / ")))
        and not (role_of(header) == "other" and len(set(texts.values())) == len(texts) > 2)
    }


def _telling_headers(rows: Sequence[Value], telling: set[str]) -> list[str]:
    """Return a few label columns, chosen from the left, that together distinguish all these rows; empty if none do."""

    def distinct(headers: Iterable[str]) -> int:
        headers = list(headers)
        return len({tuple(value.labels[header] for header in headers) for value in rows})

    chosen: list[str] = []
    for header in rows[0].labels:
        if header in telling and all(header in value.labels for value in rows):
            chosen += [header] if distinct([*chosen, header]) > distinct(chosen) else []
    return chosen if distinct(chosen) == len(rows) else []


def _described(header: str, text: str) -> str:
    """Return a label as part of a name: numbers, yes and no get their header, without which nobody understands them."""
    if text and (is_numeric(text) or folded(text) in ("yes", "no", "true", "false")):
        return f"{header if header.isupper() else header.lower()} {text}"
    return text


def refuse_repeated(values: Sequence[Value], states: States) -> list[Value]:
    """Return the values that are alone in their line of a model with their evaluation; mark the others as unread.

    One value of several is read only if the table states all facts that it states of the others, and more: 'MR@filter'
    beside 'Mean Rank' is read, and 'Mean Rank', which may be raw, is not.
    """
    lines: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        lines[value.model_line, value.key()].append(value)
    for same in lines.values():
        if len(same) == 1:
            continue
        left = sorted(same, key=lambda value: len(_stated(value.facts)))
        while len(left) > 1:
            here, *others = [_stated(value.facts) for value in left]
            is_plain = all(here < stated for stated in others)
            unclear = left[:1] if is_plain else left
            names = "', '".join(dict.fromkeys(value.header for value in left))
            for value in unclear:
                states[value.cell] = "unread", f"nothing says in what '{names}' differ; state it in a sidecar"
            left = left[len(unclear) :]
    return [value for value in values if states[value.cell][0] == "value"]


def _stated(facts: Facts) -> set[str]:
    return {name for name in EVALUATION if getattr(facts, name) is not None}
