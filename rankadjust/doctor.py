"""Find faults of this machine, of the installation and of the results in a folder, and say what to do about them.

Each check reports a line for each problem. A check itself imports the packages that may be missing, so that the other
checks still work without them.
"""
# ruff: noqa: PLC0415

import json
import locale
import os
import shlex
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rankadjust.base.errors import unwritable

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_PACKAGE = Path(__file__).parent
_PROJECT = _PACKAGE.parent
# Twice the bytes and files that a run of the default configuration writes, downloads included (docs/reliability.md).
_ROOM, _FILES = 50_000_000, 1000
# Greatest difference in seconds between the clock of this machine and the clock of a disk.
_APART = 2.0
_STAGES = ("triples", "candidates", "moments", "bounds", "tasks")
_WITH_SUMS = ("database", "rescored", "comparison", "figures", "release")
_ALONE = (
    *("benchmark-moments.parquet", "literature.parquet", "report.html", "run_config.yaml"),
    "case-study.csv",
)
_FETCHED = ("datasets", "without-training")
_AGAIN = "the same snakemake command makes it again"


class Finding(NamedTuple):
    """A result of a check. about: the check, such as 'clock'. line: the finding, and how to mend it if it is wrong."""

    about: str
    line: str
    wrong: bool


_Check = Callable[[Path], Iterator[str]]


def examine(folder: str | Path) -> list[Finding]:
    """Examine the folder of past or future runs, the machine and the installation.

    Parameters
    ----------
    folder : str or pathlib.Path
        The working directory of runs: results/ and resources/ are in it, or will be.

    Returns
    -------
    list of Finding
        For each check, a finding for each problem, or one finding that all is well. The checks come in this order:
        path, locale, clock, disk, versions, inputs, results.

    Examples
    --------
    >>> examine("no/such/folder")[0].wrong
    True

    """
    return [
        finding
        for about, (check, well) in _CHECKS.items()
        for finding in _checked(about, check, well, folder)
    ]


def _checked(about: str, check: _Check, well: Callable[[Path], str], folder: str | Path) -> list[Finding]:
    place = Path(folder).absolute()
    try:
        problems = [Finding(about, line, wrong=True) for line in check(place)]
        return problems or [Finding(about, well(place), wrong=False)]
    except ImportError as error:
        return [
            Finding(about, f"not examined, for {error.name} cannot be imported; {_reinstall()}", wrong=True)
        ]


def _reinstall() -> str:
    in_checkout = (_PROJECT / "Makefile").is_file()
    return f"install it again: make -B -C {shlex.quote(str(_PROJECT))} install" if in_checkout else (
        "install rankadjust again, with the packages that it names"
    )  # fmt: skip


# --- path


def wrong_path(folder: Path) -> Iterator[str]:
    """Yield the reasons why a run could not work in a folder."""
    if not str(folder).isprintable():
        yield f"{folder}: it has characters that cannot be printed; rename it"
    written = [folder, *(folder / name for name in (".snakemake", "results", "resources"))]
    for place in filter(Path.is_dir, written):
        try:
            with tempfile.TemporaryFile(dir=place):
                pass
        except OSError as error:
            yield unwritable(place, error)
    if not folder.is_dir():
        yield f"{folder}: there is no such folder; make it, or name another"
    checkout = folder / "rankadjust" / "__init__.py"
    if checkout.is_file() and not checkout.samefile(_PACKAGE / "__init__.py"):
        yield (
            f"{folder}: a checkout with its own library, but {sys.executable} uses the library in {_PROJECT}; "
            "use the command of this checkout: make install, then .venv/bin/rankadjust"
        )


def _path(folder: Path) -> str:
    return f"{folder} can be written; {sys.executable} takes rankadjust from {_PROJECT}"


# --- locale


