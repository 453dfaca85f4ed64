"""A whole team on a scripted Messages API: real client, real HTTP, real log, real files."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from decurion.agents.catalogue import load_catalogue
from decurion.agents.claude import ClientSettings, Endpoint, Patience, connect
from decurion.agents.context import ContextKeeper
from decurion.agents.court import Court
from decurion.agents.messages_api import Answer, Api, Options, Refusal, Request, serve
from decurion.agents.moments import Moment
from decurion.agents.money import Lease, Limits, Prices
from decurion.agents.result import SubagentResult
from decurion.agents.shared import Settings, Shared
from decurion.agents.team import Team
from decurion.agents.tools import TOOLS, Tool
from decurion.hooks.audit import AuditLog
from decurion.hooks.chain import Hook, HookChain

MODEL = "claude-sonnet-5-5"
Answering = Callable[[Request], Awaitable[Answer | Refusal]]


@dataclass(frozen=True)
class Stage:
    """A running team with everything a test looks at."""

    team: Team
    api: Api
    folder: Path
    workspace: Path
    moments: list[Moment] = field(default_factory=list[Moment])

    async def run(self, prompt: str = "Do the job.") -> SubagentResult:
        """Give the lead a prompt."""
        return await self.team.run_lead(prompt)

    @property
    def records(self) -> list[dict[str, Any]]:
        """Every record of the log."""
        return [json.loads(line) for line in (self.folder / "audit.jsonl").read_text().splitlines()]

    def events(self, *names: str) -> list[dict[str, Any]]:
        """Give the records of some kinds."""
        return [record for record in self.records if record["event"] in names]

    def requests_of(self, task: str) -> list[Request]:
        """Give the requests of the agent whose first message holds a text."""
        return [request for request in self.api.message_requests if task in request.task]


@asynccontextmanager
async def stage(
    answer: Answering,
    tmp_path: Path,
    *,
    hooks: Sequence[Hook] = (),
    tools: Sequence[Tool] = (),
    options: Options | None = None,
    budget: Limits | None = None,
    **settings: Any,
) -> AsyncGenerator[Stage]:
    """Set up a team in `tmp_path/work`, its session in `tmp_path/session`, a second time over the same folders too."""
    workspace, folder = tmp_path / "work", tmp_path / "session"
    workspace.mkdir(exist_ok=True)
    async with serve(answer, options or Options()) as api:
        endpoint = Endpoint(base_url=api.url, key="test-key")
        client = connect(
            ClientSettings(endpoint, MODEL, patience=Patience(first_wait=0.01, longest_wait=0.05))
        )
        prices, moments = Prices.load(), list[Moment]()
        with AuditLog.open(folder / "audit.jsonl", session_id="s1") as log:
            court = Court(HookChain(hooks), log, moments.append)
            shared = Shared(
                session_id="s1",
                workspace=workspace,
                folder=folder,
                model=client,
                court=court,
                catalogue=load_catalogue(workspace),
                tools={**TOOLS, **{tool.name: tool for tool in tools}},
                settings=replace(Settings(model=MODEL), **settings),
                lease=Lease(prices, budget),
                keeper=ContextKeeper(client, prices.window, court.ask),
                listen=moments.append,
            )
            try:
                yield Stage(Team(shared), api, folder, workspace, moments)
            finally:
                await client.aclose()


def is_lead(request: Request) -> bool:
    """Tell the lead's requests by the tool only it has."""
    return any(tool["name"] == "task" for tool in request.body.get("tools", ()))


def results_of(request: Request) -> list[dict[str, Any]]:
    """Give the tool results of a request's newest message."""
    return [block for block in request.body["messages"][-1]["content"] if block["type"] == "tool_result"]


def text_of(result: dict[str, Any]) -> str:
    """Give the text of a tool result."""
    content = result["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
