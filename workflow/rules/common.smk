"""What the rules share: the checked configuration, the registry, which protocol applies, and digests of what is read."""

import atexit
import logging
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# Not workflow.basedir: in a module that is the folder of the caller.
PROJECT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
# The Snakefile uses the library that stands beside it, whatever else is installed.
if not (PROJECT / "rankadjust").is_dir():
    raise WorkflowError(
        f"{PROJECT}: rankadjust is a workflow with a library, and needs its files on this disk: "
        "clone it, and give the path of its Snakefile"
    )
sys.path.insert(0, str(PROJECT))

from rankadjust.configuration import as_yaml, load_configuration, share_with_jobs
from rankadjust.base import failures
from rankadjust.base.claims import (
    exclusively,
    is_claimed,
    require_folders,
    require_writable,
)
from rankadjust.base.clock import require_dated
from rankadjust.base.contents import Digests, content_digest, digest_of
from rankadjust.base.errors import exit_with_message
from rankadjust.base.internals import persistence_and_job, try_no_mistake_again
from rankadjust.base.listening import Listener
from rankadjust.base.mending import Products
from rankadjust.base.provenance import code_digest
from rankadjust.base.shipped_sums import check_all_shipped
from rankadjust.data.fetched import declared_content, last_damage_of
from rankadjust.plan import Plan
from rankadjust.rules import (
    by_dataset,
    filled_in,
    grown,
    once_complete,
    one_of,
    schemas_of,
    uncompared,
    warnings_about,
)
from rankadjust.tables.sidecar import sidecar_of

# As a module of another workflow the run is configured by the `config:` of the module alone.
IS_MODULE = not workflow.modifier.is_main_snakefile()

if workflow.is_main_process:
    with exit_with_message():
        require_writable(Path(".snakemake"))
        check_all_shipped()
    # Of a log that cannot be written, Python would print a traceback for every line.
    logging.raiseExceptions = False

# Not by the directive `configfile`: a path in a file is relative to that file, and a mistake is one line.
with exit_with_message():
    RUN = load_configuration(
        [
            PROJECT / "config" / "config.yaml",
            *([] if IS_MODULE else workflow.overwrite_configfiles),
        ],
        config if IS_MODULE else workflow.config_settings.config,
        Path.cwd(),
        *(["the module's config"] if IS_MODULE else []),
    )
    PLAN = Plan.of(RUN)

if workflow.is_main_process:
    with exit_with_message():
        require_dated(PLAN.tables.values())

share_with_jobs(RUN.values, PROJECT)

DATASETS, BOUNDED, PROTOCOLS = PLAN.datasets, PLAN.bounded, PLAN.protocols
TABLES, METRICS = PLAN.tables, PLAN.metrics
APPLICABLE, COUNTED, BASELINED = PLAN.applicable, PLAN.counted, PLAN.baselined
# Known before anything has run, so that no checkpoint is needed.
PARTITIONS = {name: PLAN.partitions(name) for name in COUNTED}

# On another machine (`--jobs`) a job costs more than a small data set takes. Jobs read this file, too.
ELSEWHERE = workflow.remote_exec or workflow.resource_settings.nodes is not None
BATCHES = PLAN.together(elsewhere=ELSEWHERE)
ALONE = sorted(set(DATASETS).difference(*BATCHES.values()))
if ELSEWHERE:
    # Snakemake keeps a cache in the home of the user, which other machines may not let it write to.
    os.environ.setdefault("XDG_CACHE_HOME", str(Path(".snakemake", "cache").resolve()))

# Whatever a job reads is an input, or a digest among its params: so no result is stale (docs/architecture.md).
STATE = Path(".snakemake") / "rankadjust"
DIGESTS = Digests(STATE / "digests.json")
SETTINGS = [PROJECT / "config" / name for name in ("protocols.yaml", "benchmarks.yaml")]
# Of another run that is at work here, files may be half of one state and half of the next.
LOOKS_FOR_DAMAGE = workflow.is_main_process and not is_claimed(Path(".snakemake"))
PRODUCTS = Products(STATE, DIGESTS, look=LOOKS_FOR_DAMAGE, dry=lambda: workflow.dryrun)
if workflow.is_main_process:
    atexit.register(PRODUCTS.save)
REGISTRY_FILES = [PROJECT / "config" / "datasets.yaml", *(RUN.values["registry"] or [])]


def damage_to(*outputs):
    """Return a parameter that changes when the outputs of a job are damaged, so that it makes them again."""
    return lambda wildcards: PRODUCTS.damage(*filled_in(outputs, wildcards))


damage_seen = partial(
    last_damage_of,
    digests=DIGESTS,
    memory=STATE / "damage.json",
    looks=LOOKS_FOR_DAMAGE,
)
DAMAGED = {name: damage_seen(name, f"resources/datasets/{name}") for name in DATASETS}


wildcard_constraints:
    dataset=one_of(DATASETS),
    partition="[0-9]+",


# What a job is granted: from the triples of its data set, and measured (docs/cluster.md).
megabytes_to_encode = PLAN.megabytes_to_encode
megabytes_to_count = PLAN.megabytes_to_count
megabytes_to_count_partition = PLAN.megabytes_to_count_partition
megabytes_for_baselines = PLAN.megabytes_for_baselines
minutes_for = PLAN.minutes
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

# `quiet` hides which job failed, and a job that is killed cannot say so.
LISTENER = Listener(
    {batch: f"data sets {', '.join(members)}" for batch, members in BATCHES.items()}
)
if workflow.is_main_process:
    logger.addHandler(LISTENER)

with exit_with_message():
    Persistence, Job = persistence_and_job()

# The locks of a run that was killed are taken away; of one that is at work, the next one says so.
if workflow.is_main_process:
    Persistence.lock = exclusively(Persistence.lock)

# Snakemake tries a job again whatever it failed of. What the user has to mend fails the same way every time.
try_no_mistake_again(Job)


onstart:
    failures.forget()


# After Snakemake's own words, so that what to mend is the last thing on the screen.
onsuccess:
    atexit.register(sys.stderr.write, warnings_about(DATASETS))


onerror:
    atexit.register(
        sys.stderr.write,
        warnings_about(DATASETS) + failures.told(LISTENER.failed.values()),
    )
