"""The hooks of a settings file bind lead and subagents alike (BUG-01, BUG-03), at every depth and side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decurion.agents.model import ModelRequest, Progress, Reply, Usage
from decurion.hooks.audit import session_dir
from decurion.orchestrator.options import LawOptions
from decurion.orchestrator.orchestrator import Orchestrator
from tests.gates import EIGHT_BEGAN

pytestmark = pytest.mark.anyio

REFUSES = """grep -q 'touch denied' && { echo 'not that file' >&2; exit 2; }; exit 0"""


class Scripted:
    """The lead runs commands, then starts two children that run the same; each run of a command has its own id."""

    name = "scripted"

    def __init__(self, *commands: str) -> None:
        self.commands = commands
        self.seen: list[tuple[int, list[Any]]] = []

    async def complete(self, request: ModelRequest, report: Callable[[Progress], None]) -> Reply:
        depth, who = request.ref.depth, request.ref.agent_id
        step = sum(message["role"] == "assistant" for message in request.messages)
        self.seen.append((depth, list(request.messages[-1]["content"])))
        if request.tool_choice == "auto" and step == 0:
            return reply([call(f"{who}_{at}", "bash", command=text) for at, text in enumerate(self.commands)])
        if request.tool_choice == "auto" and step == 1 and depth == 0:
            return reply([call(f"task_{at}", "task", description=f"part {at}") for at in range(2)])
        return Reply("msg", "scripted", ({"type": "text", "text": "done"},), "end_turn", Usage(1, 1), {})

    async def aclose(self) -> None: ...


def call(identity: str, name: str, **args: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{identity}", "name": name, "input": args}


def reply(content: list[dict[str, Any]]) -> Reply:
    return Reply("msg", "scripted", tuple(content), "tool_use", Usage(1, 1), {})


def configure(project: Path, *, timeout: int = 60, **hooks: str) -> None:
    said = {
        event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": text, "timeout": timeout}]}]
        for event, text in hooks.items()
    }
    (project / ".claude").mkdir(exist_ok=True)
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": said}))


async def run(project: Path, model: Scripted) -> list[dict[str, Any]]:
    boss = Orchestrator(project, model, law=LawOptions(trust_project=True))
    finished = await boss.run("work")
    log = Path(session_dir(str(project), finished.session_id)) / "audit.jsonl"
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def errors(model: Scripted, depth: int) -> list[str]:
    return [
        json.dumps(block["content"])
        for at, content in model.seen
        if at == depth
        for block in content
        if block["type"] == "tool_result" and block.get("is_error")
    ]


async def test_every_call_of_every_agent_passes_the_hooks(tmp_path: Path) -> None:
    note = "cat > seen.$$.json"
    configure(tmp_path, PreToolUse=note, PostToolUse=note)
    await run(tmp_path, Scripted("true"))
    seen = [json.loads(path.read_bytes()) for path in tmp_path.glob("seen.*.json")]  # noqa: ASYNC240 - the run is over
    told = sorted((one["hook_event_name"], one["decurion"]["depth"]) for one in seen)
    assert told == [
        ("PostToolUse", 0),
        *[("PostToolUse", 1)] * 2,
        ("PreToolUse", 0),
        *[("PreToolUse", 1)] * 2,
    ]
    children = {one["agent_id"] for one in seen if "agent_id" in one}
    assert len(children) == 2


async def test_a_refusal_binds_lead_and_children_and_reaches_the_model(tmp_path: Path) -> None:
    configure(tmp_path, PreToolUse=REFUSES)
    model = Scripted("touch denied", "touch allowed")
    records = await run(tmp_path, model)
    assert not (tmp_path / "denied").exists()
    assert (tmp_path / "allowed").exists()
    refused = [one for one in records if one["event"] == "refused"]
    assert sorted(one["depth"] for one in refused) == [0, 1, 1]
    assert [one["rule"] for one in refused] == [None] * 3
    assert all("not that file" in text for text in errors(model, 0) + errors(model, 1))
    assert (len(errors(model, 0)), len(errors(model, 1))) == (1, 2)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("exit 1", "exit status 1"),
        ("exit 139", "exit status 139"),
        ("echo '{not json'", "invalid output"),
        ("no-such-program", "cannot start"),
        ("python3 missing_script.py", "cannot start"),
    ],
)
async def test_a_broken_gate_refuses_and_the_log_says_that_it_broke(
    tmp_path: Path, command: str, kind: str
) -> None:
    configure(tmp_path, PreToolUse=command)
    model = Scripted("touch ran")
    records = await run(tmp_path, model)
    assert not (tmp_path / "ran").exists()
    assert all(
        command.split(maxsplit=1)[0] in text and kind in text for text in errors(model, 0) + errors(model, 1)
    )
    assert [one["rule"] for one in records if one["event"] == "refused"] == ["hook-failed"] * 3
    assert len([one for one in records if one["event"] == "hook_failed"]) == 3


@pytest.mark.parametrize(
    ("gate", "limit", "late"),
    [(f"{EIGHT_BEGAN}; exit 2", 60, 0), ("sleep 300; exit 0", 1, 24)],
    ids=["slow", "late"],
)
async def test_eight_calls_of_one_turn_wait_for_slow_gates_together(
    tmp_path: Path, gate: str, limit: int, late: int
) -> None:
    """BUG-02: no marker of any of 24 calls; those of a turn are asked about side by side, late or not."""
    configure(tmp_path, timeout=limit, PreToolUse=gate)
    model = Scripted(*(f"touch marker-{at}" for at in range(8)))
    records = await run(tmp_path, model)
    assert not any((tmp_path / f"marker-{at}").exists() for at in range(8))
    assert (len(errors(model, 0)), len(errors(model, 1))) == (8, 16)
    assert [one["event"] for one in records].count("refused") == 24
    assert [one["event"] for one in records].count("hook_failed") == late


async def test_a_broken_observer_changes_nothing_and_is_recorded(tmp_path: Path) -> None:
    configure(tmp_path, PostToolUse="exit 1")
    model = Scripted("echo result")
    records = await run(tmp_path, model)
    assert errors(model, 0) + errors(model, 1) == []
    assert len([one for one in records if one["event"] == "hook_failed"]) == 3
    assert [one["event"] for one in records if one["tool_name"] == "bash"].count("done") == 3


async def test_hooks_of_a_project_that_is_not_trusted_do_not_run(tmp_path: Path) -> None:
    configure(tmp_path, PreToolUse="touch stranger-was-here")
    await Orchestrator(tmp_path, Scripted("true")).run("work")
    assert not (tmp_path / "stranger-was-here").exists()
