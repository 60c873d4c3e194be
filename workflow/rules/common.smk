"""What the rules share: the names of what a run computes. How it begins is in rankadjust/rules.py."""

import atexit
import sys
from dataclasses import replace
from pathlib import Path

from snakemake.exceptions import WorkflowError

# Not workflow.basedir: in a module that is the folder of the caller.
PROJECT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
# The Snakefile uses the library that stands beside it, whatever else is installed.
if not (PROJECT / "rankadjust").is_dir():
    raise WorkflowError(
        f"{PROJECT}: rankadjust is a workflow with a library, and needs its files on this disk: "
        "clone it, and give the path of its Snakefile"
    )
sys.path.insert(0, str(PROJECT))

from rankadjust.configuration import as_yaml
from rankadjust.base import failures
from rankadjust.base.claims import require_folders
from rankadjust.base.contents import content_digest, digest_of
from rankadjust.base.errors import exit_with_message
from rankadjust.base.provenance import code_digest
from rankadjust.data.sources import declared_content
from rankadjust.rules import (
    begin,
    by_dataset,
    grown,
    once_complete,
    one_of,
    schemas_of,
    uncompared,
    warnings_about,
)
from rankadjust.tables.sidecar import sidecar_of

START = begin(workflow, config, PROJECT)
RUN, PLAN, DIGESTS, BATCHES = START.run, START.plan, START.digests, START.batches
DATASETS, BOUNDED, PROTOCOLS = PLAN.datasets, PLAN.bounded, PLAN.protocols
TABLES, METRICS = PLAN.tables, PLAN.metrics
APPLICABLE, COUNTED, BASELINED = PLAN.applicable, PLAN.counted, PLAN.baselined
ALONE = sorted(set(DATASETS).difference(*BATCHES.values()))

# Whatever a job reads is an input, or a digest among its params: so no result is stale (docs/architecture.md).
SETTINGS = [PROJECT / "config" / name for name in ("protocols.yaml", "benchmarks.yaml")]
REGISTRY_FILES = [PROJECT / "config" / "datasets.yaml", *(RUN.values["registry"] or [])]
damage_to = START.damage_to


wildcard_constraints:
    dataset=one_of(DATASETS),


# What a job is granted: from the triples of its data set, and measured (docs/cluster.md).
megabytes_to_encode = PLAN.megabytes_to_encode
megabytes_to_count = PLAN.megabytes_to_count
megabytes_for_baselines = PLAN.megabytes_for_baselines
minutes_for = PLAN.minutes
# Of jobs that are ready, the one with the most work begins first, so that no core is idle while the last one runs.
work_with = by_dataset(lambda dataset: PLAN.work_with(dataset, BATCHES))
threads_to_encode = by_dataset(PLAN.threads_to_encode)
threads_to_count = by_dataset(PLAN.threads_to_count)
counted_under = PLAN.counted_under
reading = PLAN.reading
schemas = schemas_of(PROJECT)
protocols_of = by_dataset(PLAN.counted_under)
reading_of = by_dataset(PLAN.reading)
# Where files come from is no property of a result. What decides is their content, as far as the registry declares it.
sources_of = uncompared(lambda dataset: DATASETS[dataset].sources)
content_of = by_dataset(
    lambda dataset: declared_content(DATASETS[dataset].sources, DIGESTS.of)
)


onstart:
    failures.forget()


# After Snakemake's own words, so that what to mend is the last thing on the screen.
onsuccess:
    atexit.register(sys.stderr.write, warnings_about(DATASETS))


onerror:
    atexit.register(
        sys.stderr.write,
        warnings_about(DATASETS) + failures.summary(START.listener.failed.values()),
    )
