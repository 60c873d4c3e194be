"""What words say: the one tokenizer of headers, labels, keys of result files, titles and file names.

A text is cut into words at blanks, `_ / . -` and brackets; runs of words, the longest first, are looked up among the
metrics, the data sets and the words of config/published.yaml. A text with a word that is none of these is a name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Any

from rankadjust.base.words import folded, our_word, shipped_mapping
from rankadjust.chance.adjusted_names import adjusted_key, find_adjusted
from rankadjust.tables.cells import label

FIELDS = ("dataset", "model", "metric", "split", "side", "protocol", "ties", "candidates", "unit", "task")
"""What is known of a value besides its number, in the order in which it is told."""

ENTITY_RANKING = "entity prediction"
"""The task whose values are adjusted: entities ranked for every triple of the test set."""

DEFAULTS = {"split": "testing", "side": "both", "protocol": "filtered", "ties": "realistic"}
"""What is usual where nothing says it."""

EVALUATION = ("dataset", "metric", "split", "side", "protocol", "ties", "candidates", "task")
"""What of it is the same for every model."""

# Chinese and Japanese have no blanks between their words and those of other letters.
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+|[%‰@#×·*]")
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")
# A footnote letter that is no longer raised: 'MRRa'.
_FOOTNOTE = re.compile(r"(.*[A-Z0-9])([a-g])")
# Former keys of PyKEEN: mean_rank.both.avg, hits_at_k.both.avg.10, both.avg.mean_rank, both.best.hits_at_k.10.
_FORMER = {"avg": "realistic", "best": "optimistic", "worst": "pessimistic", "_at_k.": "_at_"}
# Optuna's frames of trials put it before what a tool left with a trial: user_attrs_avg.hits_at_10.
_PREFIX = re.compile(r"^(?:user|system)_attrs_")
_FORMER_KEYS = re.compile(r"\b(?:avg|best|worst)(?=\.\w)|(?<=\.)(?:avg|best|worst)$|_at_k\.(?=\w)")
_VERSION = re.compile(r"[vV]\d+")
# Digits with a separator between them are no k: 'Hits@10_50', 'Hits@1-3'.
_TWO_NUMBERS = re.compile(r"\d[\s_-]+\d")
# Only Hits have their k without a word for it: 'MRR_2' is of a second run.
_AT = re.compile(r"@|(?<![^\W_])at(?![^\W_])", re.IGNORECASE)
_SCALE = re.compile(r"‰|[/×x*·]\s?10|10\s?(?:\^|[⁰-⁹⁻])|\b(?:log|ln|in k|per mil)")
# A header has a few words; what has more is prose, which speaks of metrics without naming one.
_MOST_IN_HEADER = 8
# The longest run of words that is looked up, and how many words of a text are.
_MOST_WORDS = 7
_MOST_READ = 60
# In prose 'raw' may describe anything.
_OF_RANKING = re.compile(r"\W(?:filter\w*|settings?|metrics?|ranks)$", re.IGNORECASE)
# A longer text is no header.
_LONGEST = 200
_ANY = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Facts:
    """What is known of a value besides its number; None where nothing says it.

    rest: words not understood. unknown: such words beside the name of a metric. assumed: field and reason of what the
    table does not say itself. conflicts: what is said in two ways.
    """

    dataset: str | None = None
    model: str | None = None
    metric: str | None = None
    split: str | None = None
    side: str | None = None
    protocol: str | None = None
    ties: str | None = None
    candidates: str | None = None
    unit: str | None = None
    task: str | None = None
    notes: str | None = None
    dataset_as_printed: str | None = None
    metric_as_printed: str | None = None
    rest: str | None = None
    unknown: str | None = None
    assumed: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[str, ...] = ()

    def over(self, other: "Facts") -> "Facts":
        """Return these facts, with those of `other` where these say nothing."""
        if other is NOTHING or self == NOTHING:
            return self if other is NOTHING else other
        # A stated data set or metric brings its own printed name, or none: it must not keep that of the other.
        bound = {"dataset_as_printed": self.dataset, "metric_as_printed": self.metric}
        taken = {
            name: value
            for name in _TEXTS
            if getattr(self, name) is None
            and bound.get(name) is None
            and (value := getattr(other, name)) is not None
        }
        assumed = tuple(pair for pair in other.assumed if pair[0] in taken)
        conflicts = (*self.conflicts, *other.conflicts)
        return replace(self, **taken, assumed=(*self.assumed, *assumed), conflicts=conflicts)

    def agreeing(self, other: "Facts", here: str, there: str) -> "Facts":
        """Return `over`, with a conflict for each field of which the two say something else; names are not compared."""
        conflicts = tuple(
            f"{here} says {mine}, {there} says {theirs}"
            for name in FIELDS
            if name not in ("model", "metric")
            and (mine := getattr(self, name)) is not None
            and (theirs := getattr(other, name)) is not None
            and (our_word(name, mine) or mine) != (our_word(name, theirs) or theirs)
            # A part of the test set, such as test-dev, is of the test set.
            and not (name == "split" and mine.startswith("test-") and theirs == "testing")
        )
        both = self.over(other)
        return replace(both, conflicts=(*both.conflicts, *conflicts)) if conflicts else both

    def assuming(self, name: str, why: str) -> "Facts":
        """Return these facts, one of them assumed for that reason."""
        return replace(self, assumed=(*self.assumed, (name, why)))

    def because(self, reason: str) -> "Facts":
        """Return these facts, each of them assumed for that reason."""
        known = (name for name in FIELDS if getattr(self, name) is not None)
        return replace(self, assumed=tuple((name, reason) for name in known))

    @cached_property
    def evaluation(self) -> tuple[str | None, ...]:
        """What a value is a value of, the model left aside and the usual where nothing says it."""
        return tuple(getattr(self, name) or DEFAULTS.get(name) for name in EVALUATION)

    @property
    def says_something(self) -> bool:
        """Whether any word was understood."""
        return any(getattr(self, name) is not None for name in FIELDS)


NOTHING = Facts()
"""No facts."""
_TEXTS = tuple(field.name for field in fields(Facts) if field.name not in ("assumed", "conflicts"))


class Names(dict[str, str]):
    """Data sets: a name or alias without case and punctuation -> our name. Kept as they are, so they can be a key."""

    __hash__ = object.__hash__  # type: ignore[assignment]


@cache
def _vocabulary() -> Mapping[str, tuple[str, str]]:
    """Return the words that qualify a value: their run of words, in lower case -> field and our word ('' for none)."""
    mapping = shipped_mapping()
    known = {_key(word): ("", "") for word in mapping["headers"]["fillers"]}
    for field, words in mapping["words"].items():
        # The names of metrics are looked up as such.
        if field == "metric":
            continue
        known |= {_key(word): (field, ours) for word, ours in words.items()}
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


def is_understood(words: Iterable[str]) -> bool:
    """Tell whether each of some words is known to say something of a value, or nothing."""
    return all(_key(word) in _vocabulary() for word in words)


def _key(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


@lru_cache(maxsize=8192)
def metric_key(text: str) -> str | None:
    """Return the key of the metric that a text names; printed adjusted metrics as 'adjusted_…' or 'z_…'."""
    # Machine-made names of means over runs: mrr_mean.
    plain = re.sub(r"_(mean|avg)$", "", text.strip(" *:.,;_-"))
    if not plain or folded(plain) in words_for("beside_metrics") or _TWO_NUMBERS.search(plain):
        return None
    found = find_adjusted(shipped_mapping()["words"]["metric"].get(plain, plain))
    if found is None or ("_at_" in found[0].key and "hits" not in found[0].key and not _AT.search(plain)):
        return None
    return adjusted_key(*found)


def _metric_of_ranks(text: str) -> str | None:
    """Return `metric_key`, but for names that a metric of classification has, too: a sidecar may state these."""
    return None if folded(text) in words_for("ambiguous_metrics") else metric_key(text)


def role_of(header: str) -> str | None:
    """Return what a column holds whose header is a word for it (model, dataset, other, …), else None."""
    text = label(header)
    # Exports put where a value comes from before its name: params.model, tags.mlflow.runName.
    return _roles().get(folded(text)) or _roles().get(folded(re.split(r"[./]", text)[-1]))


def is_bookkeeping(header: str) -> bool:
    """Tell whether a column with this header cannot tell models apart: place, time, size, links and the like."""
    return folded(label(header)) in words_for("bookkeeping")


def is_difference(text: str) -> bool:
    """Tell whether a row or column with this label holds differences of values: 'Improvement (%)', 'Δ'."""
    words = r"(abs\w*|rel\w*)?\W*(improvements?|improv|gains?|differences?|diff|delta|Δ)(?![\w-])"
    return re.match(words, label(text), re.IGNORECASE) is not None


def find_dataset(text: str, names: Names) -> str | None:
    """Return our name of the data set that a text is a name of."""
    return names.get(folded(label(text)))


def runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first and last word and the text of each run of words, from each word the longest run first."""
    words = list(_WORD.finditer(text))[:_MOST_READ]
    for first in range(len(words)):
        for last in range(min(first + _MOST_WORDS, len(words)) - 1, first - 1, -1):
            yield first, last, text[words[first].start() : words[last].end()]


