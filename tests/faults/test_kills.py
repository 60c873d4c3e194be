"""Runs that are killed again and again: no hand is needed, no file is incomplete, the same bytes come out."""

import random
import sys

import pytest

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

SEED = 20261121
VICTIMS = ("run", "job", "run and jobs")
# A kill falls within so many seconds from the first sign of a stage, and within half of them after each one that came
# too late for it: how long a stage takes depends on the machine.
LONGEST = 1.5
# Seconds of a run from its start, in which a kill at any time may fall: reading the rules, locking, planning.
BEGINNING = 8.0


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a project whose data set comes from a slow server."""
    folder = tmp_path_factory.mktemp("faults") / "project"
    folder.mkdir()
    (folder.parent / "tmp").mkdir()
    with FaultServer() as server, nothing_left(folder):
        for split, text in triples().items():
            server.serve(f"/{split}.txt", text, always(slowly), etag=f'"{split}"')
        make_project(folder, server.address)
        yield folder


def start(folder, *arguments):
    return Run(folder, *arguments, TMPDIR=folder.parent / "tmp")


def killed(folder, kills, arguments=(), stages=STAGES, victims=tuple(STAGES)):
    """Kill a run so often, in these stages in turn and every fifth time at any time; return what came of it.

    What comes out, at last and at any time before, is what a run makes that nobody kills.
    """
    run = start(folder, *arguments, "--notemp")
    assert run.wait() == 0, run.said
    expected = results(folder)
    chance = random.Random(f"{SEED} {kills}")
    tally = Tally()
    longest = dict.fromkeys(victims, LONGEST)
    remove(folder, ["results", "resources/datasets", "resources/downloads", ".snakemake"])
    with Watch(folder, expected) as watch:
        for number in range(kills):
            stage = victims[number * len(victims) // kills]
            at_any_time = number % 5 == 4
            for later in list(stages)[list(stages).index(stage) :]:
                remove(folder, stages[later])
            run = start(folder, *arguments)
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
        run = start(folder, *arguments)
        tally.restarts += 1
        if run.wait() != 0:
            tally.by_hand.append(run.said)
    assert tally.by_hand == []
    assert watch.incomplete == []
    assert results(folder) == {name: one for name, one in expected.items() if not name.startswith(PASSING)}
    unfinished = [path for top in ("results", "resources") for path in (folder / top).rglob(".*.tmp")]
    assert unfinished == []
    assert list((folder.parent / "tmp").glob("rankadjust-*")) == []
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
