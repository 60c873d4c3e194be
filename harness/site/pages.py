"""A page of the site: Markdown with a head, its data as JSON, and a preview picture for shared links."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup

from rankadjust.base.files import write_bytes, write_text
from rankadjust.base.version import VERSION
from rankadjust.output.pictures import png_picture
from rankadjust.page.charts.theme import SCHEMES, configuration
from rankadjust.page.templating import environment

ADDRESS = "https://rankadjust.github.io/rankadjust/"
REPOSITORY = "https://github.com/rankadjust/rankadjust/blob/main/"
_TEMPLATES = environment().overlay(
    loader=jinja2.ChoiceLoader(
        [
            jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
            jinja2.PackageLoader("rankadjust.page"),
        ]
    )
)


@dataclass(frozen=True)
class Page:
    """A page of the site.

    folder: the folder of the page, without a slash at the end. description: one sentence for search engines. template,
    values: the text of the page. data: the data that the page shows. picture: Vega-Lite, 600 x 315, or None.
    cited: key and title of the page's BibTeX entry, for pages that show how to cite them.
    """

    folder: str
    title: str
    description: str
    template: str
    values: Mapping[str, Any]
    data: Any = None
    picture: Mapping[str, Any] | None = None
    head: Mapping[str, Any] = field(default_factory=dict)
    cited: tuple[str, str] | None = None

    @property
    def address(self) -> str:
        """The address of the page on the site."""
        return f"{ADDRESS}{self.folder}/" if self.folder else ADDRESS

    @property
    def bibtex(self) -> str:
        """The BibTeX entry of the page."""
        if self.cited is None:
            raise ValueError(f"the page {self.folder} has no BibTeX entry")
        key, title = self.cited
        return (
            f"@misc{{rankadjust-{key},\n  title = {{{title}}},\n  author = {{{{The rankadjust authors}}}},\n"
            f"  note = {{rankadjust {VERSION}}},\n  url = {{{self.address}}}\n}}"
        )

    def write(self, root: Path) -> None:
        """Write the page, its data and its picture below a folder."""
        folder = root / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        head = {"title": self.title, "description": self.description, **self.head}
        if self.data is not None:
            write_text(
                json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
                folder / "data.json",
            )
        if self.picture is not None:
            head["picture"] = f"{self.address}preview.png"
            write_bytes(png_picture(_framed(self.picture), 2), folder / "preview.png")
        text = rendered(self.template, page=self, **self.values)
        write_text(f"---\n{yaml.safe_dump(head, allow_unicode=True)}---\n\n{text}\n", folder / "index.md")


def rendered(template: str, **values: object) -> Markup:
    """Return a template of the site or of the report, filled with values."""
    return Markup(_TEMPLATES.get_template(template).render(values))


def _framed(picture: Mapping[str, Any]) -> dict[str, Any]:
    scheme = SCHEMES["light"]
    return {**picture, "padding": 16, "config": configuration(scheme) | {"background": scheme.background}}
