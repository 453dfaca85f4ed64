"""What the supervisor makes of an engine's attempts; `test_pipe` has what only a program can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from decurion.orchestrator.engines.protocol import Engine, Event
from decurion.orchestrator.engines.supervisor import Supervisor
from tests.orchestrator.engines.making import MakeSpec

pytestmark = pytest.mark.anyio


async def test_questions_are_answered_side_by_side(engine: Engine, spec: MakeSpec) -> None:
    both = anyio.Event()
    asked: list[str] = []

    async def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(question["name"])
        if len(asked) == 2:
            both.set()
        await both.wait()
        return {"name": question["name"]}

    with anyio.fail_after(60):
        result = await Supervisor(engine, answer=answer).run(spec("two_questions"))
    assert result.value == {"one": "one", "two": "two"}


async def test_what_an_attempt_says_while_it_is_cancelled_is_heard(engine: Engine, spec: MakeSpec) -> None:
    heard: list[Event] = []
    scope = anyio.CancelScope()

    def listen(event: Event) -> None:
        heard.append(event)
        if event.kind == "pid":
            scope.cancel()

    with anyio.fail_after(60), scope:
        await Supervisor(engine, listen=listen).run(spec("last_words"))
    assert scope.cancelled_caught
    assert [event.data for event in heard if event.kind == "log"] == [{"text": "so far I came"}]


async def test_whoever_listens_and_fails_ends_the_attempt(engine: Engine, spec: MakeSpec) -> None:
    wanted = spec("wait")

    def listen(event: Event) -> None:
        if event.kind == "pid":
            raise LookupError("the log is full")

    with anyio.fail_after(60), pytest.raises(LookupError, match="the log is full"):
        await Supervisor(engine, listen=listen).run(wanted)
    assert (await engine.result(wanted.handle)).status == "cancelled"
