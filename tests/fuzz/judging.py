"""What counts as a finding: anything but a return or one printable line of RankadjustError, or too much time."""

import math
import resource
import shutil
import tempfile
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from tests.fuzz.documents import repeated
from tests.fuzz.targets import PROJECT, Target

# CPU seconds that a document may take: a constant, and for each byte what the slowest reader of markup is documented
# to take (half a minute for 4 MB), twice over for a machine that is busy.
_SECONDS = 3.0
_SECONDS_A_BYTE = 2 * 30 / 4e6
_LONGEST_MESSAGE = 2000
# Categories of Unicode: control characters, surrogates, separators of lines and of paragraphs.
_INVISIBLE = ("Cc", "Cs", "Zl", "Zp")
_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Repeated parts: four times as many may take four times as long. What squares takes sixteen times as long.
_STEPS = (1, 2, 4)
_MOST_GROWTH = 8.0
_SMALLEST = 0.15
_BYTES = 1 << 15


@dataclass(frozen=True)
class Finding:
    """What went wrong. signature: the same for the same mistake. told: for people, with the traceback."""

    signature: str
    told: str


def judge(target: Target, data: bytes) -> Finding | None:
    """Let the target read the bytes, and return what is wrong with that, None where nothing is."""
    finding, seconds = _read(target, data)
    if finding is None and seconds > _SECONDS + _SECONDS_A_BYTE * len(data):
        # Once more: the first reading may have imported what it needs.
        again, seconds = _read(target, data)
        if again is None and seconds > _SECONDS + _SECONDS_A_BYTE * len(data):
            return Finding("slow", f"{seconds:.1f} CPU seconds for {len(data):,} bytes")
        return again
    return finding


def judge_growth(
    target: Target, data: bytes, first: int, last: int, begins: Callable[[bytes], object]
) -> Finding | None:
    """Repeat a part of the bytes n, 2n and 4n times, and return a finding where the time grows by more than the size.

    begins: is told of every document before it is read.
    """
    size = max(1, last - first)
    times = [step * max(1, _BYTES // size) for step in _STEPS]
    seconds = [math.inf for _ in times]
    # A busy machine makes one of the three slow at times: what grows does so every time.
    for _ in range(4):
        for place, count in enumerate(times):
            document = repeated(data, first, last, count)
            begins(document)
            finding, taken = _read(target, document)
            if finding is not None:
                return finding
            seconds[place] = min(taken, seconds[place])
        if seconds[-1] < _SMALLEST or seconds[-1] < _MOST_GROWTH * max(seconds[0], 0.005):
            return None
    told = ", ".join(
        f"{size * count:,} bytes: {taken:.2f} s" for count, taken in zip(times, seconds, strict=True)
    )
    return Finding("growth", f"{data[first:last]!r} at {first}: {told}")


def _read(target: Target, data: bytes) -> tuple[Finding | None, float]:
    """Return the finding of one reading, and its CPU seconds."""
    with _folder() as folder:
        path = folder / f"document{target.suffix}"
        path.write_bytes(data)
        begin = time.process_time()
        finding = None
        try:
            target.read(path, folder)
        except RankadjustError as error:
            finding = _message_problem(str(error))
        # A panic of polars is a BaseException, and so is sys.exit in a library.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            finding = Finding(_signature(error), "".join(traceback.format_exception(error))[-8000:])
        return finding, time.process_time() - begin


def _message_problem(message: str) -> Finding | None:
    if len(message) > _LONGEST_MESSAGE:
        return Finding("long message", f"{len(message)} characters: {message[:300]!r}…")
    if any(unicodedata.category(character) in _INVISIBLE or character in _TURNING for character in message):
        return Finding("message not printable", repr(message))
    return None


def _signature(error: BaseException) -> str:
    """Return the kind of an error and the last line of the project that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{PROJECT}/rankadjust/" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].name}"
    return f"{type(error).__name__} {place}"


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rankadjust-fuzz-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def limit_memory(gigabytes: float) -> None:
    """Let this process have no more memory than this: who allocates what a file claims fails."""
    size = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
