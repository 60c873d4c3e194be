"""The links between the entities of a graph, and how far a link implies a relation.

A *link* is a relation seen from one of its ends: if the triple (a, r, b) is known, there is the link 2 r from a to b,
and the link 2 r + 1 from b to a. All links from a to b together are the *signature* of the ordered pair (a, b). Pairs
of the same signature have the same score under `redundancy`, and there are far fewer signatures than pairs. So sums
over the neighbours of an entity become sums over its signatures.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rankadjust.counting.packing import Integers, counted, numbered, starts


def spread(first: Integers, size: Integers) -> tuple[Integers, Integers]:
    """Return the places first[i], first[i] + 1, … of runs of the given sizes, and the run of each place."""
    owner = np.repeat(np.arange(size.size), size)
    ends = np.cumsum(size)
    places = np.arange(owner.size) + np.repeat(first - ends + size, size)
    return owner, places


@dataclass(frozen=True)
class Links:
    """The linked pairs of a graph.

    words: a number for each linked pair, ascending. Each pair is listed in one of its two directions, the smaller id
    first. signature: the signature of each listed pair. A signature below 2 * relations consists of one link and has
    its number. Signatures of several links have larger numbers; members and member_starts list their links. reverse:
    maps the signature of (a, b) to the signature of (b, a). blocks: the neighbours of every entity, by signature.
    """

    entities: int
    relations: int
    words: Integers
    signature: Integers
    members: Integers
    member_starts: Integers
    reverse: Integers
    blocks: "Blocks"

    def signature_of(self, head: Integers, tail: Integers) -> Integers:
        """Return the signature of each pair, -1 if the pair is not linked."""
        if not self.words.size:
            return np.full(head.size, -1)
        wanted = _words(np.minimum(head, tail), np.maximum(head, tail), self.entities)
        place = np.minimum(np.searchsorted(self.words, wanted), self.words.size - 1)
        listed = self.signature[place]
        signature = np.where(head > tail, self.reverse[listed], listed)
        return np.where(self.words[place] == wanted, signature.astype(np.int64), -1)

    @cached_property
    def confidences(self) -> sparse.csc_array:
        """The confidence (2 * relations, relations) of every rule "pairs with this link have this relation".

        The confidence is the share of the pairs with the link that have the relation. The rule from a relation to
        itself is left out.
        """
        singles = 2 * self.relations
        sizes = np.diff(self.member_starts)
        shape = (sizes.size, singles)
        holds = sparse.csr_array((np.ones(self.members.size), self.members, self.member_starts), shape=shape)
        pairs = np.bincount(
            self.blocks.signature, weights=np.diff(self.blocks.first), minlength=singles + sizes.size
        )
        together = (holds.T @ sparse.diags_array(pairs[singles:].astype(np.float64)) @ holds).tocoo()
        size = pairs[:singles] + holds.T @ pairs[singles:]
        link, other = together.coords
        kept = (other % 2 == 0) & (link != other)
        link, relation = link[kept], other[kept] // 2
        return sparse.csc_array(
            (together.data[kept] / size[link], (link, relation)), shape=(singles, self.relations)
        )

    def best(self, of_link: Integers) -> Integers:
        """Return the greatest number of each signature's links (k, signatures), from numbers (k, 2 * relations)."""
        if not self.members.size:
            return of_link
        several = np.maximum.reduceat(of_link[:, self.members], self.member_starts[:-1], axis=1)
        return np.concatenate([of_link, several], axis=1)


@dataclass(frozen=True)
class Blocks:
    """Neighbours in blocks of the same entity and signature.

    starts: the first block of each entity (entities + 1,). signature: the signature of each block. first: the place of
    the first neighbour of each block (blocks + 1,). neighbours: the entities in all blocks.
    """

    starts: Integers
    signature: Integers
    first: Integers
    neighbours: Integers

    def size(self, block: Integers) -> Integers:
        """Return the number of neighbours in each of some blocks."""
        size: Integers = self.first[block + 1].astype(np.int64) - self.first[block]
        return size


def _blocks_of(
    first: Integers, signature: Integers, second: Integers, reverse: Integers, entities: int
) -> Blocks:
    """Return the neighbours of every entity, from pairs that are listed in one direction."""
    other = np.flatnonzero(first != second)
    columns = [
        np.concatenate([first, second[other]]),
        np.concatenate([signature, reverse[signature[other]]]),
        np.concatenate([second, first[other]]),
    ]
    del first, signature, second, other
    (first, signature, second), _ = counted([columns.pop(0) for _ in range(3)])
    begins = np.flatnonzero(starts([first, signature]))
    of_entity = np.bincount(first[begins], minlength=entities)
    return Blocks(
        starts=np.concatenate([[0], np.cumsum(of_entity)]),
        signature=signature[begins],
        first=np.append(begins, first.size).astype(np.uint32),
        neighbours=second,
    )


def links_of(head: Integers, relation: Integers, tail: Integers, entities: int, relations: int) -> Links:
    """Return the links of the triples of a graph; the same triple may occur several times."""
    # A loop links its entity with itself in both directions.
    loops = np.flatnonzero(head == tail)
    columns = [
        np.concatenate([np.minimum(head, tail), head[loops]]),
        np.concatenate([np.maximum(head, tail), tail[loops]]),
        np.concatenate([2 * relation + (head > tail), 2 * relation[loops] + 1]),
    ]
    # These arrays are the largest of all: each is let go of before the next ones are made.
    del head, relation, tail
    (first, second, link), _ = counted([columns.pop(0) for _ in range(3)])
    begins = np.flatnonzero(starts([first, second]))
    sizes = np.diff(np.append(begins, first.size))
    signature = link[begins].astype(np.uint32)
    singles = 2 * relations
    members, lengths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    reverse = [np.arange(singles) ^ 1]
    total = singles
    for size in np.unique(sizes[sizes > 1]):
        places = np.flatnonzero(sizes == size)
        sets = link[begins[places][:, None] + np.arange(size)].astype(np.int64)
        # The other direction of a pair has the reverse of its set: both get a number.
        turned = np.sort(sets ^ 1, axis=1)
        own, other = np.split(numbered(list(np.concatenate([sets, turned]).T)), 2)
        distinct = np.empty((max(int(own.max()), int(other.max())) + 1, size), np.int64)
        distinct[own], distinct[other] = sets, turned
        of_distinct = np.empty(len(distinct), np.int64)
        of_distinct[own], of_distinct[other] = other, own
        signature[places] = total + own
        members.append(distinct.ravel())
        lengths.append(np.full(len(distinct), size))
        reverse.append(total + of_distinct)
        total += len(distinct)
    first, second = first[begins], second[begins]
    del link, begins, sizes
    of_other = np.concatenate(reverse).astype(np.uint32)
    return Links(
        entities=entities,
        relations=relations,
        words=_words(first, second, entities),
        signature=signature,
        members=np.concatenate(members),
        member_starts=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
        reverse=of_other,
        blocks=_blocks_of(first, signature, second, of_other, entities),
    )


def _words(first: Integers, second: Integers, entities: int) -> Integers:
    """Return a number for each pair, in the order of the pairs."""
    words = first.astype(np.uint64)
    words *= np.uint64(entities)
    words += second
    return words
