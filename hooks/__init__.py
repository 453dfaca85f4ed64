"""The ground layer: events, decisions, the hook chain, the law, the log. Knows nothing of agents."""

from __future__ import annotations

from .calls import RunRef, ToolCall, ToolResult
from .decisions import HOOK_FAILED, Decision, Verdict, allow, ask, deny, halt, merge
from .errors import AuditError, ConfigError, DecurionError, HookFailure, PolicyError, ToolError, UsageError
from .events import (
    EVENT_NAMES,
    GATED,
    Event,
    Notification,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStart,
    SubagentStop,
    UserPromptSubmit,
)
from .frozen import as_dict, frozen, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .chain import MAX_STOP_REFUSALS, Hook, HookChain
    from .decorators import guard, observer

_LATE = {
    "MAX_STOP_REFUSALS": ".chain",
    "Hook": ".chain",
    "HookChain": ".chain",
    "guard": ".decorators",
    "observer": ".decorators",
}

__all__ = (
    "EVENT_NAMES",
    "GATED",
    "HOOK_FAILED",
    "MAX_STOP_REFUSALS",
    "AuditError",
    "ConfigError",
    "Decision",
    "DecurionError",
    "Event",
    "Hook",
    "HookChain",
    "HookFailure",
    "Notification",
    "PolicyError",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "RunRef",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "UsageError",
    "UserPromptSubmit",
    "Verdict",
    "allow",
    "as_dict",
    "ask",
    "deny",
    "frozen",
    "guard",
    "halt",
    "merge",
    "observer",
    "replace",
)


def __getattr__(name: str) -> object:
    """Load the chain, and anyio with it, when it is first asked for: the cold hook program never is."""
    from importlib import import_module

    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)
