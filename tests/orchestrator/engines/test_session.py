"""Subagents of real sessions on both engines: the same results, records and moments, and no work lost with a worker."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.agents.moments import AgentFinished, CallChanged, Moment, TextArrived, TodosChanged
from decurion.agents.task import Order
from decurion.hooks import AuditError, Decision, Event, Hook, ToolCall, ask, deny
from decurion.hooks.audit import AuditLog
from decurion.orchestrator.options import EngineName, LimitOptions
from decurion.orchestrator.session import open_session
from tests.orchestrator.engines.playing import (
    Here,
    Line,
    Played,
    Playing,
    bash,
    gate,
    git,
    isolated,
    options,
    play,
    workers,
)
from tests.program import running_with

pytestmark = pytest.mark.anyio

WAYS = (("inprocess", "asyncio"), ("proxied", "asyncio"), ("proxied", "trio"), ("pipe", "asyncio"))
"""`proxied`: everything that crosses to a worker crosses, but the worker is a task of this process."""


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def engine(way: tuple[str, str]) -> EngineName:
    return "pipe" if way[0] == "pipe" else "inprocess"


@pytest.fixture
def proxied(way: tuple[str, str], tmp_path: Path) -> Path | None:
    return tmp_path / "engine" if way[0] == "proxied" else None


EVERYTHING: tuple[Line, ...] = (
    [
        ("todo_write", {"todos": [{"content": "a", "status": "in_progress"}]}),
        ("bash", {"command": "echo out; exit 3"}),
    ],
    [
        ("bash", {"command": "echo forbidden"}),
        ("read_file", {"path": "half \ud83d"}),
        ("read_file", {"path": "none"}),
    ],
    [
        ("shout", {"text": "hey"}),
        ("shout", {"text": "you"}),
        ("write_file", {"path": "made.txt", "content": "x"}),
    ],
    "I wrote made.txt and nothing else.",
)


def told(moments: list[Moment]) -> list[object]:
    """Moments as far as they are the same from run to run."""
    kept: list[object] = []
    for moment in moments:
        match moment:
            case CallChanged(ref, call, state):
                kept.append((ref.agent_type, ref.turn, call.id, state))
            case TodosChanged(ref, items):
                kept.append((ref.agent_type, [item.content for item in items]))
            case TextArrived(ref, text):
                kept.append((ref.agent_type, text))
            case AgentFinished(ref, result):
                kept.append((ref.agent_type, result.status, result.turns, result.usage))
            case _:
                kept.append(type(moment).__name__)
    return kept


def contract(played: Played) -> dict[str, Any]:
    [result] = played.finished.subagents
    return {**result.as_json(), "agent_id": "", "transcript_path": ""}


async def test_results_records_and_moments_are_those_of_a_subagent_in_process(
    tmp_path: Path, engine: EngineName, proxied: Path | None
) -> None:
    """Tools that ship run in the worker, the library's in the session; a refused call is refused and on record."""
    deny_it = gate(deny("not that word", "no-word"), "forbidden")
    here = await play(options(tmp_path / "here", m := Playing(*EVERYTHING), "inprocess", deny_it), m)
    played = await play(options(tmp_path, model := Playing(*EVERYTHING), engine, deny_it), model, proxied)
    keys = (
        "event",
        "turn",
        "tool_name",
        "tool_use_id",
        "decision",
        "rule",
        "by",
        "is_error",
        "exit_status",
        "status",
    )
    records = [{key: record.get(key) for key in keys} for record in played.of_hand()]
    assert records == [{key: record.get(key) for key in keys} for record in here.of_hand()]
    assert contract(played) == contract(here)
    assert told(played.moments) == told(here.moments)
    [refused] = played.of_hand("refused")
    assert (refused["rule"], refused["reason"]) == ("no-word", "not that word")
    said = [block["content"] for block in model.heard[-2][-1]["content"]]
    assert said[:2] == [f"HEY {os.getpid()} 1 work", f"YOU {os.getpid()} 2 work"]
    assert model.heard == m.heard
    assert model.asked[1].tools is model.asked[2].tools
    assert not workers()


