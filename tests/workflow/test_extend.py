"""docs/extend.md, followed in a copy of the project: a metric, a data set, a protocol, a table, by the page alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.tiny import write_tiny

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
# The page's own example runs in a test too, so that the copy gets the like of it: with cube roots.
OTHER = {"inverse_root": "inverse_cube_root", "np.sqrt": "np.cbrt", "√": "∛", "MIRR": "MICR", "mirr": "micr"}
# The definition that step 3 of the page asks for.
DEFINITION = '        "mean_inverse_cube_root_rank": lambda: sum(1 / mp.cbrt(r) for r in ranks) / n,\n'
TABLE = """\
| Model | MR | MRR | Hits@10 |
|---|---|---|---|
| OurE | 180 | 0.335 | 0.521 |
"""
SIDECAR = """\
source: A fork
source_url: https://example.org/fork/blob/0123456789abcdef0123456789abcdef01234567/README.md
year: 2026
dataset: FB15k-237
split: testing
side: both
protocol: filtered
"""


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    """Return a copy of what is committed, or about to be."""
    folder = tmp_path_factory.mktemp("fork") / "rankadjust"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    # What `make lint` knows of polars and scipy takes mypy a quarter of a minute to find out anew.
    if (PROJECT / ".mypy_cache").is_dir():
        shutil.copytree(PROJECT / ".mypy_cache", folder / ".mypy_cache")
    return folder


def python(*arguments, cwd):
    """Run Python in the copy: its package comes before the installed one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RANKADJUST")}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd,
        env=kept | {"PYTHONPATH": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def insert(path, before, text):
    """Put a text before the only line that begins so."""
    content = path.read_text(encoding="utf-8")
    (place,) = [found.start() for found in re.finditer(rf"^{re.escape(before)}", content, flags=re.MULTILINE)]
    path.write_text(content[:place] + text + content[place:], encoding="utf-8")


def test_a_metric(fork):
    page = (fork / "docs" / "extend.md").read_text(encoding="utf-8")
    for name, other in OTHER.items():
        page = page.replace(name, other)
    example = re.sub(r"^(>>>|\.\.\.) ?", "", page[page.index("def inverse_cube_root") :], flags=re.MULTILINE)
    body = re.search(r"^    return .*\n", example, flags=re.MULTILINE)[0]
    family = re.search(r"^    Family\(.*?^    \)", example, flags=re.MULTILINE | re.DOTALL)[0]
    head = " ".join(re.search(r"`(def inverse_cube_root\([^`]*:)`", page)[1].split())
    metrics = fork / "rankadjust" / "chance" / "metrics.py"
    insert(metrics, "_SHIPPED = (", f'\n{head}\n    """Return 1 / ∛r."""\n{body}\n\n')
    metrics.write_text(
        metrics.read_text(encoding="utf-8").replace("_SHIPPED = (\n", f"_SHIPPED = (\n{family},\n")
    )
    moments = fork / "tests" / "unit" / "chance" / "test_moments.py"
    insert(moments, '        "inverse_median_rank": lambda', DEFINITION)
    python("harness.metrics_table", cwd=fork)
    assert "MICR" in (fork / "docs" / "metrics.md").read_text(encoding="utf-8")
    python("ruff", "check", "rankadjust", "tests/unit/chance", cwd=fork)
    python("ruff", "format", "--check", "rankadjust", "tests/unit/chance", cwd=fork)
    python("mypy", "rankadjust/chance/metrics.py", cwd=fork)
    touched = [f"tests/unit/chance/test_{name}.py" for name in ("metrics", "bounds", "new_metric")]
    python("pytest", "-q", *touched, "tests/unit/test_api.py", cwd=fork)
    enumerated = "enumeration_of_all_rank_vectors and mean_inverse_cube_root_rank"
    python("pytest", "-q", moments, "-k", enumerated, cwd=fork)


def test_a_data_set_and_a_protocol(fork):
    described = (fork / "config" / "datasets.d" / "README.md").read_text(encoding="utf-8")
    entry = re.search(r"```yaml\n(my-graph:\n.*?)(?=  #)", described, flags=re.DOTALL)[1]
    (fork / "config" / "datasets.d" / "mine.yaml").write_text(entry)
    write_tiny(fork / "config" / "datasets.d")
    (fork / "config" / "datasets.d" / "tiny.yaml").unlink()
    (fork / "config" / "datasets.d" / "data").rename(fork / "config" / "datasets.d" / "my-graph")
    page = (fork / "docs" / "protocols.md").read_text(encoding="utf-8")
    named = re.search(r"```yaml\n(protocols:\n.*?)```", page, flags=re.DOTALL)[1]
    (fork / "mine.yaml").write_text(named)
    options = ["datasets=my-graph", "protocols=filtered-distinct", "tables=[]", "protocol_files=[mine.yaml]"]
    python("snakemake", "--cores", "2", "database", "--config", *options, cwd=fork)
    database = pl.read_parquet(fork / "results" / "database" / "adjustments.parquet")
    assert set(database.filter(dataset="my-graph")["protocol"]) == {"filtered-distinct"}
    tests = [
        "tests/unit/test_plan.py",
        "tests/unit/data/test_registry.py",
        "tests/unit/test_datasets_page.py",
    ]
    python("pytest", "-q", *tests, cwd=fork)


def test_a_table(fork):
    folder = fork / "resources" / "published" / "raw" / "a-fork"
    folder.mkdir()
    (folder / "README.md").write_text(TABLE)
    (folder / "README.yaml").write_text(SIDECAR)
    python("tests.transcription", cwd=fork)
    python("rankadjust.base.shipped_sums", cwd=fork)
    read = pl.read_csv(fork / "resources" / "published" / "a-fork.csv", infer_schema=False)
    assert read["value"].to_list() == ["180", "0.335", "0.521"]
    tests = "tidy or read_alike_again"
    python("pytest", "-q", "tests/unit/literature/test_rescore.py", "-k", tests, cwd=fork)
