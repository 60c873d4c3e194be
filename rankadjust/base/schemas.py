"""YAML files, their schemas, and the names in them: read, check, and say in one line what is wrong and where."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.io import readable, shipped

if TYPE_CHECKING:
    import jsonschema

# --- names that become part of a path or of a command line -----------------------------------------------------------

# A registry is often somebody else's file: what it calls a data set or a file must not lead out of a folder, and what
# it calls a package must not be an option or an address. The schemas name these kinds under `format`.


_DRIVE = r"(?![A-Za-z]:)"
_CONTROL = r"\x00-\x1f\x7f"

KINDS: Mapping[str, tuple[str, str]] = {
    # A job's name holds its wildcards as 'dataset=Nations,table=mine': no ',', '=' or ':' either.
    "name": (
        r"\w(?:[\w .+()-]{0,98}[\w+()-])?",
        "a name begins with a letter, digit or _, and has at most 100 letters, digits, blanks and "
        ". - + ( ) _",
    ),
    "file-name": (
        rf"{_DRIVE}(?!\.\.?$)[^/\\{_CONTROL}]{{1,255}}",
        "give the name of a file without a folder",
    ),
    "member": (
        rf"{_DRIVE}(?![/\\])(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^{_CONTROL}]+",
        "give the path of a member inside the archive, without '..', 'C:' or a leading '/'",
    ),
    # https://packaging.python.org/en/latest/specifications/name-normalization/#name-format
    "package": (
        r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?",
        "the name of a package consists of letters and digits, with . - _ between them",
    ),
    "version": (r"[0-9][a-z0-9!.+]*", "give one exact version, such as '1.11.1'"),
}
"""For each kind of names the pattern that the whole name has to match, and the same in words."""


def problem_with(name: object, kind: str) -> str | None:
    """Return what is wrong with a name of one of the KINDS, None where nothing is."""
    if not isinstance(name, str):
        return f"{name!r} is not text; write it in quotes"
    pattern, rule = KINDS[kind]
    return None if re.fullmatch(pattern, name) else f"{name!r}: {rule}"


# --- YAML -----------------------------------------------------------------------------------------------------------


class _StrictLoader(yaml.CSafeLoader):
    """The safe loader in C, ten times as fast; a key that is given twice is an error, and dates stay text."""


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping_without_duplicates(loader: yaml.Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in seen:
            problem = f"key {key.value!r} is given twice"
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key is a list or a mapping; write a single word"
            raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        seen.add(key.value)
    loader.flatten_mapping(node)
    return {
        loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
        for key, value in node.value
    }


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_duplicates)


def read_yaml(path: str | Path) -> Any:  # noqa: ANN401 - YAML is any nesting of plain values
    """Read a YAML file; a missing file, bad syntax or a repeated key is a RankadjustError with its line."""
    path = Path(path)
    with readable(path, "cannot be read as UTF-8 text"):
        text = path.read_text(encoding="utf-8")
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else f"{path}"
        raise RankadjustError(f"{where}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise RankadjustError(f"{path}: not valid YAML: {error}") from None


def validate(data: Any, schema: str, path: str | Path) -> None:  # noqa: ANN401
    """Check data read from `path` against workflow/schemas/<schema>.schema.yaml.

    Raises RankadjustError with file, line and key of the first problem (the topmost in the file).
    """
    problems = map(_describe, _validator(schema).iter_errors(data))
    found = [(line_of(path, keys) or 0, message) for keys, message in problems]
    if found:
        line, message = min(found)
        raise RankadjustError(f"{path}{f':{line}' if line else ''}: {message}")


@cache
def _validator(schema: str) -> "jsonschema.Draft202012Validator":
    # It is slow to import, and most jobs check nothing.
    import jsonschema

    formats = jsonschema.FormatChecker(formats=())
    for kind in KINDS:
        formats.checks(kind)(lambda name, kind=kind: problem_with(name, kind) is None)
    return jsonschema.Draft202012Validator(
        read_yaml(shipped(f"workflow/schemas/{schema}.schema.yaml")), format_checker=formats
    )


def _describe(error: "jsonschema.ValidationError") -> tuple[list[str | int], str]:
    """Return the path of keys to the problem, and a description."""
    from jsonschema.exceptions import best_match

    while error.context:
        error = best_match(error.context)
    keys = list(error.absolute_path)
    name = ".".join(str(key) for key in keys) or "the file"
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    values: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "additionalProperties":
        allowed = schema.get("properties", {})
        unknown = next(key for key in instance if key not in allowed)
        hint = did_you_mean(str(unknown), allowed) or f"; allowed here: {', '.join(allowed)}"
        return [*keys, unknown], f"unknown key '{'.'.join(map(str, [*keys, unknown]))}'{hint}"
    if error.validator == "required":
        missing = next(key for key in values if key not in instance)
        return keys, f"{name} lacks the key '{missing}'"
    if error.validator == "enum":
        hint = did_you_mean(str(instance), map(str, values))
        hint = hint or f"; allowed: {', '.join(map(str, values))}"
        return keys, f"{name} is {instance!r}{hint}"
    if error.validator == "format" and values in KINDS:
        # What is wrong may be a key: its line is asked for, and the schema's title says what it names.
        keys = [*keys, instance] if "propertyNames" in error.absolute_schema_path else keys
        return keys, f"{schema.get('title', name)}: {problem_with(instance, values)}"
    return keys, f"{name}: {error.message}"


def line_of(path: str | Path, keys: list[str | int]) -> int | None:
    """Return the line of the value under the keys, or of the last key that was found; None without a readable file."""
    try:
        node = yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    line = None
    for key in keys:
        place: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            pairs = {key_node.value: (key_node, value_node) for key_node, value_node in node.value}
            place, node = pairs.get(str(key), (None, None))
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            place = node = node.value[key]
        if place is None:
            break
        line = place.start_mark.line + 1
    return line
