"""Strategies for documents: valid ones of every format, and what hostile hands or bad luck make of them."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Sequence

import numpy as np
import polars as pl
import yaml
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

# What has broken readers elsewhere: signs with a meaning to some format, and values at the end of what is possible.
NASTY = (
    *(
        "\0",
        "\ufeff",
        "\u202e",
        "\u2028",
        "\x1b[31m",
        "\x07",
        "\x85",
        "\r",
        "\r\n",
        "\n\n",
        "\t",
        "\x0b",
        "\ud800",
    ),
    *(
        "=cmd|' /C calc'!A0",
        "+1+1",
        "@SUM(A1)",
        "-1",
        '"',
        "'",
        "`",
        "\\",
        "|",
        "<",
        ">",
        "&",
        "#",
        "%",
        "{",
        "}",
    ),
    *(
        "[",
        "]",
        "(",
        ")",
        ":",
        ";",
        ",",
        "*",
        "!",
        "?",
        "$",
        "~",
        "^",
        "_",
        "/",
        "//",
        "...",
        "---",
        "===",
        "é",
        "漢",
    ),
    *(
        "0",
        "-0",
        "1e999999",
        "1e-999999",
        "NaN",
        "inf",
        "-inf",
        "9" * 5000,
        "0." + "1" * 400,
        "1_000",
        "0x1F",
        "½",
    ),
    *(
        "²",
        "٣",
        "1,234",
        "1.234,5",
        "±",
        "%%",
        "true",
        "null",
        "~",
        "yes",
        "<<",
        "&a",
        "*a",
        "!!python/object:os",
    ),
    *("{{", "}}", "{0}", "%s", "$(id)", "../..", "C:\\", "file:///etc/passwd", "\U0010ffff", "a\u0301" * 40),
)


def text_documents(seeds: Sequence[str], words: Sequence[str] = ()) -> st.SearchStrategy[bytes]:
    """Return documents made from valid ones by a few changes, as bytes in UTF-8 or, seldom, in another encoding.

    seeds: valid documents. words: what has a meaning in the format.
    """

    @st.composite
    def documents(draw: st.DrawFn) -> bytes:
        text = draw(st.sampled_from(seeds))
        pieces = st.sampled_from((*words, *words, *NASTY)) | st.text(max_size=8)
        for _ in range(draw(st.integers(0, 6))):
            text = _changed(draw, text, pieces, seeds)
        return _encoded(draw, text)

    return documents()


def _changed(draw: st.DrawFn, text: str, pieces: st.SearchStrategy[str], seeds: Sequence[str]) -> str:
    """Return a text with one change: of characters, of lines, or of what comes after a place."""
    lines = text.split("\n")
    first = draw(st.integers(0, len(text)))
    last = min(len(text), first + draw(st.integers(0, 40)))
    line = draw(st.integers(0, len(lines) - 1))
    kind = draw(st.integers(0, 7))
    if kind == 4:
        other = draw(st.integers(0, len(lines) - 1))
        lines[line], lines[other] = lines[other], lines[line]
        return "\n".join(lines)
    if kind == 5:
        several = lines[line : line + 3] * draw(st.integers(0, 20))
        return "\n".join([*lines[:line], *several, *lines[line + 3 :]])
    if kind == 6:
        other_seed = draw(st.sampled_from(seeds))
        return text[:first] + other_seed[draw(st.integers(0, len(other_seed))) :]
    if kind == 0:
        new, last = draw(pieces), first
    elif kind == 1:
        new = draw(pieces)
    elif kind == 2:
        new = text[first:last] * draw(st.sampled_from((2, 3, 30, 300, 1100)))
    elif kind == 3:
        new = ""
    else:
        # A word of the document, where it does not belong.
        words = text.split()
        new = draw(st.sampled_from(words)) if words else ""
    return text[:first] + new + text[last:]


def _encoded(draw: st.DrawFn, text: str) -> bytes:
    kind = draw(st.integers(0, 24))
    if kind == 0:
        return text.encode("utf-16", "surrogatepass")
    if kind == 1:
        return text.encode("cp1252", "replace")
    if kind == 2:
        return b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass")
    data = text.encode("utf-8", "surrogatepass")
    return data.replace(b"\n", b"\r\n") if kind == 3 else data


def byte_documents(valid: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Return valid documents as they are, and with some bytes flipped, lost, repeated or put in."""

    @st.composite
    def documents(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(valid))
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 4)))):
            first = draw(st.integers(0, len(data)))
            # Lengths and offsets stand at both ends of such files.
            first = min(first, draw(st.integers(0, 200))) if draw(st.booleans()) else first
            first = len(data) - first if draw(st.booleans()) else first
            last = min(len(data), first + draw(st.integers(0, 16)))
            kind = draw(st.integers(0, 4))
            if kind == 0 and first < len(data):
                data[first] ^= 1 << draw(st.integers(0, 7))
            elif kind == 1:
                del data[first:last]
            elif kind == 2:
                data[first:last] = draw(st.binary(max_size=16))
            elif kind == 3:
                data[first:first] = data[first:last] * draw(st.integers(1, 50))
            else:
                del data[first:]
        return bytes(data)

    return documents()


