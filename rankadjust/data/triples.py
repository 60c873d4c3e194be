"""Triples: reading text files in any declared format, encoding labels as integers, counting what is there."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, TIME_COLUMNS
from rankadjust.data.registry import Dataset, Format

__all__ = [
    "Encoded",
    "Format",
    "check_expected",
    "encode",
    "read_triples",
    "summarise",
    "summary_row",
]

_Ids = npt.NDArray[np.uint32]
_Keys = npt.NDArray[np.uint64]
_Mask = npt.NDArray[np.bool_]

_BOM = b"\xef\xbb\xbf"
_ZLIB = re.compile(rb"x[\x01\x5e\x9c\xda]")
_BLANKS = " \t"
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_CHUNK = 1 << 22
# Bytes that may stand for a delimiter of several bytes, as long as the labels do not hold them.
_STAND_INS = [bytes([code]) for code in range(1, 128) if chr(code) not in "\r\n"]


@dataclass(frozen=True)
class Encoded:
    """Triples of integers and the labels they stand for.

    triples: one row per line of the files, split by split: split (Enum of SPLITS), head, relation, tail
        (UInt32), and time, or time_start and time_end (String, as printed) where the data set has them.
    labels: kind ('entity' or 'relation'), id (UInt32), label (String). The id of a label is its place among
        all labels of the kind, sorted by their bytes in UTF-8: '10' comes before '9', integers or not.
    """

    triples: pl.DataFrame
    labels: pl.DataFrame


# Reading


def read_triples(path: str | Path, form: Format) -> pl.DataFrame:
    r"""Return the text of a file as columns head, relation, tail and, where declared, times (all String).

    A line ends with \n or \r\n and nothing else; the last one needs no end. A byte order mark is skipped.
    Labels are kept as they stand: quotes, '#', 'NA' and leading zeros mean nothing here.

    Raises RankadjustError with file and line for a wrong number of fields, an empty field, bytes that are not
    UTF-8, a label that should be an integer and is not; with the file for one without triples.
    """
    path = Path(path)
    try:
        count = _count_bytes(path, form)
    except OSError as error:
        raise RankadjustError(f"{path}: the file cannot be read ({error.strerror})") from None
    if count.lines <= form.header_lines:
        what = "is empty" if count.lines == 0 else "has no line after its header"
        raise RankadjustError(f"{path}: the file {what}; a split needs at least one triple")
    try:
        frame = _parse(path, form, plain=count.plain)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _first_problem(path, form) or RankadjustError(f"{path}: cannot be read ({error})") from None
    fields = len(form.columns)
    rows = count.lines - form.header_lines
    regular = count.separators is None or count.separators == rows * (fields - 1)
    if frame.height != rows or not regular or not _valid(frame, form):
        problem = f"{path}: {frame.height} of {rows} lines could be read"
        raise _first_problem(path, form) or RankadjustError(problem)
    return frame


class _Count(NamedTuple):
    """What the bytes of a file tell.

    lines: how many there are, with the header. separators: how many follow the header, where the separator is a
    single byte (else None). plain: whether polars reads the file as it stands.
    """

    lines: int
    separators: int | None
    plain: bool


def _count_bytes(path: Path, form: Format) -> _Count:
    separator = _single_byte(form)
    lines = separators = 0
    last = b"\n"
    with path.open("rb") as file:
        plain = separator is not None and not _ZLIB.match(file.read(2))
        file.seek(0)
        for _ in range(form.header_lines):
            lines += bool(file.readline())
        while chunk := file.read(_CHUNK):
            lines += chunk.count(b"\n")
            if separator:
                separators += chunk.count(separator)
                plain = plain and b"\r" + separator not in last + chunk
            last = chunk[-1:]
    return _Count(lines + (last != b"\n"), separators if separator else None, plain)


def _single_byte(form: Format) -> bytes | None:
    encoded = (form.separator or "").encode()
    return encoded if len(encoded) == 1 else None


def _parse(path: Path, form: Format, *, plain: bool) -> pl.DataFrame:
    """Read with polars what it can read as separated text; missing and empty fields are null."""
    separator = _single_byte(form) or b"\t"
    source: Path | bytes = path
    if not plain:
        separator, source = _as_polars_reads_it(path.read_bytes().removeprefix(_BOM), form)
    names = [f"{name}{number}" if name == "ignore" else name for number, name in enumerate(form.columns)]
    frame = pl.read_csv(
        source,
        separator=separator.decode(),
        columns=[names.index(name) for name in form.kept],
        schema=dict.fromkeys(names, pl.String),
        skip_lines=form.header_lines,
        has_header=False,
        quote_char=None,
    ).select(form.kept)
    return frame.with_columns(pl.all().str.strip_chars(_BLANKS)) if form.strip else frame


def _as_polars_reads_it(data: bytes, form: Format) -> tuple[bytes, bytes]:
    """Return a separator of one byte, and the data with it in a form that polars reads without a loss.

    polars drops a carriage return at the end of every field, so that one before a separator is doubled. It
    unpacks what begins like a zlib stream, as 'x^2' does; after a byte order mark it does not look.
    """
    separator, data = _with_single_byte(data, form)
    return separator, _BOM + data.replace(b"\r" + separator, b"\r\r" + separator)


def _with_single_byte(data: bytes, form: Format) -> tuple[bytes, bytes]:
    """Return a separator of one byte, and the data with it in place of the declared delimiter."""
    if form.separator is None:
        return b"\t", b"\n".join(b"\t".join(line.split()) for line in data.split(b"\n"))
    separator = form.separator.encode()
    if len(separator) == 1:
        return separator, data
    labels = data.replace(separator, b"")
    stand_in = next((byte for byte in _STAND_INS if byte not in labels), None)
    if stand_in is None:
        problem = f"no character is left to stand in for the delimiter {form.separator!r}"
        raise RankadjustError(f"{problem}; write the file with tabs")
    return stand_in, data.replace(separator, stand_in)


def _valid(frame: pl.DataFrame, form: Format) -> bool:
    """Return whether no field is missing or empty, and labels are integers where they have to be."""
    problems = [pl.col(form.kept).is_null() | (pl.col(form.kept) == "")]
    if form.labels == "integer":
        problems.append(~pl.col(LABEL_COLUMNS).str.contains(f"^(?:{_INTEGER.pattern})$"))
    return not frame.select(pl.any_horizontal(problem.any() for problem in problems)).item()


def _first_problem(path: Path, form: Format) -> RankadjustError | None:
    """Find the first bad line, one line after the other: slow, but only for files that were refused."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number > form.header_lines:
                data = line.removeprefix(_BOM) if number == 1 else line
                problem = _line_problem(data.removesuffix(b"\n").removesuffix(b"\r"), form)
                if problem:
                    return RankadjustError(f"{path}:{number}: {problem}")
    return None


