"""The offline model behind its door: on both event loops, through the real client, the same reply for the same request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decurion.agents.claude import ClientSettings, connect
from decurion.agents.history import History
from decurion.agents.messages_api import Request
from decurion.agents.model import ModelRequest, ToolSpec
from decurion.agents.offline import OFFLINE, Manners, answer, offline_endpoint
from decurion.agents.tools import TOOLS
from decurion.hooks import RunRef
from tests.agents.offline.team import open_team, write

pytestmark = pytest.mark.anyio

FILES = {f"m{n}.py": f"from base import load\n\nx{n} = load()\n" for n in range(4)} | {
    "base.py": "def load(): return 1\n"
}


def request_of(body: dict[str, Any]) -> Request:
    return Request("POST", "/v1/messages", {}, b"", body)


def body_of(*texts: str, tools: tuple[str, ...] = ("grep", "task"), **fields: Any) -> dict[str, Any]:
    """A body with the person's texts, the first of them the task."""
    messages = [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}]
    return {"model": OFFLINE, "messages": messages, "tools": [{"name": name} for name in tools], **fields}


async def test_a_whole_run_on_either_event_loop(tmp_path: Path) -> None:
    write(tmp_path / "p", FILES)
    async with open_team(tmp_path / "p") as team:
        ran = await team.lead("rename function load to read")
    assert "9 places in 5 files" in ran.report
    assert (tmp_path / "p/m3.py").read_text() == "from base import read\n\nx3 = read()\n"


async def test_the_endpoint_opens_for_the_real_client_and_counts_its_cache(tmp_path: Path) -> None:
    history = History()
    history.add_user("rename load to read")
    specs = tuple(ToolSpec(tool.name, tool.description, tool.input_schema) for tool in TOOLS.values())
    request = ModelRequest(OFFLINE, "You refactor. " * 400, specs, history, 1_000, RunRef("s", "a", "t"))
    async with offline_endpoint() as endpoint:
        model = connect(ClientSettings(endpoint, OFFLINE))
        replies = [await model.complete(request, lambda _progress: None) for _ in range(2)]
        await model.aclose()
    assert replies[0].content == replies[1].content
    assert replies[0].usage.cache_creation_input_tokens > 1_000
    assert replies[1].usage.cache_read_input_tokens == replies[0].usage.cache_creation_input_tokens
    assert replies[0].stop_reason == "tool_use"


async def test_other_keys_do_not_open_it() -> None:
    from decurion.agents.claude import Endpoint
    from decurion.agents.errors import AuthenticationFailed

    history = History()
    history.add_user("hello")
    request = ModelRequest(OFFLINE, "", (), history, 100, RunRef("s", "a", "t"))
    async with offline_endpoint() as endpoint:
        model = connect(ClientSettings(Endpoint(base_url=endpoint.base_url, key="stranger"), OFFLINE))
        with pytest.raises(AuthenticationFailed):
            await model.complete(request, lambda _progress: None)
        await model.aclose()


async def test_ids_of_calls_follow_from_the_request_and_differ_between_requests() -> None:
    def ids(reply: Any) -> list[str]:
        return [block["id"] for block in reply.content if block["type"] == "tool_use"]

    one, same, other = [
        ids(await answer(request_of(body_of(task))))
        for task in ("rename a to b", "rename a to b", "rename a to c")
    ]
    assert one == same != other


async def test_what_the_program_adds_to_a_task_is_no_part_of_it() -> None:
    added = "rename a to b\n\n<context>\nrename c to d\n</context>"
    reply: Any = await answer(request_of(body_of(added, "<reminder>rename e to f</reminder>")))
    assert [block["input"]["pattern"] for block in reply.content if block["type"] == "tool_use"] == [r"\ba\b"]


async def test_a_summary_of_earlier_turns_is_taken_up(tmp_path: Path) -> None:
    """After a compaction only the summary tells what was done; files that it names are not read again."""
    task = "This is part 1 of 1 of a change.\nChange: rename `load` to `read`\nWhat `load` is in this project: module\nFiles:\n- `a.py`\n- `b.py`"
    summary = "<summary>\nWhat happened.\n\n- `a.py`: 2 places changed (lines 1, 3)\n- `b.py`: not read yet\n</summary>"
    tools = ("read_file", "edit_file")
    reply: Any = await answer(
        request_of(body_of(task, summary, "Go on with the task from here.", tools=tools))
    )
    assert [block["input"]["path"] for block in reply.content if block["type"] == "tool_use"] == ["b.py"]


@pytest.mark.parametrize("tools", [("task", "grep"), ("read_file", "edit_file")])
async def test_with_tools_switched_off_it_answers_in_words(tools: tuple[str, ...]) -> None:
    task = "This is part 1 of 1.\nChange: rename `load` to `read`\nFiles:\n- `a.py`"
    body = body_of(
        task, "<reminder>This is your last turn.</reminder>", tools=tools, tool_choice={"type": "none"}
    )
    reply: Any = await answer(request_of(body))
    assert [block["type"] for block in reply.content] == ["text"]
    assert reply.stop_reason == "end_turn"


async def test_the_clumsy_part_is_the_second_and_only_when_asked() -> None:
    task = "This is part {} of 3.\nChange: replace `a` by `b`\nFiles:\n- `x.py`"
    body = body_of(task.format(2), tools=("read_file", "edit_file", "bash"))
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "x.py"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "     1\tc = 1"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "edit_file", "input": {"path": "x.py"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "Changed 1 place."}]},
    ]  # fmt: skip
    clumsy: Any = await answer(request_of(body), Manners(clumsy="git push --force"))
    assert [b["input"] for b in clumsy.content if b["type"] == "tool_use"] == [
        {"command": "git push --force"}
    ]
    plain: Any = await answer(request_of(body), Manners())
    assert all(block["type"] == "text" for block in plain.content)
