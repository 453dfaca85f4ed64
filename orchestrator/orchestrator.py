"""The library's front door: a delegation, a tool, a hook, ten lines each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from decurion.agents.catalogue import AgentDefinition
from decurion.agents.model import Model
from decurion.agents.moments import Listener, ignore
from decurion.agents.tools import Tool
from decurion.hooks import UsageError
from decurion.hooks.chain import Hook

from .options import LawOptions, LimitOptions, ModelOptions, SessionOptions, WorkOptions
from .session import Finished, open_session


@dataclass(frozen=True, slots=True)
class Orchestrator:
    """Runs tasks in one folder; immutable, so `with_…` gives a new one.

    `model` is a name (empty: `ANTHROPIC_MODEL`, else the default; `offline`: the scripted model) or any `Model`.
    `tools`, `hooks` and `agents` are added to those that ship. `listen` is told every moment of a run.
    """

    workspace: Path | str = "."
    model: str | Model = ""
    tools: tuple[Tool, ...] = ()
    hooks: tuple[Hook, ...] = ()
    agents: tuple[AgentDefinition, ...] = ()
    limits: LimitOptions = field(default_factory=LimitOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    law: LawOptions = field(default_factory=LawOptions)
    listen: Listener = ignore

    async def run(self, task: str, *, resume: str = "") -> Finished:
        """Give the lead a task and wait for the end; `resume` names a session to go on with.

        Raises:
            DecurionError: the session could not start (no key, broken rules), or the log or the law failed.
        """
        async with open_session(self._options(resume), self.listen) as session:
            return await session.run(task)

    def with_tools(self, tools: Iterable[Tool]) -> Orchestrator:
        """Add tools. A subagent gets one only where its definition names it."""
        return replace(self, tools=(*self.tools, *tools))

    def with_hooks(self, hooks: Iterable[Hook]) -> Orchestrator:
        """Add hooks to the one chain of the lead and all subagents."""
        return replace(self, hooks=(*self.hooks, *hooks))

    def with_agents(self, agents: Iterable[AgentDefinition]) -> Orchestrator:
        """Add agent definitions; one of the same name takes the place of a found one."""
        return replace(self, agents=(*self.agents, *agents))

    def _options(self, resume: str) -> SessionOptions:
        workspace = Path(self.workspace)
        if not workspace.is_dir():
            raise UsageError(f"{workspace} is not a folder.")
        return SessionOptions(
            workspace=workspace.resolve(),
            model=ModelOptions(name=self.model)
            if isinstance(self.model, str)
            else ModelOptions(client=self.model),
            limits=self.limits,
            law=replace(self.law, hooks=(*self.law.hooks, *self.hooks)),
            work=self.work,
            agents=self.agents,
            tools=self.tools,
            resume=resume,
        )
