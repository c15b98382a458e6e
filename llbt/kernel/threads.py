"""Limit the number of threads of linear algebra."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController

_THREADED = 1500  # with so many parameters several threads are worth their cost


@contextlib.contextmanager
def few_threads(size: int) -> Iterator[None]:
    """Let linear algebra use one thread for matrices of this size, if sharing costs more than it saves.

    The number of threads belongs to the process, so fits in several threads set it once and restore it once.
    """
    if size >= _THREADED:
        yield
        return
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _Limit:
    """One thread for linear algebra while any caller needs it; the last caller to leave restores the old number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if not self._users:
                self._limiter = _threads().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limiter.restore_original_limits()


_LIMIT = _Limit()


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()
