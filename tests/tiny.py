"""The tiny data set, as a registry for runs of tests: four entities, 6 / 2 / 3 triples."""

import shutil
from pathlib import Path

FILES = Path(__file__).parent / "data" / "tiny"
REGISTRY = """\
Tiny:
  sources:
    - kind: local
      files: {training: data/train.txt, validation: data/valid.txt, testing: data/test.txt}
  format: {delimiter: tab, columns: [head, relation, tail]}
"""


def write_tiny(folder: Path, registry: str = "tiny.yaml") -> None:
    """Write the files of the data set, and a registry that names them, into a folder."""
    shutil.copytree(FILES, folder / "data", dirs_exist_ok=True)
    (folder / registry).write_text(REGISTRY)
