"""Many agents, one API: the limiter, the shared prefix, and what a rate limit does to all of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from decurion.agents.claude import Patience
from decurion.agents.clock import Clock
from decurion.agents.errors import Overloaded
from decurion.agents.history import History
from decurion.agents.limiter import Limiter
from decurion.agents.messages_api import Answer, Options, Refusal, Request, call, rate_limited, say
from decurion.agents.model import Reply, ToolSpec
from tests.loopback import Wire, answered, begun, fast_clock, wired

pytestmark = pytest.mark.anyio

SPEED = 10.0
LONG_TOOLS = (ToolSpec("x", "Does x at length. " * 400, {"type": "object"}),)


class TwoASecond:
    """Takes two requests a second of the fast clock, and asks everybody else to come back in one."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.refused: list[tuple[float, str]] = []

    async def __call__(self, request: Request) -> Answer | Refusal:
        now = request.at * SPEED
        if sum(now - then < 1 for then in self.taken) >= 2:
            self.refused.append((now, request.task))
            return rate_limited(1)
        self.taken.append(now)
        return call("x") if request.turn < 2 else say("done")


async def _child(wire: Wire, name: str, done: list[str]) -> None:
    history: History = begun(name)
    reply = await wire.ask(history)
    while reply.calls:
        reply = await wire.ask(answered(history, reply))
    done.append(name)


async def _together(child: Callable[[str], Coroutine[Any, Any, None]], count: int) -> None:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(child, f"task {number}")


async def test_eight_children_get_through_a_rate_limit_that_all_of_them_hit() -> None:
    """BUG-32."""
    limit, done = TwoASecond(), list[str]()
    patience = Patience(attempts=60, seconds=600)
    async with wired(limit, clock=fast_clock(SPEED), patience=patience) as wire:
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(_child, wire, f"child {number}", done)
        assert sorted(done) == [f"child {number}" for number in range(8)]
        assert len(wire.api.requests) == len(limit.taken) + len(limit.refused)
        assert len(wire.kinds("retry")) == len(limit.refused)  # no retries hidden in the SDK
    starts = sorted([*limit.taken, *(at for at, _ in limit.refused)])
    # What had left before a refusal arrived may still come in, on a busy machine late; but a crowd never comes back early.
    early = [
        at
        for at in starts
        if any(refused_at + 0.5 < at < refused_at + 0.95 for refused_at, _ in limit.refused)
    ]
    assert len(early) <= len(starts) // 5
    waits = [event.data["wait_seconds"] for event in wire.kinds("retry")]
    assert len(set(waits)) > len(waits) / 2


async def test_when_the_limit_never_lifts_each_child_gives_up_within_its_time() -> None:
    failed: list[str] = []
    async with wired(rate_limited(1), clock=fast_clock(), patience=Patience(attempts=4, seconds=20)) as wire:

        async def child(name: str) -> None:
            with pytest.raises(Overloaded):
                await wire.ask(begun(name))
            failed.append(name)

        await _together(child, 4)
        assert len(failed) == 4


async def test_siblings_that_start_together_write_the_shared_prefix_once() -> None:
    async with wired(say("ok"), Options(latency=0.05)) as wire:
        replies: list[Reply] = []

        async def child(name: str) -> None:
            replies.append(await wire.ask(begun(name), tools=LONG_TOOLS))

        await _together(child, 6)
        assert sum(reply.usage.cache_read_input_tokens > 1000 for reply in replies) == 5
        assert wire.api.most_active == 5


async def test_when_the_first_sibling_fails_the_next_goes_ahead() -> None:
    refused = Refusal(400, "invalid_request_error", "odd")

    async def answer(request: Request) -> Answer | Refusal:
        return refused if "task 0" in request.task else say("ok")

    async with wired(answer) as wire:
        done: list[str] = []

        async def child(name: str) -> None:
            try:
                done.append((await wire.ask(begun(name), tools=LONG_TOOLS)).text)
            except Exception as error:  # noqa: BLE001 - the test looks at what came
                done.append(type(error).__name__)

        await _together(child, 4)
        assert sorted(done) == ["BadRequest", "ok", "ok", "ok"]


class Moments:
    """A clock that stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.clock = Clock(now=lambda: self.now, sleep=self.sleep, chance=lambda: 0.5)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await anyio.lowlevel.checkpoint()


async def test_a_refusal_for_load_halves_the_window_holds_everybody_and_the_window_grows_back() -> None:
    moments = Moments()
    limiter = Limiter(16, moments.clock)
    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(_stay, limiter)
        await anyio.wait_all_tasks_blocked()
        limiter.slow_down(2.0)
        limiter.slow_down(2.0)  # of the same burst: counts once
        assert limiter.window == 4
        tasks.cancel_scope.cancel()
    async with limiter.slot() as held:
        assert held == pytest.approx(2.0 + 0.5 * 1.0)
    for _ in range(1000):
        limiter.accepted()
    assert limiter.window == 16


async def _stay(limiter: Limiter) -> None:
    async with limiter.slot():
        await anyio.sleep_forever()


async def test_the_window_never_closes_altogether() -> None:
    moments = Moments()
    limiter = Limiter(2, moments.clock)
    for _ in range(10):
        moments.now += 5
        limiter.slow_down()
    assert limiter.window == 1
    with anyio.fail_after(60):
        async with limiter.slot():
            pass


async def test_after_a_quiet_time_the_window_opens_quickly() -> None:
    moments = Moments()
    limiter = Limiter(100, moments.clock)
    limiter.slow_down()
    assert limiter.window == 1
    moments.now += 120
    for _ in range(99):
        limiter.accepted()
    assert limiter.window == 100


async def test_cancelling_an_agent_leaves_the_others_their_slots() -> None:
    """BUG-22: no request follows an interrupt, and nothing stays occupied."""
    async with wired(say("ok"), Options(latency=30), width=1) as wire:
        async with anyio.create_task_group() as group:
            group.start_soon(wire.ask)
            while not wire.api.requests:  # noqa: ASYNC110 - nobody sets an event for it
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        wire.api.options = Options()
        with anyio.fail_after(60):
            assert (await wire.ask()).text == "ok"
        assert len(wire.api.requests) == 2
