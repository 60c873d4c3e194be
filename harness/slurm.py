"""A Slurm of one machine for tests: its own daemons, key and ports, without systemd, cgroups or a database.

As root: `with slurm(folder) as cluster:` brings it up and down; `python -m harness.slurm` until Ctrl-C.
Every daemon is a child of this process and gets a signal when it dies, however it dies. Every process of a job is
known by a variable of its environment, so that only processes that were started here are ever ended.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# The executor takes every variable of Slurm, SLURM_CONF too, from the environment of a job's step: what runs there
# finds the configuration at this place only.
SYSTEM = Path("/etc/slurm/slurm.conf")
# slurmdbd asks munge here, whatever its configuration says.
MUNGE = Path("/run/munge/munge.socket.2")
MARK = "RANKADJUST_TEST_SLURM"
PACKAGES = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "munged": "munge",
    "setpriv": "util-linux",
}
ACCOUNTING = {"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server", "sacct": "slurm-wlm"}
OURS = "# A Slurm for the tests of rankadjust: "
CONFIGURATION = """\
{ours}process {pid}
ClusterName=rankadjust
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
{authinfo}
CredType=cred/munge
SlurmctldPort={ctld}
SlurmdPort={slurmd}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MinJobAge=36000
KillWait=2
DefMemPerCPU=100
# On a busy machine the daemons answer late, and a job begins late.
MessageTimeout=100
TCPTimeout=60
BatchStartTimeout=300
TaskProlog={folder}/prolog
{accounting}
# Without cgroups memory is held to its limit by looking once a second.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""
NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={dbd}
AccountingStoreFlags=job_comment"""
DATABASE = """\
AuthType=auth/munge
DbdHost=localhost
DbdPort={dbd}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mariadb}
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""
# What a site's nodes may do to a job: a home that cannot be written to, and a temporary folder of the job's own.
PROLOG = """\
#!/bin/sh
mkdir -p {folder}/tmp/$SLURM_JOB_ID
echo export HOME=/proc/no-home
echo export TMPDIR={folder}/tmp/$SLURM_JOB_ID
"""


@dataclass(frozen=True)
class Cluster:
    """A running Slurm: its folder, and the environment that lets its commands find it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> str:
        """Return what a command of Slurm prints."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True, timeout=patience(30)
        )
        return done.stdout


def obstacle(*, accounting: bool = False) -> str | None:
    """Return why no Slurm can be brought up here, and what to do about it; None where one can."""
    needed = PACKAGES | ACCOUNTING if accounting else PACKAGES
    missing = sorted({package for command, package in needed.items() if not _which(command)})
    if missing:
        return (
            f"Slurm is not installed here; as root on Debian or Ubuntu: apt-get install {' '.join(missing)}"
        )
    if os.geteuid() != 0:
        return "only root can bring Slurm up: run it as root, in a container for instance"
    taken = [path for path in [SYSTEM, *[MUNGE] * accounting] if path.exists() and not _is_left_over(path)]
    if taken:
        return f"{taken[0]} is there: this machine has a Slurm of its own, which is left alone"
    return None


@contextmanager
def slurm(folder: Path, cpus: int = 4, *, accounting: bool = False) -> Iterator[Cluster]:
    """Bring a Slurm up in an empty folder, and down at the end. cpus: as many as it says it has.

    All users have to be able to enter the folder above: munge insists.
    """
    reason = obstacle(accounting=accounting)
    if reason:
        raise RuntimeError(reason)
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), MARK: str(folder)}
    cluster = Cluster(folder, environment)
    with ExitStack() as stack:
        stack.callback(_end_jobs, cluster)
        _configure(folder, cpus, accounting=accounting)
        _munge(cluster, stack)
        if accounting:
            stack.enter_context(_found_at(MUNGE, folder / "socket"))
            _database(cluster, stack)
        stack.enter_context(_found_at(SYSTEM, folder / "slurm.conf"))
        _daemon(stack, cluster, ["slurmctld", "-D", "-c", "-f", str(folder / "slurm.conf")])
        _wait(lambda: "UP" in cluster.run("scontrol", "ping"), "slurmctld")
        _daemon(stack, cluster, ["slurmd", "-D", "-f", str(folder / "slurm.conf")])
        _wait(lambda: cluster.run("sinfo", "-h", "-o", "%t").strip() == "idle", "slurmd")
        stack.callback(_cancel_jobs, cluster)
        yield cluster


def processes(folder: Path) -> list[int]:
    """Return the processes that belong to the Slurm in this folder: its daemons and jobs."""
    mark = f"{MARK}={folder}".encode()
    pids = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (path / "environ").read_bytes().split(b"\0") and int(path.name) != os.getpid():
                pids.append(int(path.name))
        except OSError:
            continue
    return pids