def wrong_locale(_folder: Path) -> Iterator[str]:
    """Yield the reasons why names and texts that are not ASCII would be misread, or not printed."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        named = [
            f"{name}={os.environ[name]}" for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)
        ]
        yield f"the system has no locale as named by {', '.join(named)}; name one of `locale -a`: {_UTF8}"
    finally:
        locale.setlocale(locale.LC_ALL, before)
    encodings = {"names of files": sys.getfilesystemencoding(), "what is printed": sys.stdout.encoding}
    for what, encoding in encodings.items():
        # An object that collects text in place of a terminal has no encoding.
        if encoding and encoding.casefold().replace("-", "") != "utf8":
            yield f"{what}: in {encoding}, which lacks letters; take UTF-8: {_UTF8}"


_UTF8 = "export LC_ALL=C.UTF-8"


def _locale(_folder: Path) -> str:
    return f"{locale.setlocale(locale.LC_CTYPE)}; file names and output in UTF-8"


# --- clock


def wrong_clock(folder: Path) -> Iterator[str]:
    """Yield the reasons why the times of files would mislead a run."""
    from rankadjust.base.clock import dated_in_future, touching
    from rankadjust.base.version import REGISTRY_DATE

    now = datetime.now(UTC)
    if now.date() < date.fromisoformat(REGISTRY_DATE):
        yield (
            f"{now:%Y-%m-%d %H:%M} UTC, before this version was made ({REGISTRY_DATE}), so that certificates of "
            "servers are refused; set the clock (timedatectl set-ntp true)"
        )
    apart = _apart(folder)
    if abs(apart) > _APART:
        yield (
            f"the disk of {folder} is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} this machine, so that "
            "Snakemake takes results for older than they are; let both clocks be set by NTP"
        )
    dated = dated_in_future(folder / name for name in ("config", "resources", "results"))
    if dated:
        others = f" and {len(dated) - 1} others" if dated[1:] else ""
        yield (
            f"{dated[0]}{others}: dated in the future, so that Snakemake deletes what is made of it; when the clock is "
            f"right: {touching(dated)}"
        )


def _apart(folder: Path) -> float:
    """Return how many seconds the clock of a disk is ahead of this machine's clock; 0 if nothing can be written."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            return os.stat(file.name).st_mtime - time.time()  # noqa: PTH116 - a file without a folder of its own
    except OSError:
        return 0.0


def _clock(_folder: Path) -> str:
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, that of the disk likewise; no file is dated in the future"
    )


# --- disk


def wrong_disk(folder: Path) -> Iterator[str]:
    """Yield the places with less room than a run of the default configuration needs."""
    for place in _places(folder):
        free, files = _room(place)
        if free < _ROOM:
            yield (
                f"{place}: {free / 1e6:,.0f} MB are free, and a run of the default configuration needs up to "
                f"{_ROOM / 1e6:.0f}; free some of its disk, or choose another {_chosen(place, folder)}"
            )
        if files < _FILES:
            yield (
                f"{place}: room for {files:,.0f} more files (inodes), and a run of the default configuration makes up "
                f"to {_FILES:,}; remove some from its disk, or choose another {_chosen(place, folder)}"
            )


def _places(folder: Path) -> list[Path]:
    """Return the folder of work, if it exists, and the folder for temporary files."""
    return [path for path in (folder, Path(tempfile.gettempdir())) if path.is_dir()]


def _room(place: Path) -> tuple[int, float]:
    """Return how many bytes and how many files a disk has room for.

    A file system without a limit of files reports 0 of 0 files; the number is then infinite.
    """
    free = shutil.disk_usage(place).free
    if sys.platform == "win32":
        return free, float("inf")
    filesystem = os.statvfs(place)
    return free, filesystem.f_favail if filesystem.f_files else float("inf")


def _chosen(place: Path, folder: Path) -> str:
    return "folder (snakemake --directory)" if place == folder else "folder for temporary files (TMPDIR)"


def _disk(folder: Path) -> str:
    rooms = [(place, *_room(place)) for place in _places(folder)]
    return "; ".join(f"{place}: {free / 1e9:,.1f} GB and {files:,.0f} files" for place, free, files in rooms)


# --- versions


def wrong_versions(_folder: Path) -> Iterator[str]:
    """Yield which packages are missing, or are not among the versions that the project allows."""
    from packaging.specifiers import SpecifierSet

    python, requirements = declared()
    running = ".".join(map(str, sys.version_info[:3]))
    if running not in SpecifierSet(python):
        yield f"Python {running}, and {python} is needed; install such a Python, then: make PYTHON=/path/to/python3"
    yield from unmet(requirements)


def declared() -> tuple[str, list[str]]:
    """Return the Python and the packages that the project needs, by pyproject.toml or, without this file, the wheel.

    Packages of an extra carry the marker `extra`.
    """
    pyproject = _PROJECT / "pyproject.toml"
    if not pyproject.is_file():
        package = metadata.metadata("rankadjust")
        return package["Requires-Python"], metadata.requires("rankadjust") or []
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = [
        _of_extra(requirement, extra)
        for extra, requirements in project["optional-dependencies"].items()
        for requirement in requirements
        if not requirement.startswith("rankadjust[")
    ]
    return project["requires-python"], project["dependencies"] + extras


