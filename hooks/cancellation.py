"""Telling a cancellation of ourselves from an exception of that class which some library let go."""

from __future__ import annotations

from math import inf

import anyio

__all__ = ("is_cancelled",)


def is_cancelled() -> bool:
    """Tell whether the running task is being cancelled, by an anyio scope or, on asyncio, from outside of all scopes."""
    if anyio.current_effective_deadline() == -inf:
        return True
    if not anyio.get_cancelled_exc_class().__module__.startswith("asyncio"):
        return True  # trio lets nobody make a Cancelled of their own
    import asyncio  # noqa: TID251 - from outside every anyio scope, as Ctrl-C is, it shows only here

    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
