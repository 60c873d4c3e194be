"""Documents that libFuzzer makes: it keeps those that reach a new place of rankadjust, and changes them further.

atheris lets Python code tell libFuzzer where it has been. `make` does not install it: there are wheels of it for some
systems only.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.targets import Target

SEEDS = 200
_LONGEST = 20_000
_SAID_EVERY = 100


def search(
    target: Target,
    judged: Callable[[bytes], object],
    say: Callable[[], object],
    minutes: float,
    first_seed: int,
    corpus: Path,
) -> None:
    """Give documents to `judged` until the time is over, and call `say` from time to time. Ends the process.

    corpus: a folder for the documents that reached a new place; a later search begins with them.
    Raises ImportError where atheris is not installed.
    """
    import atheris  # noqa: PLC0415 - only who asks for it needs it

    for function in _own_functions():
        atheris.instrument_func(function)
    ends = time.monotonic() + 60 * minutes
    count = 0

    def one(data: bytes) -> None:
        nonlocal count
        judged(data)
        count += 1
        if count % _SAID_EVERY == 0:
            say()
        if time.monotonic() > ends:
            say()
            # libFuzzer looks at its own clock only where it finds something new.
            os._exit(0)

    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(_documents(target, first_seed)):
        (corpus / f"{number}{target.suffix}").write_bytes(data)
    # How long a document takes and how much memory is judged elsewhere, for every search alike.
    limits = [f"-max_len={_LONGEST}", "-timeout=100000", "-rss_limit_mb=0"]
    atheris.Setup(["fuzz", str(corpus), f"-seed={1 + first_seed % 2**31}", "-verbosity=0", *limits], one)
    atheris.Fuzz()


def _own_functions() -> Iterator[FunctionType]:
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and (one.__module__ or "").startswith("rankadjust."):
            yield one


def _documents(target: Target, first_seed: int) -> list[bytes]:
    """Return documents with which to begin."""
    found: list[bytes] = []

    @seed(first_seed)
    @settings(
        max_examples=SEEDS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.documents)
    def collect(data: bytes) -> None:
        found.append(data)

    collect()
    return found
