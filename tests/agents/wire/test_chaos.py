"""Whole sessions with a fault in every fifth request: all finish, nothing is refused, lost or run twice."""

from __future__ import annotations

import random
from collections import Counter

import anyio
import pytest

from decurion.agents.claude import Patience
from decurion.agents.messages_api import (
    Answer,
    Fault,
    Options,
    Refusal,
    Request,
    calls,
    overloaded,
    rate_limited,
    say,
)
from decurion.agents.stop_reasons import next_step
from decurion.hooks import ToolResult
from tests.effort import effort
from tests.loopback import Wire, begun, fast_clock, wired

pytestmark = pytest.mark.anyio

TURNS = 4
FAULTS = [
    fault for fault in Fault if fault not in {Fault.STALL, Fault.PAGE}
]  # one takes long, the other ends a run


class Chaos:
    """Answers each child from its history, and goes wrong for every fifth request, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._cut = set[str]()

    async def __call__(self, request: Request) -> Answer | Refusal:
        broken = self._random.random() < 0.2
        if broken and self._random.random() < 0.5:
            return self._random.choice(
                [rate_limited(0.5), rate_limited(), overloaded(), overloaded(500), overloaded(502)]
            )
        good = self._good(request)
        if not broken:
            return good
        return Answer(good.content, good.stop_reason, fault=self._random.choice(FAULTS), chunk=3)

    def _good(self, request: Request) -> Answer:
        if request.turn >= TURNS:
            return say(f"{request.task} is done.")
        step = f"{request.task}/{request.turn}"
        if request.task not in self._cut and self._random.random() < 0.3:
            self._cut.add(
                request.task
            )  # once for each: an agent whose replies are cut again and again gives up
            return Answer(calls(("x", {"a": f"{step}/cut"})).content, "max_tokens")
        return calls(("x", {"a": f"{step}/0"}), ("x", {"a": f"{step}/1"}))


async def _child(wire: Wire, name: str, ran: Counter[str], results: list[str]) -> None:
    history, nudged = begun(name), 0
    while True:
        reply = await wire.ask(history)
        step = next_step(reply, nudged=nudged)
        nudged = nudged + 1 if step.action in {"say", "answer"} else 0
        history.add_reply(reply)
        if step.action == "finish":
            results.append(reply.text)
            return
        if step.action == "run":
            ran.update(str(call.args["a"]) for call in reply.calls)
        history.add_results(
            [ToolResult(call.id, step.text or "fine", bool(step.text)) for call in reply.calls]
        )


@pytest.mark.parametrize("seed", range(effort(8, 100)))
async def test_a_session_among_faults_ends_right(seed: int) -> None:
    ran, results = Counter[str](), list[str]()
    patience = Patience(attempts=40, seconds=3000, first_wait=0.2, idle=5)
    async with wired(Chaos(seed), Options(), fast_clock(), patience=patience) as wire:
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(_child, wire, f"task {number}", ran, results)
        assert sorted(results) == [f"task {number} is done." for number in range(4)]
        assert wire.api.refused == []
        assert set(ran.values()) <= {1}
        assert not [name for name in ran if "cut" in name]
