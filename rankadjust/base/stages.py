"""Files between the stages of the workflow: each carries its kind, its owner, and a digest of its bytes.

A file that was cut short, has a flipped bit, or was written by somebody else usually gives other numbers, and no
error. So each carries a seal: its kind, the number of its layout, the data set or table it belongs to, the
version that wrote it, and the SHA-256 of the file itself, computed with zeros in place of its own digits. The bytes
are compared before anything reads them as Parquet or JSON, so that no damage reaches a parser. The number of rows is
in the Parquet file's own metadata, which are among the bytes.

This is a digest of bytes where `rankadjust.base.sealed` has one of values: a released table may be written anew by
other programs and is read as a whole, while these files are read by the workflow alone, and some in parts.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, unquote

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import (
    SUMS,
    Source,
    atomic_path,
    opened,
    put_parquet,
    read_parquet,
    read_sums,
    sha256_of,
)
from rankadjust.base.version import VERSION

_KEY = "rankadjust.seal"
_DIGITS = 64
_DAMAGED = "damaged, its bytes are not those that were written"
_UNSEALED = "it has no seal: it was cut short, or an older version of rankadjust or another program wrote it"
# Between key and value the format puts at most four bytes.
_SEAL = re.compile(
    rb"rankadjust\.seal.{1,4}?\|([^|]{1,99})\|([0-9]{1,9})\|([^|]{1,999})\|([^|]{1,99})\|([0-9a-f]{64})\|",
    re.DOTALL,
)
# The seal is at the end of a file, after everything that grows with the data.
_END = 1 << 14
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Product:
    """A kind of file that a stage writes. schema: the number of its layout, raised with every change of it."""

    name: str
    schema: int


TRIPLES = Product("triples", 1)
LABELS = Product("labels", 1)
SUMMARY = Product("summary", 1)
CANDIDATES = Product("candidates", 1)
PAIRS = Product("pairs of candidates", 1)
MOMENTS = Product("moments", 1)
BASELINES = Product("baselines", 1)
BENCHMARKS = Product("moments of benchmarks", 1)
BOUNDS = Product("bounds", 1)
TASKS = Product("tasks", 2)
RESCORED = Product("re-scored results", 1)
FIGURE = Product("figure", 1)
PAGE = Product("report", 1)
CONFIGURATION = Product("configuration", 1)


def write_product(frame: pl.DataFrame, path: str | Path, product: Product, of: str) -> None:
    """Write a frame as a sealed Parquet file. of: the data set, or whatever else it belongs to, for the reader."""
    with sealed_parquet(path, product, of) as (temporary, metadata):
        put_parquet(frame, temporary, metadata)


@contextmanager
def sealed_parquet(path: str | Path, product: Product, of: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a temporary path and the metadata with which to write Parquet there; then seal it, and give it its name."""
    with atomic_path(path) as temporary:
        yield temporary, {_KEY: _seal(product, of)}
        _stamp(temporary)


def read_product(path: str | Path, product: Product, of: str) -> pl.DataFrame:
    """Return the frame in a sealed Parquet file, once `check_product` has found nothing."""
    with _checked(path, product, of) as file:
        return read_parquet(file)


def write_product_json(data: Mapping[str, Any], path: str | Path, product: Product, of: str) -> None:
    """Write an object as sealed JSON: the seal is its last entry."""
    text = json.dumps({**data, _KEY: _seal(product, of)}, indent=2) + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        _stamp(temporary)


def read_product_json(path: str | Path, product: Product, of: str) -> dict[str, Any]:
    """Return the object in a sealed JSON file, without the seal, once `check_product` has found nothing."""
    data: dict[str, Any] = json.loads(read_product_text(path, product, of))
    return {key: value for key, value in data.items() if key != _KEY}


def read_product_text(path: str | Path, product: Product, of: str) -> str:
    """Return the text of a sealed file, once `check_product` has found nothing."""
    with _checked(path, product, of) as file:
        return file.read().decode()


def write_product_text(text: str, path: str | Path, product: Product, of: str) -> None:
    """Write SVG, HTML or YAML, sealed: the seal is a comment at its end."""
    before, after = ("# ", "") if Path(path).suffix == ".yaml" else ("<!-- ", " -->")
    with atomic_path(path) as temporary:
        text = f"{text.rstrip()}\n{before}{_KEY}: {_seal(product, of)}{after}\n"
        temporary.write_text(text, encoding="utf-8", newline="\n")
        _stamp(temporary)


def check_product(path: str | Path, product: Product, of: str) -> None:
    """Raise RankadjustError, with the command that makes the file again, unless it is the right file, undamaged.

    The file is read once, some 2 GB a second; nothing of it is interpreted before its bytes are known to be those
    that were written.
    """
    with _checked(path, product, of):
        pass