# Plain values as YAML and JSON have them, of every kind and any nesting.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from((10**400, float("nan"), float("inf"), "", "\0", "9" * 5000, *NASTY[:12]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=4)
    ),
    max_leaves=8,
)


_ALIASES = "a: &a [1, 1]\n" + "".join(
    f"{chr(code)}: &{chr(code)} [{','.join([f'*{chr(code - 1)}'] * 9)}]\n"
    for code in range(ord("b"), ord("k"))
)
# Documents that take memory, time or depth without end where they are believed, and rare parts of the language.
BOMBS = (
    _ALIASES,
    *("[" * 900, "{a: " * 900, "- " * 900, "? " * 900, "&a [*a]", "&a {a: *a}"),
    *("? [a, b]\n: 1\n", "? {a: 1}\n: 1\n", "a: " + "9" * 5000, "a: 0b" + "1" * 20000, "a: 0x" + "f" * 5000),
    *("a: 1.0e+99999", "a: 190:20:30:15.5", "a: 9" + ":59" * 5000, "%YAML 9.9\n---\n1", "--- 1\n--- 2\n"),
    *("!!binary x", "a: !!set {b}", "<<: 1", "a: !!omap [b: 1]", "a: !!timestamp 1", "a: !!bool x"),
)


def yaml_documents(seeds: Sequence[str], words: Sequence[str] = ()) -> st.SearchStrategy[bytes]:
    """Return YAML with values in the wrong place, and YAML with broken syntax."""
    # Not read before a document is drawn: the registry takes a second, and most tests draw none.
    data = st.deferred(lambda: st.sampled_from([found for found in map(_data, seeds) if found is not None]))

    @st.composite
    def misplaced(draw: st.DrawFn) -> bytes:
        changed = yaml.safe_load(yaml.safe_dump(draw(data)))
        for _ in range(draw(st.integers(1, 3))):
            changed = _with_value(draw, changed, words)
        return yaml.safe_dump(changed, allow_unicode=draw(st.booleans())).encode("utf-8", "surrogatepass")

    return misplaced() | text_documents(
        (*seeds, *BOMBS), (*words, ": ", "- ", "\n  ", "? ", "&a ", "*a", "[", "{", *BOMBS[-6:])
    )


def _data(seed: str) -> object:
    """Return the data of a YAML document; None for a trace, which has a document on each line."""
    try:
        return yaml.safe_load(seed)
    except yaml.YAMLError:
        return None


def _with_value(draw: st.DrawFn, data: object, words: Sequence[str]) -> object:
    """Return the data with one value, at any depth, replaced, removed or added."""
    if isinstance(data, dict) and data and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(list(data)))
        if not draw(st.integers(0, 6)):
            value = data.pop(key)
            data[draw(st.sampled_from(words) if words else st.text(max_size=5))] = value
        else:
            data[key] = _with_value(draw, data[key], words)
        return data
    if isinstance(data, list) and data and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(data) - 1))
        data[place] = _with_value(draw, data[place], words)
        return data
    return draw(st.sampled_from(words) | VALUES if words else VALUES)


# Arrays as numpy's files hold them, and archives of them


def _shapes() -> st.SearchStrategy[tuple[int, ...]]:
    return arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)


def any_arrays() -> st.SearchStrategy[np.ndarray]:
    """Return arrays of any plain type and shape."""
    kinds = (
        arrays.integer_dtypes()
        | arrays.unsigned_integer_dtypes()
        | arrays.floating_dtypes()
        | arrays.boolean_dtypes()
        | arrays.unicode_string_dtypes(max_len=5)
        | arrays.byte_string_dtypes(max_len=5)
        | arrays.complex_number_dtypes()
        | arrays.datetime64_dtypes()
    )
    return kinds.flatmap(lambda kind: arrays.arrays(kind, _shapes()))


