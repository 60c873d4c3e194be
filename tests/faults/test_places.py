"""A full disk, no permission, no home, too little memory: one line says where and what to do; then the same bytes."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.copies import PROJECT
from tests.faults.runs import digest_of, environment
from tests.servers import snakemakes
from tests.tiny import write_tiny

# Disks are mounted and filled, and runs made on them.
pytestmark = pytest.mark.slow

CONFIG = (
    "{datasets: [Tiny], protocols: [filtered], metrics: [mr], ks: [1], tables: [], registry: [tiny.yaml]}\n"
)
NO_SPACE = "No space left on device"
TABLE = "| Model | MRR |\n|---|---|\n| A | .61 |\n"
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")


@contextlib.contextmanager
def disk(folder, size, option="size"):
    """Mount a disk of so many bytes, or with option="nr_inodes" for so many files; yield what makes it larger."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"{option}={size}", "tmpfs", folder], check=True)
    try:
        yield lambda more: subprocess.run(["mount", "-o", f"remount,{option}={more}", folder], check=True)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextlib.contextmanager
def forbidden(folder):
    """Forbid to write in a folder."""
    folder.chmod(0o555)
    try:
        yield
    finally:
        # Snakemake removes folders of results that are empty.
        with contextlib.suppress(FileNotFoundError):
            folder.chmod(0o755)


# Without what lets root write where nobody may.
ANYBODY = () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def as_anybody(command):
    return [*ANYBODY, *command]


def write_inputs(folder):
    write_tiny(folder)
    (folder / "run.yaml").write_text(CONFIG)


def run(folder, variables=(), without=(), **keywords):
    """Run the target `database`; the command is the same each time. keywords: for the process."""
    command = (
        "--snakefile",
        str(PROJECT / "Snakefile"),
        "--cores",
        "2",
        "database",
        "--configfile",
        "run.yaml",
    )
    if not variables and not without and not keywords:
        return snakemakes.start(*command, cwd=folder, within=ANYBODY)
    said = {key: value for key, value in environment(**dict(variables)).items() if key not in without}
    return subprocess.run(
        as_anybody([sys.executable, "-m", "snakemake", *command]),
        cwd=folder,
        env=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **keywords,
    )


def database(folder):
    return {path.name: digest_of(path) for path in (folder / "results" / "database").iterdir()}


def assert_last_line(done, pattern):
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(rf"^error: .*{pattern}", last), done.stderr
    assert "Logging error" not in done.stderr


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return what a run makes to which nothing happens."""
    folder = tmp_path_factory.mktemp("expected")
    write_inputs(folder)
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return database(folder)


def assert_goes_on(folder, expected):
    """The same command ends well now, whatever the runs before left behind."""
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert database(folder) == expected


# In each of these tests one folder meets one fault after another, and every run goes on from the last.


def test_a_file_in_the_place_of_a_folder_is_named_and_without_it_the_same_command_goes_on(tmp_path, expected):
    write_inputs(tmp_path)
    for name in ("results", "resources", "results/triples", "resources/datasets"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        assert_last_line(
            run(tmp_path), f"{name}: results belong in a folder of this name, and it is a file; move it away"
        )
        (tmp_path / name).unlink()
    assert_goes_on(tmp_path, expected)


@root
@pytest.mark.parametrize(
    ("option", "sizes", "whole", "remedy"),
    [
        ("size", ["80k", "140k"], "20m", "free some of its disk"),
        ("size", ["200k"], "20m", "free some of its disk"),
        ("nr_inodes", [15, 60], 2000, "remove some of the files on its"),
        ("nr_inodes", [75], 2000, "remove some of the files on its"),
    ],
)
def test_a_full_disk_is_named_and_with_more_space_the_same_command_goes_on(
    tmp_path, expected, option, sizes, whole, remedy
):
    """The least is too little to start, the others for what a run makes; what a run left takes room from the next."""
    with disk(tmp_path / "disk", sizes[0], option) as enlarge:
        write_inputs(tmp_path / "disk")
        for size in sizes:
            enlarge(size)
            assert_last_line(run(tmp_path / "disk"), rf"cannot be written \({NO_SPACE}\); {remedy}")
        enlarge(whole)
        assert_goes_on(tmp_path / "disk", expected)


def test_a_folder_without_permission_is_named_and_with_it_the_same_command_goes_on(tmp_path, expected):
    write_inputs(tmp_path)
    for name in (".", ".snakemake", "results", "results/logs", "results/database"):
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        with forbidden(folder):
            done = run(tmp_path)
            assert_last_line(done, r"Permission denied\)?; allow it, or choose another path")
            assert name == "." or name in done.stderr.strip().splitlines()[-1]
    assert_goes_on(tmp_path, expected)


def test_a_run_needs_no_home(tmp_path, expected):
    (tmp_path / "run").mkdir()
    (tmp_path / "home").mkdir()
    write_inputs(tmp_path / "run")
    with forbidden(tmp_path / "home"):
        done = run(tmp_path / "run", {"HOME": tmp_path / "home"}, without=["XDG_CACHE_HOME"])
    assert done.returncode == 0, done.stderr
    assert database(tmp_path / "run") == expected
    shutil.rmtree(tmp_path / "run" / "results")
    done = run(tmp_path / "run", without=["HOME", "XDG_CACHE_HOME"])
    assert done.returncode == 0, done.stderr
    assert database(tmp_path / "run") == expected


@root
def test_a_run_takes_another_folder_for_temporary_files_where_one_is_full(tmp_path, expected):
    write_inputs(tmp_path)
    with disk(tmp_path / "disk", "4k"):
        (tmp_path / "disk" / "all").write_bytes(bytes(4096))
        done = run(tmp_path, {"TMPDIR": tmp_path / "disk"})
    assert done.returncode == 0, done.stderr
    assert database(tmp_path) == expected


# Of the folders where Python looks for room, as a run sees them that is started in a namespace of its own: what is in
# them can be read, and nothing but the folder of the run be written.
NOWHERE = """
for folder in /tmp /var/tmp /usr/tmp; do
  [ ! -d "$folder" ] || { mount --bind "$folder" "$folder"; mount -o remount,bind,ro "$folder"; }