def _line_problem(line: bytes, form: Format) -> str | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return f"byte {error.start + 1} of the line (0x{byte:02x}) is not UTF-8; convert the file to UTF-8"
    fields = [word.decode() for word in line.split()]
    if form.separator is not None:
        fields = text.split(form.separator)
    if len(fields) != len(form.columns):
        between = f"between {form.delimiter!r}" if form.separator else "between blanks"
        problem = f"{len(fields)} fields {between} where format.columns names {len(form.columns)}"
        return f"{problem}; check format.delimiter, format.columns and format.header_lines, or mend the line"
    for name, field in zip(form.columns, fields, strict=True):
        label = field.strip(_BLANKS) if form.strip else field
        if not label and name != "ignore":
            return f"the {name} is empty; every label needs at least one character"
        if form.labels == "integer" and name in LABEL_COLUMNS and not _INTEGER.fullmatch(label):
            problem = f"the {name} {label!r} is not a plain integer"
            return f"{problem}; declare format.labels: text, or check format.columns"
    return None


# Encoding


def encode(splits: Mapping[str, pl.DataFrame]) -> Encoded:
    """Replace the labels of all splits by integers that depend on nothing but the labels.

    splits: frames of String columns head, relation, tail and, in all of them or none, times.
    Raises RankadjustError for no split, an unknown name of a split, and frames with different columns.
    """
    if not splits:
        raise RankadjustError("there is no split to encode; give at least 'training'")
    unknown = [name for name in splits if name not in SPLITS]
    if unknown:
        raise RankadjustError(f"unknown split '{unknown[0]}'; the splits are {', '.join(SPLITS)}")
    present = [name for name in SPLITS if name in splits]
    columns = [name for name in (*LABEL_COLUMNS, *TIME_COLUMNS) if name in splits[present[0]].columns]
    for name in present:
        if set(columns) != set(splits[name].columns):
            raise RankadjustError(f"the split {name} has other columns than {present[0]}; declare one format")
    entities = _ranked([splits[name][column] for name in present for column in ("head", "tail")])
    relations = _ranked([splits[name]["relation"] for name in present])
    ids = {"head": entities.ids[0::2], "relation": relations.ids, "tail": entities.ids[1::2]}
    frames = [
        pl.DataFrame({column: ids[column][number] for column in LABEL_COLUMNS})
        .with_columns(splits[name].select(columns[len(LABEL_COLUMNS) :]))
        .select(pl.lit(name, pl.Enum(SPLITS)).alias("split"), *columns)
        for number, name in enumerate(present)
    ]
    return Encoded(pl.concat(frames), pl.concat([entities.table("entity"), relations.table("relation")]))


