"""A page of the site: Markdown with a head, and its data as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.site.rendering import rendered
from rankadjust.base.io import write_text
from rankadjust.base.version import VERSION

ADDRESS = "https://rankadjust.github.io/rankadjust/"
REPOSITORY = "https://github.com/rankadjust/rankadjust/blob/main/"


@dataclass(frozen=True)
class Page:
    """A page of the site.

    folder: the folder of the page, without a slash at the end. description: one sentence for search engines. cited: key
    and title of the BibTeX entry. template, values: the text of the page. data: the data that the page shows. files:
    further files of its folder by name.
    """

    folder: str
    title: str
    description: str
    cited: tuple[str, str]
    template: str
    values: Mapping[str, Any]
    data: Any
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the page on the site."""
        return f"{ADDRESS}{self.folder}/" if self.folder else ADDRESS

    @property
    def bibtex(self) -> str:
        """The BibTeX entry of the page."""
        key, title = self.cited
        return (
            f"@misc{{rankadjust-{key},\n  title = {{{title}}},\n  author = {{{{The rankadjust authors}}}},\n"
            f"  note = {{rankadjust {VERSION}}},\n  url = {{{self.address}}}\n}}"
        )

    def write(self, root: Path) -> None:
        """Write the text of the page and its data below a folder."""
        folder = root / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        data = json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False)
        write_text(data + "\n", folder / "data.json")
        for name, text in self.files.items():
            write_text(text, folder / name)
        head = {
            "title": self.title,
            "description": self.description,
            "hide": ["navigation", "toc"],
        }
        text = rendered(self.template, page=self, **self.values)
        write_text(f"---\n{yaml.safe_dump(head, allow_unicode=True)}---\n\n{text}\n", folder / "index.md")
