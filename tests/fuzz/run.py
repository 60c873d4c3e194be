"""Fuzz every reader: python -m tests.fuzz.run [--minutes 10] [--seed N] [--jobs 2] [--guided] [target ...].

Findings become files in results/fuzz/<target>/, the smallest document that shows each beside what it did. The documents
of a seed are the same every time; how many of them fit into the minutes is not. A target runs in a process of its own,
so that one that crashes or hangs is a finding too.
"""

import argparse
import faulthandler
import hashlib
import json
import multiprocessing
import os
import random
import re
import secrets
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

# One thread each: there is a process for every core, and CPU time is compared.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyFailure

from tests.fuzz import guided
from tests.fuzz.judging import Finding, judge, judge_growth, limit_memory
from tests.fuzz.targets import PROJECT, TARGETS, Target

FOLDER = PROJECT / "results" / "fuzz"
_BATCH = 100
# Every so many documents one has a part repeated.
_GROWTH_EVERY = 20
# What is repeated then is a part of the document, or one of these, wherever it may stand.
_SIGNS = b" \t\n-=|&*`[](){}<>\\.,;:'\"#~^_+%@/0a"
_GIGABYTES = 6.0
# A document that takes longer than this has hung.
_HANG = 90.0


class _FoundError(Exception):
    """Makes hypothesis look for a smaller document."""


class Fuzzer:
    """One target, its count of documents and its findings by signature."""

    def __init__(self, target: Target, folder: Path, progress: Path, outcome: Path) -> None:
        self._target, self._folder, self._progress, self._outcome = target, folder, progress, outcome
        self.inputs = 0
        self.known: set[str] = set()

    def run_guided(self, minutes: float, first_seed: int) -> None:
        """Read documents that libFuzzer makes, until the time is over; see tests/fuzz/guided.py."""
        begin = time.process_time()
        corpus = self._folder / ".corpus" / self._target.name
        guided.search(self._target, self._kept, lambda: self._say(begin), minutes, first_seed, corpus)

    def _kept(self, data: bytes) -> None:
        self.inputs += 1
        self._progress.write_bytes(data)
        finding = judge(self._target, data)
        if finding is not None and finding.signature not in self.known:
            self.known.add(finding.signature)
            write(self._folder, self._target, data, finding)

    def run(self, minutes: float, first_seed: int) -> None:
        """Read documents until the time is over."""
        ends = time.monotonic() + 60 * minutes
        chance = random.Random(first_seed)
        begin = time.process_time()
        number = 0
        while time.monotonic() < ends:
            self._batch(first_seed + number, ends, chance)
            number += 1
            # After every batch: of a process that crashes or hangs nothing else is left.
            self._say(begin)

    def _say(self, begin: float) -> None:
        said = {
            "inputs": self.inputs,
            "cpu": time.process_time() - begin,
            "findings": sorted(self.known),
        }
        self._outcome.write_text(json.dumps(said), encoding="utf-8")

    def _batch(self, number: int, ends: float, chance: random.Random) -> None:
        smallest: dict[str, tuple[bytes, Finding]] = {}

        @seed(number)
        @settings(
            max_examples=_BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )
        @given(self._target.documents)
        def one(data: bytes) -> None:
            if time.monotonic() > ends:
                return
            finding = self._judged(data, chance)
            if finding is None or finding.signature in self.known:
                return
            before = smallest.get(finding.signature)
            if before is None or len(data) <= len(before[0]):
                smallest[finding.signature] = (data, finding)
            raise _FoundError(finding.signature)

        with suppress(_FoundError, FlakyFailure):
            one()
        for data, finding in smallest.values():
            self.known.add(finding.signature)
            write(self._folder, self._target, data, finding)

    def _judged(self, data: bytes, chance: random.Random) -> Finding | None:
        self.inputs += 1
        self._progress.write_bytes(data)
        if self._target.text and self.inputs % _GROWTH_EVERY == 0 and data:
            first = chance.randrange(len(data))
            if chance.random() < 0.5:
                data = data[:first] + bytes([chance.choice(_SIGNS)]) + data[first:]
                last = first + 1
            else:
                last = min(len(data), first + chance.choice((1, 1, 2, 3, 5, 8, 20, 60)))
            finding = judge_growth(self._target, data, first, last, self._progress.write_bytes)
            if finding is not None and finding.signature not in self.known:
                # Shrinking would look at other parts: the finding is kept as it is.
                self.known.add(finding.signature)
                write(self._folder, self._target, data, finding)
            return None
        return judge(self._target, data)