done
mount --bind "$0" "$0"; mount -o remount,bind,rw "$0"
cd "$0"; exec "$@"
"""


def without_temporary_folder(folder, *command):
    """Run a command in a folder that cannot be written, though the folders in it can."""
    for name in ("results", ".snakemake", "resources"):
        (folder / name).mkdir(exist_ok=True)
    with forbidden(folder):
        return subprocess.run(
            ["unshare", "--mount", "sh", "-ec", NOWHERE, folder, *as_anybody([str(one) for one in command])],
            cwd=folder,
            env=environment(XDG_CACHE_HOME=folder / "results", PYTHONPATH=PROJECT),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@root
def test_where_there_is_no_folder_for_temporary_files_make_says_so(tmp_path):
    installed = f"--assume-old={sys.prefix}/.installed"
    make = ("make", "--file", PROJECT / "Makefile", f"VENV={sys.prefix}", installed, "results")
    done = without_temporary_folder(tmp_path, *make)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not re.match(r"make(\[\d+\])?: ", line)]
    assert len(said) == 1
    assert re.fullmatch(
        rf"error: there is no folder for temporary files: /tmp, /var/tmp and {tmp_path} cannot be written; "
        r"allow one, or name another: make TMPDIR=/folder",
        said[0],
    )


@root
def test_where_there_is_no_folder_for_temporary_files_a_run_names_those_it_tried(tmp_path, expected):
    """Snakemake needs one before it reads the Snakefile, and says this in its own words."""
    write_inputs(tmp_path)
    snakemake = (sys.executable, "-m", "snakemake", "--snakefile", PROJECT / "Snakefile", "--cores", "2")
    done = without_temporary_folder(tmp_path, *snakemake, "database", "--configfile", "run.yaml")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(rf"No usable temporary directory found in \['/tmp', '/var/tmp', .*'{tmp_path}'\]$", last)
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert database(tmp_path) == expected


# The command


def rankadjust(*arguments, cwd, **keywords):
    return subprocess.run(
        as_anybody([sys.executable, "-m", "rankadjust", *map(str, arguments)]),
        cwd=cwd,
        stderr=subprocess.PIPE,
        stdout=keywords.pop("stdout", subprocess.DEVNULL),
        text=True,
        check=False,
        timeout=120,
        env=environment(PYTHONPATH=PROJECT),
        **keywords,
    )


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.md").write_text(TABLE)
    (tmp_path / "table.yaml").write_text("dataset: Nations\n")
    return tmp_path / "table.md"


OUTPUTS = {
    "rescore": ["rescore", "{table}", "--output", "{output}.parquet"],
    "rescore as text": ["rescore", "{table}", "--output", "{output}.csv"],
    "read": ["read", "{table}", "--tidy", "{output}.csv"],
}


def last_line(done):
    """Return what a command says last; above it `rescore` lists the facts that it took for granted."""
    return done.stderr.splitlines()[-1]


def filled(arguments, table, output):
    return [argument.format(table=table, output=output) for argument in arguments]


@root
@pytest.mark.parametrize("arguments", OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_on_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, table, arguments):
    with disk(tmp_path / "disk", "64k") as enlarge:
        all_of_it = tmp_path / "disk" / "all"
        with contextlib.suppress(OSError):
            all_of_it.write_bytes(bytes(1 << 16))
        done = rankadjust(*filled(arguments, table, tmp_path / "disk" / "output"), cwd=tmp_path)
        assert done.returncode == 1
        assert re.fullmatch(
            rf"error: {tmp_path}/disk/output\.\w+: cannot be written \({NO_SPACE}\); free some of .*",
            last_line(done),
        )
        assert list((tmp_path / "disk").iterdir()) == [all_of_it]
        enlarge("4m")
        done = rankadjust(*filled(arguments, table, tmp_path / "disk" / "output"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_an_output_without_permission_is_one_line(tmp_path, table):
    (tmp_path / "mine").mkdir()
    with forbidden(tmp_path / "mine"):
        done = rankadjust(*filled(OUTPUTS["read"], table, tmp_path / "mine" / "output"), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "/mine/output.csv: cannot be written (Permission denied); allow it, or choose another path\n"
    )
    assert len(done.stderr.splitlines()) == 1


def test_an_output_larger_than_a_file_may_be_is_one_line(tmp_path, table):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    arguments = filled(OUTPUTS["rescore"], table, tmp_path / "output")
    done = rankadjust(*arguments, cwd=tmp_path, preexec_fn=limited)
    assert done.returncode == 1
    assert re.fullmatch(
        r"error: .*/output\.parquet: cannot be written \(File too large\); allow larger files .*",
        last_line(done),
    )
    assert not (tmp_path / "output.parquet").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
def test_what_is_printed_to_a_full_disk_is_one_line(tmp_path, table):
    with Path("/dev/full").open("w") as full:
        done = rankadjust("rescore", table, cwd=tmp_path, stdout=full)
    assert done.returncode == 1
    assert last_line(done) == (
        f"error: standard output: cannot be written ({NO_SPACE}); free some of its disk, "
        "and give the same command again"
    )


# Memory. A job that the system kills for want of it is one that is killed: test_kills.py.

HUNGRY = """\
import resource, sys
from types import SimpleNamespace
import numpy as np
from scripts.job import job
from rankadjust.base.failures import summary

