"""The internals of Snakemake that a run replaces: a change of them is named before anything runs."""

import sys
from types import SimpleNamespace

import pytest
import snakemake.api  # noqa: F401 - its modules import each other, and this one has to be the first
from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.workflow import Workflow

from rankadjust.base import failures
from rankadjust.base.claims import exclusively
from rankadjust.base.errors import RankadjustError
from rankadjust.base.internals import persistence_and_job, try_no_mistake_again

# What an upgrade may do to them: the class, its attribute, what becomes of that, and what is said.
CHANGES = {
    "lock renamed": (PersistenceBase, "lock", None, "no attribute 'lock'"),
    "lock with an argument": (PersistenceBase, "lock", lambda _, wait: wait, "PersistenceBase.lock"),
    "another lock": (Workflow, "execute", lambda self: self.persistence.hold(), "PersistenceBase.lock"),
    "tries renamed": (Job, "restart_times", None, "no attribute 'restart_times'"),
    "tries as a method": (Job, "restart_times", lambda _: 3, "Job.restart_times"),
    "tries counted otherwise": (
        Job, "restart_times", property(lambda job: 1 + job.rule.restart_times), "Job.restart_times",
    ),
    "tries asked elsewhere": (JobScheduler, "_handle_error", lambda _, job: job.rule.retries, "Job.restart_times"),
}  # fmt: skip


def test_the_internals_are_what_they_were():
    assert persistence_and_job() == (PersistenceBase, Job)


def test_what_was_replaced_may_be_replaced_again(monkeypatch):
    """A workflow may use this one as a module, twice."""
    monkeypatch.setattr(PersistenceBase, "lock", exclusively(PersistenceBase.lock))
    monkeypatch.setattr(Job, "restart_times", Job.restart_times)
    try_no_mistake_again(Job)
    assert persistence_and_job() == (PersistenceBase, Job)


def test_what_the_user_has_to_mend_is_not_tried_again(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Job, "restart_times", Job.restart_times)
    try_no_mistake_again(Job)
    mistaken = SimpleNamespace(rule=SimpleNamespace(restart_times=3), log=["mistake.log"])
    failed = SimpleNamespace(rule=SimpleNamespace(restart_times=3), log=["failed.log"])
    for log, is_mistake in (("mistake.log", True), ("failed.log", False)):
        failures.failed("rule count", "why", log, mistake=is_mistake)
    assert Job.restart_times.__get__(mistaken) == 0
    assert Job.restart_times.__get__(failed) == 3


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_them_is_named_in_one_line(monkeypatch, change):
    owner, name, value, said = CHANGES[change]
    if value is None:
        monkeypatch.delattr(owner, name)
    else:
        monkeypatch.setattr(owner, name, value)
    with pytest.raises(RankadjustError, match=r"^Snakemake 9.*make install$") as raised:
        persistence_and_job()
    assert said in str(raised.value)


def test_a_module_that_moved_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "snakemake.persistence", None)
    with pytest.raises(RankadjustError, match=r"snakemake\.persistence.*make install"):
        persistence_and_job()
