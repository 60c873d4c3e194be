"""docs/api.md: a page on the public names, made of their docstrings: python -m harness.api_page > docs/api.md."""

import sys
from collections.abc import Callable, Iterator
from textwrap import wrap

import griffe

import rankadjust

OPENING = """# The library

<!-- Made of the docstrings: python -m harness.api_page > docs/api.md. The examples are run as tests. -->

All names that `from rankadjust import ...` offers, in alphabetical order. Frames are polars frames; frames of pandas
and pyarrow work too. A mistake in your input raises a `RankadjustError` with a message of one line.

"""


def api_page() -> str:
    """Return the page as Markdown."""
    package = griffe.load(
        "rankadjust", docstring_parser="numpy", docstring_options={"warnings": False}, allow_inspection=False
    )
    members = {name: package[f"{module}.{name}"] for name, module in rankadjust._MODULES.items()}
    contents = "".join(f"* [{name}](#{name.lower()}): {_purpose(members[name])}\n" for name in members)
    return OPENING + contents + "".join(_described(name, member) for name, member in members.items())


def _docstring(described: griffe.Object | griffe.Alias) -> griffe.Docstring:
    if described.docstring is None:
        raise ValueError(f"{described.path} has no docstring")
    return described.docstring


def _purpose(described: griffe.Object | griffe.Alias) -> str:
    return _docstring(described).value.splitlines()[0].rstrip()


def _described(name: str, described: griffe.Object | griffe.Alias, level: str = "##") -> str:
    lines = [f"\n{level} {name}\n"]
    if isinstance(described, griffe.Function):
        signature = described.signature(name=name.rpartition(".")[2])
        lines += ["```python", *wrap(signature, 110, subsequent_indent="    "), "```\n"]
    for section in _docstring(described).parsed:
        lines += _WRITERS.get(section.kind.value, _unknown)(section)
    if level == "##":
        path = described.relative_package_filepath.as_posix()
        lines.append(f"Source: [{path}](../{path})\n")
    methods = [member for member in _members(described) if _is_public(member)] if described.is_class else []
    return "\n".join(lines) + "".join(
        _described(f"{name}.{member.name}", member, level + "#") for member in methods
    )


def _members(described: griffe.Object | griffe.Alias) -> list[griffe.Object | griffe.Alias]:
    """Return what a class has, after what it inherits."""
    inherited = (member.final_target for member in described.inherited_members.values())
    return [*inherited, *described.members.values()]


def _is_public(member: griffe.Object | griffe.Alias) -> bool:
    return member.is_function and not member.name.startswith("_") and member.docstring is not None


def _text(section: griffe.DocstringSection) -> Iterator[str]:
    yield f"{section.value}\n"


def _listed(title: str) -> Callable[[griffe.DocstringSection], Iterator[str]]:
    def lines(section: griffe.DocstringSection) -> Iterator[str]:
        yield f"**{title}**\n"
        for element in section.value:
            yield f"* {_head(element)}: {' '.join(element.description.split())}"
        yield ""

    return lines


def _head(element: griffe.DocstringElement) -> str:
    name, kind = getattr(element, "name", ""), element.annotation
    said = " ".join(f"{kind}".split()).replace("shape(", "shape (") if kind is not None else ""
    if said.startswith("("):
        said = said[1:-1]
    return ", ".join(part for part in (f"`{name}`" if name else "", f"`{said}`" if said else "") if part)


def _examples(section: griffe.DocstringSection) -> Iterator[str]:
    yield "**Examples**\n"
    for kind, text in section.value:
        yield f"```pycon\n{text}\n```\n" if kind.value == "examples" else f"{text}\n"


def _remark(section: griffe.DocstringSection) -> Iterator[str]:
    """Yield a section with a title of its own: References, Notes."""
    yield f"**{section.title}**\n"
    yield f"{section.value.description}\n"


def _unknown(section: griffe.DocstringSection) -> Iterator[str]:
    raise ValueError(f"there is no way to write a section {section.kind.value!r}")


_WRITERS = {
    "text": _text,
    "parameters": _listed("Parameters"),
    "other parameters": _listed("Parameters"),
    "attributes": _listed("Attributes"),
    "returns": _listed("Returns"),
    "raises": _listed("Raises"),
    "examples": _examples,
    "admonition": _remark,
}


if __name__ == "__main__":
    sys.stdout.write(api_page())
