"""Which products of earlier runs are no longer what was written, so that this run makes them again.

Snakemake looks at time stamps, which most damage leaves as they are. So the damage that was last seen in the outputs of
a job is among its params, and the job runs again when that changes.
"""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rankadjust.base.contents import ABSENT, Digests, read_json
from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUM, SUMS, read_sums, write_text
from rankadjust.base.stages import damage_of_sealed

# Formats that carry a seal; other files have their sums beside them.
_SEALED = (".parquet", ".json", ".svg", ".html", ".yaml")
_OTHER = "its bytes do not match its sum"


class Products:
    """The products in the working directory.

    state: the folder for remembered digests. digests: of the bytes of files. look: whether this process looks for
    damage; a job uses the findings of the run. dry: whether the run makes nothing, and so remembers nothing.
    """

    def __init__(self, state: Path, digests: Digests, *, look: bool, dry: Callable[[], bool]) -> None:
        self._memory = state / "damaged-products.json"
        self._digests = digests
        self._seals = Digests(state / "seals.json", damage_of_sealed)
        self._look = look
        self._dry = dry

    def damage(self, *paths: str | Path) -> str:
        """Return the damage last seen in the outputs of a job, '' if there never was any.

        A missing file is not damaged: Snakemake notices it itself.
        """
        there = [path for path in map(Path, paths) if path.exists()] if self._look else []
        wrong = [line for path in there for line in self.wrong(path)]
        if wrong:
            others = f" (and {len(wrong) - 1} more of the same job)" if wrong[1:] else ""
            sys.stderr.write(f"note: {wrong[0]}{others}; a run makes {'them' if others else 'it'} again\n")
        # The same damage counts anew the next time.
        changes = [f"changed at {path.stat().st_ctime_ns}" for path in there if wrong]
        problems = "; ".join([*wrong, *changes])
        if problems and self._dry():
            return problems
        return last_damage(str(paths[0]), problems, self._memory, remember=self._look)

    def save(self) -> None:
        """Store which large files were found whole."""
        # Without what is remembered, the next run looks once more.
        with suppress(RankadjustError):
            self._seals.save()

    def wrong(self, path: Path) -> list[str]:
        """Return a line for each file of an output that is not what was written."""
        if path.is_dir():
            return self._wrong_in_folder(path)
        # What sums say is compared with the files that they are of.
        if path.name == SUMS or path.suffix == SUM:
            return []
        damage = self._damage(path)
        return [f"{path}: {damage}"] if damage else []

    def _damage(self, path: Path) -> str:
        """Return how a file differs from its recorded bytes, '' if it does not."""
        sums = (path.with_name(SUMS), path.with_suffix(SUM), Path(f"{path}{SUM}"))
        recorded = {name: digest for each in sums for name, digest in (_recorded(each) or {}).items()}
        if path.name in recorded:
            return "" if self._digests.of(path) == recorded[path.name] else _OTHER
        return self._seals.of(path) if path.suffix in _SEALED else "its sum is missing"

    def _wrong_in_folder(self, folder: Path) -> list[str]:
        recorded = _recorded(folder / SUMS)
        if recorded is None:
            return [f"{folder}: it has no {SUMS} that can be read"]
        sums = {name: self._digests.of(folder / name) for name in recorded}
        return [
            f"{folder / name}: {'it is missing' if digest == ABSENT else _OTHER}"
            for name, digest in sums.items()
            if digest != recorded[name]
        ]


def last_damage(name: str, damage: str, memory: Path, *, remember: bool) -> str:
    """Return the damage that was last seen in something, '' if there never was any; remember what is found now.

    As a parameter of the rule that makes it, this makes what is damaged be made again, and once only: when it is whole
    again, the damage last seen is still the same. memory: a JSON file. remember: whether it may be written.
    """
    seen = read_json(memory)
    if damage and remember:
        seen[name] = damage
        write_text(json.dumps(seen, indent=2) + "\n", memory)
    return str(seen.get(name, ""))


def _recorded(sums: Path) -> dict[str, str] | None:
    """Return the digests that a file of sums says; None where it is not there, or cannot be read."""
    try:
        return read_sums(sums)
    except (OSError, ValueError):
        return None
