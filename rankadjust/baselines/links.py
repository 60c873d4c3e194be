"""The links between the entities of a graph, and how far a link implies a relation.

A *link* is a relation seen from one of its ends: if the triple (a, r, b) is known, there is the link 2 r from a to b,
and the link 2 r + 1 from b to a. All links from a to b together are the *signature* of the ordered pair (a, b). Pairs
of the same signature have the same score under `redundancy`, and there are far fewer signatures than pairs. So sums
over the neighbours of an entity become sums over its signatures.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankadjust.counting.packing import Integers, counted, numbered, starts

FloatArray = NDArray[np.float64]


def spread(first: Integers, size: Integers) -> tuple[Integers, Integers]:
    """Return the places first[i], first[i] + 1, … of runs of the given sizes, and the run of each place."""
    owner = np.repeat(np.arange(size.size), size)
    ends = np.cumsum(size)
    places = np.arange(owner.size) + np.repeat(first - ends + size, size)
    return owner, places


@dataclass(frozen=True)
class Links:
    """The linked pairs of a graph, each once in both directions.

    words: a number for each ordered pair, ascending. signature: the signature of each pair. A signature below
    2 * relations consists of one link and has its number. Signatures of several links have larger numbers; members and
    member_starts list their links. reverse: maps the signature of (a, b) to the signature of (b, a). blocks: the
    neighbours of every entity, by signature.
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
        wanted = head.astype(np.uint64) * np.uint64(self.entities) + tail
        place = np.minimum(np.searchsorted(self.words, wanted), self.words.size - 1)
        return np.where(self.words[place] == wanted, self.signature[place].astype(np.int64), -1)

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
        pairs = np.bincount(self.signature, minlength=singles + sizes.size)
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


def _blocks_of(first: Integers, signature: Integers, second: Integers, entities: int) -> Blocks:
    (first, signature, second), _ = counted([first, signature, second])
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
    column = np.concatenate
    (first, second, link), _ = counted(
        [column([head, tail]), column([tail, head]), column([2 * relation, 2 * relation + 1])]
    )
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
        number = numbered(list(sets.T))
        distinct = np.empty((int(number.max()) + 1, size), np.int64)
        distinct[number] = sets
        signature[places] = total + number
        members.append(distinct.ravel())
        lengths.append(np.full(len(distinct), size))
        # Every pair occurs in both directions, so the reverse of every set of links is also in the list.
        turned = numbered(list(np.concatenate([distinct, np.sort(distinct ^ 1, axis=1)]).T))
        place = np.empty(len(distinct), np.int64)
        place[turned[: len(distinct)]] = np.arange(len(distinct))
        reverse.append(total + place[turned[len(distinct) :]])
        total += len(distinct)
    first, second = first[begins], second[begins]
    del link, begins, sizes
    words = first.astype(np.uint64)
    words *= np.uint64(entities)
    words += second
    return Links(
        entities=entities,
        relations=relations,
        words=words,
        signature=signature,
        members=column(members),
        member_starts=np.concatenate([[0], np.cumsum(column(lengths))]),
        reverse=column(reverse),
        blocks=_blocks_of(first, signature, second, entities),
    )
