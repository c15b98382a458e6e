"""A limit of CPU time for one call, so that what counts as slow is the same on a busy machine."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class TooLongError(BaseException):
    """Not an Exception, so that no handler of the library can take it for one."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` once this process has computed for so many seconds, in all its threads together."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
