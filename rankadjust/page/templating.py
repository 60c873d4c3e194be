"""Templates that escape their values, and data for the script of the page."""

import base64
import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from rankadjust.output.terminal import cell


@dataclass(frozen=True)
class Section:
    """A part of the page: its id in addresses, its title in the table of contents, and its content."""

    id: str
    title: str
    content: Markup


@cache
def environment() -> jinja2.Environment:
    """Return the environment of page/templates, which escapes values and raises an error for a missing value."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankadjust.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = cell
    # The metrics of the first screen are in order.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment


def render(template: str, **values: object) -> Markup:
    """Return a template of page/templates, filled with values; each value is escaped unless it is Markup."""
    return Markup(environment().get_template(template).render(values))


def shipped_text(name: str) -> Markup:
    """Return a file of page/templates unchanged, such as the style sheet or the script."""
    return Markup((files("rankadjust.page") / "templates" / name).read_text(encoding="utf-8"))


def packed_element(name: str, data: object) -> Markup:
    """Return data for the script of the page as compressed JSON, in an element that the browser does not run."""
    content = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    text = base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")
    return Markup('<script type="application/octet-stream" id="{}">{}</script>').format(name, text)
