"""The library as the README shows it: a delegation, a tool, a hook; each about ten lines, on both event loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.agents.claude import ClientSettings, Endpoint, connect
from decurion.agents.messages_api import Answer, Request, call, say, serve
from decurion.hooks import Decision, ToolCall, UsageError, deny
from decurion.orchestrator import AgentDefinition, Orchestrator, ToolContext, guard, tool

pytestmark = pytest.mark.anyio


@tool(read_only=True)
async def count_lines(ctx: ToolContext, path: str) -> str:
    """Count the lines of a text file in the workspace."""
    return str(len((ctx.workspace / path).read_text().splitlines()))


@guard(tools="count_*")
async def not_the_diary(call: ToolCall) -> Decision | None:
    """Refuse one file."""
    return deny("the diary is private") if "diary" in str(call.args["path"]) else None


async def answer(request: Request) -> Answer:
    """Answer as a lead that delegates to a reader, and as the reader."""
    if any(offered["name"] == "task" for offered in request.body.get("tools", ())):
        if request.turn == 0:
            return call("task", {"prompt": "count", "subagent_type": "reader", "description": "Counting"})
        return say(f"The reader says: {request.last}")
    if request.turn == 0:
        return call("count_lines", {"path": "notes.txt"})
    if request.turn == 1:
        return call("count_lines", {"path": "diary.txt"})
    return say(f"{request.body['messages'][2]['content'][0]['content']} lines; then: {request.last}")


READER = AgentDefinition("reader", "Measures files.", "Measure.", tools=("count_lines",))
READER_FILE = "---\nname: reader\ndescription: Measures files.\ntools: count_lines, task\n---\nMeasure.\n"


@pytest.mark.parametrize("in_file", [False, True])
async def test_a_delegation_with_an_own_tool_an_own_agent_and_an_own_hook(
    tmp_path: Path, in_file: bool
) -> None:
    """An own tool may be listed by definitions of either form; `task` stays where it is."""
    (tmp_path / "notes.txt").write_text("a\nb\nc\n")
    (tmp_path / "diary.txt").write_text("dear diary\n")
    if in_file:
        (tmp_path / ".decurion/agents").mkdir(parents=True)
        (tmp_path / ".decurion/agents/reader.md").write_text(READER_FILE)
    async with serve(answer) as api:
        model = connect(ClientSettings(Endpoint(base_url=api.url, key="k"), "claude-sonnet-5-5"))
        boss = (
            Orchestrator(tmp_path, model)
            .with_tools([count_lines])
            .with_hooks([not_the_diary])
            .with_agents([] if in_file else [READER])
        )
        finished = await boss.run("How long are my notes?")
        await model.aclose()
        assert api.refused == []
    assert finished.lead.status == "completed"
    assert "3 lines; then: Refused: the diary is private" in finished.lead.summary
    [child] = finished.subagents
    assert [(one.tool_name, one.reason) for one in child.denied] == [("count_lines", "the diary is private")]


async def test_the_offline_model_does_a_real_rename_through_the_same_door(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def load():\n    return 'load'\n")
    (tmp_path / "b.py").write_text("from a import load\n\nprint(load())  # load\n")
    finished = await Orchestrator(tmp_path, "offline").run("rename load to read_config")
    assert finished.lead.status == "completed"
    assert (tmp_path / "a.py").read_text() == "def read_config():\n    return 'load'\n"
    assert (tmp_path / "b.py").read_text() == "from a import read_config\n\nprint(read_config())  # load\n"


async def test_a_folder_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        await Orchestrator(tmp_path / "nowhere", "offline").run("x")
