"""The workflow on a real Slurm: the results of a local run, whatever befalls its jobs."""

import math
import re
import signal
import subprocess

import pytest

from harness.cluster_runs import (
    PROJECT,
    SHARED,
    SMALL,
    Fault,
    cancel,
    command,
    environment,
    results,
    running,
    sent,
    watch,
    write_inputs,
)
from harness.slurm import patience, until

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    shared = PROJECT.parent / "shared"
    write_inputs(folder, shared if shared.is_dir() else None)
    return folder


@pytest.fixture(scope="module")
def local(inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    done = subprocess.run(
        command(inputs, folder, "--cores", "2"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(200),
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def runs(cluster, inputs, local, tmp_path_factory):
    """Return two runs that went on at the same time: one that ends well after three faults, and one that cannot."""
    folder = tmp_path_factory.mktemp("runs")
    well = running(
        *(cluster, inputs, folder / "well"),
        *("--set-resources", "encode:mem_mb=90*attempt**3", "--config", "partitions=3"),
    )
    # A minute is the shortest time that Slurm grants; a busy machine needs more even for a small data set.
    minutes = math.ceil(patience(20) / 60)
    badly = running(
        *(cluster, inputs, folder / "badly", "--retries", "1"),
        *("--config", "batch=0", "datasets=Drawn-1,Drawn-2,Bad"),
        *("--set-resources", f"encode:runtime={minutes}*attempt**2", "count:mem_mb=80", "--"),
        *("results/triples/Drawn-1.parquet", "results/triples/Bad.parquet"),
        "results/candidates/Drawn-2.parquet",
    )
    with well as one, badly as other:
        faults = [
            Fault(one, "rule_batch_1", sent(signal.SIGKILL)),
            Fault(one, "rule_count_partition_wildcards_Large_1", cancel),
            Fault(other, "rule_encode_wildcards_Drawn-1", sent(signal.SIGSTOP)),
        ]
        watch([one, other], faults, 420)
        assert all(fault.job for fault in faults)
        return one, other


def test_the_results_are_those_of_a_local_run_byte_for_byte(runs, local):
    well, _ = runs
    assert well.process.returncode == 0, well.said
    expected, found = results(local), results(well.folder)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == ["run_config.yaml"]
    assert {"database/adjustments.tsv.gz", "report.html", "candidates/Large.parquet"} <= found.keys()


def test_small_data_sets_are_computed_together_and_a_large_one_in_partitions(runs, local):
    well, _ = runs
    rules = [job["rule"] for job in well.jobs()]
    together = {rule for rule in rules if rule.startswith("rule_batch")}
    assert together == {"rule_batch_1"}
    assert len(SMALL) + len(SHARED) <= 8
    alone = {rule for rule in rules if "_wildcards_" in rule}
    assert alone == {
        "rule_encode_wildcards_Large",
        *(f"rule_count_partition_wildcards_Large_{number}" for number in range(3)),
        "rule_add_partitions_wildcards_Large",
        "rule_moments_wildcards_Large",
        "rule_baselines_wildcards_Large",
        # The table of the run, whose name is results.
        "rule_paper_of_table_wildcards_results",
    }


def test_a_partition_that_is_cancelled_is_made_again_and_no_other(runs):
    well, _ = runs
    rule = "rule_count_partition_wildcards_Large_{}"
    assert well.states(rule.format(1)) == ["CANCELLED", "COMPLETED"]
    assert well.states(rule.format(0)) == well.states(rule.format(2)) == ["COMPLETED"]
    assert re.search(
        r"^trying again: rule count_partition, data set Large, partition 1: Slurm job \d+ ended as CANCELLED",
        well.said,
        flags=re.MULTILINE,
    )


def test_a_job_whose_processes_are_killed_is_tried_again(runs):
    well, _ = runs
    assert well.states("rule_batch_1") == ["FAILED", "COMPLETED"]
    assert re.search(
        r"^trying again: rule batch_1, data sets Tiny, .*: Slurm job \d+ ended as FAILED",
        well.said,
        re.MULTILINE,
    )


def test_a_job_over_its_memory_is_killed_and_tried_again_with_more(runs):
    well, _ = runs
    tries = [job for job in well.jobs() if job["rule"] == "rule_encode_wildcards_Large"]
    assert [job["memory"] for job in tries][:2] == ["90M", "720M"]
    assert {job["state"] for job in tries[:-1]} <= {"FAILED", "OUT_OF_MEMORY"}
    assert tries[-1]["state"] == "COMPLETED"
    assert re.search(
        r"^trying again: rule encode, data set Large: Slurm job \d+ ended as \w+: .*exceeded memory limit",
        well.said,
        flags=re.MULTILINE,
    )


def test_a_job_over_its_time_is_killed_and_tried_again(runs):
    _, badly = runs
    assert badly.states("rule_encode_wildcards_Drawn-1") == ["TIMEOUT", "COMPLETED"]
    assert re.search(
        r"^trying again: rule encode, data set Drawn-1: Slurm job \d+ ended as TIMEOUT: .*DUE TO TIME LIMIT",
        badly.said,
        flags=re.MULTILINE,
    )
    assert (badly.folder / "results" / "triples" / "Drawn-1.parquet").exists()


def test_the_last_lines_name_what_failed_where_it_is_logged_and_why(runs):
    _, badly = runs
    assert badly.process.returncode != 0
    memory, mistake = badly.said.splitlines()[-2:]
    assert re.fullmatch(
        r"error: rule count, data set Drawn-2: Slurm job \d+ ended as \w+: .*exceeded memory limit.* "
        r"\(logs: results/logs/count/Drawn-2\.log, .*\.snakemake/slurm_logs/rule_count/Drawn-2/\d+\.log\)",
        memory,
    )
    assert re.fullmatch(
        r"error: rule encode, data set Bad: .*/Bad/test\.txt:2: 2 fields .*\(log: results/logs/encode/Bad\.log\)",
        mistake,
    )


def test_a_mistake_of_the_users_is_not_tried_again_and_said_once(runs):
    _, badly = runs
    assert badly.states("rule_encode_wildcards_Bad") == ["FAILED"]
    assert len(re.findall(r"/Bad/test\.txt:2: 2 fields", badly.said)) == 1


def test_every_job_had_a_home_without_write_access_and_a_temporary_folder_of_its_own(runs, cluster):
    # A job that is killed at once has not come to its folder.
    jobs = {job["id"] for run in runs for job in run.jobs("completed")}
    assert "HOME=/proc/no-home" in (cluster.folder / "prolog").read_text()
    assert jobs <= {path.name for path in (cluster.folder / "tmp").iterdir()}
    assert len(jobs) > 10


def test_ctrl_c_cancels_the_jobs_and_the_same_command_goes_on(cluster, inputs, tmp_path):
    target = "results/triples/Drawn-1.parquet"
    with running(cluster, inputs, tmp_path / "run", "--config", "batch=0", "--", target) as run:
        assert until(lambda: run.jobs("running"), 60), run.said
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(patience(60)) != 0
    assert until(lambda: run.states("rule_encode_wildcards_Drawn-1") == ["CANCELLED"], 20)
    assert not (run.folder / target).exists()
    with running(cluster, inputs, run.folder, "--config", "batch=0", "--", target) as again:
        assert again.process.wait(patience(120)) == 0, again.said
    assert (run.folder / target).exists()
