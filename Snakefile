"""From published benchmark data sets to the database of adjustment constants, and from that to comparable results.

Targets: all (the default), download, database, tasks, rescore, paper, report; release with config/full.yaml. README.md starts with the two commands.
"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"


if RUN.values["container"]:

    container: RUN.values["container"]


include: "workflow/rules/fetch.smk"
include: "workflow/rules/candidates.smk"
include: "workflow/rules/baselines.smk"
include: "workflow/rules/batches.smk"
include: "workflow/rules/tasks.smk"
include: "workflow/rules/bounds.smk"
include: "workflow/rules/database.smk"
include: "workflow/rules/rescore.smk"
include: "workflow/rules/paper.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/release.smk"


rule all:
    default_target: True
    input:
        rules.database.input,
        rules.rescore.input,
        rules.paper.input,
        rules.report.input,


# Snakemake ends with a traceback there, before any job has begun.
if workflow.is_main_process:
    with exit_with_message():
        require_folders(output for rule in workflow.rules for output in rule.output)
DIGESTS.save()
