"""docs/datasets.md: every registered data set (`make api`)."""

import re
from collections.abc import Iterable, Mapping

from harness.tables import table, write_tables
from rankadjust.base.words import folded
from rankadjust.data.registry import Dataset, load_registry, names_elsewhere
from rankadjust.data.sources import Http, Zenodo


def datasets_tables(registry: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the tables of the page in Markdown, in the order of the registry."""
    header = ("data set", "kind", "split", "entities", "validation", "testing", "licence")
    released, registered = (
        table(header, (_row(each) for each in registry.values() if bool(each.verified) == is_released))
        for is_released in (True, False)
    )
    lacking: dict[tuple[str, str], list[str]] = {}
    for dataset in registry.values():
        if not dataset.verified:
            lacking.setdefault(_lacks(dataset), []).append(dataset.name)
    missing = table(
        ("files without a checksum", "why it cannot be read", "data sets"),
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


def _lacks(dataset: Dataset) -> tuple[str, str]:
    unknown = [split for file in dataset.sources[0] if not file.sha256 for split in file.members]
    return (
        "all" if len(unknown) == len(dataset.splits) else ", ".join(unknown) or "none",
        dataset.unreadable or "–",
    )


def _row(dataset: Dataset) -> list[str]:
    prefix = "inference_" if dataset.role == "inductive" else ""
    link, others = _link(dataset), ", ".join(_other_names(dataset))
    return [
        (f"[{dataset.name}]({link})" if link else dataset.name) + (f" ({others})" if others else ""),
        dataset.role + ", bounds" * (not dataset.verified and dataset.without_training is not None),
        dataset.split or "–",
        _entities(dataset),
        _triples(dataset, f"{prefix}validation"),
        _triples(dataset, f"{prefix}testing"),
        _licence(dataset),
    ]


def _other_names(dataset: Dataset) -> Iterable[str]:
    """Return the names in PyKEEN and ULTRA that differ from ours, and from each other, in more than case and signs."""
    names = {folded(name): str(name) for name in (dataset.pykeen, dataset.ultra) if name}
    return [name for key, name in names.items() if key != folded(dataset.name)]


def _licence(dataset: Dataset) -> str:
    """Return the name of the licence without the remarks on where it was found; the registry has them."""
    name = re.split(r" \(|; | in the repository| for the ", dataset.licence or "–", maxsplit=1)[0]
    return {"none stated": "none", "not checked": "–"}.get(name, name)


def _entities(dataset: Dataset) -> str:
    keys = ("entities_in_inference",) if dataset.role == "inductive" else ("entities", "entities_in_training")
    counts = [dataset.expected[key] for key in keys if key in dataset.expected]
    return f"{counts[0]:,}" if counts else "–"


def _triples(dataset: Dataset, split: str) -> str:
    # Where only the triples without anything unseen are documented, that is their number.
    counts = [dataset.expected.get(key, {}).get(split) for key in ("triples", "distinct_seen_triples")]
    known = [count for count in counts if count is not None]
    return f"{known[0]:,}" if known else "–"


def _link(dataset: Dataset) -> str | None:
    """Return where the files are: the project that publishes them, or else the first file."""
    match dataset.repository or dataset.sources[0][0].source:
        case Http(url) | str(url):
            return url
        case Zenodo(record):
            return f"https://zenodo.org/records/{record}"
    return None


if __name__ == "__main__":
    write_tables("datasets.md", datasets_tables(load_registry()))
