"""docs/datasets.md: every registered data set (`make api`)."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from harness.tables import table, write_tables
from rankadjust.base.words import folded
from rankadjust.data.registry import Dataset, load_registry, names_elsewhere
from rankadjust.data.sources import File, Http, Local, Package, Zenodo


def datasets_tables(registry: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the tables of the page in Markdown, in the order of the registry."""
    header = ("data set", "kind", "split", "entities", "validation", "testing", "licence", "source")
    released, registered = (
        table(
            (*header, "also called"),
            (_row(dataset) for dataset in registry.values() if bool(dataset.verified) == is_released),
        )
        for is_released in (True, False)
    )
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for dataset in registry.values():
        if not dataset.verified:
            lacking.setdefault(_lacks(dataset), []).append(dataset.name)
    missing = table(
        ("files without a checksum", "counts known", "why it cannot be read", "data sets"),
        ([*lacks, ", ".join(names)] for lacks, names in lacking.items()),
    )
    elsewhere: dict[str, list[str]] = {}
    for name, code_bases, ours in names_elsewhere().values():
        # The other versions are called alike.
        if not re.search(r"v[234]\b|v[234]_", name):
            meant = ours[0] if len(ours) == 1 else f"one of {len(ours)}"
            elsewhere.setdefault(code_bases, []).append(f"`{name}`: {meant}")
    names = table(("code base", "names"), ([code, "; ".join(each)] for code, each in elsewhere.items()))
    return {"released": released, "registered": registered, "names": names, "missing": missing}


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
        ", ".join(_other_names(dataset)),
    ]


def _other_names(dataset: Dataset) -> Iterable[str]:
    """Return the names in PyKEEN and ULTRA that differ from ours, and from each other, in more than case and signs."""
    names = {folded(name): str(name) for name in (dataset.pykeen, dataset.ultra) if name}
    return [name for key, name in names.items() if key != folded(dataset.name)]


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


if __name__ == "__main__":
    write_tables("datasets.md", datasets_tables(load_registry()))
