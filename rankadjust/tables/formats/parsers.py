"""The parsers of the extra rankadjust[tables], loaded only when a file of their format is read."""

import importlib
from typing import Any

from rankadjust.base.errors import RankadjustError, installed_by


def load_parser(module: str, purpose: str) -> Any:  # noqa: ANN401 - a module
    """Import a parser, or say in one line which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.split(".", maxsplit=1)[0]
        raise RankadjustError(
            f"reading {purpose} needs the module {package}; {installed_by('tables')}"
        ) from None