def write(folder: Path, target: Target, data: bytes, finding: Finding) -> None:
    """Write a finding: the document, and beside it what it did."""
    folder = folder / target.name
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", finding.signature).strip("-") + "-" + hashlib.sha256(data).hexdigest()[:8]
    (folder / f"{name}{target.suffix}").write_bytes(data)
    (folder / f"{name}.why.txt").write_text(
        f"{finding.signature}\n{finding.told}\n", encoding="utf-8", errors="replace"
    )
    sys.stderr.write(f"{target.name}: {finding.signature}: {folder / name}{target.suffix}\n")


def _work(
    search: Callable[[Fuzzer, float, int], None],
    name: str,
    minutes: float,
    first_seed: int,
    folder: Path,
    progress: Path,
    outcome: Path,
) -> None:
    limit_memory(_GIGABYTES)
    # What a parser in C says when it crashes goes to the terminal.
    faulthandler.enable()
    warnings.simplefilter("ignore")
    search(Fuzzer(TARGETS[name], folder, progress, outcome), minutes, first_seed)


def fuzz(
    search: Callable[[Fuzzer, float, int], None], name: str, minutes: float, first_seed: int, folder: Path
) -> dict[str, object]:
    """Fuzz one target in processes of its own: a new one follows where one crashed or hung.

    search: Fuzzer.run or Fuzzer.run_guided.
    """
    progress, outcome = folder / f".{name}.now", folder / f".{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    total: dict[str, object] = {"inputs": 0, "cpu": 0.0, "findings": []}
    begin = time.monotonic()
    attempt = 0
    while (left := minutes - (time.monotonic() - begin) / 60) > 0:
        outcome.unlink(missing_ok=True)
        progress.write_bytes(b"")
        process = multiprocessing.get_context("spawn").Process(
            daemon=True,
            target=_work,
            args=(search, name, left, first_seed + 1_000_000 * attempt, folder, progress, outcome),
        )
        process.start()
        while process.is_alive():
            process.join(1)
            if time.time() - progress.stat().st_mtime > _HANG and process.is_alive():
                process.kill()
                process.join()
                write(
                    folder, TARGETS[name], progress.read_bytes(), Finding("hang", f"more than {_HANG:.0f} s")
                )
                total["findings"] += ["hang"]
        if process.exitcode == 1:
            raise RuntimeError(f"fuzzing {name} itself failed; its traceback stands above")
        if outcome.exists():
            said = json.loads(outcome.read_text())
            total["inputs"] += said["inputs"]
            total["cpu"] += said["cpu"]
            total["findings"] += said["findings"]
        if process.exitcode not in (0, -9):
            told = Finding(f"crash {process.exitcode}", "the process ended without a word")
            write(folder, TARGETS[name], progress.read_bytes(), told)
            total["findings"] += [told.signature]
        attempt += 1
    total["minutes"] = (time.monotonic() - begin) / 60
    progress.unlink(missing_ok=True)
    outcome.unlink(missing_ok=True)
    return total


def main(report: Callable[[str], None] = print) -> int:
    """Fuzz the targets that the command names, all without a name; the exit code is 1 where there are findings."""
    parser = argparse.ArgumentParser(description="Fuzz every reader.")
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target (default 10)")
    parser.add_argument("--seed", type=int, default=None, help="so that the same documents come again")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time (default: one a core)"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for the findings")
    parser.add_argument(
        "--guided",
        dest="search",
        action="store_const",
        const=Fuzzer.run_guided,
        default=Fuzzer.run,
        help="documents that libFuzzer makes, with atheris, which has to be installed",
    )
    given_ = parser.parse_args()
    unknown = [name for name in given_.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    if given_.search is Fuzzer.run_guided and find_spec("atheris") is None:
        parser.error("--guided needs atheris; where there is a wheel of it, `make fuzz-guided` installs it")
    first_seed = secrets.randbelow(10**9) if given_.seed is None else given_.seed
    report(f"seed {first_seed}, {given_.minutes:g} minutes for each of {len(given_.targets)} targets")
    with ThreadPoolExecutor(given_.jobs) as threads:
        totals = threads.map(
            lambda name: fuzz(given_.search, name, given_.minutes, first_seed, given_.folder), given_.targets
        )
        found = 0
        report(f"{'target':18}{'inputs':>10}{'minutes':>9}{'CPU s':>8}  findings")
        for name, total in zip(given_.targets, totals, strict=True):
            found += len(total["findings"])
            report(
                f"{name:18}{total['inputs']:>10,}{total['minutes']:>9.1f}{total['cpu']:>8.0f}  "
                f"{'; '.join(total['findings']) or 'none'}"
            )
            sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
