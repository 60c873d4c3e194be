"""From published benchmark data sets to the database of adjustment constants, and from that to comparable results.

Targets: all (the default), download, database, tasks, rescore, record, paper, report; release with config/full.yaml. README.md starts with the two commands.
"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"


if RUN.values["container"]:

    container: RUN.values["container"]


include: "workflow/rules/data.smk"
include: "workflow/rules/candidates.smk"
include: "workflow/rules/database.smk"
include: "workflow/rules/literature.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.database.output,
        rules.run_config.output,
        rules.rescore.output,
        rules.paper.input,
        rules.report.input,
