"""Documents that once broke a reader, or took too long: what `make fuzz` found, and what was tried by hand.

tests/data/hostile/<target>/<what it is>: each is read as the fuzzer reads it. docs/reliability.md says what they did.
What is called ends-the-process-… is read by a process of its own: where a reader does not refuse it, that process
ends, and not the tests.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from rankadjust.base.errors import RankadjustError
from tests.fuzz.judging import judge
from tests.fuzz.targets import TARGETS, Target

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"
DOCUMENTS = sorted(path for path in HOSTILE.glob("*/*") if path.is_file())
ENDING = [path for path in DOCUMENTS if path.name.startswith("ends-the-process-")]
ALONE = """
import sys
from pathlib import Path
from tests.fuzz.judging import judge, limit_memory
from tests.fuzz.targets import TARGETS
limit_memory(6)
for document in map(Path, sys.argv[1:]):
    print(document, file=sys.stderr, flush=True)
    finding = judge(TARGETS[document.parent.name], document.read_bytes())
    if finding:
        sys.exit(finding.told)
"""


@pytest.mark.parametrize(
    "document",
    [
        # It takes three seconds to be read; tests/unit/tables/test_files.py has fewer rows of the same.
        pytest.param(path, marks=pytest.mark.slow) if path.name == "thousands-of-header-rows.html" else path
        for path in DOCUMENTS
        if path not in ENDING
    ],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_a_document_that_broke_a_reader_is_read_or_refused_in_one_line(document):
    finding = judge(TARGETS[document.parent.name], document.read_bytes())
    assert finding is None, finding.told


def test_documents_that_once_ended_the_process_are_refused_in_one_line():
    done = subprocess.run(
        [sys.executable, "-c", ALONE, *ENDING],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    # The last document that is named is the one that ended it.
    assert done.returncode == 0, done.stderr


def test_there_are_such_documents():
    assert len(DOCUMENTS) > 20
    assert ENDING


def read_from(problem):
    """Return a target whose reader does what it is told."""

    def read(path, folder):
        if problem is not None:
            raise problem

    return Target("made up", ".txt", None, read)


@pytest.mark.parametrize(
    ("problem", "signature"),
    [
        (ValueError("x"), "ValueError test_hostile.py:read"),
        (SystemExit(1), "SystemExit test_hostile.py:read"),
        (MemoryError(), "MemoryError test_hostile.py:read"),
        (None, None),
        (RankadjustError("one line"), None),
        (RankadjustError("two\nlines \x1b[31m"), None),
    ],
)
def test_whatever_is_no_error_of_ours_is_a_finding(problem, signature):
    """RankadjustError itself makes one printable line of whatever it is given."""
    finding = judge(read_from(problem), b"anything")
    assert (finding and finding.signature) == signature
