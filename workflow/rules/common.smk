"""What the rules share: the checked configuration, the registry, and which protocol applies to which data set."""

import atexit
import json
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
from rankadjust.counting.protocols import applies, get_protocol, load_protocols
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

REGISTRY_FILES = [PROJECT / "config" / "datasets.yaml", *(RUN.values["registry"] or [])]
DATASETS = {dataset.name: dataset for dataset in chosen}
# The protocols that apply to each data set; one to which none applies is summarised, and not counted.
APPLICABLE = {
    name: [
        protocol
        for protocol in PROTOCOLS.values()
        if applies(protocol, dataset.format.columns, dataset.splits) is None
    ]
    for name, dataset in DATASETS.items()
}
COUNTED = [name for name, protocols in APPLICABLE.items() if protocols]


# Jobs read these from the environment: where bytes come from is no property of a result.
if RUN.values["mirror"]:
    os.environ["RANKADJUST_MIRROR"] = RUN.values["mirror"]
os.environ["RANKADJUST_OFFLINE"] = "1" if RUN.values["offline"] else "0"


wildcard_constraints:
    dataset="|".join(map(re.escape, DATASETS)),


def protocols_of(wildcards):
    """Return the protocols that apply to a rule's data set, without what is said of them to people."""
    return [
        replace(protocol, description="") for protocol in APPLICABLE[wildcards.dataset]
    ]


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


def warnings():
    """Return what looks wrong about the data sets of this run, a line each, as rule encode has found it."""
    summaries = [Path(f"results/triples/{dataset}.json") for dataset in DATASETS]
    return "".join(
        f"warning: {warning}\n"
        for summary in summaries
        if summary.exists()
        for warning in json.loads(summary.read_text(encoding="utf-8"))["warnings"]
    )


# After Snakemake's own words, so that what to mend is the last thing on the screen.
onsuccess:
    atexit.register(sys.stderr.write, warnings())


onerror:
    errors = ERRORS.read_text(encoding="utf-8") if ERRORS.exists() else ""
    atexit.register(sys.stderr.write, warnings() + errors)