@contextmanager
def _checked(path: str | Path, product: Product, of: str) -> Iterator[BinaryIO]:
    """Yield the file, open and at its beginning: what is read of it are the bytes that were checked."""
    path = Path(path)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            wrong = _wrong(file, product, of)
            file.seek(0)
        except OSError as error:
            wrong = f"it cannot be read ({error.strerror})"
        if wrong:
            raise RankadjustError(f"{path}: {wrong}; {remedy(path)}")
        yield file


def check_if_sealed(source: Source) -> None:
    """Raise RankadjustError where a file that may be anybody's has a seal, and other bytes than were sealed."""
    with opened(source) as file:
        seal = _mark_of(file)
        if seal is not None and seal.sha256 != _sha256(file, seal.place):
            raise RankadjustError(f"{file.name}: {_DAMAGED}; {remedy(Path(file.name))}")


def damage_of_sealed(path: Path) -> str:
    """Return how a sealed file of any kind differs from its seal; '' if it does not."""
    with path.open("rb") as file:
        return _not_whole(file, _mark_of(file))


def remedy(path: Path) -> str:
    """Return what makes a file of the workflow again, for the end of a message."""
    command = f"snakemake --cores all --force {shlex.quote(str(path))}"
    return f"make it again: {command} (with the options of your run)"


def check_sums(*paths: str | Path) -> None:
    """Raise RankadjustError where the digest of a file differs from the SHA256SUMS beside it."""
    for path in map(Path, paths):
        sums = path.with_name(SUMS)
        try:
            known = read_sums(sums)
            digest = sha256_of(path)
        except (OSError, ValueError) as error:
            raise RankadjustError(
                f"{path}: cannot be checked against {sums} ({error}); {remedy(path)}"
            ) from None
        if known.get(path.name) != digest:
            raise RankadjustError(f"{path}: its bytes do not match its sum in {sums}; {remedy(path)}")


def check_folder(folder: Path) -> None:
    """Raise RankadjustError where a file that the SHA256SUMS of a folder names is missing or changed."""
    try:
        names = list(read_sums(folder / SUMS))
    except (OSError, ValueError) as error:
        raise RankadjustError(
            f"{folder}: cannot be checked against its {SUMS} ({error}); {remedy(folder)}"
        ) from None
    check_sums(*(folder / name for name in names))


def _seal(product: Product, of: str) -> str:
    words = (product.name, str(product.schema), quote(of, safe=" ,()"), VERSION, "0" * _DIGITS)
    return f"|{'|'.join(words)}|"


def _wrong(file: BinaryIO, product: Product, of: str) -> str:
    """Return what is wrong with a file, '' where nothing is."""
    seal = _mark_of(file)
    damage = _not_whole(file, seal)
    if damage or seal is None:
        return damage
    if seal.name != product.name:
        return f"it holds {seal.name}, not {product.name}"
    if seal.schema != product.schema:
        return (
            f"rankadjust {seal.version} made it with layout {seal.schema}, and this is rankadjust {VERSION}, which "
            f"reads layout {product.schema}"
        )
    return "" if seal.of == of else f"it belongs to {seal.of}, not to {of}"


def _not_whole(file: BinaryIO, seal: "_Mark | None") -> str:
    """Return how a file differs from its seal; '' if it does not."""
    if seal is None:
        return _UNSEALED if file.seek(0, 2) else "it is empty"
    return "" if seal.sha256 == _sha256(file, seal.place) else _DAMAGED


@dataclass(frozen=True)
class _Mark:
    """What a seal says, and at which byte of the file the digits of its SHA-256 begin."""

    name: str
    schema: int
    of: str
    version: str
    sha256: str
    place: int


def _mark_of(file: BinaryIO) -> _Mark | None:
    """Return the last seal in a file."""
    start = max(0, file.seek(0, 2) - _END)
    file.seek(start)
    matches = list(_SEAL.finditer(file.read()))
    if not matches:
        return None
    name, schema, of, version, sha256 = (word.decode("utf-8", "replace") for word in matches[-1].groups())
    return _Mark(name, int(schema), unquote(of), version, sha256, start + matches[-1].start(5))


def _stamp(path: Path) -> None:
    """Put the SHA-256 of a file in the place of the zeros of its seal."""
    with path.open("r+b") as file:
        seal = _mark_of(file)
        if seal is None:
            raise AssertionError(f"{path} was written without its seal")
        digest = _sha256(file, seal.place)
        file.seek(seal.place)
        file.write(digest.encode())


def _sha256(file: BinaryIO, place: int) -> str:
    """Return the SHA-256 of a file, with the digits at a place counted as zeros."""
    digest = hashlib.sha256()
    file.seek(0)
    left = place
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    digest.update(b"0" * _DIGITS)
    file.seek(place + _DIGITS)
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()
