"""What the words of a header or a label say: metric, data set, split, side, protocol, unit."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from rankadjust.base.errors import RankadjustError
from rankadjust.base.words import shipped_mapping
from rankadjust.chance.adjusted_names import adjusted_key, split_adjusted
from rankadjust.tables.cells import label
from rankadjust.tables.words import (
    BOOKKEEPING,
    CLASSIFICATION,
    FILLERS,
    NOT_METRICS,
    RANK_KINDS,
    ROLE_WORDS,
    TEST_PARTS,
)

_QUALIFIERS: Mapping[str, tuple[str, str]] = {
    **{
        word: (column, ours)
        for column, words in shipped_mapping()["words"].items()
        for word, ours in words.items()
    },
    # Parts and kinds of a test set are sets of their own: their names are kept.
    **{f"test-{kind}": ("split", f"test-{kind}") for kind in TEST_PARTS},
}
"""A word beside a metric -> what it says of: split, side, protocol or unit."""


@dataclass(frozen=True)
class Facts:
    """What is known of a value besides its number; None where nothing says it. `rest` are words not understood."""

    dataset: str | None = None
    model: str | None = None
    metric: str | None = None
    split: str | None = None
    side: str | None = None
    protocol: str | None = None
    candidates: str | None = None
    unit: str | None = None
    notes: str | None = None
    dataset_as_printed: str | None = None
    metric_as_printed: str | None = None
    rest: str | None = None

    def over(self, other: "Facts") -> "Facts":
        """Return these facts, with those of `other` where these say nothing."""
        names = [field.name for field in fields(self)]
        # A stated data set or metric brings its own printed name, or none: it must not keep that of the other.
        bound = {"dataset_as_printed": self.dataset, "metric_as_printed": self.metric}
        return replace(
            self,
            **{
                name: getattr(other, name)
                for name in names
                if getattr(self, name) is None and bound.get(name) is None
            },
        )

    @property
    def says_something(self) -> bool:
        """Whether any word was understood."""
        return any(getattr(self, field.name) for field in fields(self) if field.name not in ("rest", "notes"))


# A longer text is no header.
_LONGEST = 300

Names = Mapping[str, str]
"""Data sets: a name or alias without case and punctuation -> our name."""


def folded(text: str) -> str:
    """Return a text without case and punctuation: 'FB15k-237' as 'fb15k237'."""
    return "".join(character for character in text.casefold() if character.isalnum())


def find_dataset(text: str, names: Names) -> str | None:
    """Return our name of the data set that a text is a name of; one in brackets after another name counts too."""
    text = label(text)
    inside = re.findall(r"\(([^()]*)\)", text)
    for candidate in (text, re.sub(r"\([^()]*\)", " ", text), *inside):
        if folded(candidate) in names:
            return names[folded(candidate)]
    return None


def datasets_within(text: str, names: Names) -> list[tuple[str, str]]:
    """Return the data sets named within a longer text, as (our name, the words), longest names first taken.

    Of a text with spaces (prose) only words with a digit or a capital are taken for names.
    """
    words = re.findall(r"[^\W_]+", text)
    is_prose = " " in text.strip()
    found, free = [], [True] * len(words)
    for length in range(min(6, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = slice(start, start + length)
            printed = "".join(words[span])
            is_name = not is_prose or printed != printed.lower() or any(map(str.isdigit, printed))
            # 'wn18rr v1' is a set of its own, known or not.
            is_version = re.fullmatch(r"[vV]\d+", [*words, ""][start + length]) is not None
            if all(free[span]) and is_name and not is_version and printed.casefold() in names:
                free[span] = [False] * length
                found.append((names[printed.casefold()], " ".join(words[span])))
    return found


@lru_cache(maxsize=4096)
def metric_key(text: str) -> str | None:
    """Return the key of the metric that a text names; printed adjusted metrics as 'adjusted_…' or 'z_…'."""
    # Machine-made names of means over runs: mrr_mean.
    plain = re.sub(r"_(mean|avg)$", "", text.strip(" *:.,;_-"))
    if not plain or folded(plain) in NOT_METRICS:
        return None
    try:
        return adjusted_key(*split_adjusted(plain))
    except RankadjustError:
        return None


def is_classification_metric(text: str) -> bool:
    """Tell whether a header names a metric of binary classification, beside which 'AUC' is one too."""
    return folded(label(text)) in CLASSIFICATION


def role_of(header: str) -> str | None:
    """Return what a column holds whose header is a word for it (model, dataset, other, …), else None."""
    word = folded(label(header)) or ("#" if header.strip() == "#" else "")
    if "#" in header and word:
        return "other"
    return next((role for role, words in ROLE_WORDS.items() if word in words), None)


def is_difference(text: str) -> bool:
    """Tell whether a row or column with this label holds differences of values: 'Improvement (%)', 'Δ'."""
    words = r"(abs\w*|rel\w*)?\W*(improvements?|improv|gains?|differences?|diff|delta|Δ)(?![\w-])"
    return re.match(words, label(text), re.IGNORECASE) is not None


def is_bookkeeping(header: str) -> bool:
    """Tell whether a column with this header cannot tell models apart: place, time, size, links and the like."""
    return "#" in header or folded(label(header)) in BOOKKEEPING


def read_header(text: str, names: Names) -> list[Facts]:
    """Return what a header says, one Facts for each of its parts ('MRR / MR' and 'Hits@1/3' have two)."""
    if len(text) > _LONGEST:
        return [Facts(rest=text)]
    plain = re.sub(r"\bw/\s*o\b", "without", re.sub(r"\bw/(?!\s*o\b)", "with ", label(text)))
    whole = _read_part(plain, names)
    if whole.rest is None and whole.notes is None:
        return [whole]
    for parts in (_split_parts(plain), text.split("\n")):
        if len(parts) > 1:
            read = [_read_part(label(part), names) for part in parts]
            if all(part.says_something and part.rest is None and part.notes is None for part in read):
                return read
    return [whole]


def _split_parts(text: str) -> list[str]:
    """Split 'MRR / MR', 'Hits@1/3/10', 'Hits@{1,3}' and 'MR (raw/filtered)' into complete headers."""
    bracket = re.fullmatch(r"(.*?)[(\[]([^()\[\]]*/[^()\[\]]*)[)\]]", text)
    if bracket:
        return [f"{bracket[1]} ({part})" for part in bracket[2].split("/")]
    listed = re.fullmatch(r"(.*@)\s*[{(\[]?\s*(\d+(?:\s*[,;]\s*\d+)+)\s*[})\]]?", text)
    if listed:
        return [f"{listed[1]}{k.strip()}" for k in re.split("[,;]", listed[2])]
    qualified = re.fullmatch(r"(.*/.*?)\s*([(\[][^/]*[)\]])", text)
    if qualified:
        return [f"{part} {qualified[2]}" for part in _split_parts(qualified[1])]
    parts = [part.strip() for part in text.split("/")]
    stem = re.sub(r"\d+\W*$", "", parts[0])
    return [f"{stem}{part}" if part.isdigit() and stem else part for part in parts]


def _read_part(text: str, names: Names) -> Facts:
    brackets = re.findall(r"[(\[{]([^()\[\]{}]*)[)\]}]", text)
    main = re.sub(r"[(\[{][^()\[\]{}]*[)\]}]", " ", text).strip()
    if main.endswith("%"):
        main, brackets = main[:-1], [*brackets, "%"]
    facts, rest = _read_words(main, names)
    unread: list[str] = []
    for bracket in brackets:
        inner, unknown = _read_words(bracket, names)
        if unknown is None:
            facts = facts.over(inner)
        else:
            unread.append(bracket.strip())
    facts = replace(
        facts,
        metric_as_printed=text if facts.metric else None,
        dataset_as_printed=text if facts.dataset and not facts.metric else None,
        notes="; ".join(filter(None, [facts.notes, *unread])) or None,
    )
    # A header that is no metric and not understood to the end is a name, whatever qualifiers are among its words.
    says_enough = facts.says_something or facts.notes is None
    understood = facts.metric is not None or (rest is None and not unread and says_enough)
    return facts if understood or facts.dataset else Facts(rest=text or None)


def _read_words(text: str, names: Names) -> tuple[Facts, str | None]:
    """Return what the words say, and those that say nothing known (None where all are understood)."""
    if key := metric_key(text):
        return Facts(metric=key), None
    if dataset := names.get(folded(text)):
        return Facts(dataset=dataset), None
    facts, words = _take_qualifiers(_words_of(text))
    found = _metric_of(words) or _dataset_of(words, names) or (_glued(text) if words else Facts())
    return (found.over(facts), None) if found else (Facts(), text)


def _metric_of(words: Sequence[str]) -> Facts | None:
    """Return the metric that words other than qualifiers name together."""
    key = metric_key(" ".join(words)) or metric_key(_with_k(words))
    return Facts(metric=key) if key else None


def _dataset_of(words: Sequence[str], names: Names) -> Facts | None:
    """Return the one data set among the words, with the metric that the others name, if there are others."""
    found = datasets_within(" ".join(words), names)
    if len(found) != 1:
        return None
    dataset = Facts(dataset=found[0][0])
    others = _without(words, found[0][1])
    metric = _metric_of(others)
    return dataset if not others else metric and dataset.over(metric)


def _glued(text: str) -> Facts | None:
    """Return the metric of a header with a footnote letter that is no longer raised: 'MRRa'."""
    parts = re.fullmatch(r"(.*[A-Z0-9])([a-g])", text.strip())
    key = metric_key(parts[1]) if parts else None
    if parts is None or key is None:
        return None
    return Facts(metric=key, notes=f"'{text.strip()}' read as '{parts[1]}' with footnote mark {parts[2]}")


def _words_of(text: str) -> list[str]:
    text = re.sub(r"\btime[\s-]*(aware|dependent)([\s-]*filt\w*)?", "time-aware", text, flags=re.IGNORECASE)
    text = re.sub(r"\btest[\s-]+(" + "|".join(TEST_PARTS) + r")\b", r"test-\1", text, flags=re.IGNORECASE)
    # Dots join words in machine-made keys (both.realistic.hits_at_10) and end short ones (filt.).
    return [word for word in re.split(r"[\s:,]+|\.(?!\d)|(?<=[A-Za-z_])\.", text) if word]


def _take_qualifiers(words: Iterable[str]) -> tuple[Facts, list[str]]:
    facts, rest = Facts(), []
    for word in words:
        known = _QUALIFIERS.get(word.casefold().strip("*_-"))
        if known:
            facts = Facts(**{known[0]: known[1]}).over(facts)
        elif word.casefold() in RANK_KINDS:
            facts = Facts(notes=f"{word.casefold()} ranks").over(facts)
        elif word.casefold() not in FILLERS:
            rest.append(word)
    return facts, rest


def _with_k(words: Sequence[str]) -> str:
    """Return 'hits_at_k' and '10' among the words as 'hits_at_10'; other words as they are."""
    numbers = [word for word in words if word.isdigit()]
    others = [word for word in words if not word.isdigit()]
    if len(numbers) == 1 and len(others) == 1:
        return (
            re.sub(r"[kKnN]?$", numbers[0], others[0], count=1)
            if re.search(r"(@|_at_)[kKnN]?$", others[0])
            else ""
        )
    return ""


def _without(words: Sequence[str], printed: str) -> list[str]:
    taken = {folded(word) for word in printed.split()} | {folded(printed)}
    return [
        word
        for word in words
        if folded(word) not in taken and not set(re.findall(r"[^\W_]+", word.casefold())) <= taken
    ]


def read_stack(texts: Sequence[str], names: Names) -> list[Facts]:
    """Return what the headers above a column say together, one Facts for each part; `texts` from the top down.

    The lowest that names a metric gives it; 'Hits@' above '10' do so together. `rest` holds what none of them explains.
    """
    distinct = _with_joined_k([text for text in dict.fromkeys(map(str.strip, texts)) if text])
    read = [read_header(text, names) for text in distinct]
    count = max((len(parts) for parts in read), default=1)
    merged = []
    for index in range(count):
        facts = Facts()
        for parts in reversed(read):
            facts = facts.over(replace(parts[index] if len(parts) == count else parts[0], rest=None))
        rests = [(parts[index] if len(parts) == count else parts[0]).rest for parts in read]
        merged.append(replace(facts, rest=" ".join(filter(None, rests)) or None))
    return merged


def _with_joined_k(texts: list[str]) -> list[str]:
    """Replace 'Hits@' (or 'Hits@k (%)') and a bare number below it by 'Hits@10 (%)'."""
    number = next(
        (index for index, text in enumerate(texts) if index and re.fullmatch(r"@?\d+", label(text))), None
    )
    if number is None:
        return texts
    k = label(texts[number]).lstrip("@")
    for index in range(number):
        stem = re.fullmatch(r"(.*?(?:@|\bat))\s*[kKnN]?\s*([(\[].*[)\]])?", label(texts[index]))
        joined = (
            f"{stem[1]}{'' if stem[1].endswith('@') else ' '}{k}" if stem else label(texts[index]) + f"@{k}"
        )
        if metric_key(joined) and not metric_key(label(texts[index])):
            header = f"{joined} {stem[2] or '' if stem else ''}".strip()
            return [*texts[:index], header, *texts[index + 1 : number], *texts[number + 1 :]]
    return texts
