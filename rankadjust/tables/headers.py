"""Read words: headers, labels, keys of result files, titles and file names all go through this tokenizer.

A text is cut into words at blanks, `_ / . -` and brackets. Runs of words, the longest first, are looked up among the
metrics, the data sets and the words of config/published.yaml. A text with any other word is a name. A word that is
joined to the name of a data set (`FB15k-237N`, `WN18RR-ind`) makes it the name of another.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from rankadjust.base.words import folded, shipped_mapping
from rankadjust.chance.metrics import adjusted_key, find_adjusted
from rankadjust.tables.facts import NOTHING, Facts
from rankadjust.tables.formats.cell_text import label

# Chinese and Japanese put no blank between their own words and words in other letters.
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+|[%‰@#×·*]")
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")
# What makes the name of a data set longer: the N of 'FB15k-237N', '-ind', '++', a star, ' v1'; and Lv et al. sampled
# NELL-995 by the links of its entities: 'NELL-995 h50'.
_JOINED = re.compile(
    rf"(?:[-+]?[^\W_{_CJK}]+|\+|\*(?!\*))+|[\s_][vV]\d+(?![^\W_])|(?i:(?<=nell995)|(?<=nell-995))\s[hH]\d+"
)
# What is written otherwise before a text is cut into words.
_REWRITTEN = [
    (re.compile(pattern), new)
    for pattern, new in {
        # A letter for a side: 'MRR (h)', 'r-MRR', 'l(raw)'.
        r"\(([htlrso])\)|^([htlrso])(?:[-_](?=\w)|(?=\((?:raw|filter)))": r" side \1\2 ",
        # A word between Hits and its k: 'Hits left @10', 'Hits (raw) @ 10'.
        r"(?i)\b(hits?) \(?([a-z]+)\)? ?(@ ?\d+)": r"\2 \1\3",
        # The number of sampled candidates: 'MRR (50 neg)', 'Hits@10 against 100 sampled negatives'.
        r"(?i)(?<![\w.@])\d[\d,]*\+?\s(?=(?:[a-z]+\s){0,2}(?:neg|negs|negatives?|candidates?)\b)": "",
        # A part of a split in brackets: 'Test MRR (subset)'.
        r"(?i)\btest (\S+) \((subset|dev|challenge)\)": r"test \2 \1",
        # Keys of PyKEEN before 1.6: hits_at_k.both.realistic.10.
        r"\b(hits_at)_k\.(.*)\.([0-9]+)$": r"\2.\1_\3",
    }.items()
]
# Names of data sets have capitals or digits within (WikiPeople, WD50K, YAGO-hy); 'Best' and 'final' have none.
_NAME = re.compile(r"[A-Za-z].*[A-Z0-9]")
# Two numbers with a separator between them are not a k, as in 'Hits@1-3', but 'Hits@10_50' is a metric of its own.
_TWO_NUMBERS = re.compile(r"^(?!.*@\d+_\d+$).*\d[\s_-]+\d")
# The k of Hits in a row of its own: '10', '@10', 'k=10'.
_K = re.compile(r"@?(?P<named>[kKnN]\s?=\s?)?(?P<k>\d+)")
# Only Hits may have their k without '@' or 'at': the 2 of 'MRR_2' may number a run.
_AT = re.compile(r"@|(?<![^\W_])at(?![^\W_])", re.IGNORECASE)
_SCALE = re.compile(r"‰|[/×x*·]\s?10|10\s?(?:\^|[⁰-⁹⁻])|\b(?:log|ln|in k|per mil)")
# The longest run of words that is looked up, the number of words of a text that are read, the longest header.
_MOST_WORDS, _MOST_READ, _LONGEST = 7, 60, 200
SAMPLED = re.compile(
    r"\b(?:\d[\d,]* (?:\w+ ){0,2}|(?:random|sampled|uniform) )(?:negatives?|candidates?)\b(?: entities)?"
    r"|\bsampled (?:evaluation|ranking|metrics|setting|protocol)\b",
    re.IGNORECASE,
)
"""The candidates of a ranking, in prose: '100 randomly sampled negative entities', 'sampled evaluation'."""
# In prose, these words may describe the training: 'with 256 negative samples'.
_OF_TRAINING = {"sampled", "negatives", "negative samples"}
# In prose 'raw' may describe anything.
_OF_RANKING = re.compile(r"\W(?:filter\w*|settings?|metrics?|ranks)$", re.IGNORECASE)
OTHER_EVALUATION = re.compile(
    r"\b(?:inductive|unseen|hard|zero-shot|few-shot|subset|restricted to|top-?\d+ (?:candidates?|entities))\b"
    r"|(?<!read )(?<!loaded )\b[\d,]+ (?:random(?:ly)? )?(?:\w+ )?(?:test )?"
    r"(?:triples|triplets|queries|facts|samples)\b",
    re.IGNORECASE,
)
"""Another evaluation than ranking the entities for every test triple: inductive, hard, 1,000 triples."""
# Labels of differences between the rows of other models.
_DIFFERENCE = re.compile(
    r"(?:(?:abs|rel)\w*\W*|\W*)(?:improve(?:ments?)?|improv|imp|gains?|differences?|diff|delta|Δ|in-?crease|decrease)"
    r"(?![\w-])|(?:vs\b|over (?:the )?(?:best|sota|prior|previous|baseline)|relative\b)|.*\bgap$",
    re.IGNORECASE,
)
SIDES = (("head", "tail"), ("left", "right"), ("h", "t"), ("l", "r"), ("s", "o"))
"""Words for the two sides; what `left` and a letter mean is an assumption."""


class Names(dict[str, str]):
    """Data sets: name or alias without case and punctuation -> our name. Never changed, so it can be a cache key."""

    __hash__ = object.__hash__  # type: ignore[assignment]


@cache
def _vocabulary() -> Mapping[str, tuple[str, str]]:
    """Return the words that qualify a value: run of words in lower case -> field and our word ('' for fillers)."""
    mapping = shipped_mapping()
    known = {_key(word): ("", "") for word in mapping["headers"]["fillers"]}
    known |= {f"side {word}": ("side", word) for pair in SIDES for word in pair}
    known |= {word: ("side", word) for word in ("left", "right")}
    for field, words in mapping["words"].items():
        # Names of metrics are looked up by `metric_key`.
        known |= {_key(word): (field, ours) for word, ours in words.items()} if field != "metric" else {}
    return known


@cache
def words_for(kind: str) -> frozenset[str]:
    """Return the folded words of a kind under `headers` of config/published.yaml."""
    return frozenset(shipped_mapping()["headers"][kind])


@cache
def _roles() -> Mapping[str, str]:
    listed = shipped_mapping()["headers"]["roles"]
    others = dict.fromkeys(words_for("bookkeeping") | words_for("configuration"), "other")
    return others | {word: role for role, words in listed.items() for word in words}


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def _key(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


@lru_cache(maxsize=8192)
def metric_key(text: str) -> str | None:
    """Return the key of the metric with this name; a printed adjusted metric gets 'adjusted_…' or 'z_…'."""
    # Tools append these to the names of means over runs: mrr_mean.
    plain = re.sub(r"_(mean|avg)$", "", text.strip(" *:.,;_-"))
    if not plain or folded(plain) in words_for("beside_metrics"):
        return None
    adjusted = find_adjusted(shipped_mapping()["words"]["metric"].get(plain, plain))
    key = adjusted[0].key if adjusted else ""
    is_clear = "_at_" not in key or "hits" in key or _AT.search(plain)
    return adjusted_key(*adjusted) if adjusted and is_clear else None


def role_of(header: str) -> str | None:
    """Return the content of a column by the known words for headers (model, dataset, other, …), else None."""
    text = label(header)
    # Exports put the origin of a value before its name: params.model, tags.mlflow.runName.
    return _roles().get(folded(text)) or _roles().get(folded(re.split(r"[./]", text)[-1]))


def is_difference(text: str) -> bool:
    """Return whether a label means differences between values: 'Improvement (%)', 'Δ'."""
    return _DIFFERENCE.match(label(text)) is not None


def find_dataset(text: str, names: Names) -> str | None:
    """Return our name of the data set with this name; 'WN18RR++' is another data set, and so may a starred name be."""
    plain = label(text)
    return None if plain.endswith(("+", "*")) else names.get(folded(plain))


def within(kind: str, text: str, names: Names) -> dict[str, str]:
    """Return what a longer text names of a kind (dataset, metric, task or protocol), each with its words.

    In prose, only words with a digit, a capital or a hyphen name metrics and data sets. A name that is longer than a
    data set of ours is kept as it is written. Negatives may be of training, and 'raw' may describe anything but ranks.
    """
    found: dict[str, str] = {}
    for field, ours, run in _named_runs(text, names, kind):
        is_other = kind == "task" and run.casefold() in _OF_TRAINING
        if field in (kind, "longer") and not is_other and (kind != "protocol" or _OF_RANKING.search(run)):
            found.setdefault(ours, run)
    return found


def _named_runs(text: str, names: Names, kind: str | None = None) -> Iterator[tuple[str | None, str, str]]:
    """Yield the runs of words of a text, the longest that is known first: field, our word, the run.

    kind: the only field that is looked up, in prose. The field of an unknown word is None, that of a name that goes on
    after the name of a data set is 'longer'; 'wn18rr v1' is a data set other than 'wn18rr'.
    """
    words = list(_WORD.finditer(text))[:_MOST_READ]
    marks = {"metric": r"\d", "dataset": r"\d|-"}.get(kind or "") if " " in text.strip() else None
    free = 0
    while free < len(words):
        start = words[free].start()
        for last in range(min(free + _MOST_WORDS, len(words)) - 1, free - 1, -1):
            run = text[start : words[last].end()]
            if marks and run == run.lower() and not re.search(marks, run):
                continue
            field, ours = _look_up(run, names, kind)
            if field is not None:
                break
        else:
            last, field, ours, run = free, None, words[free].group(), words[free].group()
        if field == "dataset" and (longer := _joined(text, start, words[last].end(), names)):
            field, ours, run = "longer", longer, longer
            last = max(at for at, word in enumerate(words) if word.start() < start + len(longer))
        yield field, ours, run
        free = last + 1


def _joined(text: str, start: int, end: int, names: Names) -> str | None:
    """Return the longer name that begins with the data set at this place of a text, None if there is none."""
    match = _JOINED.match(text, end)
    if match is None or (text[:start].endswith("*") and match[0].startswith("*")):
        return None
    # After a hyphen, known words do not belong to the name; but the h75 of 'NELL-995-h75' is not Hits@75.
    is_known = match[0].startswith("-") and not any(
        re.fullmatch(r"[hH]\d+", word) or (word != "*" and _look_up(word, names)[0] is None)
        for word in _WORD.findall(match[0])
    )
    return None if is_known else text[start : match.end()]


@lru_cache(maxsize=8192)
def read_header(text: str, names: Names) -> Facts:
    """Return the facts of a header; if a word of it is not understood, `rest` holds the whole text.

    Unknown words beside a metric are `unknown`, unless they are written like a name, and so is a metric that says two
    things; words for a spread or a difference make it no metric. What is not understood in brackets is a note.
    """
    if len(text) > _LONGEST:
        return Facts(rest=text)
    text = label(text)
    facts, unknown = _look_through(text, names)
    notes = [inside.strip() for inside in _BRACKET.findall(text) if unknown and _is_note(inside, names)]
    bare = _BRACKET.sub(lambda match: " " if match[1].strip() in notes else match[0], text)
    facts, unknown = _look_through(bare.strip(), names) if notes else (facts, unknown)
    said = Facts.of(**{name: ours[0] for name, ours in facts.items() if len(ours) == 1 or name == "metric"})
    # The whole text is the printed name of its metric, or, if it has none, of its data set.
    main: dict[str, Any] = dict(islice(said.stated(("metric", "dataset")), 1))
    said = replace(said, **{name: replace(fact, printed=text) for name, fact in main.items()})
    is_understood = not unknown and all(len(ours) == 1 for ours in facts.values())
    if is_understood and (said.metric or said.dataset or not notes):
        said = replace(said, notes="; ".join(notes) or None)
        if re.fullmatch(r"hits_at_\d+_\d+", said["metric"] or ""):
            why = "k among drawn candidates, estimated from the full rank as NBFNet does"
            return said.because(why, "metric")
        return said
    if "metric" not in facts or any(
        folded(word) in words_for("beside_metrics") or is_difference(word) for word in unknown
    ):
        return Facts(rest=text or None)
    # The words as they are written: 'MKG-W'.
    together = re.search(r"\W".join(map(re.escape, unknown)), text)
    words = together[0] if unknown and together else " ".join(unknown) or text
    is_name = unknown and len(facts["metric"]) == 1 and _NAME.search(words)
    return replace(said, rest=words) if is_name else replace(said, unknown=words)


def _is_note(inside: str, names: Names) -> bool:
    """Return whether brackets hold a note: none of their words is known, and 'MR (/1000)' has a scale."""
    facts, unknown = _look_through(inside.strip(), names)
    return bool(unknown) and not (facts or _SCALE.search(inside))


def _look_through(text: str, names: Names) -> tuple[dict[str, list[Any]], list[str]]:
    """Return our words for the words of a text, field by field, and the unknown words."""
    for pattern, new in _REWRITTEN:
        text = pattern.sub(new, text)
    facts: dict[str, list[Any]] = {}
    unknown: list[str] = []
    for field, ours, _ in _named_runs(text, names):
        if field in (None, "longer"):
            unknown.append(ours)
        elif field and ours not in facts.setdefault(field, []):
            facts[field].append(ours)
    return facts, unknown


def _look_up(run: str, names: Names, kind: str | None = None) -> tuple[str | None, str]:
    """Return the field and our word of a run of words; field: '' for a filler, None for an unknown run."""
    # Some names of metrics mean other things too; a sidecar may still state these.
    is_open = folded(run) in words_for("ambiguous_metrics") or _TWO_NUMBERS.search(run)
    if kind in (None, "metric") and not is_open and (key := metric_key(run)):
        return "metric", key
    if kind in (None, "dataset") and (dataset := find_dataset(run, names)):
        return "dataset", dataset
    field, ours = _vocabulary().get(_key(run), (None, ""))
    return (field, ours) if kind in (None, field) else (None, "")


@lru_cache(maxsize=8192)
def read_stack(texts: tuple[str, ...], names: Names) -> Facts:
    """Return the facts of all headers above a column; `texts` from the top down.

    The lowest header with a metric decides the metric; 'Hits@' above '10' are read together. `rest` holds the
    texts that are not understood.
    """
    distinct = tuple(filter(None, dict.fromkeys(map(str.strip, texts))))
    read = [read_header(text, names) for text in _with_joined_k(distinct)]
    facts = NOTHING
    for said in reversed(read):
        facts = facts.agreeing(replace(said, rest=None), "a header", "the header above it")
    return replace(facts, rest=" ".join(filter(None, (said.rest for said in read))) or None)


def _with_joined_k(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Replace 'Hits@' (or 'Hits@k (%)') and the k below it by 'Hits@10 (%)'; 'k=10' may also be above it."""
    for place, match in enumerate(map(_K.fullmatch, map(label, texts))):
        if match and (place == len(texts) - 1 or match["named"]):
            others = (*texts[:place], *texts[place + 1 :])
            for index, text in enumerate(map(label, others)):
                stem = text if "@" in text else f"{text}@"
                joined = re.sub(r"@\s*[kKnN]?(?!\w)", f"@{match['k']}", stem, count=1)
                if metric_key(_BRACKET.sub("", joined)) and not metric_key(text):
                    return (*others[:index], joined, *others[index + 1 :])
    return texts
