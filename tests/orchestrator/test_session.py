"""A whole session over a model in the same process: hooks around it, what it leaves, and how it ends."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from decurion.agents.catalogue import AgentDefinition
from decurion.agents.model import ModelRequest, Progress, Reply, Usage
from decurion.agents.moments import Moment, Notice, TodosChanged
from decurion.hooks import (
    AuditError,
    Decision,
    DecurionError,
    Event,
    SessionEnd,
    SessionStart,
    UserPromptSubmit,
    deny,
    halt,
)
from decurion.hooks.chain import Hook
from decurion.orchestrator import Orchestrator
from decurion.orchestrator.options import LawOptions, LimitOptions, ModelOptions, SessionOptions, WorkOptions
from decurion.orchestrator.session import open_session
from decurion.orchestrator.sessions import describe_session, find_session, session_folders

pytestmark = pytest.mark.anyio

Content = str | Sequence[tuple[str, dict[str, Any]]]


class Scripted:
    """Plays one reply a turn: a text, or calls. Subagents play `child`."""

    name = "claude-sonnet-5-5"

    def __init__(self, *lead: Content, child: Sequence[Content] = ("child done",)) -> None:
        self.parts = (lead, child)
        self.requests: list[ModelRequest] = []
        self.said: list[list[Any]] = []

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
        self.requests.append(request)
        self.said.append(list(request.messages[-1]["content"]))
        part = self.parts[min(request.ref.depth, 1)]
        turn = sum(message["role"] == "assistant" for message in request.messages)
        content = part[min(turn, len(part) - 1)]
        usage = Usage(1000, 100)
        if isinstance(content, str):
            return Reply("m", self.name, ({"type": "text", "text": content},), "end_turn", usage, {})
        await anyio.lowlevel.checkpoint()
        uses = tuple(
            {"type": "tool_use", "id": f"{request.ref.agent_id}_{turn}_{at}", "name": name, "input": args}
            for at, (name, args) in enumerate(content)
        )
        return Reply("m", self.name, uses, "tool_use", usage, {})

    async def aclose(self) -> None: ...

    def texts(self, at: int) -> str:
        """All text of the newest message of one request."""
        return "\n".join(str(block.get("text", block.get("content", ""))) for block in self.said[at])


def bash(command: str) -> list[tuple[str, dict[str, Any]]]:
    return [("bash", {"command": command})]


def records(workspace: Path) -> list[dict[str, Any]]:
    log = find_session(workspace) / "audit.jsonl"
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def answering(decision: Decision | None, *events: str, kind: Any = "gate") -> Hook:
    async def run(_event: Event) -> Decision | None:
        return decision

    return Hook("answering", frozenset(events), run, kind=kind)


@pytest.mark.parametrize("decision", [deny("not today", "opening-hours"), halt("not today", "opening-hours")])
async def test_a_refused_prompt_reaches_no_model_and_ends_as_blocked(
    tmp_path: Path, decision: Decision
) -> None:
    model = Scripted("done")
    boss = Orchestrator(tmp_path, model).with_hooks([answering(decision, "UserPromptSubmit")])
    finished = await boss.run("work")
    assert (finished.lead.status, model.requests) == ("blocked", [])
    assert "not today" in finished.lead.summary
    assert [r["event"] for r in records(tmp_path)] == ["session_start", "prompt", "refused", "session_end"]
    assert records(tmp_path)[2]["rule"] == "opening-hours"
    assert records(tmp_path)[3]["reason"] == "blocked"


async def test_hooks_hear_of_start_and_end_around_everything_and_what_they_say_comes_along(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def see(event: Event) -> Decision | None:
        seen.append(type(event).__name__)
        if isinstance(event, SessionStart):
            return Decision(context="It is Monday.", detail={"system_message": "welcome"})
        if isinstance(event, UserPromptSubmit):
            return Decision(context="The branch is main.")
        assert not isinstance(event, SessionEnd) or event.reason == "completed"
        return None

    told: list[Moment] = []
    hooks = [
        Hook("see", frozenset({name}), see, kind="observer")
        for name in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    ]
    model = Scripted(bash("true"), "done")
    await Orchestrator(tmp_path, model, hooks=tuple(hooks), listen=told.append).run("work")
    assert seen == ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
    assert model.texts(0) == "work\n\n<context>\nIt is Monday.\nThe branch is main.\n</context>"
    assert "welcome" in [moment.text for moment in told if isinstance(moment, Notice)]
    events = [record["event"] for record in records(tmp_path)]
    assert (events[0], events[-1]) == ("session_start", "session_end")


async def test_a_broken_gate_on_the_prompt_refuses_and_the_log_says_that_it_broke(tmp_path: Path) -> None:
    async def broken(_event: Event) -> Decision | None:
        raise RuntimeError("no")

    model = Scripted("done")
    hook = Hook("broken", frozenset({"UserPromptSubmit"}), broken)
    finished = await Orchestrator(tmp_path, model, hooks=(hook,)).run("work")
    assert (finished.lead.status, model.requests) == ("blocked", [])
    assert [r["rule"] for r in records(tmp_path) if r["event"] in ("hook_failed", "refused")] == [
        "hook-failed"
    ] * 2


async def test_the_plan_is_shown_when_it_is_written_not_at_the_end_of_the_turn(tmp_path: Path) -> None:
    told: list[str] = []
    plan = ("todo_write", {"todos": [{"content": "a", "status": "in_progress"}]})
    model = Scripted([plan, *bash("true")], "done")
    await Orchestrator(tmp_path, model, listen=lambda moment: told.append(type(moment).__name__)).run("work")
    assert told.index(TodosChanged.__name__) < len(told) - 1 - told[::-1].index("CallChanged")


async def test_the_persons_own_variables_reach_commands_and_keys_never_do(
    tmp_path: Path, own_places: Path
) -> None:
    settings = own_places / "config" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"env": {"REGION": "north", "ANTHROPIC_API_KEY": "sk-secret"}}))
    model = Scripted(bash("echo $REGION [$ANTHROPIC_API_KEY]"), "done")
    await Orchestrator(tmp_path, model).run("work")
    assert model.texts(1).startswith("north []")


AGENT = """---
name: guarded
description: has a hook of its own
tools: bash
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo 'not here' >&2; exit 2"
---
Work.
"""


@pytest.mark.parametrize("trusted", [True, False])
async def test_hooks_of_a_projects_definition_bind_its_agents_once_trusted_and_nobody_else(
    tmp_path: Path, *, trusted: bool
) -> None:
    (tmp_path / ".claude" / "agents").mkdir(parents=True)
    (tmp_path / ".claude" / "agents" / "guarded.md").write_text(AGENT)
    told: list[Moment] = []
    task = [("task", {"description": "work", "subagent_type": "guarded"})]
    model = Scripted(bash("touch lead"), task, "done", child=(bash("touch child"), "child done"))
    law = LawOptions(trust_project=trusted)
    await Orchestrator(tmp_path, model, law=law, listen=told.append).run("work")
    assert (tmp_path / "lead").exists()
    assert (tmp_path / "child").exists() != trusted
    notices = [moment.text for moment in told if isinstance(moment, Notice)]
    assert any("not trusted yet" in text for text in notices) != trusted


async def test_the_skills_a_definition_names_stand_in_its_prompt(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "skills" / "sums"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: sums\ndescription: how to add\n---\nCarry the one.\n")
    adder = AgentDefinition("adder", "Adds.", "Add.", tools=("bash",), skills=("sums",))
    model = Scripted([("task", {"description": "1+1", "subagent_type": "adder"})], "done")
    await Orchestrator(tmp_path, model, agents=(adder,)).run("work")
    assert "Carry the one." in model.requests[1].system
    assert "Carry the one." not in model.requests[0].system


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (LimitOptions(tokens=2500), "budget"),
        (LimitOptions(usd=0.008), "budget"),
        (LimitOptions(seconds=0.0001), "budget"),
        (LimitOptions(lead_turns=3), "max_turns"),
    ],
)
async def test_limits_end_a_session_by_name_with_what_was_done(
    tmp_path: Path, limits: LimitOptions, status: str
) -> None:
    finished = await Orchestrator(tmp_path, Scripted(bash("true")), limits=limits).run("work")
    assert finished.lead.status == status
    assert finished.lead.summary.strip()
    assert finished.lead.turns <= 3


@pytest.mark.parametrize("prompt", ["", "  \n"])
async def test_a_blank_prompt_is_an_error_in_words(tmp_path: Path, prompt: str) -> None:
    with pytest.raises(DecurionError, match="nothing to go on with"):
        await Orchestrator(tmp_path, Scripted("done")).run(prompt)


async def test_a_log_that_cannot_be_written_any_more_lets_nothing_run(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    async def fill(_event: Event) -> Decision | None:
        size = (find_session(tmp_path) / "audit.jsonl").stat().st_size
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (size, before[1])
        )  # to the file it is as if the disk were full
        return None

    boss = Orchestrator(tmp_path, Scripted(bash("touch ran"), "done"))
    try:
        with pytest.raises(AuditError, match="cannot"):
            await boss.with_hooks([Hook("fill", frozenset({"PreToolUse"}), fill)]).run("work")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "ran").exists()
    assert [r["event"] for r in records(tmp_path) if r["tool_name"]] == []


async def test_a_missing_key_or_a_broken_law_leaves_no_session_behind(tmp_path: Path) -> None:
    with pytest.raises(DecurionError, match="ANTHROPIC_API_KEY"):
        await Orchestrator(tmp_path).run("work")
    assert session_folders(tmp_path) == []


async def test_a_state_folder_that_cannot_be_written_stops_everything_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "file" / "state"))
    model = Scripted("done")
    with pytest.raises(AuditError, match="DECURION_STATE_DIR"):
        await Orchestrator(tmp_path, model).run("work")
    assert model.requests == []


async def test_an_interrupted_session_says_so_and_keeps_what_it_used(tmp_path: Path) -> None:
    model = Scripted([*bash("touch started; sleep 30")], "done")
    options = SessionOptions(tmp_path, model=ModelOptions(client=model))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:

            async def run() -> None:
                async with open_session(options) as session:
                    await session.run("work")

            group.start_soon(run)
            while not (tmp_path / "started").exists():  # noqa: ASYNC110 - nobody sets an event for it
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    [folder] = session_folders(tmp_path)
    info = describe_session(folder)
    assert (info.state, info.status, info.prompt) == ("open", "cancelled", "work")
    left = json.loads((folder / "result.json").read_bytes())["lead"]
    assert left["summary"] == f"Interrupted. Go on with: decurion resume {folder.name}"
    assert (left["turns"], left["usage"]["output_tokens"]) == (1, 100)
    assert [r["reason"] for r in records(tmp_path) if r["event"] == "session_end"] == ["cancelled"]


async def test_the_check_command_passes_the_hooks_and_the_log_like_any_call(tmp_path: Path) -> None:
    gate = answering(deny("no checks"), "PreToolUse")
    work = WorkOptions(verify="true")
    finished = await Orchestrator(tmp_path, Scripted("done"), work=work).run("work")
    assert finished.verified is True
    told: list[Moment] = []
    boss = Orchestrator(tmp_path, Scripted("done"), work=work, hooks=(gate,), listen=told.append)
    refused = await boss.run("work")
    assert refused.verified is False
    assert "no checks" in refused.check_output
    assert [m.text for m in told if isinstance(m, Notice)] == ["check `true`: FAILED\nRefused: no checks"]
    assert [r["event"] for r in records(tmp_path) if r["tool_name"] == "bash"] == ["refused"]
