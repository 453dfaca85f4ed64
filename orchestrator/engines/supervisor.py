"""Tries again where an engine must not: attempt n+1 after a lost one, from its newest checkpoint; the old one is fenced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from decurion.hooks import DecurionError

from .protocol import START, Engine, Event, Handle, Result, Spec

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def refuse(_question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer every question with no."""
    return {"denied": True}


@dataclass(slots=True)
class Supervisor:
    """Runs specs to an end that counts. `listen` is told each event of an attempt in force, once and in order."""

    engine: Engine
    attempts: int = 2
    listen: Callable[[Event], None] = lambda _event: None
    answer: Answer = refuse
    _in_force: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    async def run(self, spec: Spec) -> Result:
        """Run a spec; after a lost attempt the next one begins where the newest checkpoint was.

        Errors, time-outs and cancellations are ends of the work itself and are not tried again.
        """
        result = Result("lost", error="it was never tried")
        for attempt in range(spec.attempt, spec.attempt + self.attempts):
            current = replace(spec, attempt=attempt)
            self._in_force[spec.run, spec.agent] = attempt
            result, checkpoint = await self._attempt(current)
            if result.status != "lost":
                break
            with suppress(DecurionError):
                await self.engine.cancel(current.handle)  # it may be alive behind a broken link
            spec = replace(spec, resume=checkpoint or spec.resume)
        return result

    def is_fenced(self, handle: Handle) -> bool:
        """Whether an attempt was superseded; what it says no longer counts."""
        return handle.attempt < self._in_force.get((handle.run, handle.agent), handle.attempt)

    async def _attempt(self, spec: Spec) -> tuple[Result, Mapping[str, Any] | None]:
        handle = await self.engine.submit(spec)
        last, head, checkpoint = 0, START, None
        async for event in self.engine.events(handle):
            if self.is_fenced(handle):
                return Result("lost", error="it was superseded"), checkpoint
            if event.seq != last + 1 or event.prev != head or not event.sound:
                return Result("lost", error=f"event {last + 1} is missing or was altered"), checkpoint
            last, head = event.seq, event.hash
            self.listen(event)
            if event.kind == "checkpoint":
                checkpoint = event.data
            elif event.kind == "ask":
                await self.engine.reply(handle, event.data["ask_id"], await self.answer(event.data))
        result = await self.engine.result(handle)
        if (result.last_seq, result.head) != (last, head):
            return Result("lost", error="the result does not fit the events that arrived"), checkpoint
        return result, checkpoint
