from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.data.registry import load_registry
from rankadjust.data.sizes import SMALL, SMALL_HERE, UNKNOWN, batches, triples_of, up_to

LOCAL = """\
Own:
  sources:
    - kind: local
      files: {training: train.txt, validation: valid.txt, testing: test.txt.gz}
"""


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def test_the_registry_says_how_many_triples_a_data_set_has(registry):
    # The counts in config/datasets.yaml: 272,115 + 17,535 + 20,466, and of Wikidata5M's distinct ones.
    assert triples_of(registry["FB15k-237"]) == 310_116
    assert triples_of(registry["Wikidata5M"]) == 20_624_239
    assert triples_of(registry["Hetionet"]) > 2_000_000


def test_without_counts_the_size_of_the_files_says_it(registry, tmp_path):
    # FB15k-237 is 3,678,603 bytes packed: 11.9 a triple, of which 6 are assumed.
    unknown = replace(registry["FB15k-237"], expected={})
    assert triples_of(unknown) == 3_678_603 // 6
    (tmp_path / "own.yaml").write_text(LOCAL)
    (tmp_path / "train.txt").write_bytes(bytes(1200))
    (tmp_path / "valid.txt").write_bytes(bytes(120))
    own = load_registry(tmp_path / "own.yaml")["Own"]
    assert triples_of(own) == UNKNOWN
    (tmp_path / "test.txt.gz").write_bytes(bytes(60))
    assert triples_of(own) == 100 + 10 + 10


def test_auto_is_a_million_elsewhere_and_less_here():
    assert (up_to("auto", elsewhere=True), up_to("auto", elsewhere=False)) == (SMALL, SMALL_HERE)
    assert (up_to(5, elsewhere=True), up_to(5, elsewhere=False)) == (5, 5)


def test_batches_are_filled_in_order():
    sizes = {"a": 10, "large": 1_000_001, "b": 1_000_000, "c": 999_990, "d": 1, "e": 2_000_000}
    assert batches(sizes, SMALL) == [("a", "b", "c"), ("d",)]
    assert batches(dict.fromkeys("abcdefghij", 1), SMALL) == [tuple("abcdefgh"), ("i", "j")]
    assert batches(sizes, 0) == []


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 3_000_000), max_size=40), st.integers(0, SMALL))
def test_every_small_data_set_is_in_one_batch_and_a_later_one_changes_the_last_only(sizes, small):
    found = batches(sizes, small)
    assert [name for batch in found for name in batch] == [
        name for name, size in sizes.items() if size <= small
    ]
    assert all(sum(sizes[name] for name in batch) <= 2_000_000 for batch in found)
    assert batches({**sizes, "later": 1}, small)[: len(found) - 1] == found[:-1]
