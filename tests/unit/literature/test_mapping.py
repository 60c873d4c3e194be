"""Mapping of printed words: an example of each word and rule of config/published.yaml, and near misses.

tests/data/published/mapped_words.csv has the examples: words of a source, from the shipped tables, and what becomes of
them. The rows without a rule look alike and must stay as the general words have them.
"""

from pathlib import Path

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import load_registry
from rankadjust.literature.mapping import load_rules, map_words

RULES = load_rules()
PROJECT = Path(__file__).parents[3]
EXAMPLES = pl.read_csv(PROJECT / "tests/data/published/mapped_words.csv", infer_schema=False).to_dicts()


PLAIN = {name: pl.lit(cell) for name, cell in (("dataset", "WN18RR"), ("metric", "mrr"), ("value", "0.3"))}


def mapped(row, rules=RULES):
    frame = pl.DataFrame({"dataset": "WN18RR", "metric": "mrr", "value": "0.3"} | row, strict=False)
    return map_words(frame.with_columns(pl.all().cast(pl.String)), rules).row(0, named=True)


def without(name):
    return type(RULES)(RULES.words, tuple(r for r in RULES.rules if r["name"] != name), RULES.adjusted)


def test_every_rule_has_an_example():
    assert [rule["name"] for rule in RULES.rules] == [row["rule"] for row in EXAMPLES if row["rule"]]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda row: row["rule"])
def test_rule(example):
    row = {column: word for column, word in example.items() if word and column not in ("rule", "becomes")}
    expected = dict(entry.split("=", 1) for entry in example["becomes"].split(" | "))
    expected = {column: word or None for column, word in expected.items()}
    result = mapped(row)
    assert {column: result[column] for column in expected} == expected
    if example["rule"]:
        fewer = mapped(row, without(example["rule"]))
        assert {column: fewer[column] for column in expected} != expected


# Which task a table is about is read with its headers: tests/unit/tables/test_odd_tables.py.
@pytest.mark.parametrize("column", sorted(RULES.words.keys() - {"task"}))
def test_words(column):
    words = RULES.words[column]
    others = {name: cell for name, cell in PLAIN.items() if name != column}
    found = map_words(pl.DataFrame({column: list(words)}).with_columns(**others), RULES)
    assert dict(found.select(f"{column}_as_printed", column).iter_rows()) == words


@pytest.mark.slow
def test_every_rule_is_used_by_the_shipped_tables():
    paths = (PROJECT / "resources/published").glob("*.csv")
    printed = pl.concat([pl.read_csv(path, infer_schema=False) for path in paths], how="diagonal")
    whole = map_words(printed, RULES)
    # Nobody printed any of these yet; users may.
    names = {rule["name"] for rule in RULES.rules} - {"inductive validation", "other ties"}
    assert [name for name in names if whole.equals(map_words(printed, without(name)))] == []


@pytest.mark.parametrize(
    ("protocol", "candidates", "expected"),
    [
        ("sampled-50", "50", "sampled-49"),  # GraIL: the true answer is one of the 50
        ("sampled-50", "51", "sampled-50"),  # NBFNet, MorsE
        ("sampled", "101", "sampled-100"),
        ("sampled-50", None, "sampled-50"),
        ("raw", "91230610", "raw"),
        ("time-aware-filtered", "all", "time-aware"),
    ],
)
def test_candidates_decide_the_sampled_protocol(protocol, candidates, expected):
    assert mapped({"protocol": protocol, "candidates": candidates})["protocol"] == expected


def test_defaults_fill_absent_columns_and_empty_cells():
    row = mapped({"split": None, "dataset_as_printed": "WN18-RR"})
    assert (row["split"], row["side"], row["protocol"]) == ("testing", "both", "filtered")
    assert (row["split_as_printed"], row["dataset_as_printed"]) == (None, "WN18-RR")
    assert mapped({"dataset": "ILPC2022-large", "split": None})["split"] == "inference_testing"
    assert mapped({"dataset": "ILPC2022-large", "split": "testing"})["split"] == "testing"


def test_the_inductive_rule_knows_the_inductive_sets_by_every_alias():
    roles = {name: entry.role for entry in load_registry().values() for name in (entry.name, *entry.aliases)}
    table = pl.DataFrame({"dataset": list(roles), "metric": "mrr", "value": "0.3", "split": "test"})
    expected = ["inference_testing" if role == "inductive" else "testing" for role in roles.values()]
    assert map_words(table, RULES)["split"].to_list() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words: {}\nrules: []\nadjusted: {}\nrule: []\n", "unknown key 'rule'"),
        ("words: {}\nadjusted: {}\nrules:\n  - {name: a, match: {split: t}, reason: r}\n", "published"),
        (
            "words: {}\nadjusted: {}\nrules:\n"
            "  - {name: a, match: {split: t}, set: {split: testing}, reason: r}\n"
            "  - {name: a, match: {split: u}, set: {split: testing}, reason: r}\n",
            "two rules have the name 'a'",
        ),
        (
            "words: {}\nadjusted: {}\nrules:\n  - {name: a, match: {spilt: t}, set: {side: head}, reason: r}\n",
            "spilt",
        ),
        (
            "words: {}\nrules: []\nadjusted: {amri: {metric: mrx, adjustment: index}}\n",
            "unknown metric 'mrx'",
        ),
    ],
)
def test_bad_rules_are_refused(tmp_path, text, message):
    path = tmp_path / "published.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RankadjustError, match=message):
        load_rules(path)
