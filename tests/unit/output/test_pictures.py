"""Pictures: the same bytes with and without fonts of the system."""

import os
import struct
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from rankadjust.database.store import load_database
from rankadjust.literature.case_study import audit
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy
from rankadjust.output import pictures
from rankadjust.page.charts import AUDIT, RESULTS, figures_of
from rankadjust.page.figures import write_figures

FONTS = Path(pictures.__file__).parent / "fonts"
# The first line is drawn as any program would draw it, with the font that vl-convert takes for Liberation Sans.
DRAW = """\
import json
import sys
from hashlib import sha256
from pathlib import Path
import vl_convert
from rankadjust.output.pictures import png_of_svg
from rankadjust.page.figures import Figure, svg_of
mark = {"type": "text", "font": "Liberation Sans", "text": "how wide is this?"}
plain = {"data": {"values": [1]}, "mark": mark, "encoding": {"x": {"value": 0}}}
print(vl_convert.vegalite_to_svg(plain).partition(" viewBox")[0])
for path in sorted(Path(sys.argv[1]).glob("*.json")):
    data = json.loads(path.read_text())
    title, description, about = (data.pop(key) for key in ("title", "description", "usermeta"))
    svg = svg_of(Figure(path.stem, title, about["caption"], description, data))
    png = png_of_svg(svg, 2)
    print(path.stem, sha256(svg.encode()).hexdigest(), sha256(png).hexdigest())
"""


@pytest.fixture(scope="module")
def figures(project, tmp_path_factory):
    """Write the figures that the case study alone gives."""
    folder = tmp_path_factory.mktemp("figures")
    database = load_database()
    results = rescore(read_tidy(project / "resources/published/hoyt2022-case-study.csv"))
    write_figures(list(figures_of({RESULTS: results, AUDIT: audit(results, database)})), folder)
    return folder


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


def drawn(figures, fonts):
    """Return the first line that `DRAW` says on a machine with these fonts, and the others."""
    settings = figures.parent / f"{fonts.name}.conf"
    settings.write_text(f"<fontconfig><dir>{fonts}</dir></fontconfig>")
    machine = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(figures))
    machine["FONTCONFIG_FILE"] = str(settings)
    done = subprocess.run(
        [sys.executable, "-c", DRAW, figures],
        env=os.environ | machine,
        capture_output=True,
        text=True,
        check=True,
    )
    plain, *lines = done.stdout.splitlines()
    return plain, lines


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the fonts of Linux are replaced")
def test_the_figures_of_the_case_study_are_the_same_with_other_fonts(figures, machines):
    (plain, bare), (stretched, wide) = (drawn(figures, fonts) for fonts in machines)
    assert plain != stretched, "the wide font is not seen: nothing is tested"
    assert {"adjustment", "case-study"} <= {line.split()[0] for line in bare}
    assert bare == wide


@pytest.mark.slow
def test_the_figures_of_the_documents_are_what_a_run_draws(project, figures):
    for name in ("adjustment", "case-study"):
        kept, written = (
            (folder / f"{name}.svg").read_text(encoding="utf-8")
            for folder in (project / "docs" / "figures", figures)
        )
        assert kept == written, f"copy {name}.svg from results/figures: docs/case-study.md"


@pytest.mark.slow
def test_every_character_of_the_figures_is_in_the_font(figures):
    """What is not would be drawn with a font of the system."""
    text = "".join(unescape(path.read_text(encoding="utf-8")) for path in figures.glob("*.svg"))
    for path in FONTS.glob("*.ttf"):
        assert set(text) - characters(path.read_bytes()) == set()


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
