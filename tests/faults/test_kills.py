"""Runs that are killed, or whose power is cut: no hand is needed, no file is incomplete, the same bytes come out."""

import random
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil
import pytest

from tests.faults.disks import Disk, mounted, needs_disk, obstacle
from tests.faults.runs import (
    COUNTED_IN_PARTS,
    IN_PARTS,
    PASSING,
    STAGES,
    Run,
    Tally,
    Watch,
    make_project,
    nothing_left,
    processes_in,
    remove,
    results,
    slowly,
    triples,
)
from tests.servers.http_faults import FaultServer, always

SEED, SEED_OF_CUTS = 20261121, 20261122
VICTIMS = ("run", "job", "run and jobs")
# A kill falls within so many seconds from the first sign of a stage, and within half of them after each one that came
# too late for it: how long a stage takes depends on the machine.
LONGEST = 1.5
# Seconds of a run from its start, in which a kill at any time may fall: reading the rules, locking, planning.
BEGINNING = 8.0


@dataclass
class Project:
    """A project whose data set comes from a slow server; on a disk of its own, where one can be mounted."""

    folder: Path
    scratch: Path
    disk: Disk | None

    def start(self, *arguments):
        return Run(self.folder, *arguments, TMPDIR=self.scratch)

    @cached_property
    def whole(self):
        """Return what a run makes to which nothing happens, and how long it takes."""
        begun = time.monotonic()
        return self.made(), time.monotonic() - begun

    def made(self, *arguments):
        run = self.start(*arguments, "--notemp")
        assert run.wait() == 0, run.said
        return results(self.folder)

    def clear(self):
        remove(self.folder, ["results", "resources/datasets", "resources/downloads", ".snakemake"])


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    place = tmp_path_factory.mktemp("faults")
    # What the system holds for temporary files is another disk as a rule, and here.
    scratch = tmp_path_factory.mktemp("scratch")
    with FaultServer() as server, nullcontext() if obstacle() else mounted(place) as disk:
        for split, text in triples().items():
            server.serve(f"/{split}.txt", text, always(slowly), etag=f'"{split}"')
        folder = (disk.folder if disk else place) / "project"
        folder.mkdir()
        with nothing_left(folder):
            make_project(folder, server.address)
            yield Project(folder, scratch, disk)


def killed(project, kills, arguments=(), stages=STAGES, victims=tuple(STAGES)):
    """Kill a run so often, in these stages in turn and every fifth time at any time; return what came of it.

    What comes out, at last and at any time before, is what a run makes that nobody kills.
    """
    folder = project.folder
    expected = project.made(*arguments) if arguments else project.whole[0]
    chance = random.Random(f"{SEED} {kills}")
    tally = Tally()
    longest = dict.fromkeys(victims, LONGEST)
    project.clear()
    with Watch(folder, expected) as watch:
        for number in range(kills):
            stage = victims[number * len(victims) // kills]
            at_any_time = number % 5 == 4
            for later in list(stages)[list(stages).index(stage) :]:
                remove(folder, stages[later])
            run = project.start(*arguments)
            tally.restarts += 1
            if at_any_time or run.wait_for(stage):
                run.lives(chance.uniform(0, BEGINNING if at_any_time else longest[stage]))
            hit = []
            if run.process.poll() not in (None, 0):
                tally.by_hand.append(run.said)
            elif run.process.poll() is None:
                victim = chance.choice(VICTIMS)
                hit = run.kill(victim)
                tally.kills.update(hit)
                tally.victims[victim] += 1
            if not at_any_time and stage not in hit:
                longest[stage] /= 2
            watch.look()
        run = project.start(*arguments)
        tally.restarts += 1
        if run.wait() != 0:
            tally.by_hand.append(run.said)
    assert tally.by_hand == []
    assert watch.incomplete == []
    assert results(folder) == {name: one for name, one in expected.items() if not name.startswith(PASSING)}
    unfinished = [path for top in ("results", "resources") for path in (folder / top).rglob(".*.tmp")]
    assert unfinished == []
    assert list(project.scratch.glob("rankadjust-*")) == []
    assert processes_in(folder) == []
    assert not (folder / ".snakemake" / "locks").exists()
    return f"{tally}; {watch.looks} looks at all files, {len(watch.incomplete)} incomplete", tally


@pytest.mark.slow
def test_after_five_kills_the_same_bytes_come_out(project):
    """Four in every other stage from fetching on, and one at any time; each may come too late for its stage."""
    _, tally = killed(project, 5)
    assert sum(tally.victims.values()) >= 3


@pytest.mark.faults
@pytest.mark.parametrize(
    ("kills", "arguments", "stages", "victims"),
    [(90, (), STAGES, tuple(STAGES)), (20, ("--config", "partitions=3"), IN_PARTS, tuple(COUNTED_IN_PARTS))],
    ids=["whole", "in parts"],
)
def test_after_a_hundred_kills_the_same_bytes_come_out(project, capsys, kills, arguments, stages, victims):
    said, tally = killed(project, kills, arguments, stages, victims)
    with capsys.disabled():
        sys.stdout.write(f"\n{said}\n")
    assert [stage for stage in victims if tally.kills[stage] < 3] == []
    assert sum(tally.victims.values()) >= 0.9 * kills


# Power cuts: tests/faults/disks.py


def cut_short(project, seconds):
    """Begin a run from nothing, cut the power after so many seconds, and switch it on again."""
    project.clear()
    project.disk.flush()
    run = project.start()
    run.lives(seconds)
    project.disk.cut()
    victims = [psutil.Process(run.process.pid)] if run.process.poll() is None else []
    victims += [child for victim in victims for child in victim.children(recursive=True)]
    for victim in victims:
        victim.kill()
    run.process.wait()
    psutil.wait_procs(victims)
    project.disk.restart()


def cuts(project, number):
    """Cut the power so many times at random; return what the same command said where it did not end well."""
    expected, duration = project.whole
    chance = random.Random(f"{SEED_OF_CUTS} {number}")
    wrong = {}
    for _ in range(number):
        # Also shortly after the end of the run, when nothing is left to be done.
        seconds = chance.uniform(0, 1.1 * duration)
        cut_short(project, seconds)
        run = project.start()
        code = run.wait()
        found = results(project.folder)
        damaged = [name for name, digest in expected.items() if found.get(name) != digest]
        if code or damaged or set(found) - set(expected):
            wrong[f"{seconds:.1f} of {duration:.1f} s"] = (code, damaged, run.said)
    return wrong


@needs_disk
@pytest.mark.slow
def test_after_a_power_cut_the_same_command_gives_the_same_bytes(project):
    assert cuts(project, 1) == {}


@needs_disk
@pytest.mark.faults
def test_after_a_dozen_power_cuts_the_same_command_gives_the_same_bytes(project, capsys):
    wrong = cuts(project, 12)
    with capsys.disabled():
        sys.stdout.write(f"\n12 power cuts, {len(wrong)} after which the same command did not end well\n")
    assert wrong == {}
