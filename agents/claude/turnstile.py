"""One agent a round of the event loop, where the replies of many come together.

Where a hundred replies come at once, a hundred agents would go on in one round, and none of their next requests would
leave before the last of them is through: the API would idle while they compute, and they while it answers.
"""

from __future__ import annotations

import anyio
import anyio.lowlevel

LINE = 100
"""Agents that may wait. Where more do, the processor is what all wait for, and their replies only take up memory."""


class Turnstile:
    """Shared by all agents; `line` is how many may wait."""

    def __init__(self, line: int = LINE) -> None:
        self._line = line
        self._waiting = 0
        self._turn = anyio.Lock(fast_acquire=True)

    async def go_through(self) -> None:
        """Wait for a round of one's own, or for none if too many wait. Not to be cancelled: a reply here is not given up."""
        if self._waiting >= self._line:
            return
        self._waiting += 1
        with anyio.CancelScope(shield=True):
            async with self._turn:
                self._waiting -= 1
                await anyio.lowlevel.checkpoint()
