"""Which subtasks may run at the same time: dependencies by label, and claims on files.

An order waits for the orders it depends on and for earlier ones whose claimed paths overlap with its own.
Claims are judged from their patterns alone, before a token is spent, and in doubt they overlap.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import anyio

from decurion.hooks import ToolError

from .task import Order

_MAGIC = "*?["


LABEL_SECONDS = 1.0
"""How long a label may stay unknown: the calls of one reply announce themselves within moments."""


@dataclass(slots=True)
class _Entry:
    order: Order
    over: anyio.Event = field(default_factory=anyio.Event)


class Claims:
    """The orders of one lead, in the order they were given out."""

    def __init__(self) -> None:
        self._running: list[_Entry] = []
        self._by_label: dict[str, _Entry] = {}
        self._announced = anyio.Event()

    def overlapping(self, order: Order) -> tuple[Order, ...]:
        """Give the running orders that may write a file this one may write."""
        return tuple(entry.order for entry in self._running if _overlap(entry.order, order))

    @asynccontextmanager
    async def turn_of(self, order: Order) -> AsyncGenerator[None]:
        """Wait until this order may run; it counts as running until the block ends."""
        # Taken before the first wait, so that of two overlapping orders exactly one waits for the other.
        earlier = [entry for entry in self._running if self._comes_first(entry.order, order)]
        entry = self._announce(order)
        try:
            for other in earlier:
                await other.over.wait()
            for label in order.depends_on:
                await self._wait_for(label, entry)
            yield
        finally:
            entry.over.set()
            self._running.remove(entry)

    def _announce(self, order: Order) -> _Entry:
        entry = _Entry(order)
        self._running.append(entry)
        if order.label:
            self._by_label[order.label] = entry
        self._announced.set()
        self._announced = anyio.Event()
        return entry

    async def _wait_for(self, label: str, waiting: _Entry) -> None:
        with anyio.move_on_after(LABEL_SECONDS):
            while label not in self._by_label:
                await self._announced.wait()
        named = self._by_label.get(label)
        if named is None:
            raise ToolError(f"task: no task of this reply has the label {label!r}; nothing was run")
        if self._leads_to(named, waiting, set()):
            raise ToolError(f"task: {label!r} and this task wait for each other; nothing was run")
        await named.over.wait()

    def _leads_to(self, entry: _Entry, goal: _Entry, seen: set[str]) -> bool:
        """Tell whether an order waits, directly or through others, for `goal`."""
        if entry is goal:
            return True
        seen.add(entry.order.label)
        further = [self._by_label[label] for label in entry.order.depends_on if label in self._by_label]
        return any(self._leads_to(one, goal, seen) for one in further if one.order.label not in seen)

    @staticmethod
    def _comes_first(running: Order, order: Order) -> bool:
        waits_for_us = bool(order.label) and order.label in running.depends_on
        return not waits_for_us and _overlap(running, order)


def _overlap(one: Order, other: Order) -> bool:
    return any(may_share(a, b) for a in one.paths for b in other.paths)


def may_share(one: str, other: str) -> bool:
    """Tell whether two path patterns may match the same file. Two patterns with wildcards do, if in doubt.

    >>> may_share("src/a.py", "src/*.py"), may_share("src/**", "tests/**"), may_share("src/a.py", "src/b.py")
    (True, False, False)
    """
    a, b = one.removeprefix("./"), other.removeprefix("./")
    if _fixed(a) == a or _fixed(b) == b:
        return _matches(a, b) or _matches(b, a)
    return _fixed(a).startswith(_fixed(b)) or _fixed(b).startswith(_fixed(a))


def _fixed(pattern: str) -> str:
    """Give what stands before the first wildcard."""
    return pattern[: min((pattern.find(sign) for sign in _MAGIC if sign in pattern), default=len(pattern))]


def _matches(path: str, pattern: str) -> bool:
    # A claimed folder claims what is below it.
    return fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")
