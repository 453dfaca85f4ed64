"""Subagents of real sessions whose workers die: gone on with in another, nothing done twice, nothing unaccounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.agents.history import INTERRUPTED_MAYBE, INTERRUPTED_UNDONE
from decurion.agents.model import ModelRequest, Progress, Reply
from decurion.agents.moments import AgentStarted, Notice, Replied
from decurion.agents.task import Order
from decurion.hooks import ConfigError, Event, Hook
from decurion.orchestrator.isolation import Desk
from decurion.orchestrator.session import open_session
from tests.orchestrator.engines.playing import (
    Playing,
    bash,
    git,
    isolated,
    kill_workers,
    killer,
    options,
    play,
    shout,
    workers,
)
from tests.program import running_with

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_worker_that_is_killed_is_gone_on_with_and_nothing_is_done_twice(tmp_path: Path) -> None:
    model = Playing(bash("echo one >> ran"), bash("echo two >> ran"), bash("echo three >> ran"), "done")
    played = await play(options(tmp_path, model, "pipe", killer(1, "hand_1")), model)
    [result] = played.finished.subagents
    assert (result.status, result.turns, result.error) == ("completed", 4, "")
    assert result.usage.context_tokens == 4 * 1_100
    assert (tmp_path / "work/ran").read_text().split() == ["one", "two", "three"]
    assert [record["event"] for record in played.of_hand("agent_start", "agent_end", "note")] == [
        "agent_start", "note", "agent_end"
    ]  # fmt: skip
    assert [r["tool_use_id"] for r in played.of_hand("planned")] == [
        r["tool_use_id"] for r in played.of_hand("done")
    ]
    assert [m.text for m in played.moments if isinstance(m, Notice) and "was lost" in m.text]
    results = [r for r in played.records if r["event"] == "done" and r["tool_name"] == "task"]
    assert len(results) == 1


async def test_a_subagent_that_loses_all_its_workers_ends_as_an_error_that_says_so(tmp_path: Path) -> None:
    model = Playing(bash("echo one >> ran"), bash("echo two >> ran"), bash("echo three >> ran"), "done")
    played = await play(options(tmp_path, model, "pipe", killer(9, "hand")), model)
    [result] = played.finished.subagents
    assert result.status == "error"
    assert "all 3 attempts were lost, the last one because the worker ended" in result.error
    assert result.turns == 3
    assert (tmp_path / "work/ran").read_text().split() == ["one", "two", "three"]
    assert played.finished.lead.status == "completed"


async def test_a_call_whose_worker_is_gone_is_ended_and_has_its_end_on_record(tmp_path: Path) -> None:
    """Its command is in a session of its own, where no signal to the worker's group reaches it."""
    begun = tmp_path / "work/begun"
    model = Playing(bash("touch begun; sleep 129.25"), "done")

    async def kill_when_begun() -> None:
        while not begun.exists():  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.01)
        kill_workers()

    async with anyio.create_task_group() as group:
        group.start_soon(kill_when_begun)
        played = await play(options(tmp_path, model, "pipe"), model)
        assert played.finished.subagents[0].status == "completed"
        records = [(r["event"], r.get("is_error")) for r in played.of_hand("planned", "done")]
        assert records == [("planned", None), ("done", True)]
    assert not running_with("129.25")


async def test_what_a_lost_worker_asked_the_model_is_dropped_and_asked_again(tmp_path: Path) -> None:
    """No answer to it is waited for, and none is paid for."""
    dropped: list[str] = []

    class Slow(Playing):
        async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
            if request.ref.turn == 2 and request.ref.depth and not dropped:
                dropped.append(request.ref.agent_id)
                kill_workers()
                await anyio.sleep(60)
            return await super().complete(request, report)

    model = Slow(bash("echo one >> ran"), "done")
    with anyio.fail_after(60):
        played = await play(options(tmp_path, model, "pipe"), model)
    [result] = played.finished.subagents
    assert (dropped, result.status, result.turns) == ([result.agent_id], "completed", 2)
    assert result.usage.context_tokens == 2 * 1_100
    assert (tmp_path / "work/ran").read_text() == "one\n"
    starts = [moment.ref.agent_type for moment in played.moments if isinstance(moment, AgentStarted)]
    assert starts == ["lead", "hand"]
    totals = [m.total.context_tokens for m in played.moments if isinstance(m, Replied) and m.ref.depth]
    assert totals == [1_100, 2_200]


async def test_a_worker_knows_no_key_and_no_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-for-workers")
    seen: list[tuple[bytes, bytes]] = []

    def look(event: Event) -> None:
        seen.extend(
            (Path(f"/proc/{pid}/environ").read_bytes(), Path(f"/proc/{pid}/maps").read_bytes())
            for pid in workers()
        )

    hook = Hook("look", frozenset({"PostToolUse"}), look, kind="observer")
    model = Playing(bash("env"), "done")
    await play(options(tmp_path, model, "pipe", hook), model)
    [(environ, maps)] = seen[:1]
    assert b"sk-not-for-workers" not in environ
    assert b"pydantic" not in maps
    assert "sk-not-for-workers" not in str(model.heard)


async def test_a_tool_that_no_worker_can_offer_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    def read(args: Mapping[str, Any]) -> Mapping[str, Any]:
        return args

    own = replace(shout, normalise=read)
    with pytest.raises(ConfigError, match="'shout' has a `normalise` function"):
        async with open_session(replace(options(tmp_path, Playing(), "pipe"), tools=(own,))):
            pass


async def test_an_isolated_subagent_goes_on_from_the_checkpoint_of_its_last_complete_turn(
    tmp_path: Path,
) -> None:
    """What the lost turn did is undone, and the agent is told so; here it makes its call again."""
    model = Playing(bash("echo one >> ran"), bash("echo two >> ran"), bash("echo two >> ran"), "done")
    played = await play(isolated(tmp_path, model, "pipe", killer(1, "hand_1")), model)
    [result] = played.finished.subagents
    assert (result.status, result.turns) == ("completed", 4)
    assert git(tmp_path / "work", "show", f"{played.finished.branch}:ran") == "one\ntwo\n"
    answers = [block["content"] for block in model.heard[-3][-1]["content"]]
    assert answers == [INTERRUPTED_UNDONE]


async def test_in_a_workplace_that_is_not_taken_back_a_lost_call_may_have_had_effect(tmp_path: Path) -> None:
    """A campaign's worktree stays as it is between attempts: the agent is told to look, and finds it done."""
    model = Playing(bash("echo one >> ran"), bash("echo two >> ran"), "done")
    async with open_session(isolated(tmp_path, model, "pipe", killer(1, "hand_1"))) as session:
        assert session.isolation is not None
        tree = await (await session.isolation.prepare()).open("target-1")
        result = await session.team.run_at(Order("Do it.", "hand"), Desk(tree), "target-1")
        assert (tree.path / "ran").read_text() == "one\ntwo\n"
    assert (result.status, result.turns) == ("completed", 3)
    assert [block["content"] for block in model.heard[-1][-1]["content"]] == [INTERRUPTED_MAYBE]
