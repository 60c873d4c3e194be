"""DataTables for the page, as `itables` ships it: one bundle with its extensions, put into the page whole.

The bundle of itables holds DataTables with ColumnControl, FixedColumns, Buttons and others. It is loaded as itables
loads it where there is no network: from the page, as a module. page.js makes the tables.
"""

from itables.javascript import generate_init_offline_itables_html
from itables.utils import find_package_file
from markupsafe import Markup

_END = "</script>"


def datatables_bundle() -> Markup:
    """Return the script element that loads DataTables; it holds nothing but what itables ships."""
    # Of the path, not of a user's settings of itables: the same page for everyone.
    html = generate_init_offline_itables_html(find_package_file("html", "dt_bundle.js"))
    script, end, _ = html.partition(_END)
    return Markup(script + end)
