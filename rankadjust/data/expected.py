"""What the bytes of a fetched file have to be."""

from dataclasses import dataclass
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import sha256_of
from rankadjust.data.answers import message_in


@dataclass(frozen=True)
class Expected:
    """What the registry says about the bytes of a file; None where it does not know."""

    sha256: str | None
    size: int | None


def check(path: Path, expected: Expected, what: str) -> None:
    """Raise RankadjustError when the bytes of a file, called `what`, are not the expected ones.

    Without a sha256 to compare, an answer that is a message is refused: what a server likes to send for a file
    that is gone.
    """
    size = path.stat().st_size
    message = message_in(path)
    if expected.size is not None and size != expected.size:
        is_one = f"; it is {message}" if message else ""
        raise RankadjustError(f"{what}: {size:,} bytes, the registry says {expected.size:,}{is_one}")
    if expected.sha256 is None:
        if message:
            raise RankadjustError(f"{what}: {message} instead of the file")
    elif (sha256 := sha256_of(path)) != expected.sha256.lower():
        is_one = f"; it is {message}" if message else ""
        raise RankadjustError(f"{what}: sha256 is {sha256}, the registry says {expected.sha256}{is_one}")
