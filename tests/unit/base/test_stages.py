"""Files between stages: what is written comes back, and what was changed since is refused before it is parsed."""

import json
import random
import subprocess
from xml.etree import ElementTree

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_sums
from rankadjust.base.stages import (
    CANDIDATES,
    FIGURE,
    PAIRS,
    SUMMARY,
    Product,
    check_if_sealed,
    check_product,
    check_sums,
    read_product,
    read_product_json,
    sealed_parquet,
    write_product,
    write_product_json,
    write_product_text,
)

FRAME = pl.DataFrame(
    {"split": ["testing"] * 500 + [None], "tasks": range(501), "share": [1 / 7 + n for n in range(501)]}
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>z of A &amp; B</title></svg>'


def write(kind, path, of="Nations"):
    if kind == "parquet":
        write_product(FRAME, path, CANDIDATES, of)
        return CANDIDATES
    if kind == "json":
        write_product_json(
            {"entities": 14, "label": "Zürich|", "triples": {"training": 3}}, path, SUMMARY, of
        )
        return SUMMARY
    write_product_text(SVG, path, FIGURE, of)
    return FIGURE


@pytest.mark.parametrize("of", ["Nations", "FB15k-237 (filtered)", "part 0 of 3 of A", "Größe | Ω%7C"])
def test_what_was_written_comes_back(tmp_path, of):
    path = tmp_path / "a"
    read = read_product(path, write("parquet", path, of), of)
    assert read.equals(FRAME)
    # Whoever reads it without this library finds a plain Parquet file.
    assert pl.read_parquet(path).equals(FRAME)
    data = read_product_json(path, write("json", path, of), of)
    assert data == {"entities": 14, "label": "Zürich|", "triples": {"training": 3}}
    check_product(path, write("svg", path, of), of)
    assert ElementTree.parse(path).getroot()[0].text == "z of A & B"


def test_the_same_content_is_the_same_bytes_and_a_stream_is_sealed_likewise(tmp_path):
    for kind in ("parquet", "json", "svg"):
        for name in ("a", "b"):
            write(kind, tmp_path / name)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with sealed_parquet(tmp_path / "c", CANDIDATES, "Nations") as (temporary, metadata):
        FRAME.lazy().sink_parquet(temporary, metadata=metadata, row_group_size=7)
    assert read_product(tmp_path / "c", CANDIDATES, "Nations").equals(FRAME)


def test_the_digest_is_that_of_the_file_with_zeros_in_its_place(tmp_path):
    """Computed with coreutils, from the text of docs/reliability.md alone."""
    path = tmp_path / "a"
    write("parquet", path)
    said = pl.read_parquet_metadata(path)["rankadjust.seal"].strip("|").split("|")[-1]
    assert path.read_bytes().count(said.encode()) == 1
    (tmp_path / "b").write_bytes(path.read_bytes().replace(said.encode(), b"0" * 64))
    found = subprocess.run(["sha256sum", tmp_path / "b"], capture_output=True, text=True, check=True).stdout
    assert found.split()[0] == said


def refused(path, product, of="Nations"):
    with pytest.raises(RankadjustError) as info:
        check_product(path, product, of)
    message = str(info.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    assert f"snakemake --cores all --force {path}" in message
    return message


@pytest.mark.parametrize("kind", ["parquet", "json", "svg"])
def test_no_flipped_bit_and_no_cut_passes(tmp_path, kind):
    """Every byte of the end of the file, where the seal stands, and a sample of all others."""
    path = tmp_path / "a"
    product = write(kind, path)
    whole = path.read_bytes()
    chosen = random.Random(21)
    places = [chosen.randrange(len(whole)) for _ in range(200)]
    for place in {*places, *range(max(0, len(whole) - 700), len(whole))}:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chosen.randrange(8)
        path.write_bytes(flipped)
        refused(path, product)
    for size in {0, 1, len(whole) - 1, *(chosen.randrange(len(whole)) for _ in range(100))}:
        path.write_bytes(whole[:size])
        refused(path, product)
    path.write_bytes(b"")
    assert "it is empty" in refused(path, product)
    path.write_bytes(whole + b"\n")
    assert "damaged" in refused(path, product)
    path.write_bytes(whole)
    check_product(path, product, "Nations")


def test_another_file_that_is_whole_is_told_by_its_seal(tmp_path):
    path = tmp_path / "a.parquet"
    write_product(FRAME, path, CANDIDATES, "Kinships")
    assert "it belongs to Kinships, not to Nations" in refused(path, CANDIDATES)
    write_product(FRAME, path, PAIRS, "Nations")
    assert "it holds pairs of candidates, not candidates" in refused(path, CANDIDATES)
    write_product(FRAME, path, Product(CANDIDATES.name, 99), "Nations")
    assert "made it with layout 99" in refused(path, CANDIDATES)
    # As versions before the seal wrote it, and as another program writes it anew.
    FRAME.write_parquet(path)
    assert "it has no seal" in refused(path, CANDIDATES)
    path.unlink()
    assert "No such file" in refused(path, CANDIDATES)


def test_a_table_that_was_written_anew_with_its_old_seal_is_damaged(tmp_path):
    path = tmp_path / "a.parquet"
    write("parquet", path)
    metadata = {"rankadjust.seal": pl.read_parquet_metadata(path)["rankadjust.seal"]}
    for other in (FRAME.head(250), FRAME.with_columns(pl.col("share") * 2), FRAME.rename({"tasks": "task"})):
        other.write_parquet(path, metadata=metadata)
        assert "damaged" in refused(path, CANDIDATES)


def test_a_file_that_may_be_anybodys_is_checked_where_it_has_a_seal(tmp_path):
    path = tmp_path / "a.parquet"
    FRAME.write_parquet(path)
    check_if_sealed(path)
    write("parquet", path)
    check_if_sealed(path)
    path.write_bytes(path.read_bytes().replace(b"testing", b"nesting"))
    with pytest.raises(RankadjustError, match="damaged"):
        check_if_sealed(path)


def test_a_file_without_its_seal_is_never_given_its_name(tmp_path):
    with (
        pytest.raises(AssertionError, match="without its seal"),
        sealed_parquet(tmp_path / "a", CANDIDATES, "A") as (path, _),
    ):
        FRAME.write_parquet(path)
    assert list(tmp_path.iterdir()) == []


def test_sums_are_those_of_coreutils_and_hold_the_files_of_a_folder(tmp_path):
    for name in ("b.tsv", "a.tsv"):
        (tmp_path / name).write_text(f"{name}\n")
    sums = tmp_path / "SHA256SUMS"
    write_sums([tmp_path / "b.tsv", tmp_path / "a.tsv"], sums)
    subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True, capture_output=True
    )
    check_sums(tmp_path / "a.tsv", tmp_path / "b.tsv")
    (tmp_path / "a.tsv").write_text("a.tsw\n")
    with pytest.raises(
        RankadjustError, match=r"a\.tsv: its bytes do not match its sum in .*SHA256SUMS; make it again"
    ):
        check_sums(tmp_path / "a.tsv")
    for text in ("", "nonsense\n", None):
        (tmp_path / "SHA256SUMS").write_text(text) if text is not None else (tmp_path / "SHA256SUMS").unlink()
        with pytest.raises(RankadjustError, match=r"b\.tsv: .*--force .*b\.tsv"):
            check_sums(tmp_path / "b.tsv")


def test_json_with_a_seal_is_json(tmp_path):
    write("json", tmp_path / "a.json")
    assert list(json.loads((tmp_path / "a.json").read_text())) == [
        "entities",
        "label",
        "triples",
        "rankadjust.seal",
    ]
