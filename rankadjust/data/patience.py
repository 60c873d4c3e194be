"""How long a transfer may take, and how often it is tried."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How often a transfer is tried and how long it waits, in seconds.

    attempts: how many may fail in a row; an attempt that transferred something begins the count anew.
    connect, read: until a connection is open, until the next bytes come.
    least_rate: bytes a second, on average over rate_window seconds; an attempt that is slower has failed.
    whole: until the file is there, all attempts and pauses included.
    first_wait: after the first failure, doubled after each further one.
    longest_wait: between two attempts, whatever the server asks for with Retry-After.
    report_every: between two lines of progress when the output is not a terminal.
    """

    attempts: int = 5
    connect: float = 15.0
    read: float = 60.0
    least_rate: float = 1000.0
    rate_window: float = 60.0
    whole: float = 12 * 3600.0
    first_wait: float = 1.0
    longest_wait: float = 120.0
    report_every: float = 10.0


def duration(seconds: float) -> str:
    """Return a time limit in words."""
    return f"{seconds / 3600:.0f} hours" if seconds >= 7200 else f"{seconds:.0f} s"
