"""The registry of data sets: config/datasets.yaml and files of the user's own, checked and merged."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.io import path_from, shipped
from rankadjust.base.schemas import line_of, read_yaml, validate
from rankadjust.base.vocabulary import KNOWN_SPLITS, LABEL_COLUMNS, SPLITS, TIME_COLUMNS, time_columns
from rankadjust.base.words import folded
from rankadjust.data.sources import File, FileSet, Http, Local, Package, Zenodo

SHIPPED, SHIPPED_NAMES = "config/datasets.yaml", "config/names.csv"

# A source may have, besides the splits, a list of all entities, even of entities without triples.
ENTITIES = "entities"
_ENTITY = "entity"
# What bounds without training need besides the evaluation splits: the entities on each side of each relation.
RANGES = "ranges"
# As the last column: all further fields of a line, which need not be as many in every line; ENTITIES, where they are
# the entities of a fact in the order of their roles.
REST = "rest"
# Keys of an entry that are read; a Dataset has the others as they are.
_READ = ("sources", "format", "without_training", "expected")
# Bytes that a triple takes at least, packed: FB15k-237 takes 12, WN18RR 10.
_LEAST_BYTES = 6
_UNKNOWN = 25_000_000
_KINDS: Mapping[str, type[Http | Package | Zenodo]] = {"http": Http, "package": Package, "zenodo": Zenodo}
_DELIMITERS = {"tab": "\t", "comma": ",", "space": " "}


FACT_COLUMNS = ("relation", ENTITIES)
"""The columns of files whose lines are a relation and any number of entities."""


@dataclass(frozen=True)
class Format:
    """How the files of a data set are to be read.

    delimiter: tab, comma, space (one blank), whitespace (any run of blanks and tabs) or any other string.
    columns: what each field is, in order: head, relation, tail, time, time_start, time_end or ignore, and at the end
        rest for all further fields, however many; relation and entities for facts of any number of entities; in a
        list of entities entity or ignore.
    header_lines: lines to skip at the start.
    """

    delimiter: str = "tab"
    columns: tuple[str, ...] = LABEL_COLUMNS
    header_lines: int = 0

    @property
    def separator(self) -> str | None:
        """Return the string between two fields; None stands for any run of white space."""
        return None if self.delimiter == "whitespace" else _DELIMITERS.get(self.delimiter, self.delimiter)

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the columns that are read, in the order head, relation, tail, times."""
        return tuple(name for name in (*LABEL_COLUMNS, *TIME_COLUMNS, _ENTITY) if name in self.columns)


@dataclass(frozen=True)
class Dataset:
    """One entry of the registry; workflow/schemas/datasets.schema.yaml describes the keys.

    splits: the splits it has, in the order of SPLITS. sources: alternatives in order of preference, each with
    a file or a member for every split. known: the splits whose triples a model is given. expected: the counts
    that the summary of the triples has to have; differs: why they are known to be others.
    entities: how the list of all entities is read, None where the sources have none.
    without_training: files that bound the numbers of candidates where training triples cannot be had, or None.
    split: how it was split into training and test (random, by entity, by time, by relation) and who says so.
    total_candidates: the sum of N over the tasks of a split and side under `filtered`, as a source prints it.
    pykeen, ultra: the names under which PyKEEN and ULTRA have it. origin: the file that the entry comes from.
    """

    name: str
    role: str
    sources: tuple[FileSet, ...]
    splits: tuple[str, ...]
    origin: Path
    format: Format = Format()
    entities: Format | None = None
    without_training: FileSet | None = None
    total_candidates: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    known: tuple[str, ...] = ("training",)
    aliases: tuple[str, ...] = ()
    ambiguous_aliases: tuple[str, ...] = ()
    verified: bool = False
    split: str | None = None
    split_source: str | None = None
    unreadable: str | None = None
    expected: Mapping[str, Any] = field(default_factory=dict)
    differs: str | None = None
    licence: str | None = None
    reference: str | None = None
    repository: str | None = None
    pykeen: str | None = None
    ultra: str | None = None
    notes: tuple[str, ...] = ()


def load_registry(*paths: str | Path) -> dict[str, Dataset]:
    """Return the shipped data sets and the data sets of more files, by name.

    A file that is not valid, or a name or alias that is given twice, is a RankadjustError with file and line.
    """
    registry: dict[str, Dataset] = {}
    owners: dict[str, Dataset] = {}
    ours = shipped(SHIPPED)
    for dataset in chain(
        _shipped(ours, ours.read_bytes() if ours.is_file() else b""), *map(_read, map(Path, paths))
    ):
        for word in (dataset.name, *dataset.aliases):
            _require_single(word, dataset, owners.setdefault(folded(word), dataset))
        registry[dataset.name] = dataset
    for dataset in registry.values():
        for word in dataset.ambiguous_aliases:
            _require_single(word, dataset, owners.get(folded(word), dataset))
    return registry


