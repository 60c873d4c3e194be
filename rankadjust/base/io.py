"""Files: written whole or not at all, read without a parser's jargon, kept inside their folder.

A file is written under a temporary name beside its place and renamed, so that nobody ever sees half of it. polars never
gets a path, because it may take one for a pattern or an address: asked for `ranks[1].csv` it reads `ranks1.csv`.
"""

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, is_of_writing, unwritable
from rankadjust.base.version import VERSION

SUMS = "SHA256SUMS"
_RECORD = ".rankadjust.sha256"
_PACKAGE = Path(__file__).parent.parent
# What polars raises for a file that it cannot read. A damaged Parquet file can make it panic: no subclass of Exception.
_BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError)
_PREFIX = "rankadjust."
# The layout of each kind of table: its number is raised with every change of the columns.
LAYOUTS = dict.fromkeys(
    ("triples", "labels", "candidates", "pairs", "moments", "baselines", "benchmarks", "bounds", "rescored"),
    1,
) | {"tasks": 3, "adjustments": 2}


def path_from(text: str, folder: Path) -> Path:
    """Return the path that somebody wrote in a file of this folder: relative to it, with ~ for a home folder."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except RuntimeError:
        home = Path(text).parts[0]
        raise RankadjustError(f"{text}: there is no home folder {home}; write the path in full") from None


def shipped(relative: str) -> Path:
    """Return the path of a file of the project ('config/protocols.yaml', 'resources/database/…').

    A wheel holds these files inside the package; a checkout has them beside it.
    """
    inside = _PACKAGE / "shipped" / relative
    return inside if inside.exists() else _PACKAGE.parent / relative


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


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it on success and removed on failure.

    A symbolic link stays one: the file that it leads to is written.

    Raises RankadjustError for a folder, a device or a pipe, and where the path cannot be written, also where its disk
    is full before the end.
    """
    place = Path(os.path.realpath(path))
    if Path(path).is_relative_to("/dev") or (place.exists() and not place.is_file()):
        raise RankadjustError(f"{path}: this is a folder, a device or a pipe; name a file")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # A new file in a folder of its own has the permissions of the umask.
        with tempfile.TemporaryDirectory(
            dir=place.parent, prefix=f".{place.name}.", suffix=".tmp"
        ) as scratch:
            temporary = Path(scratch, "new")
            yield temporary
            temporary.replace(place)
    except (OSError, pl.exceptions.PolarsError) as error:
        # polars has the system's number in its text.
        if isinstance(error, pl.exceptions.PolarsError) and not is_of_writing(error):
            raise
        raise RankadjustError(unwritable(path, error)) from None


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of `folder` on success and vanishes on failure."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.", suffix=".tmp") as scratch:
        # The scratch folder is for its owner alone; the folder inside gets the usual permissions.
        new = Path(scratch) / "new"
        new.mkdir()
        yield new
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        new.rename(folder)


def require_free(path: Path, inputs: Iterable[Path]) -> None:
    """Raise RankadjustError if a file that is to be written is one of the inputs, or lies in an input folder.

    Links are followed, so that the spelling of a path does not matter.
    """
    for given in inputs if path.is_file() else ():
        if given.is_dir() and given.resolve() in path.resolve().parents:
            what = f"in the input {given}"
        elif given.is_file() and path.samefile(given):
            what = f"the input {given}"
        else:
            continue
        raise RankadjustError(f"{path}: it is {what}, and would be overwritten; name another file")


def write_folder(
    files: Mapping[str, str | bytes], folder: Path, inputs: Iterable[Path] = (), *, force: bool = False
) -> None:
    """Write files by their names into a folder, with a record of their sums: the next call knows them as its own.

    Raises RankadjustError, before anything is written, if the folder is a file, has a file of one of these names that
    no call has written or somebody has edited since (not so with `force`), or if one of them is an input.
    """
    if folder.exists() and not folder.is_dir():
        raise RankadjustError(f"{folder}: this is a file; name a folder for {', '.join(sorted(files))}")
    record, paths = folder / _RECORD, [folder / name for name in sorted(files)]
    own = read_sums(record) if record.is_file() else {}
    for path in paths:
        require_free(path, inputs)
        if path.is_file() and own.get(path.name) != sha256_of(path) and not force:
            raise RankadjustError(
                f"{path}: it was not written by this command, or was edited since; name another folder, or give "
                "--force to overwrite it"
            )
    for path in paths:
        content = files[path.name]
        write_bytes(content.encode() if isinstance(content, str) else content, path)
    write_sums(paths, record)


def write_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8; a line ends with a line feed on every system."""
    write_bytes(text.encode(), path)


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write bytes."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_parquet(frame: pl.DataFrame, path: str | Path, **options: Any) -> None:  # noqa: ANN401 - of polars
    """Write a frame as zstd-compressed Parquet."""
    # An open file: polars would interpret parts of a path as a home folder or an address.
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        frame.write_parquet(file, compression="zstd", **options)


def write_product(
    frame: pl.DataFrame, path: str | Path, layout: str, rows_a_group: int | None = None
) -> None:
    """Write a table that another command reads: Parquet whose metadata have its layout, a key of LAYOUTS.

    rows_a_group: a reader passes over whole row groups; None leaves their size to polars.
    """
    metadata = {"table": layout, "schema": str(LAYOUTS[layout]), "version": VERSION}
    named = {f"{_PREFIX}{key}": text for key, text in metadata.items()}
    write_parquet(frame, path, metadata=named, row_group_size=rows_a_group)


def write_csv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as text that is safe in a spreadsheet: between tabs for .tsv, gzipped for .gz, else commas."""
    suffixes = Path(path).suffixes[-2:]
    text = to_csv(frame, "\t" if ".tsv" in suffixes else ",").encode()
    # Without a time stamp, so that the same frame gives the same bytes.
    write_bytes(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text, path)


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


