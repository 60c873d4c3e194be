import logging

import pytest

from rankadjust.base import failures
from rankadjust.base.listening import Listener, job_name, reason_of

# As Slurm 22.05 wrote them on the machine of tests/cluster.
OVER_TIME = "slurmstepd: error: *** JOB 5 ON vm CANCELLED AT 2026-11-21T21:00:00 DUE TO TIME LIMIT ***\n"
OVER_MEMORY = """\
slurmstepd: error: StepId=28.0 exceeded memory limit (352321536 > 314572800), being killed
slurmstepd: error: Exceeded job memory limit
srun: error: vm: task 0: Killed
"""
SLURM_FAILED = (
    "SLURM-job '28' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable "
    "(status command is not 'sacct').For further error details see the cluster/cloud log …"
)


@pytest.fixture
def heard(tmp_path, monkeypatch):
    """Return a listener to a logger, and a function that lets Snakemake speak as it does."""
    monkeypatch.chdir(tmp_path)
    listener = Listener({"batch_1": "data sets Nations and UMLS"})

    def say(event, **message):
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
        record.__dict__ |= {"event": event, **message}
        listener.handle(record)

    return listener, say


def begins(say, jobid, dataset, **message):
    log = f"logs/{dataset}.log"
    said = {"rule_name": "count", "wildcards": {"dataset": dataset}, "log": [log], "rule_msg": None}
    say("job_info", jobid=jobid, **(said | message))


def fails(say, jobid, dataset, message=None, **aux):
    logs = [f"logs/{dataset}.log", *(["28.log"] if message else [])]
    say("job_error", jobid=jobid, rule_msg=message, log=logs, aux=aux)


def test_a_job_that_said_nothing_is_told_with_the_words_of_slurm(heard, tmp_path):
    listener, say = heard
    (tmp_path / "28.log").write_text(OVER_MEMORY)
    begins(say, 1, "A")
    begins(say, 2, "B")
    fails(say, 1, "A", SLURM_FAILED, external_jobid="28")
    fails(say, 2, "B")
    say("progress", done=1, total=2)
    assert failures.summary(listener.failed.values()) == (
        "error: rule count, data set A: Slurm job 28 ended as FAILED: "
        "StepId=28.0 exceeded memory limit (352321536 > 314572800), being killed (logs: logs/A.log, 28.log)\n"
        "error: rule count, data set B: killed, interrupted, or out of memory (log: logs/B.log)\n"
    )


def test_a_job_that_is_tried_again_has_not_failed_yet_and_says_so(heard, capsys):
    listener, say = heard
    begins(say, 1, "A")
    assert capsys.readouterr().err == ""
    failures.failed("rule count, data set A", "unexpected OSError: no space", "logs/A.log")
    fails(say, 1, "A", SLURM_FAILED, external_jobid="28")
    begins(say, 1, "A")
    line = "trying again: rule count, data set A: unexpected OSError: no space (log: logs/A.log)\n"
    assert capsys.readouterr().err == line
    assert listener.failed == {}
    assert failures.summary() == ""


def test_a_rule_without_wildcards_is_told_with_what_it_works_on(heard):
    listener, say = heard
    begins(say, 1, "A", rule_name="batch_1", wildcards={})
    fails(say, 1, "A")
    assert [failure.job for failure in listener.failed.values()] == [
        "rule batch_1, data sets Nations and UMLS"
    ]


def test_a_job_without_a_log_and_one_that_never_began_are_passed_over(heard):
    listener, say = heard
    begins(say, 1, "A", log=[])
    fails(say, 1, "A")
    fails(say, 2, "B")
    assert listener.failed == {}


def test_a_job_is_named_by_its_rule_and_what_it_works_on():
    assert job_name("gather", {}) == "rule gather"
    assert job_name("count", {"dataset": "A", "partition": "3"}) == "rule count, data set A, partition 3"


def test_the_reason_is_that_of_slurm_or_the_first_line_of_another_executor(tmp_path):
    log = tmp_path / "5.log"
    log.write_text(OVER_TIME)
    message = "SLURM-job '5' failed, SLURM status is: 'TIMEOUT'. Detailed …"
    assert reason_of(message, "5", [log]) == (
        "Slurm job 5 ended as TIMEOUT: JOB 5 ON vm CANCELLED AT 2026-11-21T21:00:00 DUE TO TIME LIMIT"
    )
    assert reason_of(message, "5", [tmp_path / "none"]) == "Slurm job 5 ended as TIMEOUT"
    assert reason_of("Pod evicted.\nmore\nFor further error details see", "x", []) == "Pod evicted."
    assert reason_of("For further error details see the cluster", "x", []) == ""
