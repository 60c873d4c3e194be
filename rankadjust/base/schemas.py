"""YAML files and their schemas: read, check, and say in one line what is wrong and where."""

import math
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.io import shipped
from rankadjust.base.names import KINDS, problem_with

if TYPE_CHECKING:
    import jsonschema

# Files of people are nested some ten levels deep. Beyond a thousand of them the parser crashes.
_DEEPEST = 50
# Aliases (*name) repeat what they stand for, and aliases of aliases do so by powers.
_MOST_NODES = 1_000_000
# No count, year or seed has more digits; numbers of thousands take forever to compute with or to print.
_LONGEST_NUMBER = 100


class _StrictLoader(yaml.CSafeLoader):
    """The safe loader in C, ten times as fast; what its data could break is an error with its line.

    Refused are a key that is given twice or is not a plain word, and a number that is invalid, not finite, or has
    hundreds of digits. Dates stay text.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        """Return the value of a node; whatever PyYAML raises for it becomes an error with its place."""
        try:
            value = super().construct_object(node, deep)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            kind = str(node.tag).rpartition(":")[2]
            raise _refused(f"{str(node.value)[:40]!r} is not of the type {kind}", node) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise _refused(f"{str(node.value)[:40]} is not a finite number", node)
        return value


def _refused(problem: str, node: yaml.Node | yaml.Event) -> yaml.constructor.ConstructorError:
    # The stubs have a type of its own for the places that libyaml finds.
    place: Any = node.start_mark
    return yaml.constructor.ConstructorError(None, None, problem, place)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping_without_duplicates(loader: yaml.Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refused("a key is a list or a mapping; write a single word", key_node)
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise _refused(f"key {key!r} is given twice", key_node)
        seen.add(key)
    loader.flatten_mapping(node)
    return {
        loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
        for key, value in node.value
    }


def _short_number(loader: yaml.Loader, node: yaml.ScalarNode) -> int:
    if len(node.value) > _LONGEST_NUMBER:
        raise _refused(
            f"a number of {len(node.value):,} characters; at most {_LONGEST_NUMBER} are read", node
        )
    return int(loader.construct_yaml_int(node))


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_duplicates)
_StrictLoader.add_constructor("tag:yaml.org,2002:int", _short_number)


def read_yaml(path: str | Path) -> Any:  # noqa: ANN401 - YAML is any nesting of plain values
    """Read a YAML file; a missing file, bad syntax or a repeated key is a RankadjustError with its line.

    So are lists and mappings as keys, control characters, numbers of more than 100 digits or beyond all bounds, more
    than 50 levels of nesting, and aliases that stand for more than a million values.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RankadjustError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RankadjustError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    try:
        return _loaded(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else f"{path}"
        raise RankadjustError(f"{where}: not valid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        raise RankadjustError(
            f"{path}:{line}: not valid YAML: the character U+{int(error.character):04X} is not allowed; remove it"
        ) from None


def _loaded(text: str) -> Any:  # noqa: ANN401
    """Return the data of a YAML text; what it could break is found before any of it is built."""
    require_shallow(text)
    return yaml.load(text, _StrictLoader)


def require_shallow(text: str) -> None:
    """Raise MarkedYAMLError where a text is nested too deep, contains itself, or stands for too many values."""
    # Of every anchor how many values it stands for, and in how many levels; of every open collection likewise so far.
    known: dict[str | None, tuple[int, int]] = {}
    opened: list[tuple[str | None, int, int]] = []
    for event in yaml.parse(text, yaml.CSafeLoader):
        values, levels = 1, 1
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, 0, 0))
            levels = len(opened)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in (anchor for anchor, *_ in opened):
                raise _refused("it contains itself, by an alias", event)
            values, levels = known.get(event.anchor, (1, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, within, deepest = opened.pop()
            values, levels = within + 1, deepest + 1
            known[anchor] = values, levels
        elif isinstance(event, yaml.ScalarEvent):
            known[event.anchor] = values, levels
        else:
            continue
        if levels > _DEEPEST:
            raise _refused(f"collections in one another, more than {_DEEPEST} deep", event)
        if values > _MOST_NODES:
            raise _refused(f"aliases that stand for more than {_MOST_NODES:,} values", event)
        if opened and not isinstance(event, yaml.CollectionStartEvent):
            anchor, within, deepest = opened[-1]
            opened[-1] = anchor, within + values, max(deepest, levels)


def validate(data: Any, schema: str, path: str | Path) -> None:  # noqa: ANN401
    """Check data read from `path` against workflow/schemas/<schema>.schema.yaml.

    Raises RankadjustError with file, line and key of the first problem (the topmost in the file).
    """
    errors = list(_validator(schema).iter_errors(data))
    if errors:
        problems = [_describe(error) for error in errors]
        root = _composed(path)
        lines = [_line_in(root, keys) for keys, _ in problems]
        line, message = min(
            ((line, message) for line, (_, message) in zip(lines, problems, strict=True)),
            key=lambda problem: (problem[0] or 0, problem[1]),
        )
        raise RankadjustError(f"{path}{f':{line}' if line else ''}: {message}")


@cache
def _validator(schema: str) -> "jsonschema.Draft202012Validator":
    # It is slow to import, and most jobs check nothing.
    import jsonschema

    formats = jsonschema.FormatChecker(formats=())
    for kind in KINDS:
        formats.checks(kind)(partial(_is_named, kind))
    return jsonschema.Draft202012Validator(
        read_yaml(shipped(f"workflow/schemas/{schema}.schema.yaml")), format_checker=formats
    )


def _is_named(kind: str, name: object) -> bool:
    return problem_with(name, kind) is None


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
    """Return the line of the value under the keys, or of the last key that was found."""
    return _line_in(_composed(path), keys)


def _composed(path: str | Path) -> yaml.Node | None:
    """Return a YAML file as nodes, which know their lines; None where it cannot be read."""
    try:
        return yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None


def _line_in(node: yaml.Node | None, keys: list[str | int]) -> int | None:
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
