"""The configuration of a run: layers of YAML files and overrides, merged, resolved and checked."""

import getpass
import glob
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import path_from
from rankadjust.base.schemas import line_of, problem_with, read_yaml, validate
from rankadjust.data.sources import without_password

COMMAND_LINE = "--config"
_WORDS = {"true": True, "false": False, "null": None, "none": None, "": None}
_PATH_LISTS = ("tables", "registry", "protocol_files")
_LISTS = ("datasets", "without_training", "protocols", "metrics", "ks", *_PATH_LISTS)
# The oldest kernels that the BLAS of numpy and of scipy both have, and that numpy's minimal processor can run.
_CORE = "Nehalem"
# Seconds: file systems round times, and the clock of a file server may be a little ahead.
_SLACK = 2.0


@dataclass(frozen=True)
class Configuration:
    """The values of a run, and for each key the file (or the command line) that gave it."""

    values: dict[str, Any]
    origins: dict[str, Path | str]

    @contextmanager
    def blamed_on(self, key: str) -> Iterator[None]:
        """Say in the message of a RankadjustError where the key was set."""
        try:
            yield
        except RankadjustError as error:
            origin = self.origins.get(key, COMMAND_LINE)
            line = line_of(origin, [key]) if isinstance(origin, Path) else None
            where = f"{origin}:{line}" if line else f"{origin}"
            raise RankadjustError(f"{where}: {key}: {error}") from None


def load_configuration(
    files: Sequence[str | Path],
    overrides: Mapping[str, Any],
    directory: str | Path,
    source: str = COMMAND_LINE,
) -> Configuration:
    """Merge YAML files (the later wins, key by key) and overrides from the command line, or from another `source`.

    A path in a file is relative to that file, a path in an override to `directory`; globs are expanded. An unknown
    key or a value of the wrong kind is a RankadjustError that names file, line and key.
    """
    values: dict[str, Any] = {}
    origins: dict[str, Path | str] = {}
    for file in files:
        layer = read_yaml(file) or {}
        validate(layer, "config", file)
        values |= _resolved(layer, Path(file).parent)
        origins |= dict.fromkeys(layer, Path(file))
    layer = {key: _normalised(key, value) for key, value in overrides.items()}
    validate(layer, "config", source)
    values |= _resolved(layer, Path(directory))
    origins |= dict.fromkeys(layer, source)
    return Configuration(values, origins)


def as_yaml(values: Mapping[str, Any], folder: str | Path) -> str:
    """Return the values of a run as a configuration file for `folder`, which makes the same run again.

    Paths are relative to the folder, so that the text stays the same when the whole tree is moved.
    """
    here = Path(folder).resolve()
    written = dict(values)
    for key in _PATH_LISTS:
        written[key] = [os.path.relpath(path, here) for path in values.get(key) or []]
    mirror = values.get("mirror")
    if mirror:
        written["mirror"] = without_password(mirror) if "://" in mirror else os.path.relpath(mirror, here)
    return yaml.safe_dump(written, sort_keys=True, allow_unicode=True)


def configured(workflow: Any, config: Mapping[str, Any], project: Path) -> Configuration:  # noqa: ANN401 - Snakemake's
    """Return the configuration of a run: the defaults, --configfile and --config; for a module only its `config:`.

    The Snakefile does not use the directive `configfile`, because here a path in a file is relative to that file, and
    a mistake is reported in one line.
    """
    defaults = project / "config" / "config.yaml"
    if not workflow.modifier.is_main_snakefile():
        return load_configuration([defaults], config, Path.cwd(), "the module's config")
    files = [defaults, *workflow.overwrite_configfiles]
    return load_configuration(files, workflow.config_settings.config, Path.cwd())


