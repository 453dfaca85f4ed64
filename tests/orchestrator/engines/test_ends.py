"""The part of the contract that is about time and cancelling: over every engine, on both event loops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from decurion.orchestrator.engines.protocol import Engine, Limits
from tests.orchestrator.engines.making import MakeSpec, all_events, is_alive, make, started

pytestmark = pytest.mark.anyio

ALL = (("inprocess", "asyncio"), ("inprocess", "trio"), ("pipe", "asyncio"), ("pipe", "trio"))


@pytest.fixture(scope="module", params=ALL, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


async def test_a_question_that_nobody_answers_is_refused(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("question", Limits(idle_s=0.2)))
    assert (await engine.result(handle)).value == {"denied": True}


async def test_a_limit_of_time_ends_an_attempt(engine: Engine, spec: MakeSpec) -> None:
    result = await engine.result(await engine.submit(spec("wait", Limits(wall_s=0.3))))
    assert (result.status, result.error) == ("timeout", "it took longer than 0.3 seconds")


async def test_cancelling_ends_an_attempt_and_its_children(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("wait"))
    pid = await started(engine, handle)
    with anyio.fail_after(60):
        await engine.cancel(handle, 2)
    assert (await engine.result(handle)).status == "cancelled"
    assert (await all_events(engine, handle))[-1].data["status"] == "cancelled"
    assert not is_alive(pid["child"])
    await engine.cancel(handle)


async def test_work_that_ignores_being_cancelled_is_given_up(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("stubborn", short=True))
    await started(engine, handle)
    with anyio.fail_after(60):
        await engine.cancel(handle, 0.3)
    assert (await engine.result(handle)).status == "cancelled"


async def test_what_ran_is_known_after_a_restart(kind: str, spec: MakeSpec, tmp_path: Path) -> None:
    async with make(kind, tmp_path / "kept") as first:
        done = await first.submit(spec("count"))
        events, result = await all_events(first, done), await first.result(done)
        running = await first.submit(replace(spec("wait"), agent="other", attempt=4))
        await started(first, running)
        # as a crash leaves it
        file = first.store.get(running).file
        assert file is not None
        as_it_was = file.read_bytes() + b'{"run": "torn'
    file.write_bytes(as_it_was)
    async with make(kind, tmp_path / "kept") as second:
        assert await second.attach("run") == [done, running]
        assert (await all_events(second, done), await second.result(done)) == (events, result)
        assert (await second.result(running)).status == "lost"
        assert [event.seq for event in await all_events(second, running)] == [1, 2, 3, 4]
        assert await second.attach("another run") == []
