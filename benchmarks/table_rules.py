"""Measure how much each rule of reading tables adds: read three collections of tables without the rule.

Usage: python -m benchmarks.table_rules PUBLISHED SECOND ODD (ten minutes of one core)

PUBLISHED and SECOND are the collections of `table_reading` and `table_facts`; ODD is a folder of made-up tables, each
with one difficulty. There is a line for each rule. For PUBLISHED it counts the values that are right in all eight
fields, without and with sidecars, and the labels that are wrong and not named in `assumed`. For SECOND it counts the
values that are right without help, and the values that are wrong without a mark or lost. At last it counts the changed
values of the tests' tables (tests/data/tables) and of ODD.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.table_facts import measure
from benchmarks.table_reading import FIELDS, ROOT, scores
from rankadjust.base.errors import RankadjustError
from rankadjust.tables import (
    cells,
    columns,
    conventions,
    files,
    layout,
    reading,
    rows,
    sheet,
    tokens,
    units,
    values,
)
from rankadjust.tables.formats import grid, logs, markdown, tools
from rankadjust.tables.reading import read_tables


def _same(value: object, *_: object) -> object:
    return value


def _nothing(*_: object) -> None:
    return None


def _no(_: object) -> bool:
    return False


def _no_rows(_: object) -> list[Any]:
    return []


def _unchanged(_: object, facts: object, model: object, *__: object) -> tuple[object, object]:
    return facts, model


def _no_facts(*_: object) -> tokens.Facts:
    return tokens.Facts()


_NEVER = re.compile("(?!)")
# A rule: the place of its code, and the replacement that switches it off.
RULES: Mapping[str, Sequence[tuple[Any, str, Any]]] = {
    "nothing switched off": [],
    "a header may stand below the first row": [(sheet, "_LOOK_AHEAD", 0)],
    "a row of names under an empty corner is header": [(sheet.Header, "_is_header", lambda *_: False)],
    "a column of metrics: long tables": [(columns, "_LONG", frozenset())],
    "merged cells of a spreadsheet": [(sheet.Header, "_fill_merged", lambda _, texts, *__: texts)],
    "AUC may be of classification": [(tokens, "_metric_of_ranks", tokens.metric_key)],
    "a header begins again": [(reading, "below_each_other", lambda one, _: [one])],
    "rows that divide the table": [(rows, "_section", _nothing)],
    "an empty name is that above": [(rows, "LABEL_ROLES", ())],
    "rows and columns of differences": [(rows, "is_difference", lambda _: False)],
    "metric around the table": [(layout, "metric_around", _no_facts)],
    "data set in the corner": [(rows, "_corner", _no_facts)],
    "data set around the table": [(layout, "dataset_around", _no_facts)],
    "another task around the table": [(layout, "task_around", _no_facts)],
    "percent around the table": [(layout, "percent_around", _nothing)],
    "unknown words beside metrics are data sets": [(layout, "with_unknown_words", _same)],
    "data sets within the names of models": [(layout, "with_datasets_in_names", _same)],
    "rows that lost their merged cells": [(reading, "moved_back", _same)],
    "labels that are data sets, splits or sides": [(columns, "_role_of_labels", lambda *_: "model")],
    "a number in the name of a model": [(rows, "_NUMBER_AT_END", _NEVER)],
    "an unknown row ends a section": [(rows._Sections, "divides", lambda *_: False)],
    "unknown headers are names": [(layout, "with_unknown_headers", lambda _, columns, *__: columns)],
    "k below Hits@": [(tokens, "_with_joined_k", _same)],
    "footnote letters": [(tokens, "_FOOTNOTE", re.compile("(?!)(.)(.)"))],
    "former keys of PyKEEN": [(tokens, "_FORMER", {key: key for key in tokens._FORMER})],
    "protocol and side of a benchmark": [(conventions, "_convention", lambda facts, _: (facts, {}))],
    "protocol of PyKEEN": [(conventions, "_PYKEEN", _NEVER)],
    "rows of a model told apart": [(reading, "tell_apart", lambda _: [])],
    "nothing stands twice": [(reading, "refuse_repeated", lambda values, _: values)],
    "decimal signs of the file": [(units, "_settle_sign", _nothing)],
    "tables side by side": [(files, "side_by_side", lambda one: [one])],
    "frames of pandas in JSON": [(tools, "_frame", _no_rows)],
    "lists of Hits of LibKGE": [(tools, "_LISTED_HITS", _NEVER)],
    "raw and filtered of LibKGE": [(conventions, "_of_libkge", _nothing)],
    "titles of the lines of a log": [(logs, "_TITLE", _NEVER)],
    "header text is a version or a variant": [(values.Reader, "_with_variant", _unchanged)],
    "a metric beside unknown words is named": [(tokens, "_beside_unknown", _nothing)],
    "brackets in headers": [(tokens, "_with_brackets", _nothing)],
    "metrics that a page has hidden": [(columns, "_HIDDEN", _NEVER)],
    "columns have roles by what they hold": [(columns, "_settle_label_roles", lambda *_: {})],
    "numbers outside what a metric may be": [(units, "_impossible", lambda *_: {})],
    "several values in a cell": [(cells, "several_numbers", _no), (values, "several_numbers", _no)],
    "letters beside metrics are sides": [(layout, "with_sides_of_pairs", _same)],
    "protocol around the table": [(layout, "protocol_around", _no_facts)],
    "a caption is of one table": [(grid, "is_caption", _no), (markdown, "is_caption", _no)],
    "names above metrics are data sets": [(columns, "_ONE_NAME", _NEVER)],
    "labels within a cell": [(values, "labelled_numbers", _no_rows)],
    "results without a metric are named": [(values, "_is_result", _no)],
    "units and columns that no ranks allow": [(units, "_possible", lambda *given: given[-1])],
    "the Hits share a unit": [(units, "_share_unit_of_hits", _nothing)],
    "a version beside its data set": [(rows, "_VERSION", _NEVER)],
    "numbers of rows": [(columns, "_is_numbering", _no)],
    "facts among the pairs of a line": [(logs, "_FIELD", _NEVER)],
}


def ablation(published: Path, second: Path, odd: Path) -> Iterator[tuple[Any, ...]]:
    """Yield for each rule its name and the counts of the docstring above."""
    usual: list[Counter[Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.yaml"
        empty.write_text("")
        for rule, places in RULES.items():
            with ExitStack() as off:
                for where, name, value in places:
                    off.enter_context(patch.object(where, name, value))
                for cached in (tokens.read_header, tokens._read_stack):
                    cached.cache_clear()
                bare, silent = scores(published, None, empty)
                full, silent_too = scores(published, ROOT / "tests" / "data" / "sidecars", empty)
                known: Counter[str] = sum((counts for _, counts, _ in measure(second, None)), Counter())
                found = [_values(ROOT / "tests" / "data" / "tables"), _values(odd)]
            usual = usual or found
            changed = [max((a - b).total(), (b - a).total()) for a, b in zip(usual, found, strict=True)]
            silent_or_lost = known["silent"] + known["lost"]
            yield (
                rule,
                bare["all"],
                full["all"],
                len(silent) + len(silent_too),
                known["right"],
                silent_or_lost,
                *changed,
            )


def _values(folder: Path) -> Counter[Any]:
    """Return the values that are read from the tables of a folder, and the cells that are left unread."""
    found: Counter[Any] = Counter()
    for path in sorted(folder.iterdir()):
        if path.suffix == ".yaml" or path.name in ("quirks.csv", "expected.csv", "README.md"):
            continue
        try:
            read = read_tables(path)
        except RankadjustError as error:
            found[path.name, str(error)] += 1
            continue
        shown = (*FIELDS, "ties", "spread")
        found.update((path.name, *row) for row in read.values.select(shown).iter_rows())
    return found


def main() -> None:
    """Print the lines."""
    names = "rule,without_sidecars,with_sidecars,silent,second_right,second_silent_or_lost,tests_changed,odd_changed"
    print(names)
    for line in ablation(*map(Path, sys.argv[1:])):
        print(",".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in line), flush=True)


if __name__ == "__main__":
    main()
