"""Fixtures for all tests."""

import random
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no finding: how fast something is belongs in benchmarks/. The same examples every time, so that a
# change is judged by what it changes; new ones are sought by `make fuzz` and with --hypothesis-profile=searching.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None)
settings.load_profile("same")

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
# Each takes minutes: begun first, it has the others beside it.
LONGEST = ("test_kills.py", "test_workflow.py")


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="Run the tests in another order.")


def pytest_collection_modifyitems(config, items):
    """Without the development data its checks are not collected; with it they are never skipped.

    Those that bring up a Slurm or a browser, or kill runs, are run where they are asked for: pytest -m cluster, …
    """
    left_out = set() if SHARED.is_dir() else {"shared"}
    left_out.update(name for name in ("cluster", "browser", "faults") if name not in config.option.markexpr)
    needing = [item for item in items if any(map(item.get_closest_marker, left_out))]
    config.hook.pytest_deselected(items=needing)
    kept = [item for item in items if item not in needing]
    items[:] = sorted(kept, key=lambda item: item.path.name not in LONGEST)
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of the development data."""
    return SHARED


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the root of the checkout."""
    return PROJECT
