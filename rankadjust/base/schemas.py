"""YAML files and their schemas: read, check, and say in one line what is wrong and where."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.files import shipped
from rankadjust.base.names import KINDS, problem_with


class _StrictLoader(yaml.CSafeLoader):
    """The safe loader in C, ten times as fast; a key given twice is an error and dates stay text."""


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping_without_duplicates(loader: yaml.Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} is given twice", key_node.start_mark
            )
        seen.add(key)
    loader.flatten_mapping(node)
    return {
        loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
        for key, value in node.value
    }


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_duplicates)


def read_yaml(path: str | Path) -> Any:  # noqa: ANN401 - YAML is any nesting of plain values
    """Read a YAML file; a missing file, bad syntax or a repeated key is a RankadjustError with its line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RankadjustError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else f"{path}"
        raise RankadjustError(f"{where}: not valid YAML: {error.problem}") from None


def validate(data: Any, schema: str, path: str | Path) -> None:  # noqa: ANN401
    """Check data read from `path` against workflow/schemas/<schema>.schema.yaml.

    Raises RankadjustError with file, line and key of the first problem (the topmost in the file).
    """
    errors = list(_validator(schema).iter_errors(data))
    if errors:
        problems = [_describe(error) for error in errors]
        keys, message = min(problems, key=lambda problem: (line_of(path, problem[0]) or 0, problem[1]))
        line = line_of(path, keys)
        raise RankadjustError(f"{path}{f':{line}' if line else ''}: {message}")


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    formats = jsonschema.FormatChecker(formats=())
    for kind in KINDS:
        formats.checks(kind)(partial(_is_named, kind))
    return jsonschema.Draft202012Validator(
        read_yaml(shipped(f"workflow/schemas/{schema}.schema.yaml")), format_checker=formats
    )


def _is_named(kind: str, name: object) -> bool:
    return problem_with(name, kind) is None


def _describe(error: jsonschema.ValidationError) -> tuple[list[str | int], str]:
    """Return the path of keys to the problem and what the problem is."""
    while error.context:
        error = jsonschema.exceptions.best_match(error.context)
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
    """Return the line on which the value under the keys stands, or of the last key that was found."""
    try:
        node = yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (OSError, yaml.YAMLError):
        return None
    line = None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pairs = {key_node.value: (key_node, value_node) for key_node, value_node in node.value}
            if str(key) not in pairs:
                break
            key_node, node = pairs[str(key)]
            line = key_node.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            break
    return line
