"""What the agents of a session share, and the seams through which a session gives them what they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from decurion.hooks import DecurionError, RunRef

from .catalogue import Catalogue
from .context import ContextKeeper
from .court import Court, Log
from .dispatch import Approve, nobody
from .model import Model, ToolSpec
from .moments import Listener, ignore
from .money import Lease
from .result import FileChange, SubagentResult
from .task import Order
from .tools import Limits, Skill, Tool


@dataclass(frozen=True, slots=True)
class Work:
    """What an isolated subagent left: a branch or ref that exists, its commit, and the files that differ.

    Branch and commit are empty where it changed nothing.
    """

    branch: str
    commit: str
    changed: tuple[FileChange, ...] = ()
    notices: tuple[str, ...] = ()


class Bench(Protocol):
    """The workplace of one isolated subagent."""

    @property
    def path(self) -> Path:
        """The folder its tools are rooted in."""
        ...

    @property
    def goes_back(self) -> bool:
        """Whether a resume finds the files as they were at the newest checkpoint, whatever was done since."""
        ...

    async def ready(self) -> Mapping[str, str]:
        """Wait until the folder is there; gives what commands need in it beside the session's environment.

        Raises:
            DecurionError: it could not be made.
        """
        ...

    async def checkpoint(self, turn: int) -> None:
        """Save the state after a turn."""
        ...

    async def finish(self, message: str) -> Work | None:
        """Commit what is there; None where somebody else looks after that."""
        ...


class Workshop(Protocol):
    """Gives isolated subagents a checkout of their own. The real one is `orchestrator.isolation`."""

    async def open(self, ref: RunRef, order: Order) -> Bench:
        """Begin to make, or after a crash reopen, the workplace of one agent; one that was begun is as it was by then.

        Raises:
            DecurionError: it cannot be had; the order then fails, and never runs in the main checkout instead.
        """
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """One piece of work as a subagent takes it up: who it is, what it is told, and where it works if isolated.

    `ours` says that the workshop made the workplace, and can make it again as it was at the newest checkpoint.
    """

    ref: RunRef
    order: Order
    prompt: str
    bench: Bench | None = None
    ours: bool = False


CutShort = Callable[[SubagentResult], None]
"""Told what an agent had done that was ended from outside, or by a failure that ends the session."""


Runner = Callable[["Shared", Assignment, CutShort], Awaitable[SubagentResult]]
"""Runs a subagent to its end, here or elsewhere (`orchestrator.engines`); as `agents.subagent.run_assignment` does.

It raises `DecurionError` where the log or the law failed. `cut_short` was told then, as it is on cancellation.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a session's agents work. `reminder_every` 0 switches the todo reminder off; times are in seconds."""

    model: str
    subagent_model: str = ""
    max_tokens: int = 16_000
    running_at_once: int = 8
    reminder_every: int = 3
    lead_turns: int | None = None
    subagent_turns: int = 30
    subagent_seconds: float | None = None
    system_extra: str = ""
    subagent_system_extra: str = ""
    isolation: str = "none"
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Shared:
    """What every agent of a session has in common: one model client, one chain and one log (the court)."""

    session_id: str
    workspace: Path
    folder: Path
    model: Model
    court: Court
    catalogue: Catalogue
    tools: Mapping[str, Tool]
    settings: Settings
    lease: Lease
    keeper: ContextKeeper
    skills: tuple[Skill, ...] = ()
    listen: Listener = ignore
    approve: Approve = nobody
    workshop: Workshop | None = None
    runner: Runner | None = None
    """Where subagents run; None: in the task that asks for one."""
    specs: dict[str, tuple[ToolSpec, ...]] = field(default_factory=dict[str, "tuple[ToolSpec, ...]"])
    """Tools as told to the model, one tuple for each type of agent, so that each is encoded once."""
    workplaces: dict[str, Path] = field(default_factory=dict[str, Path])
    """Where each isolated agent works, by agent id; the law and the hooks look it up here."""

    @property
    def log(self) -> Log:
        """The session's one log."""
        return self.court.log


def transcript_path(folder: Path, agent_id: str) -> Path:
    """Give where a subagent's messages are kept."""
    return folder / "subagents" / f"{agent_id}.jsonl"


def write_private(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, readable by its owner only.

    Raises:
        DecurionError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary.write_bytes(data)
        temporary.chmod(0o600)
        temporary.replace(path)
    except OSError as error:
        raise DecurionError(f"{path} cannot be written: {error.strerror}") from None
