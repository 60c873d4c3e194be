"""The scores of the static baselines for the triples of some relations, as whole numbers in the same order.

A score is a fraction: a share of queries, or the confidence of a rule. Equal fractions are equal as float64, and
different fractions differ as float64, because their denominators are below 2^26. So each score is replaced by its place
among all scores that occur, from 1 on. The place is called its code; 0 is the code of the score 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rankadjust.base.arrays import FloatArray
from rankadjust.baselines.links import Links
from rankadjust.counting.packing import Flags, Integers, numbered, starts
from rankadjust.counting.rows import OTHER, SIDES, Rows, Side

STATIC = ("popularity", "redundancy", "rules")


@dataclass(frozen=True)
class Popular:
    """The answers that occur on one side of some relations, each once.

    number: the answer of every row. relation, entity, code: describe each answer; the code is 0 if the answer does not
    occur in the base.
    """

    number: Integers
    relation: Integers
    entity: Integers
    code: Integers


@dataclass(frozen=True)
class Scores:
    """Scores of rows.

    redundancy: the score of every row under `redundancy`. popular: the answers of each side with their popularity.
    levels: the number of different scores above 0. of_signature: the score of each relation and signature under
    `redundancy` (relations, signatures).
    """

    redundancy: Integers
    popular: Mapping[Side, Popular]
    levels: int
    of_signature: Integers
    links: Links

    @cached_property
    def codes(self) -> dict[tuple[str, Side], Integers]:
        """The scores of every row under each of STATIC, by baseline and side."""
        codes: dict[tuple[str, Side], Integers] = {}
        for side in SIDES:
            popularity = self.popular[side].code[self.popular[side].number]
            codes["popularity", side] = popularity
            codes["redundancy", side] = self.redundancy
            codes["rules", side] = np.maximum(popularity, self.redundancy)
        return codes


def scores_of(rows: Rows, links: Links, confidences: sparse.csc_array, relations: Integers) -> Scores:
    """Return the scores of rows. relations: the id of each relation in the whole data set, by its number in `rows`."""
    base = _distinct_in_base(rows)
    answers = {side: numbered([rows.relation, rows.entity(side)]) for side in SIDES}
    fractions = {side: _popularity(rows, side, answers[side], base) for side in SIDES}
    rules = confidences[:, relations].tocoo()
    known = [fractions[side] for side in SIDES] + [rules.data]
    levels = np.unique(np.concatenate(known))
    levels = levels[levels > 0]
    of_link = np.zeros((relations.size, confidences.shape[0]), np.uint32)
    link, relation = rules.coords
    of_link[relation, link] = _code(rules.data, levels)
    of_signature = links.best(of_link)
    signature = links.signature_of(rows.head, rows.tail)
    redundancy = np.where(signature >= 0, of_signature[rows.relation, signature], 0)
    popular: dict[Side, Popular] = {}
    for side in SIDES:
        size = fractions[side].size
        relation_of, entity_of = np.empty(size, np.int64), np.empty(size, np.int64)
        relation_of[answers[side]], entity_of[answers[side]] = rows.relation, rows.entity(side)
        popular[side] = Popular(answers[side], relation_of, entity_of, _code(fractions[side], levels))
    return Scores(redundancy.astype(np.uint32), popular, levels.size, of_signature, links)


def _distinct_in_base(rows: Rows) -> Integers:
    """Return one row of the base for each triple, even if the triple has several times or splits."""
    base = np.flatnonzero(rows.in_base)
    return base[starts([column[base] for column in (rows.head, rows.relation, rows.tail)])]


def _popularity(rows: Rows, side: Side, answer: Integers, base: Integers) -> FloatArray:
    """Return for every answer the share of its relation's queries that have this answer in the base."""
    anchors = numbered([rows.relation, rows.entity(OTHER[side])])
    asked = np.zeros(int(anchors.max()) + 1, bool)
    asked[anchors[base]] = True
    relation_of = np.empty(asked.size, np.int64)
    relation_of[anchors] = rows.relation
    queries = np.bincount(relation_of[asked], minlength=int(rows.relation.max()) + 1)
    times = np.bincount(answer[base], minlength=int(answer.max()) + 1)
    own = np.empty(times.size, np.int64)
    own[answer] = queries[rows.relation]
    return times / np.maximum(own, 1)


def _code(values: FloatArray, levels: FloatArray) -> Integers:
    return np.where(values > 0, np.searchsorted(levels, values) + 1, 0).astype(np.uint32)


def placed(query: Integers, code: Integers, weight: Integers | Flags) -> tuple[Integers, Integers]:
    """Return for every entry the weight of its query's entries with a greater code, and with the same code."""
    if not query.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    run = numbered([query, code])
    # Sums of whole numbers are exact in float64 up to 2^53.
    own = np.bincount(run, weights=weight).astype(np.int64)
    upto = np.cumsum(own)
    query_of = np.empty(own.size, query.dtype)
    query_of[run] = query
    last = np.flatnonzero(np.append(query_of[1:] != query_of[:-1], True))
    end = np.repeat(upto[last], np.diff(last, prepend=-1))
    return (end - upto)[run], own[run]
