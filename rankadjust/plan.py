"""The plan of a run, known before it begins: data sets, protocols, parts, batches, and the memory and time of jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rankadjust.base.vocabulary import KNOWN_SPLITS
from rankadjust.chance.metrics import expand
from rankadjust.configuration import Configuration, tables_by_name
from rankadjust.counting.protocols import Protocol, applies, get_protocol, load_protocols
from rankadjust.data.registry import Dataset, load_registry, require_bounds, require_readable, resolve_dataset
from rankadjust.data.sizes import batches, size_of, triples_of, up_to

# Tables with more bytes are re-scored by two jobs. A job takes a second besides its work.
_MANY_BYTES = 1_000_000


@dataclass(frozen=True)
class Plan:
    """The data sets with exact constants, the data sets with bounds, protocols and tables, by name; the metrics.

    memory_mb: what a job may take. batch: up to how many triples data sets are computed together, or 'auto'.
    """

    datasets: Mapping[str, Dataset]
    bounded: Mapping[str, Dataset]
    protocols: Mapping[str, Protocol]
    tables: Mapping[str, str]
    metrics: Sequence[str]
    memory_mb: int
    batch: int | str

    @classmethod
    def of(cls, run: Configuration) -> "Plan":
        """Resolve every name of a configuration; one that is wrong is a RankadjustError that says where it was set."""
        values = run.values
        with run.blamed_on("registry"):
            registry = load_registry(*(values["registry"] or []))
        with run.blamed_on("protocol_files"):
            known = load_protocols(*(values["protocol_files"] or []))
        with run.blamed_on("datasets"):
            datasets = [resolve_dataset(name, registry) for name in values["datasets"]]
            for dataset in datasets:
                require_readable(dataset)
        with run.blamed_on("without_training"):
            bounded = [
                require_bounds(resolve_dataset(name, registry)) for name in values["without_training"] or []
            ]
        with run.blamed_on("protocols"):
            protocols = {name: get_protocol(name, known) for name in values["protocols"]}
        with run.blamed_on("tables"):
            tables = tables_by_name(values["tables"] or [])
        with run.blamed_on("metrics"):
            metrics = [metric.key for metric in expand(values["metrics"], values["ks"])]
        by_name = {dataset.name: dataset for dataset in datasets}
        return cls(
            by_name,
            # Where the triples themselves are given, exact constants take the place of bounds.
            {dataset.name: dataset for dataset in bounded if dataset.name not in by_name},
            protocols,
            tables,
            metrics,
            values["memory_mb"],
            values["batch"],
        )

    @cached_property
    def applicable(self) -> Mapping[str, Sequence[Protocol]]:
        """The protocols that apply to each data set; a data set without any is summarised, and not counted."""
        return {
            name: [
                protocol
                for protocol in self.protocols.values()
                if applies(protocol, dataset.format.columns, dataset.splits) is None
            ]
            for name, dataset in self.datasets.items()
        }

    @property
    def counted(self) -> Sequence[str]:
        """The data sets that some protocol applies to."""
        return [name for name, protocols in self.applicable.items() if protocols]

    @property
    def evaluations(self) -> list[tuple[str, str]]:
        """Data set and protocol of everything that is counted or bounded."""
        counted = [
            (name, protocol.name) for name, protocols in self.applicable.items() for protocol in protocols
        ]
        return [*counted, *((name, "filtered") for name in self.bounded)]

    @property
    def baselined(self) -> Sequence[str]:
        """The data sets that get baselines: they have triples to train on, and fit in memory."""
        return [
            name
            for name in self.counted
            if not set(KNOWN_SPLITS).isdisjoint(self.datasets[name].splits)
            and _baselines_of(self.sizes[name]) <= self.memory_mb
        ]

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many triples each data set has, as far as that can be known."""
        return {name: triples_of(dataset) for name, dataset in self.datasets.items()}

    def together(self, *, elsewhere: bool) -> Mapping[str, Sequence[str]]:
        """Return the batches of data sets that one job computes; elsewhere: whether jobs run on other machines.

        With `auto`, a data set whose files may change is computed alone here: an edit of it costs the others nothing.
        """
        of_any = elsewhere or self.batch != "auto"
        sizes = {name: size for name, size in self.sizes.items() if of_any or self.datasets[name].verified}
        members = batches(sizes, up_to(self.batch, elsewhere=elsewhere))
        return {f"batch_{number}": names for number, names in enumerate(members, 1)}

    def work_with(self, dataset: str, batches: Mapping[str, Sequence[str]]) -> int:
        """Return the triples of all data sets that one job computes with a data set: the most work comes first."""
        members = next((members for members in batches.values() if dataset in members), [dataset])
        return sum(map(self.sizes.__getitem__, members))

    def rescored_together(self) -> Mapping[str, Sequence[str]]:
        """Return the tables that one job re-scores, by the name of its rule; two jobs share tables of many bytes."""
        sizes = {name: size_of(Path(path)) or 0 for name, path in self.tables.items()}
        if sum(sizes.values()) <= _MANY_BYTES:
            return {"rescore_tables": list(sizes)} if sizes else {}
        halves: tuple[list[str], list[str]] = ([], [])
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            min(halves, key=lambda half: sum(sizes[member] for member in half)).append(name)
        return {f"rescore_tables_{number}": half for number, half in enumerate(halves, 1)}

    def megabytes_to_encode(self, dataset: str) -> int:
        """Return the memory for encoding a data set: its text is in memory as a whole."""
        return 2000 + 150 * self.sizes[dataset] // 1_000_000

    def megabytes_to_count(self, dataset: str) -> int:
        """Return the memory for counting a data set: 51 bytes a triple were measured for 22 million (docs/scale.md)."""
        return max(2000, 700 + 60 * self.sizes[dataset] // 1_000_000)

    def megabytes_for_baselines(self, dataset: str) -> int:
        """Return the memory in MB that counting baselines needs: it holds the neighbours of all entities at once."""
        return max(2000, _baselines_of(self.sizes[dataset]))

    def minutes(self, dataset: str) -> int:
        """Return the time for encoding a data set, or for counting it, with much to spare for a slow disk."""
        return 10 + self.sizes[dataset] // 500_000

    def threads_to_encode(self, dataset: str) -> int:
        """Return the threads for encoding: with two nothing else runs beside it on two cores, for a second of work."""
        return 2 if self.sizes[dataset] > 2_000_000 else 1

    def threads_to_count(self, dataset: str) -> int:
        """Return the threads for counting: one is enough for a second of work."""
        return 2 if self.sizes[dataset] > 5_000_000 else 1

    def counted_under(self, dataset: str) -> list[Protocol]:
        """Return the protocols that apply to a data set, without their descriptions."""
        return [replace(protocol, description="") for protocol in self.applicable[dataset]]

    def reading(self, dataset: str) -> Dataset:
        """Return what the registry says about reading a data set, without what leaves the triples as they are."""
        return replace(
            self.datasets[dataset], sources=(), origin=Path(), aliases=(), ambiguous_aliases=(),
            licence=None, reference=None, repository=None, pykeen=None, ultra=None, notes=(),
        )  # fmt: skip


def _baselines_of(triples: int) -> int:
    """Return the MB that counting the baselines of so many triples takes."""
    return 700 + 150 * triples // 1_000_000
