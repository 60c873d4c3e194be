"""Whether the tables that ship with the project are as they were shipped: one changed digit changes results silently.

SHA256SUMS beside the tables say what their bytes were. After a change that was meant, `make sums` renews them.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, identity_of, read_sums, sha256_of, shipped, write_sums

FOLDERS = ("resources/database", "resources/published")
_NO_TABLES = (SUMS, "README.md")


def check_shipped(*paths: str | Path) -> bool:
    """Return whether all these tables ship with the project; RankadjustError where one has other bytes than shipped.

    A file in another folder, and one that is not there, is passed over; so is a file that somebody has put beside the
    shipped ones.
    """
    folders = [shipped(folder).resolve() for folder in FOLDERS]
    have_sums = True
    for path in map(Path, paths):
        is_shipped = path.resolve().parent in folders and path.is_file()
        known = _known(path.parent) if is_shipped else {}
        have_sums &= path.name in known
        _refuse(_wrong(path, known))
    return have_sums


def check_all_shipped() -> None:
    """Raise RankadjustError if a table that ships with the project has changed or is missing."""
    _refuse(wrong_shipped())


def wrong_shipped() -> Iterator[str]:
    """Yield a line for each table that ships with the project and is not as it was shipped, or is missing."""
    for folder in (shipped(name) for name in FOLDERS):
        # A wheel has no published tables.
        if folder.is_dir():
            known = _known(folder)
            for name in known:
                yield from _wrong(folder / name, known)


def _refuse(wrong: Iterator[str]) -> None:
    for line in wrong:
        raise RankadjustError(line)


def _wrong(path: Path, known: Mapping[str, str]) -> Iterator[str]:
    if path.name not in known:
        return
    digest = _sha256(path) if path.is_file() else "missing"
    if digest != known[path.name]:
        yield (
            f"{path}: {'missing' if digest == 'missing' else f'its bytes do not match its sum in {SUMS} beside it'}; "
            "get the file again (git checkout, or from where you have the project), or, where you meant to change it, "
            "renew the sums: make sums"
        )


def _sha256(path: Path) -> str:
    return _sha256_once(path.absolute(), identity_of(path))


@lru_cache
def _sha256_once(path: Path, _: tuple[int, ...]) -> str:
    return sha256_of(path)


def _known(folder: Path) -> dict[str, str]:
    try:
        return read_sums(folder / SUMS)
    except (OSError, ValueError) as error:
        raise RankadjustError(
            f"{folder / SUMS}: cannot be read ({error}), so that the tables beside it cannot be checked; get it again "
            "(git checkout, or from where you have the project)"
        ) from None


def renew() -> None:
    """Write SHA256SUMS of the tables as they are now."""
    for folder in (shipped(name) for name in FOLDERS):
        tables = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in _NO_TABLES)
        write_sums(tables, folder / SUMS)


if __name__ == "__main__":
    renew()
