"""Fixtures for all tests."""

import gc
import random
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no finding: how fast something is belongs in benchmarks/. The same examples every time, so that a
# change is judged by what it changes; `.ci/run` takes more of them (--hypothesis-profile=thorough), and new ones are
# sought with --hypothesis-profile=searching.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=8)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("searching", deadline=None, max_examples=100)
settings.load_profile("same")

# Fewer looks for garbage than Python takes by itself.
gc.set_threshold(50_000, 20, 50)

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
# Each of these takes a minute or more. They begin first, the longest before the others, so that what is left at last is
# short: no worker waits long for another.
LONGEST = (
    "test_workflow.py",
    "test_extend.py",
    "test_release.py",
    "test_deposit.py",
    "test_candidates.py",
    "test_cli.py",
)


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="Run the tests in another order.")


def on_request(config):
    """Return the marks of tests that start Slurm or a browser, and were not asked for: -m cluster, …"""
    return {name for name in ("cluster", "browser") if name not in config.option.markexpr}


def pytest_ignore_collect(collection_path, config):
    """Import no test that opens a browser or starts Slurm, unless it is to run: what it imports takes time."""
    is_asked_for = collection_path.parent != PROJECT / "tests" or collection_path.name not in on_request(
        config
    )
    return None if is_asked_for else True


def pytest_collection_modifyitems(config, items):
    """Collect the checks of the development data only if the data are there; then never skip them."""
    left_out = on_request(config) | (set() if SHARED.is_dir() else {"shared"})
    needing = [item for item in items if any(map(item.get_closest_marker, left_out))]
    config.hook.pytest_deselected(items=needing)
    kept = [item for item in items if item not in needing]
    place = {name: number for number, name in enumerate(LONGEST)}
    items[:] = sorted(kept, key=lambda item: place.get(item.path.name, len(place)))
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
