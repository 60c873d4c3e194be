"""How the true answers of ranking tasks stand under the static baselines: how many candidates are above, how many tied.

No vector of scores is made. A task has C, its pool of candidates, without the known answers K of its query, and its own
answer:

1. how many of C are above and how many tied is found by relation: for `popularity` in the sorted counts of its
   answers, for `redundancy` among the neighbours of the query's entity, which are the only ones with a score. Of
   `rules`, the maximum of both, follows #{max > s} = #{first > s} + #{second > s} - #{both > s};
2. what of that is among K is taken away: the rows of a query sorted by score say how many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rankadjust.baselines.links import Links, spread
from rankadjust.baselines.scores import Scores, placed
from rankadjust.counting.packing import Flags, Integers, numbered
from rankadjust.counting.protocols import Protocol
from rankadjust.counting.rows import (
    LEVEL_OF,
    OTHER,
    SIDES,
    Occurring,
    Rows,
    Side,
    filters_by_time,
    tasks_of,
)

# Blocks of neighbours, and neighbours, that are looked at together.
_TOGETHER = 2**22


@dataclass(frozen=True)
class Standing:
    """Of every row: how many candidates are above its answer, how many tied (itself included), how many there are."""

    above: Integers
    tied: Integers
    candidates: Integers


@dataclass(frozen=True)
class Place:
    """Of every row: how many of all that are scored are above it, and how many have its score, if that is above 0."""

    above: Integers
    equal: Integers


@dataclass(frozen=True)
class Static:
    """The static baselines of the rows of some relations.

    asked: the rows of which the standing is wanted. typed: whether it is wanted among observed answers, too.
    """

    rows: Rows
    occurring: Occurring
    scores: Scores
    asked: Flags
    typed: bool
    _known: dict[tuple[str, Side, bool, bool, int], Place] = field(default_factory=dict)

    def standing(self, baseline: str, side: Side, protocol: Protocol) -> Standing:
        """Return how the answers of all rows stand under a baseline and a protocol, whatever it samples."""
        codes = self.scores.codes[baseline, side]
        candidates = tasks_of(self.rows, side, self.occurring, protocol).candidates.astype(np.int64)
        place = self.place(baseline, side, protocol)
        known = self.known(baseline, side, protocol)
        above = place.above - known.above
        # An answer without a score is tied with every candidate that has none.
        return Standing(
            above, np.where(codes > 0, place.equal - known.equal + 1, candidates - above), candidates
        )

    def pool(self, side: Side, protocol: Protocol) -> Flags:
        """Return for every row whether its answer is in the pool of candidates."""
        if protocol.types == "observed":
            return self.rows.observed[side][0]
        return self.occurring.pool(protocol)[self.rows.entity(side)]

    def place(self, baseline: str, side: Side, protocol: Protocol) -> Place:
        """Return the place of every row among all that are scored in the pool, known or not."""
        return self._places[baseline, side, protocol.types]

    @cached_property
    def _places(self) -> dict[tuple[str, Side, str], Place]:
        """The place of every row among all that are scored in the pool, by baseline, side and types."""
        found: dict[tuple[str, Side, str], Place] = {}
        for side in SIDES:
            popularity = self._among_popular(side)
            rules = self._rules_among_popular(side, popularity)
            kinds = ("any", "observed") if self.typed else ("any",)
            linked = among_linked(self, side)
            for kind in kinds:
                found["popularity", side, kind] = popularity
                found["redundancy", side, kind] = linked["redundancy", kind]
                one, other, both = rules, linked["rules", kind], linked["rules", "both"]
                found["rules", side, kind] = Place(
                    one.above + other.above - both.above, one.equal + other.equal - both.equal
                )
        return found

    def _among_popular(self, side: Side) -> Place:
        """Return the place of every row's popularity among the answers of its relation."""
        popular = self.scores.popular[side]
        above, equal = placed(popular.relation, popular.code, popular.code > 0)
        return Place(above[popular.number], equal[popular.number])

    def _rules_among_popular(self, side: Side, popularity: Place) -> Place:
        """Return the place of every row's score under rules among the popularities of its relation's answers."""
        popular, codes = self.scores.popular[side], self.scores.codes
        other = np.flatnonzero(self.asked & (codes["rules", side] != codes["popularity", side]))
        if not other.size:
            return popularity
        number, (relation, code) = distinct_of([self.rows.relation[other], codes["rules", side][other]])
        above, equal = placed(
            np.concatenate([popular.relation, relation]),
            np.concatenate([popular.code, code]),
            np.concatenate([popular.code > 0, np.zeros(code.size, bool)]),
        )
        place = Place(popularity.above.copy(), popularity.equal.copy())
        place.above[other] = above[popular.code.size :][number]
        place.equal[other] = equal[popular.code.size :][number]
        return place

    def known(self, baseline: str, side: Side, protocol: Protocol) -> Place:
        """Return how many known answers with a score stand above each row, and how many of them have its score."""
        if protocol.filter == "none":
            inside = self.scores.codes[baseline, side] > 0
            if protocol.types == "observed":
                inside &= self.scores.codes["popularity", side] > 0
            return Place(np.zeros(inside.size, np.int64), inside.astype(np.int64))
        if protocol.filter == "all":
            return self._known_up_to(int(LEVEL_OF.max()), baseline, side, protocol)
        found = Place(*np.zeros((2, self.rows.head.size), np.int64))
        for level, places in enumerate(self.rows.levels):
            known = self._known_up_to(level, baseline, side, protocol)
            found.above[places], found.equal[places] = known.above[places], known.equal[places]
        return found

    def _known_up_to(self, level: int, baseline: str, side: Side, protocol: Protocol) -> Place:
        by_time = filters_by_time(self.rows, protocol)
        observed = protocol.types == "observed" and baseline != "popularity"
        key = (baseline, side, by_time, observed, level)
        if key not in self._known:
            codes = self.scores.codes[baseline, side]
            counted = self.rows.first & (LEVEL_OF[self.rows.split] <= level) & (codes > 0)
            if observed:
                counted &= self.scores.codes["popularity", side] > 0
            query = self.rows.query if by_time else self.rows.static_query
            self._known[key] = among_known(query[side], codes, counted)
        return self._known[key]


