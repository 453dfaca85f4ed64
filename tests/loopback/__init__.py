"""A client and a strict Messages API on loopback, wired together for a test."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from decurion.agents.claude import ClientSettings, Endpoint, Patience, WireEvent, connect
from decurion.agents.clock import Clock
from decurion.agents.history import History
from decurion.agents.limiter import Limiter
from decurion.agents.messages_api import Answer, Answering, Api, Options, Refusal, Request, serve
from decurion.agents.model import Model, ModelRequest, Progress, Reply, ToolSpec
from decurion.hooks import RunRef, ToolResult

REF = RunRef("session", "lead", "lead")
TOOLS = (ToolSpec("x", "Does x.", {"type": "object", "properties": {"a": {"type": "string"}}}),)
QUICK = Patience(seconds=30, idle=1.0, first_wait=0.01, longest_wait=0.05)
SPEED = 50.0


@dataclass(slots=True)
class Wire:
    """One session's client, what it said, and the API it speaks to."""

    api: Api
    model: Model
    events: list[WireEvent] = field(default_factory=list[WireEvent])
    progress: list[Progress] = field(default_factory=list[Progress])

    async def ask(self, history: History | None = None, **changes: Any) -> Reply:
        """Send a history (by default a new one of one word) and give the reply."""
        request = ModelRequest("claude-sonnet-5-5", "Be good.", TOOLS, history or begun("Go."), 1000, REF)
        return await self.model.complete(replace(request, **changes), self.progress.append)

    def kinds(self, kind: str) -> list[WireEvent]:
        """The events of a kind."""
        return [event for event in self.events if event.kind == kind]


class Plan:
    """Answers in order, whoever asks; the last one again and again."""

    def __init__(self, answers: Sequence[Answer | Refusal]) -> None:
        self._answers = list(answers)

    async def __call__(self, _request: Request) -> Answer | Refusal:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@asynccontextmanager
async def wired(
    answer: Answering | Answer | Refusal | Sequence[Answer | Refusal],
    options: Options | None = None,
    clock: Clock | None = None,
    **settings: Any,
) -> AsyncGenerator[Wire]:
    """Serve, connect, and release both at the end. `answer` is a function of a request, an answer, or a list of them."""
    async with serve(_answering(answer), options) as api:
        events: list[WireEvent] = []
        endpoint = settings.pop("endpoint", Endpoint(base_url=api.url, key="test-key"))
        settings.setdefault("patience", QUICK)
        chosen = ClientSettings(endpoint, **settings)
        model = connect(chosen, observe=events.append, limiter=Limiter(chosen.width, clock), clock=clock)
        try:
            yield Wire(api, model, events)
        finally:
            await model.aclose()


def _answering(answer: Answering | Answer | Refusal | Sequence[Answer | Refusal]) -> Answering:
    if isinstance(answer, (Answer, Refusal)):
        return Plan([answer])
    if callable(answer):
        return answer  # ty: ignore[invalid-explicit-return] - it thinks of callable sequences
    return Plan(answer)


def begun(text: str) -> History:
    """A history of one user message."""
    history = History()
    history.add_user(text)
    return history


def answered(history: History, reply: Reply, text: str = "fine") -> History:
    """The same history with a reply and the results of its calls added."""
    history.add_reply(reply)
    history.add_results([ToolResult(call.id, text) for call in reply.calls])
    return history


def fast_clock(speed: float = SPEED) -> Clock:
    """Real time, so many times faster."""

    async def sleep(seconds: float) -> None:
        await anyio.sleep(seconds / speed)

    return Clock(now=lambda: time.monotonic() * speed, sleep=sleep)