@contextmanager
def readable(
    what: str | Path,
    problem: str = "cannot be read as a table",
    missing: str = "there is no such file",
    broken: tuple[type[BaseException], ...] = _BROKEN,
) -> Iterator[None]:
    """Turn an error of reading into a RankadjustError. what: the file. broken: the errors of a damaged file."""
    try:
        yield
    except FileNotFoundError:
        raise RankadjustError(f"{what}: {missing}") from None
    except broken as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise RankadjustError(f"{what}: {problem} ({reason})") from None


def read_parquet(path: str | Path) -> pl.DataFrame:
    """Return the frame in a Parquet file."""
    with Path(path).open("rb") as file:
        return pl.read_parquet(file, use_pyarrow=False)


def layout_of(path: str | Path) -> tuple[str | None, str | None, str | None]:
    """Return the kind of table in a Parquet file, the number of its layout and the version of rankadjust that wrote it.

    Each is None where the file does not say.
    """
    with Path(path).open("rb") as file:
        metadata = pl.read_parquet_metadata(file)
    table, schema, version = (metadata.get(f"{_PREFIX}{key}") for key in ("table", "schema", "version"))
    return table, schema, version


def read_product(
    path: str | Path, layout: str, columns: Mapping[str, pl.DataType] | None = None
) -> pl.DataFrame:
    """Return the table in a file that `write_product` wrote.

    columns: what the table must have; then one that does not say its layout is read, too. Raises RankadjustError where
    the file is missing, damaged, or has another layout, as files of other versions may.
    """
    if Path(path).is_dir():
        raise RankadjustError(f"{path}: this is a folder; give the Parquet file itself")
    missing = "there is no such file; 'snakemake --cores all database' makes one"
    with readable(path, "not a Parquet file, or a damaged one", missing), Path(path).open("rb") as file:
        table, schema, version = layout_of(path)
        if (table, schema) != (layout, str(LAYOUTS[layout])) and (columns is None or table == layout):
            writer = f"rankadjust {version} with schema {schema} of {table}" if table else "another program"
            raise RankadjustError(
                f"{path}: made by {writer}; this is rankadjust {VERSION}, which reads schema {LAYOUTS[layout]} of "
                f"{layout}; use that version, or make it again with snakemake --cores all --force {path}"
            )
        found = pl.read_parquet_schema(file)
        for column, kind in (columns or {}).items():
            if found.get(column) != kind:
                holds = f"its column {column!r} holds {found.get(column)}, not {kind}"
                problem = holds if column in found else f"it lacks the column {column!r}"
                raise RankadjustError(f"{path}: not a table of {layout}, because {problem}")
        return pl.scan_parquet(file).collect()


def read_csv(source: str | Path | bytes, **options: Any) -> pl.DataFrame:  # noqa: ANN401 - polars.read_csv's
    """Return the frame in delimited text; cells are text where no option says otherwise."""
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return pl.read_csv(data, **{"infer_schema": False} | options)


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the object in a JSON file that a stage wrote; a RankadjustError where it is missing or damaged."""
    with readable(path, "cannot be read as JSON", broken=(OSError, ValueError)):
        data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return data


# --- text that a spreadsheet may open --------------------------------------------------------------------------------

# A spreadsheet computes a cell that begins with one of these (OWASP, "CSV Injection"), so it gets an apostrophe
# before it, which `without_guards` takes away again. The wide ones of Japanese keyboards are taken for the narrow ones.
_SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
_HARMLESS = r"^-+$|^[+-]?(?:[0-9][0-9,]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ ]?%?$"


def to_csv(frame: pl.DataFrame, separator: str = ",") -> str:
    """Return a frame as CSV; text and names of columns that a spreadsheet would compute are guarded.

    Numbers and dashes stay as they are: -0.3, +12 % and -. A cell that had apostrophes before a sign gets one more.
    """
    texts = pl.selectors.string(include_categorical=True) | pl.selectors.enum()
    guarded = frame.with_columns(_guarded(texts.cast(pl.String)))
    return guarded.rename(_renamed(frame, _guarded)).write_csv(separator=separator)


def without_guards(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of text, as read from a file that `to_csv` wrote, with its cells and names as they were."""
    cells, names = frame.with_columns(_unguarded(pl.col(pl.String))), _renamed(frame, _unguarded)
    # Two names of another file's columns may be the same without their apostrophes.
    return cells.rename(names) if len(set(names.values())) == len(names) else cells


def _renamed(frame: pl.DataFrame, change: Callable[[pl.Expr], pl.Expr]) -> dict[str, str]:
    names = pl.Series("name", frame.columns, dtype=pl.String)
    return dict(zip(names, names.to_frame().select(change(pl.col("name"))).to_series(), strict=True))


def _guarded(cell: pl.Expr) -> pl.Expr:
    is_safe = ~cell.str.contains(rf"^'*{_SIGNS}") | cell.str.contains(_HARMLESS)
    return pl.when(is_safe).then(cell).otherwise("'" + cell)


def _unguarded(cell: pl.Expr) -> pl.Expr:
    return pl.when(cell.str.contains(rf"^''*{_SIGNS}")).then(cell.str.slice(1)).otherwise(cell)
