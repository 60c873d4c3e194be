"""Pictures: the same bytes with and without fonts of the system."""

import os
import struct
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy
from rankadjust.output import pictures
from rankadjust.page.adjustment_figure import ACCENT, CATEGORIES, FAINT, INK, adjustment_figure

FONTS = Path(pictures.__file__).parent / "fonts"
# The first line is drawn as any program would draw it, with the font that vl-convert takes for Liberation Sans.
DRAW = """\
import sys
import polars as pl
import vl_convert
from rankadjust.page.adjustment_figure import adjustment_figure
mark = {"type": "text", "font": "Liberation Sans", "text": "how wide is this?"}
plain = {"data": {"values": [1]}, "mark": mark, "encoding": {"x": {"value": 0}}}
print(vl_convert.vegalite_to_svg(plain).partition(" viewBox")[0])
print(adjustment_figure(pl.read_parquet(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def results(project):
    return rescore(read_tidy(project / "resources/published/hoyt2022-case-study.csv"))


@pytest.fixture(scope="module")
def figure(results):
    return adjustment_figure(results)


def number(data, at, size="H"):
    return struct.unpack_from(f">{size}", data, at)[0]


def table(data, name):
    """Return where a table of a font begins (OpenType 1.9, "Table directory")."""
    (entry,) = (at for at in range(12, 12 + 16 * number(data, 4), 16) if data[at : at + 4] == name)
    return number(data, entry + 8, "L")


def wide_font(data):
    """Return the font under the name Liberation Sans, and twice as wide: its em is half as many units."""
    em = table(data, b"head") + 18
    halved = data[:em] + struct.pack(">H", number(data, em) // 2) + data[em + 2 :]
    return halved.replace("Rankadjust".encode("utf-16-be"), "Liberation".encode("utf-16-be"))


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Return two folders: the fonts of a machine that has none, and of one whose Liberation Sans is wide."""
    folder = tmp_path_factory.mktemp("machines")
    for name in ("bare", "wide"):
        (folder / name).mkdir()
        (folder / name / "note.txt").write_text("no font\n")
    for path in FONTS.glob("*.ttf"):
        (folder / "wide" / path.name).write_bytes(wide_font(path.read_bytes()))
    return folder / "bare", folder / "wide"


def drawn(results, fonts):
    """Return the first line that `DRAW` says on a machine with these fonts, and the others."""
    settings = fonts.parent / f"{fonts.name}.conf"
    settings.write_text(f"<fontconfig><dir>{fonts}</dir></fontconfig>")
    results.write_parquet(fonts.parent / "results.parquet")
    machine = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(fonts.parent))
    machine["FONTCONFIG_FILE"] = str(settings)
    done = subprocess.run(
        [sys.executable, "-c", DRAW, fonts.parent / "results.parquet"],
        env=os.environ | machine,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n", 1)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the fonts of Linux are replaced")
def test_the_figure_is_the_same_with_other_fonts(results, machines):
    (plain, bare), (stretched, wide) = (drawn(results, fonts) for fonts in machines)
    assert plain != stretched, "the wide font is not seen: nothing is tested"
    assert bare == wide


def test_the_figure_of_the_readme_is_what_a_run_draws(project, figure):
    assert 'role="img"' in figure.partition(">")[0]
    assert "(n = 16 results for both sides)" in figure
    kept = (project / "docs" / "figures" / "adjustment.svg").read_text(encoding="utf-8")
    assert kept == figure, "copy adjustment.svg from results/figures"


def test_every_character_of_the_figure_is_in_the_font(figure):
    """What is not would be drawn with a font of the system."""
    for path in FONTS.glob("*.ttf"):
        assert set(unescape(figure)) - characters(path.read_bytes()) == set()


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("colours", "least"), [((ACCENT, *CATEGORIES), 3), ((INK, FAINT), 4.5)])
def test_colours_stand_out_from_white(colours, least):
    """AA: 3 for marks, 4.5 for text (success criteria 1.4.11 and 1.4.3)."""
    assert all(1.05 / (luminance(colour) + 0.05) >= least for colour in colours)


def characters(data):
    """Return the characters of a font: the segments of its table cmap, format 4 (OpenType 1.9, "cmap")."""
    cmap = table(data, b"cmap")
    offsets = [cmap + number(data, cmap + 8 + 8 * at, "L") for at in range(number(data, cmap + 2))]
    (start,) = {at for at in offsets if number(data, at) == 4}
    count = number(data, start + 6) // 2
    ends = struct.unpack_from(f">{count}H", data, start + 14)
    starts = struct.unpack_from(f">{count}H", data, start + 16 + 2 * count)
    return {chr(code) for first, last in zip(starts, ends, strict=True) for code in range(first, last + 1)}


def test_the_licence_of_the_font_is_beside_it():
    licence = (FONTS / "LICENSE").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "Red Hat, Inc. with Reserved Font Name Liberation" in licence
    for path in FONTS.glob("*.ttf"):
        # The licence reserves this name for the original.
        assert "Liberation".encode("utf-16-be") not in path.read_bytes()
