"""A lock between tasks and processes: git's own locks do not cover `worktree add` (parallel ones fail)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from decurion.hooks import DecurionError

PAUSE = 0.005
"""Seconds between two tries; the lock is held for milliseconds."""


class Locked(DecurionError):
    """Raised when a lock stayed with another process for too long."""


class FileLock:
    """An advisory lock on a file. Tasks of this process queue up fairly; the kernel frees it when a process dies."""

    def __init__(self, path: Path, patience: float = 120.0) -> None:
        self.path, self.patience = path, patience
        self._queue = anyio.Lock()

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Hold the lock for a block.

        Raises:
            Locked: another process held it for all of `patience` seconds.
        """
        async with self._queue:
            handle = await self._acquire()
            try:
                yield
            finally:
                os.close(handle)

    async def _acquire(self) -> int:
        deadline = anyio.current_time() + self.patience
        while (handle := try_lock(self.path)) is None:
            if anyio.current_time() > deadline:
                raise Locked(f"{self.path} has been locked by another process for {self.patience:.0f} s.")
            await anyio.sleep(PAUSE)
        return handle


def try_lock(path: Path) -> int | None:
    """Take the lock and give its file descriptor (closing it frees the lock), or None where another holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