def _require_single(word: str, dataset: Dataset, owner: Dataset) -> None:
    if owner is not dataset:
        place, other = (f"{each.origin}:{line_of(each.origin, [each.name])}" for each in (dataset, owner))
        raise RankadjustError(
            f"{place}: '{word}' is a name or alias of {dataset.name} and of {owner.name} ({other}); "
            "rename one of them"
        )


@cache
def names_elsewhere() -> Mapping[str, tuple[str, str, Sequence[str]]]:
    """Return what code bases call data sets (config/names.csv): the folded name -> name, code bases, our names.

    Several of our names are data sets that go by a name together.
    """
    with shipped(SHIPPED_NAMES).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {folded(name): (name, code_bases, datasets.split()) for name, code_bases, datasets in rows}


def name_here(name: str) -> str:
    """Return our name of a data set that a code base calls otherwise; any other name stays as it is.

    >>> name_here("wiki5m_trans")
    'Wikidata5M'
    """
    _, _, ours = names_elsewhere().get(folded(name), ("", "", [name]))
    return ours[0] if len(ours) == 1 else name


def resolve_dataset(name: str, registry: Mapping[str, Dataset], others: Iterable[str] = ()) -> Dataset:
    """Return the data set of that name or alias, whatever its case and punctuation.

    An unknown name, and one that several data sets go by, is a RankadjustError that names the candidates. others: names
    to suggest first.
    """
    for wanted in map(folded, (name, name_here(name))):
        for dataset in registry.values():
            if wanted in map(folded, (dataset.name, *dataset.aliases)):
                return dataset
    ambiguous = meanings(name, registry)
    if ambiguous:
        raise RankadjustError(
            f"'{name}' does not say which data set is meant; write {' or '.join(ambiguous)}"
        )
    words = [word for dataset in registry.values() for word in (dataset.name, *dataset.aliases)]
    hint = did_you_mean(name, others) or did_you_mean(name, words)
    hint = hint or "; 'rankadjust datasets' lists all, and with --results FOLDER the data sets of your run"
    raise RankadjustError(f"unknown data set '{name}'{hint}")


def meanings(name: str, registry: Mapping[str, Dataset]) -> list[str]:
    """Return the data sets that go by a name together, none where it means one or nothing."""
    wanted = folded(name)
    _, _, elsewhere = names_elsewhere().get(wanted, ("", "", []))
    if len(elsewhere) > 1:
        return list(elsewhere)
    return [dataset.name for dataset in registry.values() if wanted in map(folded, dataset.ambiguous_aliases)]


def require_readable(dataset: Dataset) -> None:
    """Raise RankadjustError where the registry says that the files cannot be read by declaration."""
    if dataset.unreadable:
        raise RankadjustError(
            f"{dataset.name} cannot be read as it is published: {dataset.unreadable}; "
            "save its splits as text and declare them as a data set of your own (config/datasets.d)"
        )


def has_baselines(dataset: Dataset) -> bool:
    """Return whether a data set has triples to train on, which baselines count."""
    return dataset.format.columns != FACT_COLUMNS and not set(KNOWN_SPLITS).isdisjoint(dataset.splits)


def require_bounds(dataset: Dataset) -> Dataset:
    """Return a data set that has files for bounds without training triples; otherwise raise RankadjustError."""
    if dataset.without_training is None:
        raise RankadjustError(
            f"the registry has no files that bound the candidates of {dataset.name} without its training triples; "
            "name it under datasets, or declare without_training"
        )
    return dataset


def triples_of(dataset: Dataset) -> int:
    """Return about how many triples a data set has, of all splits.

    From the counts of the registry, else from the size of files on this disk, else as many as the largest data set has.
    """
    for key in ("triples", "distinct_triples", "distinct_seen_triples"):
        if key in dataset.expected:
            return sum(dataset.expected[key].values())
    files = [file.source.path for file in dataset.sources[0] if isinstance(file.source, Local)]
    whole = len(files) == len(dataset.sources[0]) and all(map(Path.is_file, files))
    return sum(path.stat().st_size for path in files) // _LEAST_BYTES if whole else _UNKNOWN


