"""docs/api.md: a page on the public names, made of their docstrings: python -m harness.api_page > docs/api.md."""

import re
import sys
from collections.abc import Iterator
from textwrap import wrap

import griffe

import rankadjust

# A sentence with fewer words says little by itself.
_FEW = 8

OPENING = """# The library

<!-- Made of the docstrings: python -m harness.api_page > docs/api.md. The examples are run as tests. -->

For example, `from rankadjust import adjust` imports the function `adjust`, and `help(adjust)` explains its parameters,
its result and its errors. This page lists everything that you can import in this way. Tables come back as polars
frames, but you may also pass frames of pandas or pyarrow. A mistake in your input raises a `RankadjustError`.

"""


def api_page() -> str:
    """Return the page as Markdown."""
    package = griffe.load(
        "rankadjust", docstring_parser="numpy", docstring_options={"warnings": False}, allow_inspection=False
    )
    members = {name: package[f"{module}.{name}"] for name, module in rankadjust._MODULES.items()}
    return OPENING + "\n".join(line for name, member in members.items() for line in _lines(name, member))


def _lines(name: str, member: griffe.Object | griffe.Alias) -> Iterator[str]:
    """Yield signature, first sentence, methods or attributes, and examples of a public name."""
    yield f"## {name}\n"
    if isinstance(member, griffe.Function):
        lines = wrap(_signature(member), 100, subsequent_indent="    ")
        yield "\n".join(["```python", *lines, "```\n"])
    path = member.relative_package_filepath.as_posix()
    yield f"{_purpose(member)} Source: [{path}](../{path}).\n"
    methods = [found for found in _members(member) if _is_public(found)] if member.is_class else []
    if methods:
        yield "| method | what it does |\n|---|---|"
        yield from (f"| `{_signature(method)}` | {_purpose(method)} |" for method in methods)
        yield ""
    said = {section.kind.value: section.value for section in _docstring(member).parsed}
    if member.is_class and not methods and "attributes" in said:
        yield from (f"* `{one.name}`: {_beginning(one.description)}" for one in said["attributes"])
        yield ""
    for one in said.get("returns", ()):
        yield f"Returns `{one.annotation}`: {_beginning(one.description)}".removesuffix(": ") + "\n"
    for kind, text in said.get("examples", ()):
        yield f"```pycon\n{text}\n```\n" if kind.value == "examples" else f"{text}\n"


def _docstring(described: griffe.Object | griffe.Alias) -> griffe.Docstring:
    if described.docstring is None:
        raise ValueError(f"{described.path} has no docstring")
    return described.docstring


def _purpose(described: griffe.Object | griffe.Alias) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join(_docstring(described).value.partition("\n\n")[0].split())


def _beginning(text: str) -> str:
    """Return the first sentence, and the second too if the first has only a few words."""
    first, *others = re.split(r"(?<=[.])\s", " ".join(text.split()))
    return " ".join([first, *others[:1]]) if len(first.split()) < _FEW else first


def _signature(found: griffe.Object | griffe.Alias) -> str:
    """Return names and defaults of the parameters of a function; their types are in help()."""
    function = found.final_target if isinstance(found, griffe.Alias) else found
    if not isinstance(function, griffe.Function):
        raise ValueError(f"{found.path} is not a function")
    for parameter in function.parameters:
        parameter.annotation = None
    return function.signature(return_type=False).replace("/, ", "")


def _members(described: griffe.Object | griffe.Alias) -> list[griffe.Object | griffe.Alias]:
    """Return the members of a class, inherited members first."""
    inherited = (member.final_target for member in described.inherited_members.values())
    return [*inherited, *described.members.values()]


def _is_public(member: griffe.Object | griffe.Alias) -> bool:
    return member.is_function and not member.name.startswith("_") and member.docstring is not None


if __name__ == "__main__":
    sys.stdout.write(api_page())
