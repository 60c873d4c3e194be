"""Files: written whole or not at all, the same bytes every time; and the files that ship with the package."""

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankadjust.base.errors import RankadjustError
from rankadjust.base.whole import atomic_path

if TYPE_CHECKING:
    # One printed value needs files and no frames, which take long to import.
    import polars as pl

SUMS = "SHA256SUMS"
# A file whose folder is not its own has a sum of its own: case-study.csv and case-study.csv.sha256.
SUM = ".sha256"

_PACKAGE = Path(__file__).parent.parent


def path_from(text: str, folder: Path) -> Path:
    """Return the path that somebody wrote in a file of this folder: relative to it, with ~ for a home folder."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except RuntimeError:
        home = Path(text).parts[0]
        raise RankadjustError(f"{text}: there is no home folder {home}; write the path in full") from None


def write_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8; a line ends with a line feed on every system."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write bytes."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_parquet(
    frame: "pl.DataFrame",
    path: str | Path,
    metadata: Mapping[str, str] | None = None,
    rows_a_group: int | None = None,
) -> None:
    """Write a frame as zstd-compressed Parquet; metadata: keys and values for the end of the file.

    rows_a_group: a reader passes over whole row groups; None leaves their size to polars.
    """
    with atomic_path(path) as temporary:
        put_parquet(frame, temporary, metadata, rows_a_group)


def put_parquet(
    frame: "pl.DataFrame | pl.LazyFrame",
    temporary: Path,
    metadata: Mapping[str, str] | None = None,
    rows_a_group: int | None = None,
) -> None:
    """Write a frame to a path that `atomic_path` yielded; a lazy frame is written in blocks."""
    write = frame.sink_parquet if hasattr(frame, "sink_parquet") else frame.write_parquet
    # An open file: polars would interpret parts of a path as a home folder or an address.
    with temporary.open("wb") as file:
        write(
            file,
            compression="zstd",
            metadata=dict(metadata) if metadata else None,
            row_group_size=rows_a_group,
        )


def write_tsv(frame: "pl.DataFrame", path: str | Path) -> None:
    """Write a frame as tab-separated text that is safe in a spreadsheet, gzipped where the name ends in .gz."""
    _write_delimited(frame, path, "\t")


def write_csv(frame: "pl.DataFrame", path: str | Path) -> None:
    """Write a frame as comma-separated text that is safe in a spreadsheet, gzipped where the name ends in .gz."""
    _write_delimited(frame, path, ",")


def _write_delimited(frame: "pl.DataFrame", path: str | Path, separator: str) -> None:
    from rankadjust.base.spreadsheets import to_csv  # noqa: PLC0415 - see above

    text = to_csv(frame, separator).encode()
    # Without a time stamp, so that the same frame gives the same bytes.
    write_bytes(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text, path)


def identity_of(path: Path) -> tuple[int, ...]:
    """Return inode, size and date of a file: another triple means that it was replaced, or written to."""
    status = path.resolve().stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(paths: Sequence[str | Path], sums: str | Path) -> None:
    """Write the SHA-256 of files in one folder, a line each, as `sha256sum --check` reads it."""
    write_text("".join(f"{sha256_of(path)}  {Path(path).name}\n" for path in paths), sums)


def read_sums(sums: Path) -> dict[str, str]:
    """Return the digest of each file that a SHA256SUMS names."""
    lines = [line.split("  ", 1) for line in sums.read_text(encoding="utf-8").splitlines()]
    return {name: digest for digest, name in lines}


def contained(path: str | Path, folder: str | Path) -> Path:
    """Return `path` where it lies inside of `folder` once links are followed; else raise RankadjustError.

    Call it for every path with a part from somebody else's file, before the path is used.
    """
    try:
        place = Path(path).resolve()
        # Since Python 3.13 a loop of links is not an error: the link is left unresolved.
        loops = any(map(Path.is_symlink, (place, *place.parents)))
        inside = Path(folder).resolve() in place.parents and not loops
    except (OSError, ValueError, RuntimeError) as error:
        raise RankadjustError(f"{str(path)!r} is not a valid path ({error})") from None
    if not inside:
        raise RankadjustError(f"{path} leads out of the folder {folder}; give a path inside it")
    return Path(path)


def shipped(relative: str) -> Path:
    """Return the path of a file of the project ('config/protocols.yaml', 'resources/database/…').

    A wheel holds these files inside the package; a checkout has them beside it.
    """
    inside = _PACKAGE / "shipped" / relative
    return inside if inside.exists() else _PACKAGE.parent / relative