@lru_cache(maxsize=1)
def _shipped(path: Path, _content: bytes) -> tuple[Dataset, ...]:
    """Return the data sets of the shipped file, which takes a quarter of a second: once for the same bytes."""
    return tuple(_read(path))


def _read(path: Path) -> list[Dataset]:
    entries = read_yaml(path) or {}
    validate(entries, "datasets", path)
    return [_dataset(name, entry, path) for name, entry in entries.items()]


def _dataset(name: str, entry: Mapping[str, Any], path: Path) -> Dataset:
    layout = dict(entry.get("format", {}))
    listed = {"columns": (_ENTITY,), **layout.pop("entities", {})}
    expected = dict(entry.get("expected", {}))
    parts, without = _parts(entry["sources"][0]), entry.get("without_training")
    splits = tuple(split for split in SPLITS if split in parts)
    others: dict[str, Any] = {
        "role": "transductive",
        "known": tuple(split for split in splits if split in KNOWN_SPLITS),
        **{
            key: tuple(value) if isinstance(value, list) else value
            for key, value in entry.items()
            if key not in _READ
        },
    }
    dataset = Dataset(
        name=name,
        sources=tuple(_file_set(source, path.parent) for source in entry["sources"]),
        splits=splits,
        origin=path,
        format=_format(layout),
        entities=_format(listed) if ENTITIES in parts else None,
        without_training=_file_set({"kind": "http", "files": without}, Path()) if without else None,
        differs=expected.pop("differs", None),
        expected=expected,
        **others,
    )
    for keys, problem in _problems(entry, dataset):
        raise RankadjustError(f"{path}:{line_of(path, [name, *keys])}: {name}: {problem}")
    return dataset


def _format(layout: Mapping[str, Any]) -> Format:
    return Format(**{**layout, "columns": tuple(layout.get("columns", LABEL_COLUMNS))})


def _parts(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a source declares for each of its splits, and for the list of entities."""
    parts: Mapping[str, Any] = source.get("members") or source["files"]
    return parts


def _file_set(source: Mapping[str, Any], folder: Path) -> FileSet:
    """Return the files of one alternative."""
    if source["kind"] == "local":
        paths = {split: path_from(path, folder) for split, path in source["files"].items()}
        return tuple(File(Local(path), {split: None}) for split, path in paths.items())

    def file(facts: Mapping[str, Any], members: Mapping[str, str | None]) -> File:
        kind = _KINDS[source["kind"]]
        place = kind(*(str({**source, **facts}[each.name]) for each in fields(kind)))
        return File(place, members, facts.get("sha256"), facts.get("bytes"))

    if "files" in source:
        return tuple(file(facts, {split: None}) for split, facts in source["files"].items())
    return (file(source, source["members"]),)


def _problems(entry: Mapping[str, Any], dataset: Dataset) -> Iterator[tuple[list[str | int], str]]:
    """Yield what a schema cannot express: the keys of the place, and a sentence."""
    columns, splits = dataset.format.columns, dataset.splits
    # What is ranked on the inference graph needs no graph to train on.
    if "training" not in splits and "inference" not in splits:
        yield ["sources", 0], "sources.0 has no split 'training'; name its file or member"
    first, *others = map(_parts, entry["sources"])
    for number, parts in enumerate(others, 1):
        if set(parts) != set(first):
            problem = f"sources.{number} has {', '.join(parts)}, sources.0 has {', '.join(first)}"
            yield ["sources", number], f"{problem}; give every source the same files"
    for split in set(dataset.known).difference(splits):
        yield ["known"], f"known names '{split}', which no source has"
    if REST in columns[:-1]:
        yield ["format", "columns"], f"{REST} stands for all further fields; write it last in format.columns"
    named, times = [name for name in columns if name not in ("ignore", REST)], time_columns(columns)
    if sorted(named) != sorted((*LABEL_COLUMNS, *times)) and columns != (*FACT_COLUMNS,):
        needed = "head, relation and tail once, and at most time, or time_start and time_end"
        yield ["format", "columns"], f"format.columns needs {needed}"
    role = "inductive" if "inference" in splits else "temporal" if times else "transductive"
    if dataset.role != role:
        found = f"by its splits and format.columns it is {role}"
        yield ["role"], f"role is {dataset.role}, but {found}; change one of them"
    if dataset.entities and dataset.entities.columns.count(_ENTITY) != 1:
        yield ["format", ENTITIES, "columns"], "format.entities.columns needs entity once"
