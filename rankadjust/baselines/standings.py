"""Count the candidates above and tied with the true answer of each task, under the static baselines.

The *standing* of a true answer is the number of candidates above it and the number tied with it. It is counted without
a vector of scores. The candidates of a task are the pool C without the known answers K of the query:

1. Count how many of C are above, and how many tied, relation by relation. For `popularity`, the sorted counts of the
   relation's answers give the numbers. For `redundancy`, only neighbours of the query's entity have a score, so these
   are counted. `rules` is the maximum of both scores: #{max > s} = #{first > s} + #{second > s} - #{both > s}.
2. Subtract the known answers K that are above or tied, by sorting the rows of each query by score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rankadjust.baselines.links import spread
from rankadjust.baselines.scores import Scores, placed
from rankadjust.counting.packing import Flags, Integers, numbered, starts
from rankadjust.counting.protocols import Protocol
from rankadjust.counting.rows import LEVEL_OF, OTHER, SIDES, Rows, Side, filters_by_time, tasks_of

# Blocks of neighbours of queries that are processed together, which bounds the memory.
_BLOCKS = 2**23
# Neighbours that are processed together, and blocks that are scanned together. They are gone through many times, so few
# are taken at once, to fit into the processor's cache.
_TOGETHER = 2**18
_SCANNED = 2**16


@dataclass(frozen=True)
class Standing:
    """For every row: the numbers of candidates above its answer, tied with it (itself included), and in all."""

    above: Integers
    tied: Integers
    candidates: Integers


@dataclass(frozen=True)
class Place:
    """For every row: how many scored entities are above it, and how many have its score, if its score is above 0.

    Many are kept at a time, so they are made of 32 bits: no graph has 2^31 entities.
    """

    above: Integers
    equal: Integers

    @classmethod
    def of(cls, above: Integers, equal: Integers) -> "Place":
        """Return the place made of 32 bits."""
        return cls(above.astype(np.int32), equal.astype(np.int32))

    @classmethod
    def zeros(cls, size: int) -> "Place":
        """Return the place of rows that nothing is above."""
        return cls(*np.zeros((2, size), np.int32))


@dataclass(frozen=True)
class Static:
    """The static baselines of the rows of some relations.

    asked: the rows whose standing is wanted. typed: whether it is wanted among observed answers, too.
    """

    rows: Rows
    scores: Scores
    asked: Flags
    typed: bool
    _known: dict[tuple[str, Side, bool, bool, int], Place] = field(default_factory=dict)

    def standing(self, baseline: str, side: Side, protocol: Protocol) -> Standing:
        """Return the standing of the answers of all rows among all candidates, before negatives are sampled."""
        codes = self.scores.codes[baseline, side]
        candidates = tasks_of(self.rows, side, protocol).candidates.astype(np.int64)
        place = self.place(baseline, side, protocol)
        known = self.known(baseline, side, protocol)
        above = place.above - known.above
        # An answer without a score is tied with every candidate without a score.
        return Standing(
            above, np.where(codes > 0, place.equal - known.equal + 1, candidates - above), candidates
        )

    def pool(self, side: Side, protocol: Protocol) -> Flags:
        """Return for every row whether its answer is in the pool of candidates."""
        return self.rows.pool(side, protocol)[0]

    def place(self, baseline: str, side: Side, protocol: Protocol) -> Place:
        """Return the place of every row among all scored entities of the pool, known answers included."""
        return self._places[baseline, side, protocol.types]

    @cached_property
    def _places(self) -> dict[tuple[str, Side, str], Place]:
        """The place of every row among all scored entities of the pool, by baseline, side and types."""
        places: dict[tuple[str, Side, str], Place] = {}
        for side in SIDES:
            popularity = self._among_popular(side)
            rules = self._rules_among_popular(side, popularity)
            kinds = ("any", "observed") if self.typed else ("any",)
            linked = among_linked(self, side)
            for kind in kinds:
                places["popularity", side, kind] = popularity
                places["redundancy", side, kind] = linked["redundancy", kind]
                by_rules, other, both = rules, linked["rules", kind], linked["rules", "both"]
                places["rules", side, kind] = Place(
                    by_rules.above + other.above - both.above, by_rules.equal + other.equal - both.equal
                )
        return places

    def _among_popular(self, side: Side) -> Place:
        """Return the place of every row's popularity among the answers of its relation."""
        popular = self.scores.popular[side]
        above, equal = placed(popular.relation, popular.code, popular.code > 0)
        return Place.of(above[popular.number], equal[popular.number])

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
        """Return how many known answers with a score are above each row, and how many have its score."""
        if protocol.filter == "none":
            inside = self.scores.codes[baseline, side] > 0
            if protocol.types == "observed":
                inside &= self.scores.codes["popularity", side] > 0
            return Place.of(np.zeros(inside.size), inside)
        if protocol.filter == "all":
            return self._known_up_to(int(LEVEL_OF.max()), baseline, side, protocol)
        place = Place.zeros(self.rows.head.size)
        for level, places in enumerate(self.rows.levels):
            known = self._known_up_to(level, baseline, side, protocol)
            place.above[places], place.equal[places] = known.above[places], known.equal[places]
        return place

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
    """Return how many counted rows of the same query are above each row, and how many have its score.

    Every counted row must have a score.
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
    return Place.of(above, equal)


def distinct_of(columns: Sequence[Integers]) -> tuple[Integers, list[Integers]]:
    """Return the number of every row among the distinct rows, and the distinct rows, ascending."""
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
    """Return the place of every asked row among the neighbours of its query's entity, by baseline and kind of count.

    The kind "any" counts all neighbours by redundancy. The kind "observed" counts only neighbours that the relation has
    as answers. The kind "both" counts the same neighbours by the lesser of redundancy and popularity.
    """
    rows, scores = static.rows, static.scores
    asked = np.flatnonzero(static.asked)
    kinds = [key for key in _PLACES if static.typed or key[1] != "observed"]
    standing_of = {key: Place.zeros(rows.head.size) for key in kinds}
    if not asked.size:
        return standing_of
    query, (anchor, relation) = distinct_of([rows.entity(OTHER[side])[asked], rows.relation[asked]])
    wanted = {name: scores.codes[name, side][asked] for name in ("redundancy", "rules")}
    blocks = scores.links.blocks.starts
    for run in _runs(blocks[anchor + 1] - blocks[anchor], _BLOCKS):
        own = np.flatnonzero((query >= run.start) & (query < run.stop))
        codes = {name: of_all[own] for name, of_all in wanted.items()}
        places = _among_linked(static, side, anchor[run], relation[run], query[own] - run.start, codes, kinds)
        for key, place in places.items():
            standing_of[key].above[asked[own]], standing_of[key].equal[asked[own]] = place.above, place.equal
    return standing_of


def _among_linked(
    static: Static,
    side: Side,
    anchor: Integers,
    relation: Integers,
    query: Integers,
    wanted: Mapping[str, Integers],
    kinds: Sequence[tuple[str, str]],
) -> dict[tuple[str, str], Place]:
    """Return the places for some queries (anchor, relation). query, wanted: the query and the codes of each row."""
    least = {name: _least(query, code, anchor.size) for name, code in wanted.items()}
    pairs = _scored(static, side, anchor, relation)
    # Rules are never below redundancy.
    near = pairs.only(pairs.code >= np.minimum(least["redundancy"], least["rules"])[pairs.query])
    size = static.scores.links.blocks.size
    entries: dict[str, tuple[Integers, Integers, Integers | None]] = {}
    entries["any"] = (near.query, near.code, size(near.block))
    totals = {"any": _added(pairs.query, size(pairs.block), anchor.size)}
    # Look at single neighbours only if they may be as good as a wanted score, unless all have to be counted.
    every = np.full(anchor.size, static.typed)
    every[query[wanted["rules"] == 0]] = True
    near = pairs.only(every[pairs.query] | (pairs.code >= least["rules"][pairs.query]))
    of_answer, code, popularity = _answers(static, side, near, relation)
    entries["both"] = (of_answer, np.minimum(code, popularity), None)
    entries["observed"] = (of_answer, code, None)
    totals["both"] = totals["observed"] = _added(of_answer, None, anchor.size)
    return {(name, kind): _place(query, wanted[name], *entries[kind], totals[kind]) for name, kind in kinds}


@dataclass(frozen=True)
class _Scored:
    """Blocks of neighbours that have a score for a query.

    query: the query of each entry. code: the code of its score. block: the number of its block.
    """

    query: Integers
    code: Integers
    block: Integers

    def only(self, kept: Integers) -> "_Scored":
        """Return the entries that are kept: a flag for each entry, or their places."""
        places = np.flatnonzero(kept) if kept.dtype == bool else kept
        return _Scored(self.query[places], self.code[places], self.block[places])


def _scored(static: Static, side: Side, anchor: Integers, relation: Integers) -> _Scored:
    """Return the blocks of neighbours that have a score for the queries (anchor, relation), which are ascending.

    Each relation has a bit. One word for each entity says which relations its queries ask for; one word for each
    signature says which relations give it a score. Most blocks have no bit in common with their entity, so one
    comparison discards them for all relations.
    """
    blocks, of_signature = static.scores.links.blocks, static.scores.of_signature
    if side == "head":
        of_signature = of_signature[:, static.scores.links.reverse]
    bit = np.uint64(1) << np.arange(len(of_signature), dtype=np.uint64)
    scored = np.bitwise_or.reduce(np.where(of_signature > 0, bit[:, None], np.uint64(0)), axis=0)
    begins = np.flatnonzero(starts([anchor]))
    asked = np.bitwise_or.reduceat(bit[relation], begins)
    first = blocks.starts[anchor[begins]]
    size = blocks.starts[anchor[begins] + 1] - first
    scored_rows = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))]
    for run in _runs(size, _SCANNED):
        ends = np.cumsum(size[run])
        block = np.arange(ends[-1]) + np.repeat(first[run] - ends + size[run], size[run])
        common = scored[blocks.signature[block]] & np.repeat(asked[run], size[run])
        places = np.flatnonzero(common)
        owner = run.start + np.searchsorted(ends, places, side="right")
        scored_rows.append((owner, block[places], common[places]))
    owner, block, common = map(np.concatenate, zip(*scored_rows, strict=True))
    parts = [(block[:0], np.zeros(0, np.uint32), block[:0])]
    while block.size:
        lowest = common & (~common + np.uint64(1))
        before = lowest - np.uint64(1)
        code = of_signature[np.bitwise_count(before), blocks.signature[block]]
        parts.append((begins[owner] + np.bitwise_count(asked[owner] & before), code, block))
        common ^= lowest
        left = np.flatnonzero(common)
        owner, block, common = owner[left], block[left], common[left]
    return _Scored(*map(np.concatenate, zip(*parts, strict=True)))


def _answers(static: Static, side: Side, near: _Scored, relation: Integers) -> tuple[Integers, ...]:
    """Return the neighbours in some blocks that the query's relation has as answers: query, code and popularity."""
    links, popular = static.scores.links, static.scores.popular[side]
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32))]
    # The popularity of each entity as an answer of one relation: relation by relation, such a table is small.
    code_of = np.zeros(links.entities, np.uint32)
    relation_of = relation[near.query].astype(np.uint16)
    order = np.argsort(relation_of, kind="stable")
    ends = np.cumsum(np.bincount(relation_of))
    answers = np.searchsorted(popular.relation, np.arange(ends.size + 1))
    for own in np.flatnonzero(np.diff(ends, prepend=0)):
        of_relation = slice(answers[own], answers[own + 1])
        code_of[popular.entity[of_relation]] = popular.code[of_relation]
        mine = near.only(order[ends[own - 1] if own else 0 : ends[own]])
        size = links.blocks.size(mine.block)
        for run in _runs(size, _TOGETHER):
            owner, place = spread(links.blocks.first[mine.block[run]], size[run])
            code = code_of[links.blocks.neighbours[place]]
            kept = np.flatnonzero(code)
            owner = owner[kept]
            parts.append((mine.query[run][owner], mine.code[run][owner], code[kept]))
        code_of[popular.entity[of_relation]] = 0
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def _least(query: Integers, code: Integers, queries: int) -> Integers:
    """Return the least code above 0 of each query."""
    least = np.full(queries, np.iinfo(np.uint32).max, np.uint32)
    positive = np.flatnonzero(code)
    np.minimum.at(least, query[positive], code[positive])
    return least


