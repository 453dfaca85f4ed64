"""Whole sessions with hooks, law, log and transcripts among faults: all finish, each command runs exactly once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from decurion.agents.messages_api import (
    Answer,
    Fault,
    Refusal,
    Request,
    call,
    calls,
    overloaded,
    rate_limited,
    say,
    serve,
)
from decurion.orchestrator import Orchestrator

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

PARTS = ("one", "two", "three")
TURNS = 3
FAULTS = [fault for fault in Fault if fault not in {Fault.STALL, Fault.PAGE}]


class Chaos:
    """A lead that hands out parts, children that each write lines with the shell; every fifth request goes wrong."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    async def __call__(self, request: Request) -> Answer | Refusal:
        answer = self._good(request)
        if self._random.random() > 0.2:
            return answer
        fault = self._random.choice([*FAULTS, None])
        if fault is None:
            return self._random.choice([rate_limited(0.1), overloaded(500)])
        return Answer(answer.content, answer.stop_reason, fault=fault, chunk=3)

    @staticmethod
    def _good(request: Request) -> Answer:
        part = next((name for name in PARTS if f"part {name}" in request.task), "")
        if not part:
            tasks = [("task", {"description": f"Do part {name}."}) for name in PARTS]
            return say("All done.") if request.turn else calls(*tasks)
        if request.turn >= TURNS:
            return say(f"Part {part} is done.")
        return call("bash", {"command": f"echo {request.turn} >> {part}.txt"})


@pytest.mark.parametrize("seed", range(3))
async def test_a_session_among_faults_does_everything_once(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(Chaos(seed)) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        finished = await Orchestrator(tmp_path).run("Do all parts.")
    assert finished.lead.summary == "All done."
    assert [result.status for result in finished.subagents] == ["completed"] * len(PARTS)
    written = {name: (tmp_path / f"{name}.txt").read_text().split() for name in PARTS}
    assert written == {name: [str(turn) for turn in range(TURNS)] for name in PARTS}
    assert api.refused == []