@dataclass(frozen=True)
class _Ranked:
    """Labels in order, and for each column the ids of its rows."""

    labels: pl.Series
    ids: list[_Ids]

    def table(self, kind: str) -> pl.DataFrame:
        return pl.DataFrame({"label": self.labels}).select(
            kind=pl.lit(kind), id=pl.int_range(pl.len(), dtype=pl.UInt32), label="label"
        )


def _ranked(columns: Sequence[pl.Series]) -> _Ranked:
    """Replace labels by their ranks among the labels of all columns.

    Categories give each label a number as it comes, which differs from run to run; only its rank leaves this
    function. Columns are cast one after the other: threads that fill the same categories wait for each other.
    """
    categorical = pl.Categorical(pl.Categories.random())
    coded = [column.cast(categorical) for column in columns]
    labels = pl.concat([codes.unique() for codes in coded]).unique().cast(pl.String).sort()
    # Sorting labels and looking their codes up again takes half as long as sorting indices.
    codes_in_order = labels.cast(categorical).to_physical().to_numpy()
    rank = np.zeros(int(codes_in_order.max()) + 1, dtype=np.uint32)
    rank[codes_in_order] = np.arange(len(labels), dtype=np.uint32)
    return _Ranked(labels, [rank[codes.to_physical().to_numpy()] for codes in coded])


# Counting


def summarise(encoded: Encoded, dataset: Dataset) -> dict[str, Any]:
    """Return the counts of a data set as plain values for a JSON file.

    A triple is (head, relation, tail); its time counts under `times` only. What is unseen in a split does not
    occur in the known splits of its graph: those of the training graph, or the split inference.
    """
    whole = _Triples.of(encoded)
    rows = _rows_of_splits(encoded.triples["split"])
    splits = {split: whole.part(part) for split, part in rows.items()}
    keys = whole.keys()
    distinct = {split: _distinct(keys[part]) for split, part in rows.items()}
    known: dict[str, list[_Triples]] = {_graph_of(split): [] for split in splits}
    for split, part in splits.items():
        if split in dataset.known:
            known[_graph_of(split)].append(part)
    seen = {graph: _Seen.within(parts, whole) for graph, parts in known.items()}
    covered = {split: seen[_graph_of(split)].covers(part) for split, part in splits.items()}
    summary = {
        "dataset": dataset.name,
        "role": dataset.role,
        "known": list(dataset.known),
        "entities": whole.entities,
        "relations": whole.relations,
        **{f"entities_in_{graph}": _count(one.entities) for graph, one in seen.items()},
        **{f"relations_in_{graph}": _count(one.relations) for graph, one in seen.items()},
        "triples": {split: part.head.size for split, part in splits.items()},
        "distinct_triples": {split: values.size for split, values in distinct.items()},
        "distinct_triples_in_all_splits": _distinct(np.concatenate(list(distinct.values()))).size,
        "duplicates_within": {split: part.head.size - distinct[split].size for split, part in splits.items()},
        "duplicates_between": _overlaps(distinct),
        "self_loops": {split: _count(part.head == part.tail) for split, part in splits.items()},
        "unseen": {
            split: {**seen[_graph_of(split)].missing_from(part), "triples": _count(~covered[split])}
            for split, part in splits.items()
            if split not in dataset.known
        },
        "distinct_seen_triples": {
            split: _distinct(keys[part][covered[split]]).size for split, part in rows.items()
        },
    }
    if dataset.role == "inductive":
        summary["graphs"] = _graphs(splits, distinct, whole)
    times = encoded.triples.select(name for name in TIME_COLUMNS if name in encoded.triples.columns)
    if times.width:
        summary["times"] = _times(times, keys, rows)
    return summary