def _names_within(text: str, look_up: Callable[[str], str | None], marks: str = "") -> dict[str, str]:
    """Return the names that are found in a text, each with its words; 'wn18rr v1' is no 'wn18rr' but a set of its own.

    In prose only words with a digit, a capital or one of the marks can be a name.
    """
    found: dict[str, str] = {}
    free = 0
    in_prose = " " in text.strip()
    words = [*_WORD.findall(text)[:_MOST_READ], ""]
    for first, last, run in runs(text):
        can_be = not in_prose or run != run.lower() or any(sign.isdigit() or sign in marks for sign in run)
        if first >= free and can_be and not _VERSION.fullmatch(words[last + 1]) and (name := look_up(run)):
            found.setdefault(name, run)
            free = last + 1
    return found


def datasets_within(text: str, names: Names) -> dict[str, str]:
    """Return the data sets named within a longer text, each with its words."""
    return _names_within(text, lambda run: names.get(folded(run)), marks="-")


def split_name(text: str, names: Names) -> tuple[str, str] | None:
    """Return name and data set of 'RotatE (WN18RR)' or 'RotatE on WN18RR'; None for a text with no data set, or two."""
    found = datasets_within(text, names) if len(text) <= _LONGEST else {}
    if len(found) != 1:
        return None
    [(dataset, words)] = found.items()
    name = re.sub(r"[\s(\[_/-]*(?:\b(?:on|for|@)\s+)?" + re.escape(words) + r"[\s)\]_/-]*", " ", text).strip(
        " :,"
    )
    return (name, dataset) if name else None


