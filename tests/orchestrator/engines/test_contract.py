"""One contract, held over every engine; `test_ends` has the part that is about time and cancelling."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from decurion.hooks import DecurionError
from decurion.orchestrator.engines.protocol import Blob, Engine, Handle
from tests.orchestrator.engines.making import MakeSpec, all_events

pytestmark = pytest.mark.anyio


async def test_events_are_gapless_chained_and_named_by_the_result(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("count", events=20))
    events = await all_events(engine, handle)
    result = await engine.result(handle)
    assert [event.seq for event in events] == list(range(1, 22))
    assert all(event.sound for event in events)
    assert all(later.prev == earlier.hash for earlier, later in pairwise(events))
    assert (result.status, result.value) == ("completed", {"told": 20, "resume": None})
    assert (result.last_seq, result.head) == (21, events[-1].hash)
    assert events[-1].data == {"number": 19, "text": "ü\n\0"}
    assert not replace(events[3], data={"number": 99}).sound


async def test_events_may_be_asked_for_again_from_anywhere(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("count"))
    everything = await all_events(engine, handle)
    assert await all_events(engine, handle, 2) == everything[2:]
    assert await all_events(engine, handle, 99) == []


async def test_submitting_twice_runs_once(engine: Engine, spec: MakeSpec, tmp_path: Path) -> None:
    wanted = spec("count")
    assert await engine.submit(wanted) == await engine.submit(wanted)
    await engine.result(wanted.handle)
    await engine.submit(wanted)
    assert (tmp_path / "ran").read_text() == "x"


async def test_work_that_fails_is_a_result_and_is_not_tried_again(
    engine: Engine, spec: MakeSpec, tmp_path: Path
) -> None:
    handle = await engine.submit(spec("fail"))
    result = await engine.result(handle)
    assert (result.status, result.error) == ("error", "ValueError: no good")
    assert (await all_events(engine, handle))[-1].data["status"] == "error"
    assert (tmp_path / "ran").read_text() == "x"


async def test_work_that_does_not_exist_is_a_result(engine: Engine, spec: MakeSpec) -> None:
    result = await engine.result(await engine.submit(spec("nothing_of_this_name")))
    assert result.status == "error"
    assert "There is no work" in result.error


async def test_an_answer_reaches_who_asked(engine: Engine, spec: MakeSpec) -> None:
    handle = await engine.submit(spec("question"))
    async for event in engine.events(handle):
        if event.kind == "ask":
            assert event.data["text"] == "may I?"
            await engine.reply(handle, "nobody asked this", {"yes": False})
            await engine.reply(handle, event.data["ask_id"], {"yes": True})
    assert (await engine.result(handle)).value == {"yes": True}


async def test_blobs_come_back_as_they_were(engine: Engine, spec: MakeSpec) -> None:
    stored = await engine.put(b"bytes")
    assert stored == Blob(sha256(b"bytes").hexdigest(), 5)
    assert await engine.get(stored) == b"bytes"
    made = await engine.result(await engine.submit(spec("blob")))
    assert await engine.get(Blob(**made.value)) == b"\0" * 300_000
    with pytest.raises(DecurionError, match="There is no blob"):
        await engine.get(Blob("0" * 64, 1))


async def test_prints_do_not_disturb(engine: Engine, spec: MakeSpec) -> None:
    assert (await engine.result(await engine.submit(spec("noisy")))).value == "done"


async def test_an_attempt_nobody_submitted_is_an_error(engine: Engine) -> None:
    with pytest.raises(DecurionError, match="never submitted"):
        await engine.result(Handle("run", "nobody", 1))
