"""The plan of a run, known before it begins: data sets, protocols, tables, metrics, and what belongs together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rankadjust.base.io import read_json
from rankadjust.chance.metrics import expand
from rankadjust.configuration import Configuration, tables_by_name
from rankadjust.counting.protocols import Protocol, applies, get_protocol, load_protocols
from rankadjust.data.registry import (
    Dataset,
    has_baselines,
    load_registry,
    require_bounds,
    require_readable,
    resolve_dataset,
    triples_of,
)
from rankadjust.data.sources import Local


@dataclass(frozen=True)
class Plan:
    """Data sets with exact constants, data sets with bounds, protocols and tables, by name; the keys of metrics."""

    datasets: Mapping[str, Dataset]
    bounded: Mapping[str, Dataset]
    protocols: Mapping[str, Protocol]
    tables: Mapping[str, str]
    metrics: Sequence[str]

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
        # Where the triples themselves are given, exact constants take the place of bounds.
        only_bounded = {dataset.name: dataset for dataset in bounded if dataset.name not in by_name}
        return cls(by_name, only_bounded, protocols, tables, metrics)

    @cached_property
    def applicable(self) -> Mapping[str, Sequence[Protocol]]:
        """The protocols that apply to each data set; a data set without any is summarised, and not counted."""
        return {
            name: [
                # A description may change without a change of the results.
                replace(protocol, description="")
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
    def baselined(self) -> Sequence[str]:
        """The data sets that get baselines: they have triples to train on."""
        return [name for name in self.counted if has_baselines(self.datasets[name])]

    @property
    def evaluations(self) -> list[tuple[str, str]]:
        """Data set and protocol of everything that is counted or bounded."""
        counted = [
            (name, protocol.name) for name, protocols in self.applicable.items() for protocol in protocols
        ]
        return [*counted, *((name, "filtered") for name in self.bounded)]

    def millions(self, dataset: str) -> float:
        """Return how many million triples a data set has, as far as that can be known."""
        return triples_of(self.datasets[dataset]) / 1e6

    def own_files(self, dataset: str) -> list[str]:
        """Return the files on this disk that a data set is read from, as far as they are there."""
        sources = [file.source for files in self.datasets[dataset].sources for file in files]
        paths = [source.path for source in sources if isinstance(source, Local)]
        return [str(path) for path in paths if path.is_file()]

    def reading(self, dataset: str) -> str:
        """Return what the registry says about reading a data set, without what leaves the triples as they are."""
        relevant = replace(
            self.datasets[dataset], sources=(), origin=Path(), aliases=(), ambiguous_aliases=(),
            licence=None, reference=None, repository=None, pykeen=None, ultra=None, notes=(),
        )  # fmt: skip
        return repr(relevant)


def warnings_about(datasets: Iterable[str], folder: Path = Path("results/triples")) -> str:
    """Return the warnings that rule encode has found about data sets, one per line."""
    summaries = [file for name in datasets if (file := folder / f"{name}.json").exists()]
    warnings = (warning for summary in summaries for warning in read_json(summary).get("warnings", []))
    return "".join(f"warning: {warning}\n" for warning in warnings)