def metrics_within(text: str) -> dict[str, str]:
    """Return the metrics named within a longer text, each with its words."""
    return _names_within(text, _metric_of_ranks)


def tasks_within(text: str) -> dict[str, str]:
    """Return the tasks named within a longer text, each with its words."""
    return _names_within(text, partial(_word_for, "task"), marks=_ANY)


def protocols_within(text: str) -> dict[str, str]:
    """Return the protocols that a longer text names in more than one word ('raw setting'), each with its words."""
    found = _names_within(text, partial(_word_for, "protocol"), marks=_ANY)
    return {ours: words for ours, words in found.items() if _OF_RANKING.search(words)}


def side_within(name: str) -> tuple[frozenset[str], str] | None:
    """Return the other words of a name that has one word for a side, and the side."""
    known = {word: _vocabulary().get(word, ("", "")) for word in words_of(name)}
    sides = [(known.keys() - {word}, ours) for word, (field, ours) in known.items() if field == "side"]
    return (frozenset(sides[0][0]), sides[0][1]) if len(sides) == 1 else None


def _word_for(wanted: str, run: str) -> str | None:
    field, ours = _vocabulary().get(_key(run), ("", ""))
    return ours if field == wanted else None


@lru_cache(maxsize=8192)
def read_header(text: str, names: Names) -> Facts:
    """Return what a header says; `rest` holds it where a word of it is not understood."""
    return Facts(rest=text) if len(text) > _LONGEST else _read_part(label(text), names)


def _read_part(text: str, names: Names) -> Facts:
    said = _read_words(text, names)
    if said is None:
        main = _BRACKET.sub(" ", text).strip()
        said = _with_footnote(text) if main == text else _with_brackets(main, text, names)
    if said is None:
        return _beside_unknown(text, names) or Facts(rest=text or None)
    return replace(
        said,
        metric_as_printed=text if said.metric else None,
        dataset_as_printed=text if said.dataset and not said.metric else None,
    )


def unknown_word(words: str) -> str:
    """Return why nothing is read under a header that names a metric beside words that are not understood."""
    return f"a metric with the unknown word '{words}'; state what the column holds"


def _beside_unknown(text: str, names: Names) -> Facts | None:
    """Return the metric of a header beside unknown words, with these as a conflict; None where it names no metric.

    A spread or a difference is no value of the metric beside it.
    """
    found, unknown = _look_through(text, names)
    if "metric" not in found or len(words_of(text)) > _MOST_IN_HEADER:
        return None
    if any(folded(word) in words_for("beside_metrics") or is_difference(word) for word in unknown):
        return None
    words = " ".join(unknown) or text
    said = {field: ours[0] for field, ours in found.items() if len(ours) == 1}
    why = (unknown_word(words),)
    return Facts(
        **{**said, "metric": found["metric"][0]}, metric_as_printed=text, unknown=words, conflicts=why
    )