@dataclass(frozen=True)
class _Triples:
    """Columns of ids, and how many entities and relations there are in the whole data set."""

    head: _Ids
    relation: _Ids
    tail: _Ids
    entities: int
    relations: int

    @classmethod
    def of(cls, encoded: Encoded) -> "_Triples":
        head, relation, tail = (encoded.triples[name].to_numpy() for name in LABEL_COLUMNS)
        kinds = encoded.labels["kind"]
        return cls(head, relation, tail, int((kinds == "entity").sum()), int((kinds == "relation").sum()))

    def part(self, rows: slice) -> "_Triples":
        return _Triples(self.head[rows], self.relation[rows], self.tail[rows], self.entities, self.relations)

    def keys(self) -> _Keys:
        """Return one number per row, the same for the same triple."""
        return _pair(_pair(self.head, self.relation, self.relations), self.tail, self.entities)


@dataclass(frozen=True)
class _Seen:
    """Masks over all ids: which entities and relations occur."""

    entities: _Mask
    relations: _Mask

    @classmethod
    def within(cls, parts: Iterable[_Triples], whole: _Triples) -> "_Seen":
        entities = np.zeros(whole.entities, dtype=np.bool_)
        relations = np.zeros(whole.relations, dtype=np.bool_)
        for part in parts:
            entities[part.head] = True
            entities[part.tail] = True
            relations[part.relation] = True
        return cls(entities, relations)

    def covers(self, part: _Triples) -> _Mask:
        """Return for each triple whether its entities and its relation are among the seen ones."""
        covered: _Mask = self.entities[part.head] & self.entities[part.tail] & self.relations[part.relation]
        return covered

    def missing_from(self, part: _Triples) -> dict[str, int]:
        """Return how many entities and relations of the part are not among the seen ones."""
        own = _Seen.within([part], part)
        return {
            "entities": _count(own.entities & ~self.entities),
            "relations": _count(own.relations & ~self.relations),
        }


def _graph_of(split: str) -> str:
    return "inference" if split.startswith("inference") else "training"


def _rows_of_splits(column: pl.Series) -> dict[str, slice]:
    """Return the rows of each split; encoded triples stand split by split."""
    sizes = column.value_counts().sort("split").rows()
    ends = np.cumsum([size for _, size in sizes]).tolist()
    return {split: slice(end - size, end) for (split, size), end in zip(sizes, ends, strict=True)}


def _count(mask: _Mask) -> int:
    return int(np.count_nonzero(mask))


def _pair(first: npt.NDArray[np.unsignedinteger[Any]], second: _Ids, size: int) -> _Keys:
    """Return one number per pair, the same for the same pair; second < size.

    Where the pairs do not fit into 64 bits, ranks of `first` take its place: they do, as rows and ids have 32.
    """
    if (int(first.max()) + 1) * size > 1 << 64:
        first = np.unique(first, return_inverse=True)[1].astype(np.uint64)
    pairs: _Keys = first.astype(np.uint64) * np.uint64(size) + second
    return pairs


def _distinct(keys: _Keys) -> _Keys:
    """Return the different values, sorted (numpy's unique hashes them first, which takes ten times as long)."""
    ordered = np.sort(keys)
    first_of_its_kind = np.ones(ordered.size, dtype=np.bool_)
    first_of_its_kind[1:] = ordered[1:] != ordered[:-1]
    return ordered[first_of_its_kind]


