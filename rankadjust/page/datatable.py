"""DataTables for the page, as `itables` ships it: one bundle with its extensions, put into the page whole, compressed.

page.js unpacks it and makes the tables.
"""

from itables.utils import find_package_file
from markupsafe import Markup

from rankadjust.page.templating import packed_element


def datatables_bundle() -> Markup:
    """Return the elements that hold script and style of DataTables; they hold nothing but what itables ships."""
    # Of the path, not of a user's settings of itables: the same page for everyone.
    return Markup("").join(
        packed_element(f"tables-{name}", find_package_file("html", f"dt_bundle.{end}").read_bytes())
        for name, end in (("library", "js"), ("style", "css"))
    )
