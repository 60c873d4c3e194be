"""docs/datasets.md: every registered data set (`make api`)."""

import re
import sys
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from rankadjust.data.registry import Dataset, load_registry, names_elsewhere
from rankadjust.data.sources import File, Http, Local, Package, Zenodo

_HEAD = """\
# Data sets

Is your data set known, and are its constants shipped? Look for its name in the two tables. This page is made from the
registry, `config/datasets.yaml`, by `make api`, and a test compares the two.

Each data set keeps its licence, which the registry quotes in full. "none stated" means that somebody looked and
found no licence, and "not checked" that nobody looked. The numbers of entities, validation triples and test triples
belong to the graph that is tested. A dash means that a number is not known. *Split* says how the test triples were
chosen ([why it matters](methods-intervals.md#three-populations)), and the registry says who says so. Names that PyKEEN
and ULTRA use for the data set are in the last column.

## Released

Somebody has read the files of these data sets, so the released database has their constants. The registry has
checksums and counts, and a run refuses other files.
"""

_REGISTERED = """
## Registered

Nobody has read the files of these data sets yet, so the released database has no exact constants. A run that asks for
the data set fetches the files and reports their checksums. *Bounds* means that other files bound all constants, and
the released database has these bounds ([methods.md](methods.md#without-training-triples)).
"""

_NAMES = """\

## Names by code base

Commands take these names too (`config/names.csv`), and ask which data set a name of several means.
"""

_MISSING = """\

## What the others lack

Nobody could fetch all files of these data sets where rankadjust is developed. If you have network, type
`snakemake --cores all database --config datasets=CoDEx-L`, with one of the names. The run fetches the files, compares
the counts with those that are documented, and writes what it saw to `results/triples/CoDEx-L.json`: checksums, sizes
and counts. Send us this file ([CONTRIBUTING.md](../CONTRIBUTING.md#a-data-set)); then the next release has the
constants.
"""


def datasets_page(registry: Mapping[str, Dataset]) -> str:
    """Return the page in Markdown, in the order of the registry."""
    header = (
        "data set",
        "kind",
        "split",
        "entities",
        "validation",
        "testing",
        "licence",
        "source",
        "also called",
    )
    released, registered = (
        _table(
            header, (_row(dataset) for dataset in registry.values() if bool(dataset.verified) == is_released)
        )
        for is_released in (True, False)
    )
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for dataset in registry.values():
        if not dataset.verified:
            lacking.setdefault(_lacks(dataset), []).append(dataset.name)
    missing = _table(
        ("files without a checksum", "counts known", "why it cannot be read", "data sets"),
        ([*lacks, ", ".join(names)] for lacks, names in lacking.items()),
    )
    elsewhere: dict[str, list[str]] = {}
    for name, code_bases, ours in names_elsewhere().values():
        # The other versions are called alike.
        if not re.search(r"v[234]\b|v[234]_", name):
            meant = ours[0] if len(ours) == 1 else f"one of {len(ours)}"
            elsewhere.setdefault(code_bases, []).append(f"`{name}`: {meant}")
    names = _table(("code base", "names"), ([code, "; ".join(each)] for code, each in elsewhere.items()))
    return "\n".join([_HEAD, released, _REGISTERED, registered, _NAMES, names, _MISSING, missing])


def _lacks(dataset: Dataset) -> tuple[str, str, str]:
    unknown = [split for file in dataset.sources[0] if not file.sha256 for split in file.members]
    return (
        "all" if len(unknown) == len(dataset.splits) else ", ".join(unknown) or "none",
        "yes" if dataset.expected else "no",
        dataset.unreadable or "–",
    )


def _row(dataset: Dataset) -> list[str]:
    prefix = "inference_" if dataset.role == "inductive" else ""
    return [
        dataset.name,
        dataset.role + ", bounds" * (not dataset.verified and dataset.without_training is not None),
        dataset.split or "–",
        _entities(dataset),
        _triples(dataset, f"{prefix}validation"),
        _triples(dataset, f"{prefix}testing"),
        _licence(dataset),
        _source(dataset),
        ", ".join(dict.fromkeys(str(name) for name in (dataset.pykeen, dataset.ultra) if name)),
    ]


def _licence(dataset: Dataset) -> str:
    """Return the name of the licence without the remarks on where it was found; the registry has them."""
    return re.split(r" \(|; | in the repository| for the ", dataset.licence or "–", maxsplit=1)[0]


def _entities(dataset: Dataset) -> str:
    keys = ("entities_in_inference",) if dataset.role == "inductive" else ("entities", "entities_in_training")
    counts = [dataset.expected[key] for key in keys if key in dataset.expected]
    return f"{counts[0]:,}" if counts else "–"


def _triples(dataset: Dataset, split: str) -> str:
    # Where only the triples without anything unseen are documented, that is their number.
    counts = [dataset.expected.get(key, {}).get(split) for key in ("triples", "distinct_seen_triples")]
    known = [count for count in counts if count is not None]
    return f"{known[0]:,}" if known else "–"


def _source(dataset: Dataset) -> str:
    """Return where the files are: the project that publishes them, or else their host."""
    if dataset.repository:
        return f"[{urlsplit(dataset.repository).path.strip('/')}]({dataset.repository})"
    return ", ".join(dict.fromkeys(_place(file) for file in dataset.sources[0]))


def _place(file: File) -> str:
    match file.source:
        case Http(url):
            return str(urlsplit(url).hostname)
        case Zenodo(record):
            return f"[Zenodo {record}](https://zenodo.org/records/{record})"
        case Package(package, version):
            return f"{package} {version}"
        case Local():
            return "this disk"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = tuple(header)
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(datasets_page(load_registry()))
