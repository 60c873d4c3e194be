"""Text put into the page so that it stays text: templates that escape, and data for the page's script."""

import base64
import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from rankadjust.output.formatting import number

# Within a script element only these could end it, or begin a comment; JSON may write any character as an escape.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True)
class Section:
    """A part of the page: the id that an address names, its title in the table of contents, and its content."""

    id: str
    title: str
    content: Markup


@cache
def environment() -> jinja2.Environment:
    """Return the environment of page/templates: it escapes values, and a missing value is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankadjust.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment


def render(template: str, **values: object) -> Markup:
    """Return a template of page/templates with its values, every one of which is escaped unless it is Markup."""
    return Markup(environment().get_template(template).render(values))


def shipped_text(name: str) -> Markup:
    """Return a file of page/templates as it stands: the style sheet, the script."""
    return Markup((files("rankadjust.page") / "templates" / name).read_text(encoding="utf-8"))


def data_element(name: str, data: object) -> Markup:
    """Return data for the page's script, as a script element of the id `name` that the browser does not run.

    Whatever the data hold, nothing in them ends the element. Floats have 17 digits at most, the same number again.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPED.items():
        text = text.replace(character, escape)
    return (
        Markup('<script type="application/json" id="{}">').format(name) + Markup(text) + Markup("</script>")
    )


def packed_element(name: str, data: object) -> Markup:
    """Return data for the page's script, compressed; bytes as they are, all else as JSON."""
    content = (
        data
        if isinstance(data, bytes)
        else json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    )
    text = base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")
    return Markup('<script type="application/octet-stream" id="{}">{}</script>').format(name, text)
