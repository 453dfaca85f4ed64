"""Runs a session's subagents through an engine: the way from an assignment to a spec, and back to a result."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decurion.agents.result import SubagentResult, result_from_json
from decurion.agents.shared import Assignment, CutShort, Shared
from decurion.agents.subagent import run_assignment
from decurion.hooks import ConfigError, DecurionError, RunRef

from ..options import SessionOptions
from .errors import as_pair, from_pair
from .inprocess import InProcess
from .local import LocalEngine
from .protocol import Limits, Result, Spec, Workplace
from .supervisor import Supervisor

HERE = "decurion.orchestrator.engines.runner:here"

_LIVE: dict[tuple[str, str], tuple[Shared, Assignment, CutShort]] = {}
"""Subagents that run in this process, by session and agent: what they share cannot be written into a spec."""


async def here(spec: Spec, _place: Workplace) -> dict[str, Any]:
    """Run one subagent of a session of this process. The value is as `away.run` gives it."""
    try:
        result = await run_assignment(*_LIVE[spec.run, spec.agent])
    except DecurionError as error:
        return {"error": as_pair(error)}
    return {"result": result.as_json()}


@dataclass(slots=True)
class EngineRunner:
    """Runs subagents through one engine, in this process; see `agents.shared.Runner`."""

    engine: LocalEngine
    newest: dict[str, int] = field(default_factory=dict[str, int])
    """The newest attempt at each agent: numbers go on from there, after a crash too, so that none comes twice."""

    async def __call__(self, shared: Shared, assignment: Assignment, cut_short: CutShort) -> SubagentResult:
        """Run one subagent to its end.

        Raises:
            DecurionError: the log or the law failed.
        """
        ref = assignment.ref
        _LIVE[ref.session_id, ref.agent_id] = (shared, assignment, cut_short)
        try:
            supervisor = Supervisor(self.engine, attempts=1, grace_s=math.inf)
            return read(await supervisor.run(self.next_spec(ref, HERE, {})))
        finally:
            del _LIVE[ref.session_id, ref.agent_id]

    def next_spec(self, ref: RunRef, work: str, args: Mapping[str, Any]) -> Spec:
        """Give the spec of the next attempt at an agent."""
        attempt = self.newest[ref.agent_id] = self.newest.get(ref.agent_id, 0) + 1
        return Spec(ref.session_id, ref.agent_id, attempt, work, args, Limits(idle_s=None))


def read(result: Result) -> SubagentResult:
    """Give what an attempt came to.

    Raises:
        DecurionError: the session is to end.
        RuntimeError: the attempt did not come to its end.
    """
    if result.status != "completed":
        raise RuntimeError(result.error)
    if "error" in result.value:
        raise from_pair(result.value["error"])
    return result_from_json(result.value["result"])


@asynccontextmanager
async def open_runner(
    options: SessionOptions,
    run: str,
    folder: Path,
    call_environ: Callable[[RunRef, str], Mapping[str, str]] | None = None,
) -> AsyncGenerator[EngineRunner]:
    """Give the runner of one session; at the end nothing runs any more.

    `folder` is for records of workers as long as it is open; `call_environ` says what a call's commands need beside all else.
    """
    if options.work.engine == "pipe":
        # Its imports would cost a session that needs no workers some of its first second.
        from .workers import open_workers

        own = frozenset(tool.name for tool in options.tools)
        async with open_workers(run, folder, own, call_environ) as runner:
            yield runner
        return
    async with InProcess() as engine:
        yield EngineRunner(engine)


def check_tools(options: SessionOptions) -> None:
    """Look whether a worker can offer the tools of the library's user.

    Raises:
        ConfigError: one reads its arguments by a function, which cannot go there.
    """
    for tool in options.tools if options.work.engine == "pipe" else ():
        if tool.normalise is not None:
            raise ConfigError(
                f"The tool {tool.name!r} has a `normalise` function, which no worker can call. "
                'Leave it out, or run the subagents in process (engine="inprocess").'
            )
