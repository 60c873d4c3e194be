"""How much memory counting takes, and into how many parts a data set is divided so that each takes no more than given.

The numbers are measured (docs/scale.md); all are bytes.
"""

# Triples that are being counted: 130 to 172 bytes were measured for one, depending on the protocol.
COUNTED = 180
# Triples that are loaded and wait: three ids, two times, a split.
LOADED = 22
# Entities: masks of those that occur, one of them twice while it grows.
ENTITY = 4
# What a process takes besides: Python and its libraries, and a block of triples.
ASIDE = 700_000_000
# Triples of a data set that is counted as a whole: 51 were measured with 22 million triples, some more with fewer.
_WHOLE = 60


def memory_for_whole(triples: int) -> int:
    """Return what a process takes that counts so many triples as a whole."""
    return ASIDE + _WHOLE * triples


def partitions_for(triples: int, entities: int, memory: float) -> int:
    """Return into how many parts a data set of so many triples is divided for processes that may take `memory`.

    One where it can be counted as a whole. Else as many as it takes for the triples of a part to be loaded at once
    into half of the remaining memory, so that no triple is read more often than necessary; at least two.
    """
    if memory_for_whole(triples) <= memory:
        return 1
    left = max(memory - ASIDE - ENTITY * entities, LOADED)
    return max(2, -(-2 * LOADED * triples // int(left)))
