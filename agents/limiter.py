"""One gate for the model requests of all agents of a session.

Additive increase, multiplicative decrease, as TCP does it: each refusal for load halves the number of requests that
may be under way, each accepted reply lets it grow again. A refusal also holds back everybody else until the time the
server named, and each then starts with a little spread, so that nobody strikes together again. A slot is held during
one request only, never while an agent runs tools or waits for its children, so nested agents cannot starve each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from .clock import Clock

SPREAD = 0.5  # of the hold, at most a second: enough to part eight agents, little enough not to be felt
DEFAULT_HOLD = 1.0  # seconds, where a 429 or 529 names no time
QUIET = 60.0  # seconds without a refusal after which the full width is tried again quickly


class Limiter:
    """Shared by all agents. `width` is the most requests that may ever be under way at once."""

    def __init__(self, width: int = 1000, clock: Clock | None = None) -> None:
        self.width = width
        self._clock = clock or Clock()
        self._under_way = 0
        self._admitted = 0  # let in from the line, but not yet running
        self._queue: deque[anyio.Event] = deque()
        self._window = float(width)
        self._threshold = float(width)
        self._held_until = 0.0
        self._spread = 0.0
        self._cut_at = float("-inf")

    @property
    def window(self) -> int:
        """How many requests may be under way now."""
        return int(self._window)

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[float]:
        """Hold one of the slots; gives the seconds that the session was held back before this one started."""
        before = self._clock.now()
        if self._queue or self._under_way + self._admitted >= self.window:
            await self._queued()
        self._under_way += 1
        try:
            while (wait := self._held_until - self._clock.now()) > 0:
                await self._clock.sleep(wait + self._spread * self._clock.chance())
            yield self._clock.now() - before
        finally:
            self._under_way -= 1
            self._admit()

    def slow_down(self, retry_after: float | None = None) -> None:
        """A request was refused for load: hold all back for `retry_after` seconds and go on with half as many."""
        now = self._clock.now()
        hold = DEFAULT_HOLD if retry_after is None else retry_after
        if now >= self._cut_at:  # refusals of requests that were under way together count once
            self._window = max(1.0, min(self._window, self._under_way + 1) / 2)
            self._threshold = self._window
        self._cut_at = now + hold
        self._held_until = max(self._held_until, now + hold)
        self._spread = min(1.0, SPREAD * hold)

    def accepted(self) -> None:
        """A reply came: let the window grow, quickly up to where it last was cut, slowly above."""
        if self._window >= self.width:
            return
        if self._clock.now() > self._cut_at + QUIET:
            self._threshold = float(self.width)
        grown = self._window + (1 if self._window < self._threshold else 1 / self._window)
        self._window = min(float(self.width), grown)
        self._admit()

    async def _queued(self) -> None:
        """Wait in line; whoever leaves the line early lets the next one look."""
        mine = anyio.Event()
        self._queue.append(mine)
        try:
            await mine.wait()
        except BaseException:
            if mine in self._queue:
                self._queue.remove(mine)
            else:
                self._admitted -= 1
                self._admit()
            raise
        self._admitted -= 1

    def _admit(self) -> None:
        while self._queue and self._under_way + self._admitted < self.window:
            self._admitted += 1
            self._queue.popleft().set()
