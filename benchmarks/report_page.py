"""Weight of the report, time to its first usable table, and time to filter all results, in a headless Chromium.

Usage: python -m benchmarks.report_page [PAGE] [--runs 9] [--width 1600] (two minutes of one core; CSV on the screen)

PAGE is results/report.html of a default run unless another is given. Measured are the page as it is and a copy of 2,500
results, in which those of the page stand again under other names. Each run opens it from the disk, without network,
in a profile of its own, in which nothing is cached. The clock stops when the change has been painted and a click would
be taken. CPU seconds are those of the process that holds the page, with all its threads, from its start for the tables:
they depend less on what else the machine does. Filters begin from and lead back to all results, of which the
table holds 25 as a reader finds it, or all at once.
"""

import argparse
import csv
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from harness.chromium import chromium
from rankadjust.page.templating import data_element

ROOT = Path(__file__).parents[1]
HEIGHT = 900
RESULTS = 2500
_DATA = re.compile(r'<script type="application/json" id="leaderboard-data">(.*?)</script>', re.DOTALL)
# Runs before the scripts of a page: marks when what one of its marks announces has been painted.
_WATCH = """
new PerformanceObserver((list) => list.getEntries().forEach(({ name }) => requestAnimationFrame(
  () => setTimeout(() => performance.mark(`painted-${name}`)),
))).observe({ type: "mark" });
"""
_PAINTED = "name => performance.getEntriesByName(`painted-${name}`)[0]?.startTime / 1000"
_TABLES = {"first table": "leaderboard-shown", "all tables": "tables-shown"}
# Changes a field of the leaderboard as a reader does, and returns the seconds until the change has been painted.
_CHANGE = """([name, value]) => new Promise((resolve) => {
  const form = document.getElementById("leaderboard-switches");
  const start = performance.now();
  if (name === "reset") {
    form.querySelector("button[type=reset]").click();
  } else {
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
  }
  requestAnimationFrame(() => setTimeout(() => resolve((performance.now() - start) / 1000)));
})"""
_SHOW_ALL = ("reset", "")
_FILTERS = {
    "filter by data set": ("dataset", "FB15k-237"),
    "filter by status": ("status", "contradiction"),
    "search a model": ("search", "rotate"),
}
# How many results the table holds at a time, as the page's own choice of it says, with what is tried there.
_LENGTHS = {"25 a page": ("25", list(_FILTERS)), "all on one page": ("-1", ["filter by data set"])}


class Taken(NamedTuple):
    """What something took with a table of so many results: seconds by the clock, and CPU seconds."""

    results: int
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


def results_of(html: str) -> int:
    return len(json.loads(_DATA.search(html)[1])["rows"])


def with_results(html: str, number: int) -> str:
    """Return a page with so many results: those that are missing are the others over again."""
    data = json.loads(_DATA.search(html)[1])
    rows = data["rows"]
    again = ({**rows[place % len(rows)], "model": f"Model {place}"} for place in range(len(rows), number))
    data["rows"] = [*rows, *again]
    return _DATA.sub(lambda _: str(data_element("leaderboard-data", data)), html)


def measure(browser: Browser, path: Path, width: int) -> Iterator[Taken]:
    """Open a page afresh and yield what each thing took that a reader does with it."""
    results = results_of(path.read_text(encoding="utf-8"))
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=True)
    context.set_default_timeout(120_000)
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.goto(path.resolve().as_uri(), wait_until="commit")
    renderer = Renderer(page)
    for what, mark in _TABLES.items():
        page.wait_for_function(_PAINTED, arg=mark)
        yield Taken(results, what, page.evaluate(_PAINTED, mark), renderer.cpu_seconds())
    page.evaluate(_CHANGE, _SHOW_ALL)
    for name, (length, filters) in _LENGTHS.items():
        page.locator("#leaderboard select.dt-input").first.select_option(length)
        for what in filters:
            for step, change in ((what, _FILTERS[what]), ("show all results", _SHOW_ALL)):
                before = renderer.cpu_seconds()
                clock = page.evaluate(_CHANGE, change)
                yield Taken(results, f"{step}, {name}", clock, renderer.cpu_seconds() - before)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, nargs="?", default=ROOT / "results" / "report.html")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--width", type=int, default=1600, help="of the window, in pixels")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        longer = Path(folder) / "report.html"
        longer.write_text(with_results(arguments.page.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")
        taken = [
            each
            for _ in range(arguments.runs)
            for path in (arguments.page, longer)
            for each in measure(browser, path, arguments.width)
        ]
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(["results", "what", "unit", "median", "least", "most"])
    lines.writerow([taken[0].results, "weight", "MB", *[f"{arguments.page.stat().st_size / 1e6:.2f}"] * 3])
    for results, what in dict.fromkeys((each.results, each.what) for each in taken):
        same = [each for each in taken if (each.results, each.what) == (results, what)]
        for unit, values in (("s", [each.clock for each in same]), ("CPU s", [each.cpu for each in same])):
            found = (statistics.median(values), min(values), max(values))
            lines.writerow([results, what, unit, *(f"{value:.2f}" for value in found)])


if __name__ == "__main__":
    main()
