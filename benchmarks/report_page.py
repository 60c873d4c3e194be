"""Weight of the report, time to its first board, and time to another board or a search, in a headless Chromium.

Usage: python -m benchmarks.report_page [PAGE] [--runs 9] [--width 1600] (a minute of one core; CSV on the screen)

PAGE is results/report.html of a default run unless another is given. Each run opens it from the disk, without network,
in a profile of its own with an empty cache. The clock stops when the change has been painted and a click would
be taken. CPU seconds are measured for the process that holds the page, with all its threads, from its start for the
tables: they depend less on the load of the machine.
"""

import argparse
import csv
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from harness.chromium import chromium

ROOT = Path(__file__).parents[1]
HEIGHT = 900
# Runs before the scripts of a page: marks when what one of its marks announces has been painted.
_WATCH = """
new PerformanceObserver((list) => list.getEntries().forEach(({ name }) => requestAnimationFrame(
  () => setTimeout(() => performance.mark(`painted-${name}`)),
))).observe({ type: "mark" });
"""
_PAINTED = "name => performance.getEntriesByName(`painted-${name}`)[0]?.startTime / 1000"
_TABLES = {"first board": "leaderboard-shown", "all tables": "tables-shown"}
# Changes a field as a reader does, and returns the seconds until the change has been painted.
_CHANGE = """([selector, value, event]) => new Promise((resolve) => {
  const field = document.querySelector(selector);
  const start = performance.now();
  field.value = value;
  field.dispatchEvent(new Event(event, { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => resolve((performance.now() - start) / 1000)));
})"""
_CHANGES = {
    "another board": ("#board-switches [name=dataset]", "WN18RR", "change"),
    "search all results": ("#results input[type=search]", "rotate", "input"),
}


class Taken(NamedTuple):
    """What something took: seconds by the clock, and CPU seconds."""

    what: str
    clock: float
    cpu: float


class Renderer:
    """The process that holds a page."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def cpu_seconds(self) -> float:
        """Return the CPU seconds that it has taken since it began."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime"))


def measure(browser: Browser, path: Path, width: int) -> Iterator[Taken]:
    """Open a page afresh and yield what each thing took that a reader does with it."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=True)
    context.set_default_timeout(120_000)
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.goto(path.resolve().as_uri(), wait_until="commit")
    renderer = Renderer(page)
    for what, mark in _TABLES.items():
        page.wait_for_function(_PAINTED, arg=mark)
        yield Taken(what, page.evaluate(_PAINTED, mark), renderer.cpu_seconds())
    for what, change in _CHANGES.items():
        before = renderer.cpu_seconds()
        clock = page.evaluate(_CHANGE, change)
        yield Taken(what, clock, renderer.cpu_seconds() - before)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, nargs="?", default=ROOT / "results" / "report.html")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--width", type=int, default=1600, help="of the window, in pixels")
    arguments = parser.parse_args()
    with chromium() as browser:
        taken = [
            each for _ in range(arguments.runs) for each in measure(browser, arguments.page, arguments.width)
        ]
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(["what", "unit", "median", "least", "most"])
    lines.writerow(["weight", "MB", *[f"{arguments.page.stat().st_size / 1e6:.2f}"] * 3])
    for what in dict.fromkeys(each.what for each in taken):
        same = [each for each in taken if each.what == what]
        for unit, values in (("s", [each.clock for each in same]), ("CPU s", [each.cpu for each in same])):
            found = (statistics.median(values), min(values), max(values))
            lines.writerow([what, unit, *(f"{value:.2f}" for value in found)])


if __name__ == "__main__":
    main()