def _which(command: str) -> str | None:
    return shutil.which(command, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _is_left_over(path: Path) -> bool:
    """Say whether a path of the system leads to the folder of a test that was killed, and is gone."""
    try:
        configuration = path.readlink().parent / "slurm.conf"
        owner = re.match(rf"{OURS}process (\d+)", configuration.read_text(encoding="utf-8"))
    except OSError:
        return False
    return owner is not None and not Path(f"/proc/{owner[1]}").exists()


@contextmanager
def _found_at(place: Path, target: Path) -> Iterator[None]:
    """Let a path of the system lead to a file of the test's own, unless something is there."""
    made = [folder for folder in [place.parent] if not folder.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() and (not place.exists() or _is_left_over(place)):
        place.unlink()
    place.symlink_to(target)
    try:
        yield
    finally:
        if place.is_symlink() and place.readlink() == target:
            place.unlink()
        for folder in made:
            folder.rmdir()


def _configure(folder: Path, cpus: int, *, accounting: bool) -> None:
    for name in ("state", "spool", "tmp", "munge"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    ctld, slurmd, dbd, mariadb = _free_ports(4)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    text = CONFIGURATION.format(
        ours=OURS,
        pid=os.getpid(),
        folder=folder,
        host=_host(),
        ctld=ctld,
        slurmd=slurmd,
        cpus=cpus,
        memory=memory * 9 // 10,
        authinfo=f"AuthInfo=socket={folder}/socket",
        accounting=WITH_ACCOUNTING.format(dbd=dbd) if accounting else NO_ACCOUNTING,
    )
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    prolog = folder / "prolog"
    prolog.write_text(PROLOG.format(folder=folder), encoding="utf-8")
    prolog.chmod(0o755)
    if accounting:
        database = folder / "slurmdbd.conf"
        database.touch(mode=0o600)
        database.write_text(DATABASE.format(folder=folder, dbd=dbd, mariadb=mariadb), encoding="utf-8")


def _munge(cluster: Cluster, stack: ExitStack) -> None:
    folder = cluster.folder / "munge"
    folder.chmod(0o755)
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    files = {"key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    _daemon(stack, cluster, ["munged", "--foreground", f"--socket={cluster.folder}/socket", *options])
    _wait((cluster.folder / "socket").exists, "munged")


def _database(cluster: Cluster, stack: ExitStack) -> None:
    """Start what sacct asks: a MariaDB with a folder and a port of its own, and slurmdbd before it."""
    folder = cluster.folder
    text = (folder / "slurmdbd.conf").read_text(encoding="utf-8")
    port = re.search(r"StoragePort=(\d+)", text)
    options = ["--no-defaults", "--user=root", f"--datadir={folder}/database"]
    with (folder / "database.out").open("wb") as log:
        install = ["mariadb-install-db", *options, "--auth-root-authentication-method=normal"]
        subprocess.run([*install, "--skip-test-db"], stdout=log, stderr=log, check=True, timeout=patience(60))
    socket_options = [f"--socket={folder}/database.socket", f"--pid-file={folder}/database.pid"]
    listening = ["--bind-address=127.0.0.1", f"--port={port and port[1]}", "--innodb-buffer-pool-size=64M"]
    _daemon(stack, cluster, ["mariadbd", *options, *socket_options, *listening, "--skip-log-bin"])
    client = ("mariadb", "--no-defaults", "-S", f"{folder}/database.socket", "-e")
    _wait(lambda: cluster.run(*client, "select 1") != "", "mariadbd")
    for place in ("localhost", "127.0.0.1"):
        cluster.run(*client, f"create user slurm@'{place}' identified by 'x'")
        cluster.run(*client, f"grant all on slurm_acct.* to slurm@'{place}'")
    _daemon(stack, cluster, ["slurmdbd", "-D"])
    _wait(lambda: "added" in _added(cluster, "cluster", "rankadjust"), "slurmdbd")
    _added(cluster, "account", "tests", "Cluster=rankadjust")
    _added(cluster, "user", "root", "Account=tests", "DefaultAccount=tests")


def _added(cluster: Cluster, *what: str) -> str:
    return cluster.run("sacctmgr", "-i", "add", *what).casefold() + " added"


def _daemon(stack: ExitStack, cluster: Cluster, command: Sequence[str]) -> None:
    """Start a daemon that ends with this process, and is ended when the stack is unwound."""
    program = _which(command[0])
    log = stack.enter_context((cluster.folder / f"{command[0]}.out").open("wb"))
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", str(program), *command[1:]],
        env=cluster.environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # Ctrl-C reaches this process alone, which brings them down in order.
        start_new_session=True,
    )
    stack.callback(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(patience(10))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _cancel_jobs(cluster: Cluster) -> None:
    subprocess.run(
        ["scancel", "--partition=main"], env=cluster.environment, check=False, timeout=patience(30)
    )
    until(lambda: not cluster.run("squeue", "-h", "-t", "running,completing").strip(), 10)


def _end_jobs(cluster: Cluster) -> None:
    """End what a job has left running, and wait until nothing of this Slurm runs."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not until(lambda: not processes(cluster.folder), 3):
            for pid in processes(cluster.folder):
                os.kill(pid, number)


def _wait(happens: Callable[[], bool], what: str) -> None:
    if not until(happens, 30):
        raise RuntimeError(f"{what} did not come up; its words are beside its configuration")


def patience(seconds: float) -> float:
    """Return how long to wait for something that takes so many seconds on an idle machine: longer on a busy one."""
    return seconds * max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


def until(happens: Callable[[], object], seconds: float) -> bool:
    """Say whether something happens within so many seconds of an idle machine."""
    start = time.monotonic()
    # The load is looked at anew: it may have come after the waiting began.
    while time.monotonic() - start < patience(seconds):
        try:
            if happens():
                return True
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            pass
        time.sleep(0.1)
    return False


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with (
        tempfile.TemporaryDirectory(prefix="rankadjust-slurm-") as place,
        slurm(Path(place)),
        suppress(KeyboardInterrupt),
    ):
        sys.stdout.write(f"export SLURM_CONF={place}/slurm.conf {MARK}={place}\n")
        sys.stdout.flush()
        signal.pause()
