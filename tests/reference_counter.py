"""Count candidates a second way, with sets and loops: slow, but easy to compare with docs/protocols.md line by line."""

from collections import Counter, defaultdict

import polars as pl

from rankadjust.counting.candidates import HISTOGRAM_SCHEMA, PAIRS_SCHEMA, Candidates

GRAPHS = [
    # training of the graph, what is evaluated on it, and what a cumulative filter knows when it is
    (
        ["facts", "training"],
        {
            "training": ["facts", "training"],
            "validation": ["facts", "training", "validation"],
            "testing": ["facts", "training", "validation", "testing"],
        },
    ),
    (
        ["inference"],
        {
            "inference": ["inference"],
            "inference_validation": ["inference", "inference_validation"],
            "inference_testing": ["inference", "inference_validation", "inference_testing"],
        },
    ),
]


def count_slowly(splits, protocol, without=(), isolated=()):
    """Count like count_candidates; splits maps names to lists of (head, relation, tail, *times).

    Splits named in `without` are not ranked. Entities in `isolated` belong to the release and stand in no triple.
    """
    histogram, pairs = [], []
    for training, evaluated in graphs_of(splits):
        for split in [name for name in evaluated if name not in without]:
            tasks = tasks_of(splits, training, evaluated, split, protocol, set(isolated))
            if not tasks:
                continue
            # Where the filter looks at times, tasks of one query differ from time to time: not counted.
            by_time = protocol.time == "aware" and protocol.negatives is None and len(tasks[0][0]) > 3
            histogram += histogram_rows(split, tasks, static=not by_time)
            pairs += pairs_rows(split, tasks, static=not by_time)
    return Candidates(
        pl.DataFrame(histogram, HISTOGRAM_SCHEMA, orient="row"),
        pl.DataFrame(pairs, PAIRS_SCHEMA, orient="row"),
    )


def graphs_of(splits):
    inductive = any(name in splits for name in GRAPHS[1][1])
    if not inductive or "validation" in splits or "testing" in splits:
        yield GRAPHS[0]
    if inductive:
        yield GRAPHS[1]


def tasks_of(splits, training, evaluated, split, protocol, isolated):
    """Return a list of (triple, side, query, entities, number of candidates)."""
    train = [triple for name in training for triple in splits.get(name, [])]
    release = [triple for name in {*training, *evaluated} for triple in splits.get(name, [])]
    pool = entities_in(train) if protocol.entities == "training" else entities_in(release) | isolated
    relations = {triple[1] for name in ("facts", "training", "inference") for triple in splits.get(name, [])}
    known = {
        "all": release,
        "cumulative": [triple for name in evaluated[split] for triple in splits.get(name, [])],
        "none": [],
    }[protocol.filter]
    known_answers, observed = defaultdict(set), defaultdict(set)
    for head, relation, tail, *time in known:
        when = tuple(time) if protocol.time == "aware" else ()
        known_answers["head", tail, relation, when].add(head)
        known_answers["tail", head, relation, when].add(tail)
    for head, relation, tail, *_ in train:
        observed["head", relation].add(head)
        observed["tail", relation].add(tail)
    triples = splits.get(split, [])
    if protocol.unseen == "drop":
        seen = entities_in(train)
        triples = [t for t in triples if t[0] in seen and t[2] in seen and t[1] in relations]
    if protocol.duplicates == "drop":
        triples = set(triples)
    tasks = []
    for triple in triples:
        head, relation, tail, *time = triple
        when = tuple(time) if protocol.time == "aware" else ()
        for side, given, answer in (("head", tail, head), ("tail", head, tail)):
            candidates = pool if protocol.types == "any" else observed[side, relation]
            answers = known_answers[side, given, relation, when] | {answer}
            number = len(candidates) - len(candidates & answers) + 1
            if protocol.negatives is not None:
                number = protocol.negatives + 1
            if protocol.counting == "exclusive":
                number -= 1
            tasks.append((triple, side, (given, relation, *time), len(pool), number))
    return tasks


def entities_in(triples):
    return {triple[0] for triple in triples} | {triple[2] for triple in triples}


def histogram_rows(split, tasks, *, static):
    rows = defaultdict(list)
    for task in tasks:
        rows[task[1], task[4]].append(task)
    for (side, number), row in sorted(rows.items()):
        shared = ordered_pairs(task[2] for task in row)
        repeated = ordered_pairs(task[0] for task in row)
        # Without its time a query is two labels, a triple three.
        timeless = (
            (ordered_pairs(task[2][:2] for task in row), ordered_pairs(task[0][:3] for task in row))
            if static
            else (None, None)
        )
        yield (split, side, row[0][3], number, len(row), shared, repeated, *timeless)


def ordered_pairs(items):
    return sum(times * (times - 1) for times in Counter(items).values())


def pairs_rows(split, tasks, *, static):
    heads, tails = ([task for task in tasks if task[1] == side] for side in ("head", "tail"))
    count, linked, static_linked = Counter(), Counter(), Counter()
    answers = defaultdict(list)
    for triple, *_, number in tails:
        answers[triple[:3]].append((triple, number))
    for triple, *_, number in heads:
        for other, tail_number in answers[triple[:3]]:
            linked[number, tail_number] += triple == other
            static_linked[number, tail_number] += 1
    for (triple, *_, number), (other, *_, tail_number) in zip(heads, tails, strict=True):
        assert triple == other
        count[number, tail_number] += 1
    return [
        (split, *pair, count[pair], linked[pair], static_linked[pair] if static else None)
        for pair in sorted(count)
    ]
