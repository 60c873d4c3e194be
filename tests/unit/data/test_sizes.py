from dataclasses import replace

import pytest

from rankadjust.data.registry import load_registry
from rankadjust.data.sizes import UNKNOWN, triples_of

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
