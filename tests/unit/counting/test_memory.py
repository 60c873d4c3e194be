"""Into how many parts a data set is divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.counting.memory import ASIDE, ENTITY, LOADED, memory_for_whole, partitions_for


@pytest.mark.parametrize(
    ("triples", "entities", "gigabytes", "partitions"),
    [
        # Nothing is known of it.
        (0, 0, 1, 1),
        (22_000_000, 4_570_000, 8, 1),
        # 2 * 22 bytes * 22 million = 0.968 GB into 1.5 - 0.7 - 4 bytes * 4.57 million = 0.782 GB.
        (22_000_000, 4_570_000, 1.5, 2),
        # 26.4 GB into 8 - 0.7 - 0.5 GB.
        (600_000_000, 125_000_000, 8, 4),
        # 26.4 GB into 2 - 0.7 - 0.5 GB.
        (600_000_000, 125_000_000, 2, 33),
    ],
)
def test_partitions_of_known_sizes(triples, entities, gigabytes, partitions):
    assert partitions_for(triples, entities, gigabytes * 1e9) == partitions


@given(st.integers(0, 10**10), st.integers(0, 10**8), st.integers(10**9, 10**12))
def test_a_part_fits_what_is_left(triples, entities, memory):
    parts = partitions_for(triples, entities, memory)
    left = memory - ASIDE - ENTITY * entities
    assert (parts == 1 and memory_for_whole(triples) <= memory) or 2 * LOADED * triples / parts <= max(
        left, LOADED
    )
