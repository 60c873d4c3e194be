"""Count candidates above and tied with the true answers under recurrency.

Recurrency ranks the most recent answers first, and orders the answers that never held before by popularity.

An event is a triple at a time at which it held. It is *in force* at a later time t if its triple has no event in
between. So the answers that held before t are the events of the query that are in force at t. The answers that held
more recently than the true answer are such events in a range of times. All tasks are counted at once: each count is the
number of large enough values in a range of a sorted list.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import TIMES
from rankadjust.baselines.standings import Place, Standing, Static, among_known
from rankadjust.counting.packing import Flags, Integers, numbered
from rankadjust.counting.protocols import Protocol
from rankadjust.counting.rows import LEVEL_OF, Side, filters_by_time

Recurrent = Literal["recurrency", "recurrency-multi-step"]
RECURRENCY: tuple[Recurrent, ...] = ("recurrency", "recurrency-multi-step")


def order_of_times(triples: pl.DataFrame) -> tuple[Integers | None, str]:
    """Return for every triple the place of its time among all times, or None and the reason why no order is known.

    Times have an order if all are numbers, dates, or dates with a time of the day.
    """
    if set(TIMES[1]) <= set(triples.columns):
        return None, "times are intervals, and no order of intervals is defined"
    texts = triples["time"].cast(pl.String)
    kinds: list[pl.Expr] = [
        pl.col("time").cast(pl.Int64, strict=False),
        pl.col("time").cast(pl.Float64, strict=False),
        pl.col("time").str.to_date("%Y-%m-%d", strict=False),
        pl.col("time").str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False),
        pl.col("time").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False),
    ]
    for kind in kinds:
        read = texts.to_frame("time").select(kind).to_series()
        if read.null_count() == 0 and not (read.dtype.is_float() and not read.is_finite().all()):
            return read.rank("dense").to_numpy().astype(np.int64) - 1, ""
    return None, "the order of the times is not known: they are not all numbers or dates (2014-01-31)"


@dataclass(frozen=True)
class _Latest:
    """For every row: when its triple held last before the row's time, according to a history.

    events: a row for each distinct triple and time of the history, sorted by triple and time. next: the time of the
    triple's next event, or `_end` after the last event. begins: whether the event is its triple's first. held: whether
    the triple of each row held before the row's time. last: the last time at which it held.
    """

    events: Integers
    next: Integers
    begins: Flags
    held: Flags
    last: Integers


@dataclass(frozen=True)
class Recurrency:
    """The recurrency of the rows of some relations. when: the place of each row's time among all times."""

    static: Static
    when: Integers
    _found: dict[int, _Latest] = field(default_factory=dict)

    def standing(self, baseline: Recurrent, side: Side, protocol: Protocol) -> Standing:
        """Return the standing of the answers of all asked rows among all candidates, before negatives are sampled."""
        popular = self.static.standing("popularity", side, protocol)
        above, tied = popular.above.copy(), popular.tied.copy()
        for level, history, rows in self._histories(baseline):
            own = self._among(side, protocol, level, history, rows, popular)
            above[rows], tied[rows] = own.above, own.equal
        return Standing(above, tied, popular.candidates)

    def _histories(self, baseline: Recurrent) -> Iterator[tuple[int, int, Integers]]:
        """Yield for each level: the level, the last level of its rows' history, and the asked rows of the level.

        Single-step forecasts know every earlier event, whatever its split. Multi-step forecasts know only the events of
        earlier splits.
        """
        for level, rows in enumerate(self.static.rows.levels):
            history = int(LEVEL_OF.max()) if baseline == "recurrency" else max(level - 1, 0)
            yield level, history, rows[self.static.asked[rows]]

    @cached_property
    def _end(self) -> int:
        return int(self.when.max()) + 1

    @cached_property
    def _triple(self) -> Integers:
        rows = self.static.rows
        return numbered([rows.head, rows.relation, rows.tail])

    @cached_property
    def _level(self) -> Integers:
        """The first level at which the triple of each row is known, at any time."""
        level = np.full(int(self._triple.max()) + 1, int(LEVEL_OF.max()))
        np.minimum.at(level, self._triple, LEVEL_OF[self.static.rows.split])
        return level[self._triple]

    def _latest(self, history: int) -> _Latest:
        if history not in self._found:
            known = np.flatnonzero(LEVEL_OF[self.static.rows.split] <= history)
            words, place = np.unique(self._word(self._triple, self.when)[known], return_index=True)
            events = known[place]
            triple = self._triple[events]
            same = np.append(triple[1:] == triple[:-1], False)
            following = np.where(same, np.append(self.when[events][1:], 0), self._end)
            before = np.searchsorted(words, self._word(self._triple, self.when)) - 1
            held = (
                (before >= 0) & (triple[before] == self._triple)
                if events.size
                else np.zeros(self.when.size, bool)
            )
            last = (
                np.where(held, self.when[events[before]], -1) if events.size else np.full(self.when.size, -1)
            )
            self._found[history] = _Latest(
                events, following, np.append(True, ~same[:-1])[: events.size], held, last
            )
        return self._found[history]

    def _word(self, number: Integers, when: Integers) -> Integers:
        return number * (self._end + 1) + when

    def _among(
        self, side: Side, protocol: Protocol, level: int, history: int, rows: Integers, popular: Standing
    ) -> Place:
        """Return how many candidates are above the answers of some rows, and how many are tied with them."""
        static, latest = self.static, self._latest(history)
        by_time = filters_by_time(static.rows, protocol)
        inside = static.pool(side, protocol)
        counted = inside[latest.events]
        if protocol.filter != "none" and not by_time:
            # The filter ignores time: it removes every answer that ever held in a split that the filter knows.
            known_at = int(LEVEL_OF.max()) if protocol.filter == "all" else level
            counted &= self._level[latest.events] > known_at
        held, codes = latest.held[rows], static.scores.codes["popularity", side][rows]
        recent = self._recent(side, latest, counted, rows)
        others = self._ever(side, latest, counted, rows)
        if not by_time:
            itself = inside[rows] if protocol.filter == "none" else 0
            return Place(
                np.where(held, recent.above, popular.above[rows] + others.above),
                np.where(held, recent.equal - itself + 1, popular.tied[rows] - others.equal),
            )
        place = static.place("popularity", side, protocol)
        above = np.where(held, recent.above, place.above[rows] + others.above)
        equal = np.where(held, recent.equal, place.equal[rows] - others.equal)
        known = self._known(side, protocol, level, latest, inside)
        above -= known.above[rows]
        unscored = ~held & (codes == 0)
        return Place(
            above, np.where(unscored, popular.candidates[rows] - above, equal - known.equal[rows] + 1)
        )

    def _known(self, side: Side, protocol: Protocol, level: int, latest: _Latest, inside: Flags) -> Place:
        """Return how many answers known at the row's own time are above each row, and how many are tied with it."""
        rows, scores = self.static.rows, self.static.scores
        known_at = int(LEVEL_OF.max()) if protocol.filter == "all" else level
        popularity = scores.codes["popularity", side].astype(np.int64)
        code = np.where(latest.held, scores.levels + 1 + latest.last, popularity)
        counted = rows.first & inside & (LEVEL_OF[rows.split] <= known_at) & (code > 0)
        return among_known(rows.query[side], code, counted)

    def _recent(self, side: Side, latest: _Latest, counted: Flags, rows: Integers) -> Place:
        """Return how many counted answers held more recently than the row's answer, and how many as recently."""
        query = self.static.rows.static_query[side]
        words, following = self._sorted(query, latest.events[counted], latest.next[counted])
        place = Place(*np.zeros((2, rows.size), np.int64))
        held = np.flatnonzero(latest.held[rows])
        own, now = query[rows[held]], self.when[rows[held]]
        last = self._word(own, latest.last[rows[held]])
        before, after = (np.searchsorted(words, last, side=end) for end in ("left", "right"))
        until = np.searchsorted(words, self._word(own, now))
        # An event is in force at the time of a task if the next event of its triple is not before that time.
        place.above[held], place.equal[held] = count_in_ranges(
            following, np.stack([after, before]), np.stack([until, after]), np.stack([now, now])
        )
        return place

    def _ever(self, side: Side, latest: _Latest, counted: Flags, rows: Integers) -> Place:
        """Count the answers that held before and are not more popular than the row's answer, and the equally popular.

        Only rows whose own answer never held before are counted.
        """
        query, popularity = self.static.rows.static_query[side], self.static.scores.codes["popularity", side]
        events = latest.events[counted & latest.begins]
        words, popular = self._sorted(query, events, popularity[events].astype(np.int64))
        place = Place(*np.zeros((2, rows.size), np.int64))
        never = np.flatnonzero(~latest.held[rows])
        own, code = query[rows[never]], popularity[rows[never]].astype(np.int64)
        first = np.searchsorted(words, self._word(own, np.zeros_like(own)))
        until = np.searchsorted(words, self._word(own, self.when[rows[never]]))
        more, as_many = count_in_ranges(
            popular, np.stack([first, first]), np.stack([until, until]), np.stack([code + 1, code])
        )
        place.above[never], place.equal[never] = until - first - more, as_many - more
        return place

    def _sorted(self, query: Integers, events: Integers, values: Integers) -> tuple[Integers, Integers]:
        """Return the events as numbers that sort by query and time, ascending, and the value of each event."""
        words = self._word(query[events], self.when[events])
        order = np.argsort(words)
        return words[order], values[order]


def count_in_ranges(values: Integers, first: Integers, until: Integers, least: Integers) -> Integers:
    """Return how many values (n,) at the places first <= p < until are `least` or more, for ranges of any shape.

    The values are sorted bit by bit, from the highest bit on, and the ranges follow the values. This is a wavelet
    matrix (Claude and Navarro 2012), but its levels are in memory one after the other.
    """
    bits = int(values.max(initial=0)).bit_length()
    counts = np.zeros(first.shape, np.int64)
    # Nothing has more bits than the largest value.
    low, high = first, np.where(least < 1 << bits, until, first)
    for bit in reversed(range(bits)):
        is_one = (values >> bit) & 1 > 0
        zeros = np.concatenate([[0], np.cumsum(~is_one)])
        low_zeros, high_zeros = zeros[low], zeros[high]
        wants_one = (least >> bit) & 1 > 0
        counts += np.where(wants_one, 0, (high - low) - (high_zeros - low_zeros))
        low = np.where(wants_one, zeros[-1] + low - low_zeros, low_zeros)
        high = np.where(wants_one, zeros[-1] + high - high_zeros, high_zeros)
        values = np.concatenate([values[~is_one], values[is_one]])
    return counts + high - low
