"""DataTables for the page: the bundle with extensions that `itables` ships, put into the page compressed.

page.js unpacks the bundle and makes the tables.
"""

from importlib.metadata import distribution
from pathlib import Path

from markupsafe import Markup

from rankadjust.page.templating import packed_element


def datatables_bundle() -> Markup:
    """Return the elements with the script and the style of DataTables, unchanged from itables."""
    # Use the shipped path, not the itables settings of a user, so that everyone gets the same page. To import itables
    # would import pandas as well.
    folder = Path(str(distribution("itables").locate_file("itables/html")))
    return Markup("").join(
        packed_element(f"tables-{name}", (folder / f"dt_bundle.{end}").read_bytes())
        for name, end in (("library", "js"), ("style", "css"))
    )