def _added(query: Integers, weight: Integers | None, queries: int) -> Integers:
    return np.bincount(query, weights=weight, minlength=queries).astype(np.int64)


def _place(
    query: Integers,
    wanted: Integers,
    of_query: Integers,
    code: Integers,
    weight: Integers | None,
    totals: Integers,
) -> Place:
    """Return the weight of a query's entries above each wanted score, and the weight with that score.

    query, wanted: the query and the score of each row. of_query, code, weight: query, score and weight of each entry;
    every entry as good as a wanted score above 0 must be there. totals: the weight of all entries of each query, for
    any score.
    """
    place = Place(np.where(wanted > 0, 0, totals[query]), np.zeros(query.size, np.int64))
    present = np.zeros(totals.size, bool)
    present[of_query] = True
    rows = np.flatnonzero((wanted > 0) & present[query])
    weights = np.ones(of_query.size, np.int64) if weight is None else weight
    above, equal = placed(
        np.concatenate([of_query, query[rows]]),
        np.concatenate([code, wanted[rows]]),
        np.concatenate([weights, np.zeros(rows.size, np.int64)]),
    )
    place.above[rows], place.equal[rows] = above[of_query.size :], equal[of_query.size :]
    return place


def _runs(sizes: Integers, most: int) -> Iterator[slice]:
    """Yield runs of places whose sizes add up to at most `most`; a place with a larger size is a run of its own."""
    ends = np.cumsum(sizes)
    first = 0
    while first < sizes.size:
        before = ends[first - 1] if first else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), first + 1)
        yield slice(first, stop)
        first = stop