def npy(array: np.ndarray) -> bytes:
    """Return the bytes of an npy file; an array of objects is pickled, as numpy does."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(members: dict[str, np.ndarray], *, packed: bool = False) -> bytes:
    """Return the bytes of an npz file."""
    buffer = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(buffer, **members)
    return buffer.getvalue()


def lying_npy(dtype: str, shape: str, rest: bytes) -> bytes:
    """Return an npy file whose header says something about its bytes that need not be so."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rest


def lying_npys() -> st.SearchStrategy[bytes]:
    """Return npy files with any header."""
    kinds = st.sampled_from(
        ("'<i8'", "'<f4'", "'|b1'", "'<U900000'", "'|O'", "'>u2'", "[('a', '<i8')]", "'<m8[s]'", "''", "1")
    )
    sizes = st.sampled_from(
        (
            "(3, 3)",
            "(2500000000,)",
            "(50000, 50000)",
            "(0,)",
            "()",
            "(-1,)",
            "(2**40,)",
            "(3,)",
            "(1, 0)",
            "3",
            "(99999999999999999999,)",
        )
    )
    return st.builds(lying_npy, kinds, sizes, st.binary(max_size=80))


def frames_as(kind: str, columns: st.SearchStrategy[dict[str, list[object]]]) -> st.SearchStrategy[bytes]:
    """Return frames as 'parquet', 'csv' or 'tsv'. columns: names and values, of any types."""

    def written(values: dict[str, list[object]]) -> bytes:
        frame = pl.DataFrame(
            [pl.Series(name, column, strict=False) for name, column in values.items() if column]
            if len({len(column) for column in values.values()}) == 1
            else {}
        )
        buffer = io.BytesIO()
        if kind == "parquet":
            frame.write_parquet(buffer)
        else:
            flat = frame.select(
                column
                for column in frame
                if not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object)
            )
            flat.write_csv(buffer, separator="," if kind == "csv" else "\t")
        return buffer.getvalue()

    return columns.map(written)


def columns_of(names: Sequence[str], rows: int = 4) -> st.SearchStrategy[dict[str, list[object]]]:
    """Return columns of these names with as many rows each, of one kind of values each."""
    kinds = (
        st.integers(1, 9),
        st.integers(-(2**62), 2**62),
        st.floats(),
        st.sampled_from(("head", "tail", "Head", "", "x\n", *NASTY[:8])),
        st.booleans(),
        st.none(),
        st.lists(st.integers(0, 3), max_size=2),
        st.dates(),
        st.binary(max_size=3),
        st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-99, max_value=99),
        st.fixed_dictionaries({"a": st.integers(0, 3)}),
    )
    return st.integers(0, rows).flatmap(
        lambda height: st.dictionaries(
            st.sampled_from(names),
            st.sampled_from((0, 0, 0, *range(len(kinds)))).flatmap(
                lambda kind: st.lists(
                    kinds[kind] | st.none() if kind == 3 else kinds[kind], min_size=height, max_size=height
                )
            ),
            min_size=1,
            max_size=6,
        )
    )


# Archives


def zipped(members: Sequence[tuple[str, bytes]], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive of these members, names as they are and as often as they come."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name.encode("utf-8", "replace").decode() or "x")
            entry.compress_type = packing
            archive.writestr(entry, data)
    return buffer.getvalue()


def tarred(members: Sequence[tuple[str, bytes]], kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return a tar archive of these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            entry.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def members_of(names: Sequence[str]) -> st.SearchStrategy[list[tuple[str, bytes]]]:
    """Return members of an archive."""
    name = st.sampled_from((*names, *names, "../x", "/x", "a\\..\\x", "C:x", "")) | st.text(max_size=6)
    return st.lists(st.tuples(name, st.binary(max_size=40) | st.just(b"a\tr\tb\n" * 50)), max_size=4)


def gzipped(valid: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Return gzipped documents."""
    return valid.map(lambda data: gzip.compress(data, mtime=0))


def repeated(document: bytes, first: int, last: int, times: int) -> bytes:
    """Return a document in which a part stands `times` times: what is slower than linear takes forever on it."""
    return document[:first] + document[first:last] * times + document[last:]
