"""A small team on a real workspace: the real client, the real tools, no law. What an offline run needs and no more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from decurion.agents.catalogue import load_catalogue
from decurion.agents.claude import ClientSettings, Endpoint, connect
from decurion.agents.history import History
from decurion.agents.messages_api import Api, Options, serve
from decurion.agents.model import Model, ModelRequest, ToolSpec
from decurion.agents.offline import OFFLINE, Manners, answer
from decurion.agents.result import SubagentResult
from decurion.agents.task import Order, task_tool
from decurion.agents.tools import TOOLS, Tool, ToolContext, output_of, prepare
from decurion.hooks import RunRef, ToolCall, ToolError, ToolResult

LAST_TURN = (
    "<reminder>This is your last turn and your tools are switched off. Write your report now.</reminder>"
)


@dataclass
class Ran:
    """One agent's run: its last text and everything that was said."""

    report: str
    history: History
    turns: int


@dataclass
class Team:
    """A lead and its subagents in one folder. `refuse` maps a part of a command or path to the reason to refuse it."""

    workspace: Path
    api: Api
    model: Model
    refuse: Mapping[str, str] = field(default_factory=dict[str, str])
    max_turns: int = 30
    orders: list[Order] = field(default_factory=list[Order])
    children: list[Ran] = field(default_factory=list[Ran])

    async def lead(self, task: str, history: History | None = None) -> Ran:
        """Run the lead to its end, or on from a history."""
        return await self.run(task, self.lead_tools(), "You are the lead.", depth=0, history=history)

    def lead_tools(self) -> dict[str, Tool]:
        """All tools, `task` too."""
        return {**TOOLS, "task": task_tool(load_catalogue(self.workspace), self.spawn)}

    async def spawn(self, _context: ToolContext, order: Order) -> SubagentResult:
        self.orders.append(order)
        definition = load_catalogue(self.workspace).found[order.agent_type]
        tools = {name: TOOLS[name] for name in definition.tools}
        ran = await self.run(order.prompt, tools, definition.prompt, depth=1)
        self.children.append(ran)
        return SubagentResult("a1", order.agent_type, "completed", ran.report, turns=ran.turns)

    async def run(
        self,
        task: str,
        tools: Mapping[str, Tool],
        system: str,
        *,
        depth: int = 1,
        history: History | None = None,
    ) -> Ran:
        """Talk until a reply makes no call; the last turn has its tools switched off."""
        ref = RunRef("s", f"agent-{depth}", "test", depth=depth)
        context = ToolContext(ref, self.workspace, self.workspace.parent / "scratch")
        history = history or History()
        if task:
            history.add_user(task)
        specs = tuple(ToolSpec(t.name, t.description, t.input_schema) for t in tools.values())
        for turn in range(1, self.max_turns + 1):
            last = turn == self.max_turns
            if last and turn > 1:
                history.add_user(LAST_TURN)
            choice = "none" if last else "auto"
            request = ModelRequest(OFFLINE, system, specs, history, 16_000, ref, choice)
            reply = await self.model.complete(request, lambda _progress: None)
            history.add_reply(reply)
            if not reply.calls:
                return Ran(reply.text, history, turn)
            history.add_results(await self._results(context, tools, reply.calls))
        raise AssertionError("the last turn still made calls")

    async def _results(
        self, context: ToolContext, tools: Mapping[str, Tool], calls: tuple[ToolCall, ...]
    ) -> list[ToolResult]:
        results: dict[str, ToolResult] = {}

        async def one(call: ToolCall) -> None:
            results[call.id] = await self._result(context, tools[call.name], call)

        for call in calls:
            if call.name != "task":
                await one(call)
        async with anyio.create_task_group() as group:
            for call in calls:
                if call.name == "task":
                    group.start_soon(one, call)
        return [results[call.id] for call in calls]

    async def _result(self, context: ToolContext, tool: Tool, call: ToolCall) -> ToolResult:
        text = str(call.args.get("command") or call.args.get("path") or "")
        for part, reason in self.refuse.items():
            if part in text and call.name in {"bash", "edit_file"}:
                return ToolResult(call.id, f"Refused: {reason}", is_error=True)
        try:
            output = output_of(await tool.run(context, prepare(tool, call.args)))
        except ToolError as error:
            return ToolResult(call.id, str(error), is_error=True)
        return ToolResult(call.id, output.content, output.is_error, output.meta)


@asynccontextmanager
async def open_team(workspace: Path, manners: Manners | None = None, **fields: Any) -> AsyncGenerator[Team]:
    """Serve the script on loopback with all history rules on, and give a team that talks to it."""
    async with serve(partial(answer, manners=manners), Options(strict=True)) as api:
        model = connect(ClientSettings(Endpoint(base_url=api.url, key="any"), OFFLINE))
        yield Team(workspace, api, model, **fields)
        await model.aclose()
    assert api.refused == []


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Make files, folders on the way included."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
