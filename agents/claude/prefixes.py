"""Siblings share one cached prefix: of those that start together, the first goes ahead.

The API can read a cached prefix only once the reply that writes it has begun, so eight subagents of one type launched
together would each pay to write the same tools and system prompt. Here the first one's request is the warm-up: the
others wait until its reply begins, and then read. It costs no request, and no time that a warm-up would not cost.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import asynccontextmanager

import anyio

from ..clock import Clock

LIFE = 280.0  # seconds; the API keeps an entry for 300 after its last use
LONGEST_WAIT = 30.0  # for a first one that does not begin: then it is cheaper to pay than to wait
SHORTEST = 4096  # bytes; a shorter prefix is not cached (1,024 tokens for most models)


class Prefixes:
    """What the client knows of the prompt cache. `key` is whatever tells prefixes apart, its model included."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._warm_until: dict[Hashable, float] = {}
        self._first: dict[Hashable, anyio.Event] = {}

    @asynccontextmanager
    async def turn(self, key: Hashable, size: int) -> AsyncGenerator[Callable[[], None]]:
        """Wait while somebody writes the same prefix; gives a function to call when the reply begins."""
        if size < SHORTEST:
            yield _nothing
            return
        if self._writing(key):
            await self._wait(key)
        mine = anyio.Event()
        if not self._warm(key):
            self._first.setdefault(key, mine)
        try:
            yield lambda: self._begun(key)
        finally:
            if self._first.get(key) is mine:  # it failed before it began; the next one goes ahead
                del self._first[key]
                mine.set()

    async def _wait(self, key: Hashable) -> None:
        with anyio.move_on_after(LONGEST_WAIT):
            while first := self._writing(key):
                await first.wait()

    def _writing(self, key: Hashable) -> anyio.Event | None:
        return None if self._warm(key) else self._first.get(key)

    def _warm(self, key: Hashable) -> bool:
        return self._warm_until.get(key, 0.0) > self._clock.now()

    def _begun(self, key: Hashable) -> None:
        self._warm_until[key] = self._clock.now() + LIFE
        if first := self._first.pop(key, None):
            first.set()


def _nothing() -> None:
    """For a prefix too short to be cached."""
