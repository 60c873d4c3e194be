"""Fixtures for all tests."""

from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"


def pytest_collection_modifyitems(config, items):
    """Without the development data its checks are not collected; with it they are never skipped."""
    if SHARED.is_dir():
        return
    needing = [item for item in items if item.get_closest_marker("shared")]
    config.hook.pytest_deselected(items=needing)
    items[:] = [item for item in items if not item.get_closest_marker("shared")]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of the development data."""
    return SHARED


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the root of the checkout."""
    return PROJECT
