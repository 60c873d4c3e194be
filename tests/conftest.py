"""Fixtures for all tests."""

from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"


def pytest_collection_modifyitems(config, items):
    """Without the development data its checks are not collected; with it they are never skipped.

    Tests that bring up a Slurm are run where they are asked for: pytest -m cluster.
    """
    left_out = set() if SHARED.is_dir() else {"shared"}
    if "cluster" not in config.option.markexpr:
        left_out.add("cluster")
    needing = [item for item in items if any(map(item.get_closest_marker, left_out))]
    config.hook.pytest_deselected(items=needing)
    items[:] = [item for item in items if item not in needing]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of the development data."""
    return SHARED


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the root of the checkout."""
    return PROJECT