async def test_a_person_is_asked_where_the_session_is(
    tmp_path: Path, engine: EngineName, proxied: Path | None
) -> None:
    asked: list[tuple[str, str]] = []

    async def person(call: ToolCall, decision: Decision) -> bool:
        asked.append((call.args["command"], decision.reason))
        return "yes" in call.args["command"]

    model = Playing([*bash("echo yes"), *bash("echo no")], "done")
    chosen = options(tmp_path, model, engine, gate(ask("sure?"), "echo"))
    played = await play(replace(chosen, law=replace(chosen.law, person=person)), model, proxied)
    assert asked == [("echo yes", "sure?"), ("echo no", "sure?")]
    assert [record["by"] for record in played.of_hand("planned")] == ["person"]
    assert [record["reason"] for record in played.of_hand("refused")] == ["sure?"]


async def test_the_money_of_the_session_runs_out_for_all(
    tmp_path: Path, engine: EngineName, proxied: Path | None
) -> None:
    model = Playing(*[bash(f"echo {n}") for n in range(9)], "done")
    played = await play(options(tmp_path, model, engine, limits=LimitOptions(tokens=4_000)), model, proxied)
    [result] = played.finished.subagents
    assert (result.status, result.turns, played.finished.lead.status) == ("budget", 3, "budget")
    assert result.usage.context_tokens == 3 * 1_100
    assert result.cost_usd == pytest.approx(3 * (1000 * 3 + 100 * 15) / 1e6, rel=0.5)


async def test_an_isolated_subagent_works_in_its_checkout_and_arrives_as_a_branch(
    tmp_path: Path, engine: EngineName, proxied: Path | None
) -> None:
    """Each turn's checkpoint is made by the session before its results are kept."""
    model = Playing(bash("echo one >> ran; pwd"), bash("cat ran"), "done")
    played = await play(isolated(tmp_path, model, engine), model, proxied)
    [result] = played.finished.subagents
    assert (result.status, [change.path for change in result.files_changed]) == ("completed", ["ran"])
    assert not (tmp_path / "work/ran").exists()
    assert git(tmp_path / "work", "show", f"{played.finished.branch}:ran") == "one\n"
    assert "/git/" in model.heard[2][-1]["content"][0]["content"]
    turns = [record["turn"] for record in played.of_hand("model_request", "planned")]
    assert turns == sorted(turns)


async def test_a_log_that_fails_ends_the_session_and_nothing_runs(
    tmp_path: Path, engine: EngineName, proxied: Path | None
) -> None:
    model = Playing(bash("touch first"), bash("touch second"), "done")
    opened: list[AuditLog] = []

    def run(event: Event) -> None:
        opened[0].close()

    breaks = Hook("breaks", frozenset({"PostToolUse"}), run, kind="observer")
    with pytest.raises(AuditError):
        await play(
            options(tmp_path, model, engine, breaks),
            model,
            proxied,
            lambda session: opened.append(session.log),
        )
    assert (tmp_path / "work/first").exists()
    assert not (tmp_path / "work/second").exists()
    assert not workers()


async def test_an_agent_that_was_interrupted_goes_on_within_the_same_session(
    tmp_path: Path, engine: EngineName
) -> None:
    """What it had done is told with its interruption, its command is ended, and the second time it comes to its end."""
    begun, mark = anyio.Path(tmp_path / "work/begun"), f"28.7{len(engine)}"
    model = Playing(bash("echo x >> ran"), bash(f"touch begun; sleep {mark}"), "done")
    order = Order("Do it.", "hand")
    async with open_session(options(tmp_path, model, engine)) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.team.run_at, order, Here(tmp_path / "work"), "one-1")
            while not await begun.exists():  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        first = session.team.cut_short["one-1"]
        assert (first.status, first.turns, first.commands.run) == ("cancelled", 2, 1)
        assert not running_with(mark)
        second = await session.team.run_at(order, Here(tmp_path / "work"), "one-1")
    assert (second.status, second.turns, second.summary) == ("completed", 3, "done")
    assert (tmp_path / "work/ran").read_text() == "x\n"
