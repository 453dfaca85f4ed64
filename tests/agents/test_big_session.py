"""One lead and fifty subagents of thirty turns each: every call recorded once, no history refused, memory bounded."""

from __future__ import annotations

import resource
from collections import Counter
from pathlib import Path

import pytest

from decurion.agents.messages_api import Answer, Options, Request, call, calls, say

from .helpers import is_lead, stage

CHILDREN, TURNS = 50, 30
MEMORY_KB = 250_000


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.timeout(120)
@pytest.mark.unmeasured
async def test_every_call_of_fifty_subagents_is_recorded_once_with_the_right_agent(tmp_path: Path) -> None:
    async def answer(request: Request) -> Answer:
        if is_lead(request):
            orders = [
                ("task", {"description": f"part {n:02}", "subagent_type": "explorer"})
                for n in range(CHILDREN)
            ]
            return calls(*orders) if request.turn == 0 else say("done")
        if request.body.get("tool_choice") == {"type": "none"}:
            return say(f"report of {request.task}")
        return call("read_file", {"path": "notes.txt"}, text=f"{request.task}, turn {request.turn}")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "notes.txt").write_text("line\n" * 40)
    async with stage(answer, tmp_path, options=Options(record=False)) as on:
        result = await on.run()
    assert result.status == "completed"
    assert on.api.refused == []
    assert sorted(r.summary for r in on.team.results) == [f"report of part {n:02}" for n in range(CHILDREN)]
    assert {(r.status, r.turns) for r in on.team.results} == {("max_turns", TURNS)}
    per_agent = Counter((r["agent_id"], r["event"]) for r in on.events("planned", "done") if r["depth"])
    assert set(per_agent.values()) == {TURNS - 1}
    assert len(per_agent) == 2 * CHILDREN
    planned = [r["tool_use_id"] for r in on.events("planned")]
    assert len(planned) == len(set(planned)) == CHILDREN * TURNS
    assert sorted(planned) == sorted(r["tool_use_id"] for r in on.events("done"))
    # The tests before this one have left their own mark on the process; a session of this size adds far less.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KB
