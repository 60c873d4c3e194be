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
from rankadjust.page.material import Material
from rankadjust.page.report import report_page
from rankadjust.page.templating import shipped_text
from tests.unit.page.test_sections import PRINTED


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
    assert "Permission is hereby granted, free of charge" in page
