"""What Snakemake and Slurm say of jobs: one that is killed, or never begins, cannot speak for itself."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankadjust.base import failures

_SLURM_STATUS = re.compile(r"SLURM status is: '([^']*)'")
# Of a job that Slurm kills, its log says 'slurmstepd: error: *** JOB 7 ON node1 … DUE TO TIME LIMIT ***'.
_SLURM_WORDS = re.compile(r"^(?:slurmstepd|srun)[^:]*: error: (?:\*+ )?(.*?)(?: \*+)?$", re.MULTILINE)
# Others follow from it: that a task was killed, and that its step ended.
_CAUSES = re.compile(r"memory|oom|time limit|cancel", re.IGNORECASE)
_WORDS = {"dataset": "data set"}


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return how a job is called in messages: 'rule count, data set Nations'."""
    named = [f"{_WORDS.get(key, key)} {value}" for key, value in wildcards.items()]
    return ", ".join([f"rule {rule}", *named])


class Listener(logging.Handler):
    """A handler for Snakemake's messages that knows which jobs failed, and were not tried again.

    works_on: of rules without wildcards what they work on, 'data sets Nations and UMLS'.
    failed: by the log of the job, what those who ran it say.
    """

    def __init__(self, works_on: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._works_on = works_on or {}
        self.failed: dict[str, failures.Failure] = {}
        self._jobs: dict[Any, tuple[str, str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take in a message about a job that begins or fails; the others are passed over."""
        event = getattr(record, "event", None)
        if event == "job_info":
            self._begins(record.__dict__)
        elif event == "job_error":
            self._fails(record.__dict__)

    def _begins(self, message: dict[str, Any]) -> None:
        if message["log"]:
            log = message["log"][0]
            name = job_name(message["rule_name"], message["wildcards"])
            works_on = self._works_on.get(message["rule_name"])
            self._jobs[message["jobid"]] = log, f"{name}, {works_on}" if works_on else name
            earlier = self.failed.pop(log, None)
            if earlier:
                sys.stderr.write(failures.lines_of(earlier).replace("error: ", "trying again: "))
                failures.begins(log)

    def _fails(self, message: dict[str, Any]) -> None:
        if message["jobid"] in self._jobs:
            log, name = self._jobs[message["jobid"]]
            others = tuple(path for path in message["log"] if path != log)
            reason = reason_of(message["rule_msg"] or "", message["aux"].get("external_jobid"), others)
            self.failed[log] = failures.Failure(name, reason, (log, *others))


def reason_of(message: str, job: str | None, logs: Iterable[str]) -> str:
    """Return why an executor gave up a job: its status in Slurm, with Slurm's line in the job's log.

    For another executor it is the first line of its message; '' without a message.
    """
    text = message.partition("For further error details")[0].strip()
    status = _SLURM_STATUS.search(text)
    if not status:
        return text.partition("\n")[0]
    words = [words for log in logs for words in _SLURM_WORDS.findall(_text(Path(log)))]
    causes = [line for line in words if _CAUSES.search(line)][:1]
    return ": ".join([f"Slurm job {job} ended as {status[1]}", *causes])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
