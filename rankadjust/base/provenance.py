"""Provenance: which code a module of the package depends on, as one digest."""

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
# An absolute import at the beginning of a line, to its end or that of its brackets.
_STATEMENT = re.compile(rb"^[ \t]*(from[ \t]+\w[^\n(]*(?:\([^)]*\))?.*|import\b.*)$", flags=re.MULTILINE)


def code_digest(*modules: str, package: Path = PACKAGE) -> str:
    """Return a digest of modules ('chance.moments') and of every module of the package that they import.

    Imports count anywhere in a file, so that a deferred import is not forgotten. A package ('chance') is
    its `__init__`. Imports are absolute in this project (ruff's TID252); a relative one is a ValueError, because
    what it brings in would be missing from the digest.
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
    path = _path(package, module)
    return frozenset(_imports(_parsed(path.read_bytes()), package, path))


def _parsed(text: bytes) -> ast.Module:
    """Parse the import statements of a module, in a fifth of the time; all of it where another line says import."""
    statements = _STATEMENT.findall(text)
    if not re.search(rb"\bimport\b", _STATEMENT.sub(b"", text)):
        try:
            return ast.parse(b"\n".join(statements))
        except SyntaxError:  # One of them is prose, or goes on after a backslash.
            pass
    return ast.parse(text)


def _imports(tree: ast.Module, package: Path, path: Path) -> Iterator[str]:
    prefix = f"{package.name}."
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(
                    f"{path}:{node.lineno}: a relative import; write it as 'from {package.name}…'"
                )
            if node.module == package.name or (node.module or "").startswith(prefix):
                yield from _named(str(node.module), [alias.name for alias in node.names], package)
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix(prefix) for a in node.names if a.name.startswith(prefix))


def _named(module: str, names: list[str], package: Path) -> Iterator[str]:
    """Return the modules behind `from module import names`: those among the names, and the module for the rest."""
    base = module.removeprefix(package.name).removeprefix(".")
    within = [f"{base}.{name}".removeprefix(".") for name in names]
    modules = [name for name in within if _exists(package, name)]
    yield from modules
    # `from package import name` of something else is a public name that the top `__init__` looks up later.
    if base and len(modules) < len(names):
        yield base


def _exists(package: Path, module: str) -> bool:
    return _path(package, module).is_file()


def _path(package: Path, module: str) -> Path:
    path = package / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
