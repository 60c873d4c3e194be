"""What the rules share: the checked configuration, the registry, which protocol applies, and digests of what is read."""

import atexit
import logging
import os
import re
import sys
from dataclasses import replace
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
from rankadjust.base.contents import Digests, content_digest, digest_of, read_json
from rankadjust.base.errors import exit_with_message
from rankadjust.base.internals import persistence_and_job
from rankadjust.base.listening import Listener
from rankadjust.base.mending import Products, last_damage
from rankadjust.base.provenance import code_digest
from rankadjust.base.shipped_sums import check_all_shipped
from rankadjust.data.fetched import damage, declared_content
from rankadjust.plan import Plan
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
APPLICABLE, COUNTED = PLAN.applicable, PLAN.counted
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


def damage_seen(name, folder):
    """Return the damage last seen in the folder that was fetched for a data set, '' if there never was any."""
    found = damage(folder, DIGESTS) if LOOKS_FOR_DAMAGE else ""
    if found:
        said = found.rpartition("; ")[0]
        sys.stderr.write(f"note: {folder}: {said}; a run fetches it again\n")
    return last_damage(
        name,
        found,
        STATE / "damage.json",
        remember=LOOKS_FOR_DAMAGE,
    )


def damage_to(*outputs):
    """Return a parameter that changes when the outputs of a job are damaged, so that it makes them again."""
    return lambda wildcards: PRODUCTS.damage(
        *(output.format(**dict(wildcards.items())) for output in outputs)
    )


DAMAGED = {name: damage_seen(name, f"resources/datasets/{name}") for name in DATASETS}


def one_of(names):
    """Return a pattern that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    dataset=one_of(DATASETS),
    partition="[0-9]+",


# What a job is granted: from the triples of its data set, and measured (docs/cluster.md).


def grown(amount):
    """Return a resource that is twice as much in every attempt: a number, or a function of a rule's data set."""
    return lambda wildcards, attempt: (
        amount(wildcards.dataset) if callable(amount) else amount
    ) * 2 ** (attempt - 1)


megabytes_to_encode = PLAN.megabytes_to_encode
megabytes_to_count = PLAN.megabytes_to_count
megabytes_to_count_partition = PLAN.megabytes_to_count_partition
minutes_for = PLAN.minutes
counted_under = PLAN.counted_under
reading = PLAN.reading


def threads_to_encode(wildcards):
    """Return the threads for encoding a rule's data set."""
    return PLAN.threads_to_encode(wildcards.dataset)


def threads_to_count(wildcards):
    """Return the threads for counting a rule's data set."""
    return PLAN.threads_to_count(wildcards.dataset)


def schemas(*names):
    """Return the paths of schemas by name, for a digest of what a job reads."""
    return [PROJECT / "workflow" / "schemas" / f"{name}.schema.yaml" for name in names]


def protocols_of(wildcards):
    """Return the protocols that apply to a rule's data set."""
    return counted_under(wildcards.dataset)


# A function with `input` gives a value that Snakemake does not compare with that of the last run: where files come from
# is no property of a result. What decides is their content, as far as the registry declares it.
def sources_of(wildcards, input):
    """Return where the files of a rule's data set come from."""
    return DATASETS[wildcards.dataset].sources


def content_of(wildcards):
    """Return what the registry says about the bytes of a rule's data set, wherever they come from."""
    return declared_content(DATASETS[wildcards.dataset].sources, DIGESTS.of)


def reading_of(wildcards):
    """Return how a rule's data set is read."""
    return reading(wildcards.dataset)


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
Job.restart_times = property(
    lambda job: (
        0 if any(map(failures.is_mistake, job.log)) else job.rule.restart_times
    )
)


onstart:
    failures.forget()


def warnings():
    """Return what looks wrong about the data sets of this run, a line each, as rule encode has found it."""
    summaries = [Path(f"results/triples/{dataset}.json") for dataset in DATASETS]
    return "".join(
        f"warning: {warning}\n"
        for summary in summaries
        if summary.exists()
        for warning in read_json(summary).get("warnings", [])
    )


# After Snakemake's own words, so that what to mend is the last thing on the screen.
onsuccess:
    atexit.register(sys.stderr.write, warnings())


onerror:
    atexit.register(
        sys.stderr.write, warnings() + failures.told(LISTENER.failed.values())
    )
