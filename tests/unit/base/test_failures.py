import pytest

from rankadjust.base import failures


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_what_failed_and_what_did_not_end_is_told():
    assert failures.told() == ""
    for log in ("a.log", "b.log", "c.log"):
        failures.begun(f"rule {log[0]}", log)
    failures.ended("a.log")
    failures.failed("rule b", "two fields", "b.log")
    failures.ended("b.log")
    assert failures.told() == (
        "error: rule b: two fields (log: b.log)\n"
        "error: rule c: killed, interrupted, or out of memory (log: c.log)\n"
    )


def test_a_new_run_forgets_what_was_told():
    failures.begun("rule a", "a.log")
    failures.failed("rule b", "two fields", "b.log")
    failures.forget()
    failures.forget()
    assert failures.told() == ""
