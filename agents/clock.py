"""Time and chance as a value, so that waits and retries can be tested without waiting."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` in seconds that never go back, `sleep` for so many seconds, `chance` between 0 and 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random.random  # noqa: S311 - spreads waits, keeps no secret
