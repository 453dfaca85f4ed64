"""The work that engines are for: one subagent, in a folder that is its own, to the result contract as JSON.

`args`: `workspace` (the folder, such as a worktree), `prompt`, `agent_type`, `title`, `model` (a name), `env` (more
variables for its commands), `max_turns`, `usd`. The subagent has a session of its own, with the law of its workspace
and its own log, which the result names by `transcript_path`. A checkpoint event says which turn is done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decurion.agents.shared import Work
from decurion.agents.task import Order

from ..options import LimitOptions, ModelOptions, SessionOptions
from ..session import open_session
from .protocol import Spec, Workplace


@dataclass(frozen=True, slots=True)
class Desk:
    """The folder as the subagent's workplace; who submitted the work looks after commits."""

    path: Path
    environ: Mapping[str, str]
    place: Workplace
    session_id: str

    @property
    def goes_back(self) -> bool:
        """The next attempt finds the folder as this one left it, unless who submitted the work sees to it."""
        return False

    async def checkpoint(self, turn: int) -> None:
        """Tell that a turn is done."""
        await self.place.tell("checkpoint", {"turn": turn, "session_id": self.session_id})

    async def finish(self, message: str) -> Work | None:  # noqa: ARG002 - the seam's argument
        """Leave it to who submitted the work."""
        return None


async def run(spec: Spec, place: Workplace) -> dict[str, Any]:
    """Run one subagent; an attempt that was interrupted goes on from its last complete turn."""
    args = spec.args
    options = SessionOptions(
        workspace=Path(args["workspace"]),
        model=ModelOptions(name=args.get("model", "")),
        limits=LimitOptions(subagent_turns=args.get("max_turns") or 30, usd=args.get("usd")),
        resume=str((spec.resume or {}).get("session_id", "")),
    )
    order = Order(args["prompt"], args.get("agent_type", "general"), args.get("title", ""))
    async with open_session(options) as session:
        who = {"session_id": session.id, "folder": str(session.folder), "pid": os.getpid()}
        await place.tell("session", who)
        desk = Desk(options.workspace, args.get("env") or {}, place, session.id)
        result = await session.team.run_at(order, desk, spec.agent)
    return result.as_json()
