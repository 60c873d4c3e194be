"""What the rules share: the checked configuration, the registry, and which protocol applies to which data set."""

import atexit
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

PROJECT = Path(workflow.basedir)
# The Snakefile and its jobs use the library that stands beside it, whatever else is installed.
sys.path.insert(0, str(PROJECT))
os.environ["PYTHONPATH"] = os.pathsep.join(
    dict.fromkeys(
        [
            str(PROJECT),
            *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)),
        ]
    )
)

from rankadjust.configuration import load_configuration, tables_by_name
from rankadjust.base.errors import exit_with_message
from rankadjust.base.files import sha256_of
from rankadjust.chance.metrics import expand as expand_metrics
from rankadjust.counting.protocols import (
    applies,
    get_protocol,
    load_benchmarks,
    load_protocols,
)
from rankadjust.base.provenance import code_digest
from rankadjust.data.registry import load_registry, require_readable, resolve_dataset
from scripts.job import ERRORS

# Not by the directive `configfile`: a path in a file is relative to that file, and a mistake is one line.
with exit_with_message():
    RUN = load_configuration(
        [PROJECT / "config" / "config.yaml", *workflow.overwrite_configfiles],
        workflow.config_settings.config,
        Path.cwd(),
    )
    with RUN.blamed_on("registry"):
        REGISTRY = load_registry(*(RUN.values["registry"] or []))
    with RUN.blamed_on("protocol_files"):
        KNOWN_PROTOCOLS = load_protocols(*(RUN.values["protocol_files"] or []))
    with RUN.blamed_on("datasets"):
        chosen = [resolve_dataset(name, REGISTRY) for name in RUN.values["datasets"]]
        for dataset in chosen:
            require_readable(dataset)
    with RUN.blamed_on("protocols"):
        PROTOCOLS = {
            name: get_protocol(name, KNOWN_PROTOCOLS)
            for name in RUN.values["protocols"]
        }
    with RUN.blamed_on("tables"):
        TABLES = tables_by_name(RUN.values["tables"] or [])
    with RUN.blamed_on("metrics"):
        METRICS = [
            metric.key
            for metric in expand_metrics(RUN.values["metrics"], RUN.values["ks"])
        ]

    BENCHMARKS = load_benchmarks()

REGISTRY_FILES = [PROJECT / "config" / "datasets.yaml", *(RUN.values["registry"] or [])]
DATASETS = {dataset.name: dataset for dataset in chosen}
# Where every task has the same number of candidates, config/benchmarks.yaml is all that is needed.
CONSTANT = {(benchmark.dataset, benchmark.protocol.name) for benchmark in BENCHMARKS}
APPLICABLE = [
    (dataset, protocol)
    for dataset in DATASETS
    for protocol in PROTOCOLS
    if applies(
        PROTOCOLS[protocol], DATASETS[dataset].format.columns, DATASETS[dataset].splits
    )
    is None
]

# A job counts a data set under all its protocols: most of a small job is starting Python. A rule's outputs cannot depend
# on a wildcard, so data sets to which the same protocols apply share a rule.
GROUPS = {}
for dataset in DATASETS:
    protocols = tuple(protocol for name, protocol in APPLICABLE if name == dataset)
    if protocols:
        GROUPS.setdefault(protocols, []).append(dataset)


def rule_name(stem, protocols):
    """Return the stem for the first group, and for another the stem and a protocol that the first does not have."""
    first = next(iter(GROUPS))
    others = [protocol for protocol in protocols if protocol not in first] or [
        f"{len(protocols)}"
    ]
    return (
        stem
        if protocols == first
        else f"{stem}_{others[0]}".replace("-", "_").replace(".", "_")
    )


# Jobs read these from the environment: where bytes come from is no property of a result.
if RUN.values["mirror"]:
    os.environ["RANKADJUST_MIRROR"] = RUN.values["mirror"]
os.environ["RANKADJUST_OFFLINE"] = "1" if RUN.values["offline"] else "0"


wildcard_constraints:
    dataset="|".join(map(re.escape, DATASETS)),


def sources_of(wildcards):
    """Return where the files of a rule's data set come from."""
    return DATASETS[wildcards.dataset].sources


def reading_of(wildcards):
    """Return what the registry says about reading a rule's data set, without what leaves the triples as they are."""
    return replace(
        DATASETS[wildcards.dataset], sources=(), origin=Path(), aliases=(), ambiguous_aliases=(),
        licence=None, reference=None, repository=None, pykeen=None, notes=(),
    )  # fmt: skip


onstart:
    ERRORS.unlink(missing_ok=True)


onerror:
    # After Snakemake's own words, so that what to mend is the last thing on the screen.
    if ERRORS.exists():
        atexit.register(sys.stderr.write, ERRORS.read_text(encoding="utf-8"))
