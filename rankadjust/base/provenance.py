"""Provenance: which code a script depends on, as one digest."""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def code_of(script: Path, package: Path = PACKAGE) -> str:
    """Return a digest of a script and of every module of the package that it imports, also through others.

    Imports count anywhere in a file, so that one inside a function is not forgotten. They are absolute in this project
    (ruff's TID252).
    """
    needed: set[str] = set()
    waiting = [*_imports(script, package)]
    while waiting:
        module = waiting.pop()
        if module not in needed:
            needed.add(module)
            waiting += imported_modules(package, module)
    digest = hashlib.sha256(script.read_bytes())
    for module in sorted(needed):
        digest.update(f"\0{module}\0".encode() + _path(package, module).read_bytes())
    return digest.hexdigest()[:16]


def imported_modules(package: Path, module: str) -> frozenset[str]:
    """Return the modules of the package ('chance.moments') that one of them imports directly."""
    return _imports(_path(package, module), package)


@cache
def _imports(path: Path, package: Path) -> frozenset[str]:
    """Return the modules of the package that a file imports: `from a import b` may import a and a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    prefix = f"{package.name}."
    own = (name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return frozenset(name for name in own if _path(package, name).is_file())


def _path(package: Path, module: str) -> Path:
    path = package / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