def _of_extra(requirement: str, extra: str) -> str:
    package, _, marker = requirement.partition(";")
    return f"{package}; {f'({marker.strip()}) and ' if marker else ''}extra == '{extra}'"


def unmet(requirements: Iterable[str]) -> Iterator[str]:
    """Yield the requirements that the installed packages do not meet.

    If Snakemake is installed, the workflow is in use and needs all of its packages. Without Snakemake, the packages for
    tables may be missing. Packages for tests are not checked.
    """
    from packaging.requirements import Requirement

    of_workflow = {"tables", "workflow"} if _version("snakemake") else set()
    for requirement in map(Requirement, requirements):
        version = _version(requirement.name)
        if version is None and _applies(requirement, {"", *of_workflow}):
            yield f"{requirement.name} is missing; {_reinstall()}"
        elif (
            version is not None
            and _applies(requirement, {"", "tables", *of_workflow})
            and not requirement.specifier.contains(version, prereleases=True)
        ):
            needed = f"{requirement.name}{requirement.specifier}"
            yield f"{requirement.name} {version}, and {needed} is needed; {_reinstall()}"


def _applies(requirement: "Requirement", extras: Iterable[str]) -> bool:
    """Return whether a requirement applies here, to the package itself (extra '') or to any of these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _versions(_folder: Path) -> str:
    from rankadjust.base.version import VERSION

    named = [
        f"{name} {_version(name)}" for name in ("polars", "numpy", "scipy", "snakemake") if _version(name)
    ]
    return (
        f"Python {sys.version.split()[0]}, rankadjust {VERSION}, {', '.join(named)}, all within their bounds"
    )


# --- inputs


def wrong_inputs(_folder: Path) -> Iterator[str]:
    """Yield the tables of the project that differ from the shipped tables."""
    from rankadjust.base.errors import RankadjustError
    from rankadjust.base.shipped_sums import wrong_shipped

    try:
        yield from wrong_shipped()
    except RankadjustError as error:
        yield str(error)


def _inputs(_folder: Path) -> str:
    return "the tables that ship with rankadjust have the bytes that their sums say"


# --- results


def wrong_results(folder: Path) -> Iterator[str]:
    """Yield the results and fetched files of a run that changed after they were written, and a run that was killed."""
    state = folder / ".snakemake" / "rankadjust"
    if _at_work(folder):
        return
    if (state / "run.json").is_file():
        since = json.loads((state / "run.json").read_text(encoding="utf-8")).get("since", "a time unknown")
        yield f"{folder}: the last run, since {since}, was killed; the same command takes it up where it stopped"
    yield from _damaged(folder)


def _damaged(folder: Path) -> Iterator[str]:
    from rankadjust.base.contents import Digests
    from rankadjust.base.mending import Products

    # Read every file, and do not trust the digests that earlier runs remember.
    nothing = Path(os.devnull)
    products = Products(nothing, Digests(nothing), look=True, dry=lambda: True)
    yield from (f"{line}; {_AGAIN}" for path in _products(folder) for line in products.wrong(path))


def _products(folder: Path) -> list[Path]:
    """Return the products of a run: sealed files, and tables and folders with sums."""
    results = folder / "results"
    sealed = [path for stage in _STAGES for path in (results / stage).rglob("*") if path.is_file()]
    others = [results / name for name in (*_ALONE, *_WITH_SUMS)]
    return sorted(path for path in (*sealed, *others) if path.exists())


def _fetched(folder: Path) -> list[Path]:
    places = [path for name in _FETCHED for path in (folder / "resources" / name).glob("[!.]*")]
    return sorted(filter(Path.is_dir, places))


def _at_work(folder: Path) -> bool:
    if not (folder / ".snakemake" / "rankadjust").is_dir():
        return False
    from rankadjust.base.claims import is_claimed

    return is_claimed(folder / ".snakemake")


def _results(folder: Path) -> str:
    if _at_work(folder):
        return f"{folder}: a run is at work here, so that its files were not examined"
    products, fetched = len(_products(folder)), len(_fetched(folder))
    if not products + fetched:
        return f"{folder}: no run has left anything here"
    return f"{products} products of runs and {fetched} fetched data sets are as they were written"


_CHECKS: dict[str, tuple[_Check, Callable[[Path], str]]] = {
    "path": (wrong_path, _path),
    "locale": (wrong_locale, _locale),
    "clock": (wrong_clock, _clock),
    "disk": (wrong_disk, _disk),
    "versions": (wrong_versions, _versions),
    "inputs": (wrong_inputs, _inputs),
    "results": (wrong_results, _results),
}