def among_known(query: Integers, code: Integers, counted: Flags) -> Place:
    """Return how many of the counted rows of its query stand above each row, and how many have its score.

    The counted have a score.
    """
    scored = code > 0
    present, number = (
        np.bincount(query[chosen], minlength=int(query.max()) + 1)[query] for chosen in (scored, counted)
    )
    above = np.where(scored, 0, number)
    equal = counted.astype(np.int64)
    # Most rows are alone in their query.
    several = np.flatnonzero(scored & (present > 1))
    above[several], equal[several] = placed(query[several], code[several], counted[several])
    return Place(above, equal)


def distinct_of(columns: Sequence[Integers]) -> tuple[Integers, list[Integers]]:
    """Return for every row of some columns its number among the distinct ones, and these, ascending."""
    number = numbered(columns)
    distinct = [np.empty(int(number.max(initial=-1)) + 1, column.dtype) for column in columns]
    for into, column in zip(distinct, columns, strict=True):
        into[number] = column
    return number, distinct


# Neighbours

_PLACES = (
    ("redundancy", "any"),
    ("rules", "any"),
    ("rules", "both"),
    ("redundancy", "observed"),
    ("rules", "observed"),
)


def among_linked(static: Static, side: Side) -> dict[tuple[str, str], Place]:
    """Return the place of every asked row among the neighbours of its query's entity, by baseline and what is counted.

    Counted are neighbours by redundancy ("any"), those of them that the relation has as answers ("observed"), and the
    same by the lesser of redundancy and popularity ("both").
    """
    rows, scores = static.rows, static.scores
    asked = np.flatnonzero(static.asked)
    kinds = [key for key in _PLACES if static.typed or key[1] != "observed"]
    found = {key: Place(*np.zeros((2, rows.head.size), np.int64)) for key in kinds}
    if not asked.size:
        return found
    query, (anchor, relation) = distinct_of([rows.entity(OTHER[side])[asked], rows.relation[asked]])
    own = {name: scores.codes[name, side][asked] for name in ("redundancy", "rules")}
    wanted, (of_query, code) = distinct_of(
        [np.concatenate([query, query]), np.concatenate([own["redundancy"], own["rules"]])]
    )
    neighbours = _Neighbours.of(static, side, anchor, relation)
    results = {kind: np.zeros((2, code.size), np.int64) for _, kind in kinds}
    for queries in _runs(neighbours.blocks, _TOGETHER):
        wanted_here = slice(*np.searchsorted(of_query, [queries.start, queries.stop]))
        of_run, code_here = of_query[wanted_here] - queries.start, code[wanted_here]
        for kind, place in neighbours.places(queries, of_run, code_here, list(results)).items():
            results[kind][:, wanted_here] = place
    for name, kind in kinds:
        of_rows = wanted[: query.size] if name == "redundancy" else wanted[query.size :]
        found[name, kind].above[asked], found[name, kind].equal[asked] = results[kind][:, of_rows]
    return found


