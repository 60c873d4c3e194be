"""docs/notebooks: run their cells and store what these print (`make api`), and write them as Markdown for the site."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from rankadjust.base.io import write_text

FOLDER = Path("docs/notebooks")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its code cells, run one after the other in the working directory."""
    names: dict[str, Any] = {}
    number, cells = 0, []
    for cell in notebook["cells"]:
        ran = {}
        if cell["cell_type"] == "code":
            number += 1
            printed = _printed("".join(cell["source"]), names)
            output = {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
            ran = {"execution_count": number, "outputs": [output] if printed else []}
        cells.append(cell | ran)
    return notebook | {"cells": cells}


def _printed(source: str, names: dict[str, Any]) -> str:
    """Return what a cell prints; the value of a last expression is printed too."""
    body = ast.parse(source).body
    last = body[-1] if body else None
    is_value = isinstance(last, ast.Expr)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body[:-1] if is_value else body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None:
                printed.write(f"{value}\n")
    return printed.getvalue()


def as_markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook as a page: its texts, its code, and what this printed."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            printed = "".join(line for output in cell["outputs"] for line in output["text"])
            parts += [f"```text\n{printed}```"] if printed else []
    return "\n\n".join(parts) + "\n"


def load(path: Path) -> dict[str, Any]:
    """Return the content of a notebook."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        write_text(json.dumps(executed(load(path)), indent=1, ensure_ascii=False) + "\n", path)
