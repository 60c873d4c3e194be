"""The templates of the site; they can include templates of the report."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from rankadjust.page.templating import environment

_TEMPLATES = environment().overlay(
    loader=jinja2.ChoiceLoader(
        [
            jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
            jinja2.PackageLoader("rankadjust.page"),
        ]
    )
)


def rendered(template: str, **values: object) -> Markup:
    """Return a template of the site or of the report, filled with values."""
    return Markup(_TEMPLATES.get_template(template).render(values))