@dataclass(frozen=True)
class _Neighbours:
    """The neighbours of the entities of some queries.

    anchor, relation, blocks: of each query, the last how many blocks of neighbours it has. of_signature: the score of
    each signature for each relation, as it is seen from the anchor. popularity: of each entity for each relation
    (relations, entities).
    """

    links: Links
    anchor: Integers
    relation: Integers
    blocks: Integers
    of_signature: Integers
    popularity: Integers

    @classmethod
    def of(cls, static: Static, side: Side, anchor: Integers, relation: Integers) -> "_Neighbours":
        scores, popular = static.scores, static.scores.popular[side]
        links = scores.links
        of_signature = scores.of_signature
        if side == "head":
            of_signature = of_signature[:, links.reverse]
        popularity = np.zeros((of_signature.shape[0], links.entities), np.uint32)
        popularity[popular.relation, popular.entity] = popular.code
        blocks = np.diff(links.blocks.starts)[anchor]
        return cls(links, anchor, relation, blocks, of_signature, popularity)

    def places(
        self, queries: slice, of_query: Integers, code: Integers, kinds: Sequence[str]
    ) -> dict[str, Integers]:
        """Return for scores of some queries, by what is counted, how many neighbours are above and how many equal.

        of_query, code: (w,); the queries are numbered from 0. The results are (2, w).
        """
        blocks = self.links.blocks
        size = queries.stop - queries.start
        query, block = spread(blocks.starts[self.anchor[queries]], self.blocks[queries])
        own = self.of_signature[self.relation[queries][query], blocks.signature[block]]
        scored = np.flatnonzero(own)
        query, block, own = query[scored], block[scored], own[scored]
        first = blocks.first[block]
        number = blocks.first[block + 1] - first
        least = np.full(size, np.iinfo(np.uint32).max, np.uint32)
        positive = code > 0
        np.minimum.at(least, of_query[positive], code[positive])
        found = {"any": _weighed(query, own, number, of_query, code, least)}
        # Of neighbours one by one only those matter that may be as good as a wanted score, unless all are counted.
        every = np.zeros(size, bool)
        every[of_query[~positive]] = True
        if "observed" in kinds:
            every[:] = True
        near = np.flatnonzero(every[query] | (own >= least[query]))
        query, own, first, number = query[near], own[near], first[near], number[near]
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32))]
        for run in _runs(number, _TOGETHER):
            owner, place = spread(first[run], number[run])
            asked = query[run][owner]
            popularity = self.popularity[self.relation[queries][asked], blocks.neighbours[place]]
            answers = np.flatnonzero(popularity)
            parts.append((asked[answers], own[run][owner[answers]], popularity[answers]))
        asked, redundancy, popularity = map(np.concatenate, zip(*parts, strict=True))
        found["both"] = _weighed(asked, np.minimum(redundancy, popularity), None, of_query, code, least)
        if "observed" in kinds:
            found["observed"] = _weighed(asked, redundancy, None, of_query, code, least)
        return found


def _weighed(
    query: Integers,
    code: Integers,
    weight: Integers | None,
    of_query: Integers,
    wanted: Integers,
    least: Integers,
) -> Integers:
    """Return how much weight of the scored entries of a query is above each wanted score, and how much has it (2, w).

    query, code, weight: of the entries; of_query, wanted: of the wanted scores. least: the least of a query above 0.
    """
    near = np.flatnonzero(code >= least[query])
    weights = np.ones(query.size, np.int64) if weight is None else weight
    above, equal = placed(
        np.concatenate([query[near], of_query]),
        np.concatenate([code[near], wanted]),
        np.concatenate([weights[near], np.zeros(of_query.size, np.int64)]),
    )
    total = np.bincount(query, weights=weights, minlength=least.size).astype(np.int64)
    result = np.stack([above[near.size :], equal[near.size :]])
    result[0] = np.where(wanted > 0, result[0], total[of_query])
    return result


def _runs(sizes: Integers, most: int) -> Iterator[slice]:
    """Yield runs of places whose sizes add up to about `most` at the most; what is larger is a run of its own."""
    ends = np.cumsum(sizes)
    first = 0
    while first < sizes.size:
        before = ends[first - 1] if first else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), first + 1)
        yield slice(first, stop)
        first = stop
