"""The page of data sets: made from the registry, and whole."""

import pytest

from harness.datasets_page import datasets_tables
from rankadjust.data.registry import load_registry

VERSIONS = {
    "FB15k237Inductive": ("v1", "v2", "v3", "v4"),
    "WN18RRInductive": ("v1", "v2", "v3", "v4"),
    "NELLInductive": ("v1", "v2", "v3", "v4"),
    "ILPC2022": ("small", "large"),
    "HM": ("1k", "3k", "5k", "indigo"),
    "FBIngram": ("25", "50", "75", "100"),
    "WKIngram": ("25", "50", "75", "100"),
    "NLIngram": ("0", "25", "50", "75", "100"),
    "WikiTopicsMT1": ("tax", "health"),
    "WikiTopicsMT2": ("org", "sci"),
    "WikiTopicsMT3": ("art", "infra"),
    "WikiTopicsMT4": ("sci", "health"),
}
# README.md of the repository DeepGraphLearning/ULTRA, commit 0e2f56e, section "Datasets".
ULTRA = {
    *("FB15k237", "WN18RR", "NELL995", "YAGO310", "CoDExSmall", "CoDExMedium", "CoDExLarge", "Hetionet"),
    *("ConceptNet100k", "DBpedia100k", "AristoV4", "WDsinger", "NELL23k"),
    *("FB15k237_10", "FB15k237_20", "FB15k237_50", "Metafam", "FBNELL"),
    *(f"{name}:{version}" for name, versions in VERSIONS.items() for version in versions),
}


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def test_each_graph_of_ultra_is_one_data_set(registry):
    assert len(ULTRA) == 57
    names = [dataset.ultra for dataset in registry.values() if dataset.ultra]
    assert len(names) == len(set(names))
    assert set(names) == ULTRA


def test_each_data_set_has_its_row(registry):
    tables = datasets_tables(registry)
    lines = [*tables["released"].splitlines(), *tables["registered"].splitlines()]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert {len(row) for row in rows} == {7}
    by_name = {row[0].partition(" (")[0].partition("](")[0].lstrip("["): row for row in rows}
    assert by_name.keys() - {"data set", "---"} == registry.keys()
    assert len(rows) == len(registry) + 4
    # sources-more.yaml, verified: entities, validation and testing of the inference graph, the repository's licence.
    assert by_name["InGram-FB-25"][2:7] == ["by relation", "4,097", "5,716", "5,716", "CC BY-NC-SA 4.0"]
    # PyKEEN's codexsmall is the same in another case.
    assert by_name["CoDEx-S"][0] == "[CoDEx-S](https://github.com/tsafavi/codex) (CoDExSmall)"
    assert by_name["FB15k"][1] == "transductive, bounds"
