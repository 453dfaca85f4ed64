"""Tries again where an engine must not: attempt n+1 after a lost one, from its newest checkpoint; the old one is fenced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import TaskGroup

from decurion.agents.groups import task_group
from decurion.hooks import DecurionError

from .protocol import START, Engine, Event, Handle, Result, Spec

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
Again = Callable[[Spec, Result], Awaitable[Spec]]


async def refuse(_question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer every question with no."""
    return {"denied": True}


async def unchanged(spec: Spec, _lost: Result) -> Spec:
    """Let the next attempt be as the one that was lost."""
    return spec


@dataclass(slots=True)
class _Heard:
    """What has arrived of one attempt: the number and hash of its newest event, and its newest checkpoint."""

    last: int = 0
    head: str = START
    checkpoint: Mapping[str, Any] | None = None

    def is_next(self, event: Event) -> bool:
        """Whether an event follows on what arrived, and is whole."""
        return event.seq == self.last + 1 and event.prev == self.head and event.sound

    def take(self, event: Event) -> None:
        """Count an event as arrived."""
        self.last, self.head = event.seq, event.hash
        if event.kind == "checkpoint":
            self.checkpoint = event.data


@dataclass(slots=True)
class Supervisor:
    """Runs specs to an end that counts.

    `listen` is told each event of an attempt in force, once and in order. `answer` is asked its questions, side by
    side, each when all events before it have been told. `again` sees each lost attempt and gives the spec of the next.
    What any of them raises ends the attempt and is raised by `run`. `grace_s` is how long an attempt may take to end
    when `run` is cancelled; what it says meanwhile is still told.
    """

    engine: Engine
    attempts: int = 2
    listen: Callable[[Event], None] = lambda _event: None
    answer: Answer = refuse
    again: Again = unchanged
    grace_s: float = 2.0
    _in_force: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    async def run(self, spec: Spec) -> Result:
        """Run a spec; after a lost attempt the next one begins where the newest checkpoint was.

        Errors, time-outs and cancellations are ends of the work itself and are not tried again.
        """
        last = spec.attempt + self.attempts - 1
        while True:
            self._in_force[spec.run, spec.agent] = spec.attempt
            result, checkpoint = await self._attempt(spec)
            if result.status != "lost" or spec.attempt >= last:
                return result
            with suppress(DecurionError):
                await self.engine.cancel(spec.handle)  # it may be alive behind a broken link
            spec = replace(spec, attempt=spec.attempt + 1, resume=checkpoint or spec.resume)
            spec = await self.again(spec, result)

    def is_fenced(self, handle: Handle) -> bool:
        """Whether an attempt was superseded; what it says no longer counts."""
        return handle.attempt < self._in_force.get((handle.run, handle.agent), handle.attempt)

    async def _attempt(self, spec: Spec) -> tuple[Result, Mapping[str, Any] | None]:
        handle, heard = await self.engine.submit(spec), _Heard()
        try:
            async with task_group() as answering:
                result = await self._follow(handle, heard, answering)
                answering.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.engine.cancel(handle, self.grace_s)
                await self._follow(handle, heard, None)
            raise
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.engine.cancel(handle, self.grace_s)
            raise
        return result, heard.checkpoint

    async def _follow(self, handle: Handle, heard: _Heard, answering: TaskGroup | None) -> Result:
        """Tell what arrives until the attempt has ended one way or another; its questions only while it is wanted."""
        events = self.engine.events(handle, heard.last)
        async for event in events:
            if self.is_fenced(handle):
                return Result("lost", error="it was superseded")
            if not heard.is_next(event):
                return Result("lost", error=f"event {heard.last + 1} is missing or was altered")
            heard.take(event)
            self.listen(event)
            if event.kind == "ask" and answering is not None:
                answering.start_soon(self._reply, handle, event.data)
        result = await self.engine.result(handle)
        if (result.last_seq, result.head) != (heard.last, heard.head):
            return Result("lost", error="the result does not fit the events that arrived")
        return result

    async def _reply(self, handle: Handle, question: Mapping[str, Any]) -> None:
        answer = await self.answer(question)
        if not self.is_fenced(handle):
            await self.engine.reply(handle, question["ask_id"], answer)