def _with_brackets(main: str, text: str, names: Names) -> Facts | None:
    """Return what a metric or data set says with what stands in brackets after it: known words, else notes."""
    said = _read_words(main, names)
    if said is None or not (said.metric or said.dataset):
        return None
    insides = [(inside, _read_words(inside, names)) for inside in map(str.strip, _BRACKET.findall(text))]
    notes = [inside for inside, facts in insides if facts is None]
    # A note has no known word: 'MR (raw/filtered)' says two things. Nor is a scale a note: 'MR (/1000)'.
    if any(_vocabulary().get(word, ("",))[0] for note in notes for word in words_of(note)):
        return None
    if any(map(_SCALE.search, notes)):
        return None
    for inside, facts in insides:
        part = _vocabulary().get(_key(f"test {inside}")) if said.split == "testing" else None
        said = replace(said, split=part[1]) if part else said.over(facts or NOTHING)
    return replace(said, notes="; ".join(notes) or None)


def _with_footnote(text: str) -> Facts | None:
    glued = _FOOTNOTE.fullmatch(text)
    key = metric_key(glued[1]) if glued else None
    if glued is None or key is None:
        return None
    return Facts(metric=key, notes=f"'{text}' read as '{glued[1]}' with footnote mark {glued[2]}")


def _read_words(text: str, names: Names) -> Facts | None:
    """Return what the words of a text say; None where one of them says nothing known, or two say something else."""
    found, unknown = _look_through(text, names)
    is_said = not unknown and all(len(said) == 1 for said in found.values())
    return Facts(**{field: said[0] for field, said in found.items()}) if is_said else None


def _look_through(text: str, names: Names) -> tuple[dict[str, list[Any]], list[str]]:
    """Return what the words of a text say, field by field, and the words that say nothing known."""
    found: dict[str, list[Any]] = {}
    unknown: list[str] = []
    text = _PREFIX.sub("", text)
    text = re.sub(r"\b(hits_at)_k\.(.*)\.([0-9]+)$", r"\2.\1_\3", text)
    text = _FORMER_KEYS.sub(lambda match: _FORMER[match[0]], text)
    words = list(_WORD.finditer(text))[:_MOST_READ]
    after = [*_WORD.findall(text), ""]
    free = 0
    while free < len(words):
        for last in range(min(free + _MOST_WORDS, len(words)) - 1, free - 1, -1):
            field, ours = _look_up(text[words[free].start() : words[last].end()], names)
            if field is not None and not (field == "dataset" and _VERSION.fullmatch(after[last + 1])):
                if field and ours not in found.setdefault(field, []):
                    found[field].append(ours)
                break
        else:
            last = free
            unknown.append(words[free].group())
        free = last + 1
    return found, unknown


def _look_up(run: str, names: Names) -> tuple[str | None, str]:
    if key := _metric_of_ranks(run):
        return "metric", key
    if dataset := names.get(folded(run)):
        return "dataset", dataset
    # 'N=1' is no 'N-1'.
    return (None, "") if "=" in run else _vocabulary().get(_key(run), (None, ""))


def read_stack(texts: Iterable[str], names: Names) -> Facts:
    """Return what the headers above a column say together; `texts` from the top down.

    The lowest that names a metric gives it; 'Hits@' above '10' do so together. `rest` holds what none of them explains.
    """
    return _read_stack(tuple(text for text in dict.fromkeys(map(str.strip, texts)) if text), names)


@lru_cache(maxsize=8192)
def _read_stack(distinct: tuple[str, ...], names: Names) -> Facts:
    # Charts of wandb put the run before the key: 'TransE-1 - test/mrr'.
    steps = dict.fromkeys(step for text in distinct for step in text.split(" - "))
    read = [read_header(text, names) for text in _with_joined_k(tuple(steps))]
    facts = NOTHING
    for said in reversed(read):
        facts = facts.agreeing(replace(said, rest=None), "a header", "the one above it")
    return replace(facts, rest=" ".join(filter(None, (said.rest for said in read))) or None)


def _with_joined_k(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Replace 'Hits@' (or 'Hits@k (%)') and a bare number below it by 'Hits@10 (%)'."""
    *above, last = texts or ("",)
    if k := re.fullmatch(r"@?(\d+)", label(last)):
        for index, text in enumerate(map(label, above)):
            stem = re.sub(r"@\s*[kKnN]?(?!\w)", "@", text if "@" in text else f"{text}@")
            joined = stem.replace("@", f"@{k[1]}", 1)
            if metric_key(_BRACKET.sub("", joined)) and not metric_key(text):
                return (*above[:index], joined, *above[index + 1 :])
    return texts
