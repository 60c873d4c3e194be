"""The licences of the JavaScript that the page holds: every library is named, in the page itself."""

import re

import polars as pl
import pytest
from itables.utils import find_package_file
from markupsafe import escape

from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import load_candidates, load_database, with_released
from rankadjust.literature.rescore import rescore
from rankadjust.page.figures import _library
from rankadjust.page.material import Material
from rankadjust.page.report import report_page
from rankadjust.page.templating import shipped_text
from tests.unit.page.test_sections import PRINTED

# The bundle of vl-convert has no notices, so that a library is known by a word that nothing else in it says.
VEGA = {
    "d3-array": "_intern",
    "d3-color": "rebeccapurple",
    "d3-delaunay": "voronoi",
    "d3-dsv": 'new Function("d"',
    "d3-force": "alphaDecay",
    "d3-format": "invalid format",
    "d3-geo": "gnomonic",
    "d3-geo-projection": "mollweide",
    "d3-hierarchy": "cycle",
    "d3-path": "negative radius",
    "d3-quadtree": "visitAfter",
    "d3-scale-chromatic": "7fc97f",
    "delaunator": "_hullTri",
    "Esprima": "Unexpected token",
    "fast-json-patch": "OPERATION_PATH_INVALID",
    "robust-predicates": "134217729",
    "semver": "SEMVER",
    "vega-themes": "fivethirtyeight",
    "vega-tooltip": "vg-tooltip",
    "Vega-Lite": "vega-lite",
}
LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "BSD": "Redistribution and use in source and binary forms",
    "ISC": "Permission to use, copy, modify, and/or distribute",
}


@pytest.fixture(scope="module")
def notices():
    return str(shipped_text("third-party.txt"))


def named(library, notices):
    return re.search(rf"(?<![\w-]){re.escape(library)}(?![\w-])", notices, flags=re.IGNORECASE) is not None


def test_what_itables_bundles_is_named(notices):
    bundle = find_package_file("html", "dt_bundle.js").read_text(encoding="utf-8")
    _, _, told = bundle.partition("Bundled license information:")
    paths = re.findall(r"^([\w.-]+)/\S+:$", told, flags=re.MULTILINE)
    packages = {re.sub(r"^datatables\.net-(?!dt$)|-dt$", "", path).removesuffix(".net") for path in paths}
    assert {"datatables", "buttons", "jquery", "jszip"} <= packages
    assert [name for name in sorted(packages) if not named(name, notices)] == []


def test_what_vl_convert_bundles_is_named(notices):
    bundle = _library()
    assert [library for library, word in VEGA.items() if word not in bundle] == []
    assert [library for library in VEGA if not named(library, notices)] == []


def test_the_page_holds_the_notices(project, notices):
    database = load_database()
    datasets = pl.read_csv(project / "resources" / "database" / "datasets.tsv", separator="\t")
    tables = {"mine": rescore(PRINTED.head(1), database)}
    page = report_page(
        Material(
            tables,
            Constants(with_released(database.head(0), database), Histograms([load_candidates()])),
            datasets,
        )
    )
    assert str(escape(notices)).strip() in page
    for words in LICENCES.values():
        assert words in page
