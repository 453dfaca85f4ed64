"""Runs a session's subagents in worker programs, which may die: another goes on where one was lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from pathlib import Path
from typing import Any

from decurion.agents.loop import Ending
from decurion.agents.moments import Notice
from decurion.agents.result import SubagentResult
from decurion.agents.shared import Assignment, Bench, CutShort, Shared
from decurion.agents.subagent import as_left, build_child, finished_work, tools_of
from decurion.agents.tools import Tool
from decurion.agents.tools.environment import command_environment
from decurion.hooks import AuditError, DecurionError, RunRef

from .host import CallEnviron, Host
from .pipe import Pipe
from .plain import dumps, loads
from .protocol import Event, Result, Spec
from .runner import EngineRunner, read
from .supervisor import Supervisor

ATTEMPTS = 3
"""Workers that are tried for one subagent; each goes on where the one before was lost."""

GRACE = 1.5
"""Seconds for a worker to end when its session does."""

AWAY = "decurion.orchestrator.engines.away:run"


def nothing_more(_ref: RunRef, _call_id: str) -> Mapping[str, str]:
    """Give a call's commands no more than all have."""
    return {}


@dataclass(slots=True)
class WorkerRunner(EngineRunner):
    """Runs subagents through an engine whose workers may not rely on living in this process.

    `own` names the tools of the library's user, whose code is here: a worker has them run here.
    """

    own: frozenset[str] = frozenset()
    call_environ: CallEnviron = nothing_more

    async def __call__(self, shared: Shared, assignment: Assignment, cut_short: CutShort) -> SubagentResult:
        """Run one subagent to its end.

        Raises:
            DecurionError: the log or the law failed, or a worker could not keep the history.
        """
        return await _Run(self, shared, assignment, cut_short).to_result()


@asynccontextmanager
async def open_workers(
    run: str, folder: Path, own: frozenset[str], call_environ: CallEnviron | None
) -> AsyncGenerator[WorkerRunner]:
    """Give the runner of one session, its records in `folder` as long as it is open; at the end nothing runs any more."""
    engine = Pipe(folder, env=worker_environment(os.environ))
    newest = {handle.agent: handle.attempt for handle in await engine.attach(run)}
    try:
        async with engine:
            yield WorkerRunner(engine, newest, own, call_environ or nothing_more)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def worker_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Give what a worker sees: what its commands will, so no key; and where Python's own libraries are, to start at all."""
    libraries = {name: value for name, value in ours.items() if name.startswith(("LD_", "DYLD_"))}
    return {**command_environment(ours, {}), **libraries}


@dataclass(slots=True)
class _Run:
    """One subagent on its way through its workers."""

    runner: WorkerRunner
    shared: Shared
    assignment: Assignment
    tell_cut_short: CutShort
    host: Host = field(init=False)
    is_cut_short: bool = False

    async def to_result(self) -> SubagentResult:
        self._take_on(self.assignment)
        supervisor = Supervisor(
            self.runner.engine,
            ATTEMPTS,
            self._hear,
            self._answer,
            self._again,
            GRACE,
        )
        try:
            result = await supervisor.run(self.runner.next_spec(self.assignment.ref, AWAY, self._args()))
            if result.status != "completed":
                return await self._given_up(result)
            return self.host.counted(read(result))
        except BaseException as error:
            self.host.close()
            if not self.is_cut_short:
                self._cut_short(self.host.counted(as_left(self.shared, self.assignment, _ending(error))))
            raise

    def _take_on(self, assignment: Assignment) -> None:
        """Give the next attempt its host; what the one before still asks is not answered any more."""
        first = not hasattr(self, "host")
        lease = self.shared.lease.child() if first else self.host.lease
        self.assignment = assignment
        self.host = Host(self.shared, assignment, lease, self._cut_short, self.runner.call_environ, first)

    def _cut_short(self, result: SubagentResult) -> None:
        self.is_cut_short = True
        self.tell_cut_short(result)

    def _hear(self, event: Event) -> None:
        self.host.hear(event)

    async def _answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self.host.answer(question)

    async def _again(self, spec: Spec, lost: Result) -> Spec:
        """Settle what a lost attempt left open, and take the files back to where its history ends."""
        shared, assignment = self.shared, self.assignment
        self.runner.newest[spec.agent] = spec.attempt
        self.host.close()
        text = f"attempt {spec.attempt - 1} at {assignment.ref.agent_id} was lost ({lost.error}); it goes on in another"
        shared.log.write(assignment.ref, "note", reason=text)
        shared.listen(Notice(text))
        self._take_on(dc_replace(assignment, bench=await self._bench_again()))
        return dc_replace(spec, args=self._args())

    async def _bench_again(self) -> Bench | None:
        """Give the workplace for the next attempt: as at its newest checkpoint, where that can be had here."""
        assignment, workshop = self.assignment, self.shared.workshop
        if assignment.bench is None or not assignment.bench.goes_back:
            return assignment.bench
        if assignment.ours and workshop is not None:
            try:
                return await workshop.open(assignment.ref, assignment.order)
            except AuditError:
                raise
            except DecurionError as error:
                self.shared.log.write(assignment.ref, "note", reason=f"the checkout stays as it is: {error}")
        # The files are as the lost attempt left them, so its open calls may have had their effect, and are told so now.
        build_child(self.shared, dc_replace(assignment, bench=None)).transcript.close()
        return assignment.bench

    async def _given_up(self, result: Result) -> SubagentResult:
        """Give the result of a subagent none of whose attempts came to an end; what it did is kept."""
        self.host.close()
        lost = f"all {ATTEMPTS} attempts were lost, the last one because " if result.status == "lost" else ""
        work = await finished_work(self.shared, self.assignment)
        ending = Ending("error", error=f"{lost}{result.error}")
        return self.host.counted(as_left(self.shared, self.assignment, ending, work))

    def _args(self) -> dict[str, Any]:
        """Everything the worker needs to know, as JSON."""
        shared, assignment = self.shared, self.assignment
        definition, bench = shared.catalogue.found[assignment.order.agent_type], assignment.bench
        tools = tools_of(shared, assignment)
        model = self.host.template.model
        args = {
            "ref": assignment.ref,
            "order": assignment.order,
            "prompt": assignment.prompt,
            "bench": bench and {"path": bench.path, "goes_back": bench.goes_back},
            "definition": definition,
            "workspace": shared.workspace,
            "folder": shared.folder,
            "skills": shared.skills,
            "settings": shared.settings,
            "model": model,
            "window": {
                "own": shared.keeper.window(model),
                "smallest": shared.keeper.smallest_window,
                "counts": shared.keeper.count is not None,
            },
            "tools": [self._tool(tool) for tool in tools.values()],
        }
        return loads(dumps(args))

    def _tool(self, tool: Tool) -> dict[str, Any]:
        if tool.name not in self.runner.own:
            return {"name": tool.name, "ships": True}
        told = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.input_schema,
            "read_only": tool.read_only,
            "aliases": tool.aliases,
            "example": tool.example,
        }
        return {"name": tool.name, "ships": False, "tool": told}


def _ending(error: BaseException) -> Ending:
    """How a subagent ended of which a failure of the session, or its end, is all that is known."""
    if isinstance(error, Exception):
        return Ending("error", error=f"{type(error).__name__}: {error}")
    return Ending("cancelled", error="interrupted")
