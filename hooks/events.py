"""The closed union of moments at which hooks are asked or told. Names and meaning follow Claude Code's hooks."""

from __future__ import annotations

from .frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import RunRef, ToolCall, ToolResult


@frozen
class SessionStart:
    """A session begins. `source` is `startup` or `resume`."""

    ref: RunRef
    source: str = "startup"
    model: str = ""


@frozen
class UserPromptSubmit:
    """A person's prompt is about to reach the lead; a gate may refuse it or add context."""

    ref: RunRef
    prompt: str


@frozen
class SubagentStart:
    """A subagent is about to start. `ref` is the child's. A gate may deny, or rewrite `prompt` by updated args."""

    ref: RunRef
    prompt: str
    description: str = ""


@frozen
class PreToolUse:
    """A valid tool call is about to run."""

    ref: RunRef
    call: ToolCall


@frozen
class PostToolUse:
    """A tool call returned without error."""

    ref: RunRef
    call: ToolCall
    result: ToolResult
    duration_ms: float = 0.0


@frozen
class PostToolUseFailure:
    """A tool call ran and returned an error. Refused and malformed calls never get here."""

    ref: RunRef
    call: ToolCall
    result: ToolResult
    duration_ms: float = 0.0


@frozen
class SubagentStop:
    """A subagent is about to end as `completed`: a gate may refuse, with a reason that keeps it working.

    Other ends are told to observers only.
    """

    ref: RunRef
    status: str
    summary: str
    transcript_path: str = ""
    stop_hook_active: bool = False


@frozen
class Stop:
    """The lead wants to end its turn. A gate may refuse, with a reason that keeps it working."""

    ref: RunRef
    summary: str
    stop_hook_active: bool = False


@frozen
class PreCompact:
    """A history is about to be compacted. `trigger` is `auto` or `manual`."""

    ref: RunRef
    trigger: str = "auto"


@frozen
class Notification:
    """Something a person should know."""

    ref: RunRef
    message: str
    kind: str = "info"


@frozen
class SessionEnd:
    """A session has ended. `reason` is the exit status in words."""

    ref: RunRef
    reason: str


Event = (
    SessionStart
    | UserPromptSubmit
    | SubagentStart
    | PreToolUse
    | PostToolUse
    | PostToolUseFailure
    | SubagentStop
    | Stop
    | PreCompact
    | Notification
    | SessionEnd
)

EVENT_NAMES: tuple[str, ...] = tuple(kind.__name__ for kind in Event.__args__)
"""Every event's name on the wire, which is its class's name."""

GATED: tuple[str, ...] = (
    "UserPromptSubmit",
    "SubagentStart",
    "PreToolUse",
    "SubagentStop",
    "Stop",
    "PreCompact",
)
"""Events whose gates may refuse. Hooks on all other events are observers, whatever they say."""
