"""Count the standings of true answers under counting baselines a second way: score every candidate, task by task.

Sets, loops and fractions, slow, to be read against docs/methods-baselines.md line by line.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property

from tests.reference_counter import GRAPHS, graphs_of

STATIC = ("popularity", "redundancy", "rules")


def stand_slowly(splits, protocol, isolated=()):
    """Return how many tasks have (split, side, baseline, above, tied, candidates).

    splits: names to lists of (head, relation, tail, *times); of a single time, times are whole numbers as text.
    """
    temporal = len(next(iter(splits.values()))[0]) == 4
    found = Counter()
    for base, evaluated in graphs_of(splits):
        scorer = Scorer(splits, base)
        for split in evaluated:
            for task in tasks_of(splits, base, evaluated, split, protocol, set(isolated)):
                side, triple, candidates = task
                scores = {name: getattr(scorer, name)(side, triple) for name in STATIC}
                if temporal:
                    everything = {name for known in evaluated.values() for name in known}
                    alike = {name for name in evaluated if evaluated[name] == evaluated[split]}
                    before = set(base) if split in base else set(evaluated[split]) - alike
                    for name, history in (("recurrency", everything), ("recurrency-multi-step", before)):
                        scores[name] = scorer.recurrency(side, triple, history, evaluated)
                for name, score in scores.items():
                    own = score(triple[0] if side == "head" else triple[2])
                    others = Counter(score(one) for one in candidates)
                    above = sum(times for value, times in others.items() if value > own)
                    found[split, side, name, above, others[own] + 1, len(candidates) + 1] += 1
    return found


def tasks_of(splits, base, evaluated, split, protocol, isolated):
    """Yield side, triple and the candidates without the true answer."""
    train = [triple for name in base for triple in splits.get(name, [])]
    release = [triple for name in {*base, *evaluated} for triple in splits.get(name, [])]
    pool = entities_in(train) if protocol.entities == "training" else entities_in(release) | isolated
    relations = {triple[1] for name in ("facts", "training", "inference") for triple in splits.get(name, [])}
    known = {
        "all": release,
        "cumulative": [triple for name in evaluated[split] for triple in splits.get(name, [])],
        "none": [],
    }[protocol.filter]
    triples = splits.get(split, [])
    if protocol.unseen == "drop":
        seen = entities_in(train)
        triples = [t for t in triples if t[0] in seen and t[2] in seen and t[1] in relations]
    if protocol.duplicates == "drop":
        triples = set(triples)
    for triple in triples:
        head, relation, tail, *time = triple
        same_time = [t for t in known if protocol.time != "aware" or list(t[3:]) == time]
        for side, answer in (("head", head), ("tail", tail)):
            place, other = (0, 2) if side == "head" else (2, 0)
            of_query = {t[place] for t in same_time if t[1] == relation and t[other] == triple[other]}
            observed = {t[place] for t in train if t[1] == relation}
            candidates = pool if protocol.types == "any" else observed
            yield side, triple, candidates - of_query - {answer}


class Scorer:
    """The scores of all baselines, from the base of a graph."""

    def __init__(self, splits, base):
        self.splits = splits
        self.pairs = self.pairs_of(base)
        # Rules are learned in training, if there is a training graph, and applied in this graph.
        learned = [name for name in GRAPHS[0][0] if name in splits]
        self.learned = self.pairs_of(learned) if learned else self.pairs

    def pairs_of(self, base):
        pairs = defaultdict(set)
        for name in base:
            for head, relation, tail, *_ in self.splits.get(name, []):
                pairs[relation].add((head, tail))
        return pairs

    def popularity(self, side, triple):
        relation = triple[1]
        place = 0 if side == "head" else 1
        pairs = self.pairs[relation]
        queries = {pair[1 - place] for pair in pairs}

        def score(candidate):
            times = len({pair[1 - place] for pair in pairs if pair[place] == candidate})
            return Fraction(times, len(queries)) if queries else Fraction(0)

        return score

    @cached_property
    def confidences(self):
        """Return the confidence of a relation, given another relation in the same and in the other direction."""
        same, turned = {}, {}
        for one, pairs in self.learned.items():
            for relation, others in self.learned.items():
                if one != relation:
                    same[one, relation] = Fraction(len(pairs & others), len(pairs))
                turned[one, relation] = Fraction(len({(y, x) for x, y in pairs} & others), len(pairs))
        return same, turned

    def redundancy(self, side, triple):
        head, relation, tail, *_ = triple
        same, turned = self.confidences

        def score(candidate):
            pair = (candidate, tail) if side == "head" else (head, candidate)
            found = [Fraction(0)]
            for one, pairs in self.pairs.items():
                if pair in pairs:
                    found.append(same.get((one, relation), Fraction(0)))
                if pair[::-1] in pairs:
                    found.append(turned.get((one, relation), Fraction(0)))
            return max(found)

        return score

    def rules(self, side, triple):
        popularity, redundancy = self.popularity(side, triple), self.redundancy(side, triple)
        return lambda candidate: max(popularity(candidate), redundancy(candidate))

    def recurrency(self, side, triple, history, _):
        head, relation, tail, time = triple
        popularity = self.popularity(side, triple)
        latest = {}
        for name in history:
            for x, r, y, when in self.splits.get(name, []):
                given, answer = (y, x) if side == "head" else (x, y)
                if (given, r) == (tail if side == "head" else head, relation) and int(when) < int(time):
                    latest[answer] = max(latest.get(answer, int(when)), int(when))

        # An answer that held before is above every answer that never held.
        return lambda candidate: (1, latest[candidate]) if candidate in latest else (0, popularity(candidate))


def entities_in(triples):
    return {triple[0] for triple in triples} | {triple[2] for triple in triples}