def share_with_jobs(values: Mapping[str, Any], project: Path) -> None:
    """Pass to jobs, as environment variables, the settings that do not affect results: the code, and where to look.

    Jobs use the library beside the workflow, whatever else is installed, and compute the same numbers on
    every processor. The home folder, where Snakemake would keep a cache, may not be there on other machines.
    """
    os.environ.update(same_everywhere())
    os.environ.setdefault("XDG_CACHE_HOME", str(Path(".snakemake", "cache").resolve()))
    _name_interpreter_without_folder()
    _name_unknown_user()
    paths = [str(project), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    if values["mirror"]:
        os.environ["RANKADJUST_MIRROR"] = values["mirror"]
    os.environ["RANKADJUST_OFFLINE"] = "1" if values["offline"] else "0"


def same_everywhere() -> dict[str, str]:
    """Return the environment of a process whose numbers do not depend on which processor of its family runs it.

    numpy has several versions of exp, log and others, and BLAS several orders of a sum; the processor decides which of
    them runs, and with it the last digits. So every version of a function but numpy's first is switched off, whether
    this processor has it or not, and threads, which would split the sums of BLAS. The libraries read this once, when
    they are loaded. docs/architecture.md, "The same bytes", names the code that it does not reach.
    """
    chosen = {"OPENBLAS_NUM_THREADS": "1"}
    versions = np.show_config(mode="dicts")["SIMD Extensions"]
    newer = sorted(chain(versions.get("found", ()), versions.get("not found", ())))
    if newer:
        chosen["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
    if platform.machine().lower() in {"x86_64", "amd64"}:
        chosen["OPENBLAS_CORETYPE"] = _CORE
    return chosen


def _name_interpreter_without_folder() -> None:
    """Let jobs find Python by its name where its path has a blank: Snakemake does not quote it in their commands."""
    if shlex.quote(sys.executable) != sys.executable:
        folder, sys.executable = os.path.split(sys.executable)
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])


def _name_unknown_user() -> None:
    """Give a name to a user whom the system does not know: Snakemake asks for one, and ends in a traceback."""
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())


def tables_by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return the tables to re-score by the stem of their file, which names their results."""
    tables: dict[str, str] = {}
    for path in paths:
        name = Path(path).stem
        if not Path(path).is_file():
            raise RankadjustError(f"{path}: there is no such table")
        if Path(path).stat().st_mtime > time.time() + _SLACK:
            raise RankadjustError(
                f"{path}: dated in the future, so Snakemake would delete whatever is made from it; give it the "
                f"present time: touch {shlex.quote(path)}"
            )
        if problem := problem_with(name, "name"):
            raise RankadjustError(
                f"{path}: its results are named after the table, and this name is {problem}"
            )
        if name in tables:
            raise RankadjustError(
                f"{tables[name]} and {path} would both become results/rescored/{name}; rename one"
            )
        tables[name] = path
    return tables


def _normalised(key: str, value: Any) -> Any:  # noqa: ANN401 - what a command line may hold
    """Read words as the values they stand for and 'a,b' as a list where a list is meant."""
    if isinstance(value, str) and value.strip().casefold() in _WORDS:
        value = _WORDS[value.strip().casefold()]
    if key in _LISTS and not isinstance(value, list | None):
        value = [part.strip() for part in str(value).split(",")]
    if key == "ks" and isinstance(value, list):
        value = [int(k) if str(k).isdecimal() else k for k in value]
    return value


def _resolved(layer: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    resolved = dict(layer)
    for key in _PATH_LISTS:
        if layer.get(key):
            resolved[key] = [path for pattern in layer[key] for path in _expand(pattern, folder)]
    mirror = layer.get("mirror")
    if mirror and "://" not in mirror:
        resolved["mirror"] = str(path_from(mirror, folder))
    return resolved


def _expand(pattern: str, folder: Path) -> list[str]:
    """Return the files of a glob in sorted order; a plain name, or that of a file, stays as it is."""
    path = path_from(pattern, folder)
    if path.exists() or not glob.has_magic(pattern):
        return [str(path)]
    # The folder is none of the pattern: it may be called [2025].
    paths = glob.glob(str(Path(pattern).expanduser()), root_dir=folder)  # noqa: PTH207 - a pattern with its own folders
    return sorted(str((folder / name).resolve()) for name in paths)
