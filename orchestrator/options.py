"""What a person can ask of a session, grouped; the command line and the library fill in the same values."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Literal

from decurion.hooks import UsageError

if TYPE_CHECKING:  # the command line reads its options here, before anything large is imported
    from collections.abc import Mapping
    from pathlib import Path

    from decurion.agents.catalogue import AgentDefinition
    from decurion.agents.dispatch import Approve
    from decurion.agents.model import Model
    from decurion.agents.offline import Manners
    from decurion.agents.tools import Tool
    from decurion.hooks import Hook

PermissionMode = Literal["default", "plan", "acceptEdits", "dontAsk", "bypassPermissions"]
PERMISSION_MODES: tuple[PermissionMode, ...] = (
    "default",
    "plan",
    "acceptEdits",
    "dontAsk",
    "bypassPermissions",
)

EngineName = Literal["inprocess", "pipe"]
ENGINES: tuple[EngineName, ...] = ("inprocess", "pipe")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which models answer, and through which door. `offline` is the scripted model that ships."""

    name: str = ""
    """Empty: `ANTHROPIC_MODEL`, else the default."""
    subagent: str = ""
    fallback: tuple[str, ...] = ()
    provider: str = "anthropic"
    base_url: str = ""
    effort: str = ""
    """How hard models work: `low`, `medium`, `high`, `xhigh`, `max`. Empty: the model's own level."""
    thinking: str = ""
    """`adaptive`, `off`, or a budget in tokens. Empty: the model's own way. Definitions may differ from both."""
    clear_above: int = 0
    """Input tokens above which the API itself clears old tool results, where it can; 0: never, ours does it all."""
    max_tokens: int = 16_000
    extra_body: Mapping[str, object] = field(default_factory=dict[str, object])
    client: Model | None = None
    """A model object of the library's user, in place of all the above but the names."""
    manners: Manners | None = None
    """How the offline model behaves beyond its work; `decurion demo` slows it down, for people to follow."""
    without: tuple[str, ...] = ()
    """What the endpoint lacks: `cache`, `thinking`, `streaming`, `count_tokens`, `compaction`, `share_prefix`."""

    @property
    def chosen(self) -> str:
        """The model's name as a person wrote it, in the command or the environment."""
        return self.name or os.environ.get("ANTHROPIC_MODEL", "").strip()


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """What a session may use. None is no limit; times are in seconds.

    Raises:
        UsageError: a limit is none: not above 0, or no number at all, which nothing would ever reach.
    """

    lead_turns: int | None = None
    subagent_turns: int = 30
    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    subagent_seconds: float | None = None
    running_at_once: int = 8
    reminder_every: int = 3

    def __post_init__(self) -> None:
        for name, value in (
            ("budget in dollars", self.usd),
            ("limit in tokens", self.tokens),
            ("limit in seconds", self.seconds),
            ("limit in seconds of a subagent", self.subagent_seconds),
            ("number of subagents at once", self.running_at_once),
        ):
            if value is not None and not (value > 0 and isfinite(value)):
                raise UsageError(f"The {name} must be a number above 0, not {value:g}.")


@dataclass(frozen=True, slots=True)
class LawOptions:
    """What binds the agents beside the rules files found: further rules, trust, permission lists."""

    rules_file: str = ""
    trust_project: bool = False
    permission_mode: PermissionMode = "default"
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    person: Approve | None = None
    """Asked about calls whose verdict is `ask`, where nothing allowed them beforehand; None: nobody is there."""


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How the work itself is done: isolation, engine, checks, and what happens with the result."""

    isolation: Literal["none", "worktree"] = "none"
    engine: EngineName = "inprocess"
    """Where subagents run: as tasks of this process, or each in a worker program over a pipe."""
    setup: str = ""
    verify: str = ""
    apply: bool = False


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Everything about one session."""

    workspace: Path
    model: ModelOptions = ModelOptions()
    limits: LimitOptions = LimitOptions()
    law: LawOptions = LawOptions()
    work: WorkOptions = WorkOptions()
    agents_json: str = ""
    agents: tuple[AgentDefinition, ...] = ()
    tools: tuple[Tool, ...] = ()
    system_extra: str = ""
    resume: str = ""
    """The id of an earlier session to go on with."""
    passing: bool = False
    """Whether the workspace goes away with the session, so that nobody can go on with it."""
    said: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the command line said, by option, kept with the session: whoever goes on with it need not say it again."""