snakemake = SimpleNamespace(log=["count.log"], rule="count", wildcards={"dataset": "A"})
try:
    with job(snakemake):
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        np.ones(1 << 40)
finally:
    sys.stdout.write(summary())
"""


def test_a_job_without_enough_memory_says_so_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", HUNGRY],
        cwd=tmp_path,
        env=environment(PYTHONPATH=PROJECT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == ""
    assert re.fullmatch(
        r"error: rule count, data set A: not enough memory \(Unable to allocate .*\); close .* \(log: count\.log\)\n",
        done.stdout,
    )
    assert "Traceback" in (tmp_path / "count.log").read_text()


# Now and then Snakemake itself gets no room for a thread under such a limit, and says so in its own words.
@pytest.mark.faults
@pytest.mark.parametrize("megabytes", [800, 1000])
def test_a_run_that_may_take_too_little_memory_says_so_and_with_more_the_same_command_goes_on(
    tmp_path, expected, megabytes
):
    """Enough for Snakemake itself; in the jobs, libraries abort or raise wherever they get no memory."""

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    write_inputs(tmp_path)
    done = run(tmp_path, {"POLARS_MAX_THREADS": 2}, preexec_fn=limited)
    assert_last_line(
        done, r"memory.*; (allow more, and give the same command again|close other) .*\(log: \S+\)$"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert database(tmp_path) == expected


def test_what_a_library_says_before_it_dies_stands_in_the_log(tmp_path):
    # As Rust and C do where there is no memory: a line, and the end of the process.
    dying = HUNGRY.replace(
        "np.ones(1 << 40)", "import os; os.write(2, b'memory allocation failed'); os.abort()"
    )
    done = subprocess.run(
        [sys.executable, "-c", dying],
        cwd=tmp_path,
        env=environment(PYTHONPATH=PROJECT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode < 0
    assert (tmp_path / "count.log").read_text() == "memory allocation failed"
