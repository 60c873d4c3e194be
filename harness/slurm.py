"""A Slurm of one machine for tests: its own daemons, key and ports, without systemd, cgroups or a database.

As root: `with slurm(folder) as cluster:` brings it up and down. Every daemon is a child of this process and gets a
signal when it dies, however it dies; its jobs are cancelled.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

# The executor takes every variable of Slurm, SLURM_CONF too, from the environment of a job's step: what runs there
# finds the configuration at this place only.
SYSTEM = Path("/etc/slurm/slurm.conf")
PACKAGES = {"slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "munged": "munge", "setpriv": "util-linux"}
# No wait takes so many seconds.
LONGEST = 600
CONFIGURATION = """\
ClusterName=rankadjust
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/socket
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
AccountingStorageType=accounting_storage/none
# Without cgroups memory is held to its limit by looking once a second.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
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
            command, env=self.environment, capture_output=True, text=True, check=True, timeout=LONGEST
        )
        return done.stdout


def obstacle() -> str | None:
    """Return why no Slurm can be brought up here, and what to do about it; None where one can."""
    missing = sorted({package for command, package in PACKAGES.items() if not _which(command)})
    if missing:
        return (
            f"Slurm is not installed here; as root on Debian or Ubuntu: apt-get install {' '.join(missing)}"
        )
    if os.geteuid() != 0:
        return "only root can bring Slurm up: run it as root, in a container for instance"
    # A link to nowhere is of a test that was killed.
    if SYSTEM.exists():
        return f"{SYSTEM} is there: this machine has a Slurm of its own, which is left alone"
    return None


@contextmanager
def slurm(folder: Path) -> Iterator[Cluster]:
    """Bring a Slurm up in an empty folder, and down at the end.

    All users have to be able to enter the folder above: munge insists.
    """
    reason = obstacle()
    if reason:
        raise RuntimeError(reason)
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    cluster = Cluster(folder, environment)
    with ExitStack() as stack:
        _configure(folder)
        _munge(cluster, stack)
        SYSTEM.parent.mkdir(parents=True, exist_ok=True)
        SYSTEM.unlink(missing_ok=True)
        SYSTEM.symlink_to(folder / "slurm.conf")
        stack.callback(SYSTEM.unlink)
        _daemon(stack, cluster, ["slurmctld", "-D", "-c", "-f", str(folder / "slurm.conf")])
        until(lambda: "UP" in cluster.run("scontrol", "ping"), "slurmctld")
        _daemon(stack, cluster, ["slurmd", "-D", "-f", str(folder / "slurm.conf")])
        until(lambda: cluster.run("sinfo", "-h", "-o", "%t").strip() == "idle", "slurmd")
        stack.callback(until, lambda: not cluster.run("squeue", "-h"), "the end of the jobs")
        stack.callback(cluster.run, "scancel", "--partition=main")
        yield cluster


def until(happens: Callable[[], object], what: str) -> None:
    """Wait until something happens; what: for the error, where it does not."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        try:
            if happens():
                return
        except subprocess.CalledProcessError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{what}: not within {LONGEST} seconds")


def _which(command: str) -> str | None:
    return shutil.which(command, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _configure(folder: Path) -> None:
    for name in ("state", "spool", "tmp", "munge"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    ctld, slurmd = _free_ports(2)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 * 9 // 10
    host = socket.gethostname().partition(".")[0]
    text = CONFIGURATION.format(folder=folder, host=host, ctld=ctld, slurmd=slurmd, memory=memory)
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    prolog = folder / "prolog"
    prolog.write_text(PROLOG.format(folder=folder), encoding="utf-8")
    prolog.chmod(0o755)


def _munge(cluster: Cluster, stack: ExitStack) -> None:
    folder = cluster.folder / "munge"
    folder.chmod(0o755)
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    files = {"key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    _daemon(stack, cluster, ["munged", "--foreground", f"--socket={cluster.folder}/socket", *options])
    until((cluster.folder / "socket").exists, "munged")


def _daemon(stack: ExitStack, cluster: Cluster, command: Sequence[str]) -> None:
    """Start a daemon that ends with this process, and is ended when the stack is unwound."""
    log = stack.enter_context((cluster.folder / f"{command[0]}.out").open("wb"))
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", str(_which(command[0])), *command[1:]],
        env=cluster.environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # Ctrl-C reaches this process alone, which brings them down in order.
        start_new_session=True,
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]
