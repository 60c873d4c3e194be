"""Provenance: which code a module of the package depends on, as one digest."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


def code_digest(*modules: str, package: Path = PACKAGE) -> str:
    """Return a digest of modules ('moments') and of every module of the package that they import.

    Imports count wherever they stand in a file, so that a deferred import is not forgotten.
    """
    needed: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in needed:
            needed.add(module)
            waiting.extend(imported_modules(package, module))
    digest = hashlib.sha256()
    for module in sorted(needed):
        digest.update(f"{module}\0".encode() + _path(package, module).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def imported_modules(package: Path, module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports directly."""
    return frozenset(_imports(ast.parse(_path(package, module).read_bytes()), package))


def _imports(tree: ast.Module, package: Path) -> Iterator[str]:
    prefix = f"{package.name}."
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == package.name:
            yield from (alias.name for alias in node.names if _path(package, alias.name).exists())
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(prefix):
            yield node.module.removeprefix(prefix)
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix(prefix) for a in node.names if a.name.startswith(prefix))


def _path(package: Path, module: str) -> Path:
    return package / f"{module.replace('.', '/')}.py"
