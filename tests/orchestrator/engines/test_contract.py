"""One contract, held over every engine, on both event loops."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from decurion.hooks import DecurionError
from decurion.orchestrator.engines import Blob, Engine, Event, Handle, InProcess, Limits, Pipe, Spec

pytestmark = pytest.mark.anyio

WORKS = "tests.orchestrator.engines.scripted"
ROOT = Path(__file__).resolve().parents[3]


def make(kind: str, folder: Path) -> InProcess | Pipe:
    return InProcess(folder) if kind == "inprocess" else Pipe(folder, env=worker_environment())


def worker_environment() -> dict[str, str]:
    """The worker starts with `-P`, so where the scripted works lie must be said."""
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(params=["inprocess", "pipe"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def engine(kind: str, tmp_path: Path) -> AsyncIterator[Engine]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(make(kind, tmp_path / "engine"))


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Spec]:
    def build(work: str, limits: Limits | None = None, **args: object) -> Spec:
        given = {"ran": str(tmp_path / "ran"), "events": 3, **args}
        return Spec("run", "agent/1", 1, f"{WORKS}:{work}", given, limits or Limits(wall_s=20))

    return build


async def _all(engine: Engine, handle: Handle, after: int = 0) -> list[Event]:
    return [event async for event in engine.events(handle, after)]


async def test_events_are_gapless_chained_and_named_by_the_result(
    engine: Engine, spec: Callable[..., Spec]
) -> None:
    handle = await engine.submit(spec("count", events=20))
    events = await _all(engine, handle)
    result = await engine.result(handle)
    assert [event.seq for event in events] == list(range(1, 22))
    assert all(event.sound for event in events)
    assert all(later.prev == earlier.hash for earlier, later in pairwise(events))
    assert (result.status, result.value) == ("completed", {"told": 20, "resume": None})
    assert (result.last_seq, result.head) == (21, events[-1].hash)
    assert events[-1].data == {"number": 19, "text": "ü\n\0"}
    assert not replace(events[3], data={"number": 99}).sound


async def test_events_may_be_asked_for_again_from_anywhere(engine: Engine, spec: Callable[..., Spec]) -> None:
    handle = await engine.submit(spec("count"))
    everything = await _all(engine, handle)
    assert await _all(engine, handle, 2) == everything[2:]
    assert await _all(engine, handle, 99) == []


async def test_submitting_twice_runs_once(engine: Engine, spec: Callable[..., Spec], tmp_path: Path) -> None:
    wanted = spec("count")
    assert await engine.submit(wanted) == await engine.submit(wanted)
    await engine.result(wanted.handle)
    await engine.submit(wanted)
    assert (tmp_path / "ran").read_text() == "x"


async def test_work_that_fails_is_a_result_and_is_not_tried_again(
    engine: Engine, spec: Callable[..., Spec], tmp_path: Path
) -> None:
    handle = await engine.submit(spec("fail"))
    result = await engine.result(handle)
    assert (result.status, result.error) == ("error", "ValueError: no good")
    assert (await _all(engine, handle))[-1].data["status"] == "error"
    assert (tmp_path / "ran").read_text() == "x"


async def test_work_that_does_not_exist_is_a_result(engine: Engine, spec: Callable[..., Spec]) -> None:
    result = await engine.result(await engine.submit(spec("nothing_of_this_name")))
    assert result.status == "error"
    assert "There is no work" in result.error


async def test_an_answer_reaches_who_asked(engine: Engine, spec: Callable[..., Spec]) -> None:
    handle = await engine.submit(spec("question"))
    async for event in engine.events(handle):
        if event.kind == "ask":
            assert event.data["text"] == "may I?"
            await engine.reply(handle, "nobody asked this", {"yes": False})
            await engine.reply(handle, event.data["ask_id"], {"yes": True})
    assert (await engine.result(handle)).value == {"yes": True}


async def test_a_question_that_nobody_answers_is_refused(engine: Engine, spec: Callable[..., Spec]) -> None:
    handle = await engine.submit(spec("question", Limits(idle_s=0.2)))
    assert (await engine.result(handle)).value == {"denied": True}


async def test_a_limit_of_time_ends_an_attempt(engine: Engine, spec: Callable[..., Spec]) -> None:
    result = await engine.result(await engine.submit(spec("wait", Limits(wall_s=0.3))))
    assert (result.status, result.error) == ("timeout", "it took longer than 0.3 seconds")


async def test_cancelling_ends_an_attempt_and_its_children(engine: Engine, spec: Callable[..., Spec]) -> None:
    handle = await engine.submit(spec("wait"))
    pid = await _pid(engine, handle)
    with anyio.fail_after(8):
        await engine.cancel(handle, 2)
    assert (await engine.result(handle)).status == "cancelled"
    assert (await _all(engine, handle))[-1].data["status"] == "cancelled"
    assert not is_alive(pid["child"])
    await engine.cancel(handle)


async def test_work_that_ignores_being_cancelled_is_given_up(
    engine: Engine, spec: Callable[..., Spec]
) -> None:
    handle = await engine.submit(spec("stubborn", short=True))
    await _pid(engine, handle)
    with anyio.fail_after(4):
        await engine.cancel(handle, 0.3)
    assert (await engine.result(handle)).status == "cancelled"


async def test_blobs_come_back_as_they_were(engine: Engine, spec: Callable[..., Spec]) -> None:
    stored = await engine.put(b"bytes")
    assert stored == Blob(sha256(b"bytes").hexdigest(), 5)
    assert await engine.get(stored) == b"bytes"
    made = await engine.result(await engine.submit(spec("blob")))
    assert await engine.get(Blob(**made.value)) == b"\0" * 300_000
    with pytest.raises(DecurionError, match="There is no blob"):
        await engine.get(Blob("0" * 64, 1))


async def test_prints_do_not_disturb(engine: Engine, spec: Callable[..., Spec]) -> None:
    assert (await engine.result(await engine.submit(spec("noisy")))).value == "done"


async def test_what_ran_is_known_after_a_restart(
    kind: str, spec: Callable[..., Spec], tmp_path: Path
) -> None:
    async with make(kind, tmp_path / "kept") as first:
        done = await first.submit(spec("count"))
        events, result = await _all(first, done), await first.result(done)
        running = await first.submit(replace(spec("wait"), agent="other", attempt=4))
        await _pid(first, running)
        # as a crash leaves it
        file = first.store.get(running).file
        as_it_was = file.read_bytes() + b'{"run": "torn'
    file.write_bytes(as_it_was)
    async with make(kind, tmp_path / "kept") as second:
        assert await second.attach("run") == [done, running]
        assert (await _all(second, done), await second.result(done)) == (events, result)
        assert (await second.result(running)).status == "lost"
        assert [event.seq for event in await _all(second, running)] == [1, 2, 3, 4]
        assert await second.attach("another run") == []


async def test_an_attempt_nobody_submitted_is_an_error(engine: Engine) -> None:
    with pytest.raises(DecurionError, match="never submitted"):
        await engine.result(Handle("run", "nobody", 1))


def is_alive(pid: int) -> bool:
    """Whether a process is there and no mere zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def _pid(engine: Engine, handle: Handle) -> dict[str, int]:
    async for event in engine.events(handle):
        if event.kind == "pid":
            return dict(event.data)
    raise AssertionError("it ended before it said who it is")
