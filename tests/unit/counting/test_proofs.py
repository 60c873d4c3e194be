"""What code bases rank, rebuilt in plain numpy and run where they are installed, has the tasks of its protocol here."""

import pytest

from benchmarks.evaluators import PACKAGES, REBUILT, proof


@pytest.mark.parametrize("seeds", [(0, 1), pytest.param((2, 3, 4), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", REBUILT)
def test_the_rebuilt_steps_have_the_tasks_and_candidates_of_the_protocol(name, seeds):
    for seed in seeds:
        found = proof(name, seed)
        assert found["tasks"] == found["our tasks"]
        assert found["same candidates"]
        assert found["ranks within"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_itself_prints_the_metrics_of_these_ranks(package):
    pytest.importorskip(package, reason="proved where it is installed: python -m benchmarks.evaluators")
    assert PACKAGES[package]()["same metrics"]
