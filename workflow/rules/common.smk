"""What the rules share: the configuration of the run, the names of what it makes, functions of a rule's wildcards."""

import os
import re
import sys
from pathlib import Path

# Ctrl-C ends a run in one line, also before the first job.
sys.excepthook = lambda kind, *error: (
    sys.stderr.write("interrupted\n") if kind is KeyboardInterrupt else sys.__excepthook__(kind, *error)
)

# Not workflow.basedir: in a module that is the folder of the caller.
PROJECT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
# The Snakefile uses the library that stands beside it, whatever else is installed.
if not (PROJECT / "rankadjust").is_dir():
    sys.exit(f"error: {PROJECT}: rankadjust has to be on this disk: clone it, and name its Snakefile")
sys.path.insert(0, str(PROJECT))

from rankadjust.base import provenance
from rankadjust.base.errors import exit_with_message
from rankadjust.configuration import as_yaml, configured, share_with_jobs
from rankadjust.plan import Plan, warnings_about
from rankadjust.tables.sidecar import sidecar_of

with exit_with_message():
    RUN = configured(workflow, config, PROJECT)
    PLAN = Plan.of(RUN)
share_with_jobs(RUN.values, PROJECT)
TABLES = PLAN.tables
# What says what the names of data sets and protocols mean.
SETTINGS = [
    *(f"config/{name}.yaml" for name in ("datasets", "protocols", "benchmarks", "evaluators")),
    "config/*.csv",
    "workflow/schemas/*.yaml",
]


def project_files(*patterns):
    """Return files of the project; where a run is made in the project, a copy of both is up to date."""
    found = [path for pattern in patterns for path in sorted(PROJECT.glob(pattern))]
    return [os.path.relpath(path) for path in found if path.is_file()]


def code_of(script):
    """Return a digest of a script and of all modules of the library that it imports."""
    return provenance.code_of(PROJECT / "scripts" / f"{script}.py")


def dataset_of(wildcards):
    """Return what the registry says; Snakemake does not compare objects, so that rules add what matters to them."""
    return PLAN.datasets[wildcards.dataset]


def protocols_of(wildcards):
    return PLAN.applicable[wildcards.dataset]


def megabytes(base, each):
    """Return a resource, measured (docs/cluster.md): `each` for a million triples, twice as much with every attempt."""
    return lambda wildcards, attempt: (
        int(max(2000, base + each * PLAN.millions(wildcards.dataset))) * 2 ** (attempt - 1)
    )


def minutes(wildcards, attempt):
    return int(10 + 2 * PLAN.millions(wildcards.dataset)) * 2 ** (attempt - 1)


def cores_for(wildcards):
    """Return one core for a second of work: with two, nothing else would run beside it on a small machine."""
    return 2 if PLAN.millions(wildcards.dataset) > 2 else 1


wildcard_constraints:
    dataset="|".join(map(re.escape, PLAN.datasets)),


onsuccess:
    sys.stderr.write(warnings_about(PLAN.datasets))


onerror:
    sys.stderr.write(warnings_about(PLAN.datasets))
