"""What an interrupt from the terminal, or a request to end, does to a command that is under way."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable

import anyio

from decurion.agents.groups import task_group


async def until_signal(work: Callable[[], Awaitable[None]]) -> int:
    """Run something to its end, or until SIGINT or SIGTERM, which cancels it; gives the signal's number, or 0.

    Impatience changes nothing: a second one is not needed, ending takes moments.
    """
    caught: list[int] = []
    async with task_group() as tasks:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:

            async def watch() -> None:
                async for signum in signals:
                    caught.append(signum)
                    tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            await work()
            tasks.cancel_scope.cancel()
    return caught[0] if caught else 0