def _overlaps(distinct: Mapping[str, _Keys]) -> dict[str, int]:
    pairs = combinations(distinct, 2)
    return {f"{one}&{other}": _common(distinct[one], distinct[other]) for one, other in pairs}


def _common(one: _Keys, other: _Keys) -> int:
    """Return how many values two sorted arrays without repetitions share, by looking the fewer up in the more."""
    fewer, more = sorted((one, other), key=len)
    places = np.searchsorted(more, fewer).clip(max=more.size - 1)
    return _count(more[places] == fewer)


def _graphs(splits: Mapping[str, _Triples], distinct: Mapping[str, _Keys], whole: _Triples) -> dict[str, Any]:
    """Return the counts of the two graphs of an inductive data set, evaluation splits included."""
    members = {
        graph: [split for split in splits if _graph_of(split) == graph] for graph in ("training", "inference")
    }
    found = {
        graph: _Seen.within([splits[split] for split in names], whole) for graph, names in members.items()
    }
    in_training = _Seen.within([splits["training"]], whole)
    return {
        **{
            graph: {
                "entities": _count(found[graph].entities),
                "relations": _count(found[graph].relations),
                "distinct_triples": _distinct(np.concatenate([distinct[split] for split in names])).size,
            }
            for graph, names in members.items()
        },
        "shared_entities": _count(found["training"].entities & found["inference"].entities),
        "new_relations": _count(found["inference"].relations & ~in_training.relations),
    }


def _times(times: pl.DataFrame, keys: _Keys, rows: Mapping[str, slice]) -> dict[str, Any]:
    for name in times.columns:
        ranks = times[name].rank("dense").to_numpy() - 1
        keys = _pair(keys, ranks.astype(np.uint32), times.height)
    distinct = {split: _distinct(keys[part]) for split, part in rows.items()}
    return {
        "values": pl.concat([times[name].rename("time") for name in times.columns]).n_unique(),
        "distinct_triples": {split: values.size for split, values in distinct.items()},
        "duplicates_between": _overlaps(distinct),
    }


def check_expected(summary: Mapping[str, Any], dataset: Dataset) -> str | None:
    """Compare a summary with the counts of the registry.

    Returns None where they agree, and the differences with the registry's reason where it gives one.
    Raises RankadjustError where it does not.
    """
    differences = ", ".join(_differences(summary, dataset.expected))
    if not differences:
        return None
    if dataset.differs:
        return f"{dataset.name}: {differences}; known to differ: {dataset.differs}"
    raise RankadjustError(
        f"{dataset.name}: {differences}; these are other files than the registry means, or it needs "
        "other counts under 'expected', or a reason under 'expected.differs'"
    )


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in expected.items():
        if isinstance(value, Mapping):
            yield from _differences(found.get(key, {}), value, f"{prefix}{key}.")
        elif found.get(key) != value:
            yield f"{prefix}{key} is {found.get(key, 'missing')}, expected {value}"


_ROW = {
    "dataset": pl.String,
    "role": pl.String,
    "entities": pl.Int64,
    "relations": pl.Int64,
    "entities_in_training": pl.Int64,
    "relations_in_training": pl.Int64,
    "entities_in_inference": pl.Int64,
    "relations_in_inference": pl.Int64,
    **{f"triples_{split}": pl.Int64 for split in SPLITS},
    **{f"distinct_triples_{split}": pl.Int64 for split in SPLITS},
    "duplicates_within": pl.Int64,
    "duplicates_between": pl.Int64,
    "self_loops": pl.Int64,
    "unseen_triples": pl.Int64,
}


def summary_row(summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return a summary as one row of results/database/datasets.tsv; a split that is not there is null.

    duplicates_within, duplicates_between (pairs of splits) and self_loops are sums over all splits,
    unseen_triples over those that are evaluated.
    """
    row = {name: summary.get(name) for name in _ROW}
    for name in ("triples", "distinct_triples"):
        row |= {f"{name}_{split}": summary[name].get(split) for split in SPLITS}
    for name in ("duplicates_within", "duplicates_between", "self_loops"):
        row[name] = sum(summary[name].values())
    row["unseen_triples"] = sum(counts["triples"] for counts in summary["unseen"].values())
    return pl.DataFrame([row], schema=_ROW, orient="row")
