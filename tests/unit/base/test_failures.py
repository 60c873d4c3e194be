import pytest

from rankadjust.base import failures
from rankadjust.base.failures import Failure


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_what_failed_and_what_did_not_end_is_told():
    assert failures.summary() == ""
    for log in ("a.log", "b.log", "c.log"):
        failures.begun(f"rule {log[0]}", log)
    failures.ended("a.log")
    failures.failed("rule b", "two fields", "b.log")
    failures.ended("b.log")
    assert failures.summary() == (
        "error: rule b: two fields (log: b.log)\n"
        "error: rule c: killed, interrupted, or out of memory (log: c.log)\n"
    )


def test_a_new_run_forgets_what_was_told():
    failures.begun("rule a", "a.log")
    failures.failed("rule b", "two fields", "b.log")
    failures.forget()
    failures.forget()
    assert failures.summary() == ""


def test_of_each_job_those_are_told_who_know_most():
    failures.begun("rule a", "a.log")
    failures.failed("rule b", "two fields", "b.log")
    others = [
        Failure("rule a", "Slurm job 7 ended as TIMEOUT", ("a.log", "slurm/7.log")),
        Failure("rule b", "exit code 1", ("b.log", "slurm/8.log")),
        Failure("rule c", "", ("c.log",)),
    ]
    assert failures.summary(others) == (
        "error: rule a: Slurm job 7 ended as TIMEOUT (logs: a.log, slurm/7.log)\n"
        "error: rule b: two fields (log: b.log)\n"
        "error: rule c: killed, interrupted, or out of memory (log: c.log)\n"
    )
    assert failures.lines_of(others[1]) == "error: rule b: two fields (log: b.log)\n"


def test_a_mistake_is_one_where_nothing_else_went_wrong():
    assert not failures.is_mistake("a.log")
    failures.failed("rule a", "two fields", "a.log", mistake=True)
    assert failures.is_mistake("a.log")
    assert not failures.is_mistake("b.log")
    failures.failed("rule a", "unexpected KeyError", "a.log")
    assert not failures.is_mistake("a.log")


def test_another_attempt_forgets_what_the_earlier_one_left():
    failures.begun("rule a", "a.log")
    failures.failed("rule a", "two fields", "a.log", mistake=True)
    failures.failed("rule b", "three fields", "b.log", mistake=True)
    failures.begins("a.log")
    assert failures.summary() == "error: rule b: three fields (log: b.log)\n"
    assert not failures.is_mistake("a.log")


def test_a_note_for_which_there_was_no_room_hides_nothing(tmp_path):
    failures.failed("rule a", "two fields", "a.log")
    [note] = (tmp_path / ".snakemake" / "rankadjust" / "errors").iterdir()
    note.write_text("")
    assert (
        failures.summary([Failure("rule a", "exit code 1", ("a.log",))])
        == "error: rule a: exit code 1 (log: a.log)\n"
    )
