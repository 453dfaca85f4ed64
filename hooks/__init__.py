"""The ground layer: events, decisions, the hook chain, the law, the log. Knows nothing of agents.

Names are loaded when first asked for: the cold hook program needs a few of them, and not those that bring anyio.
"""

from __future__ import annotations

# Now, for the function must take the place of the module of the same name.
from .frozen import as_dict, frozen, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import RunRef, ToolCall, ToolResult
    from .chain import MAX_STOP_REFUSALS, Hook, HookChain
    from .decisions import HOOK_FAILED, Decision, Verdict, allow, ask, deny, halt, merge
    from .decorators import guard, observer
    from .errors import (
        AuditError,
        ConfigError,
        DecurionError,
        HookFailure,
        PolicyError,
        ToolError,
        UsageError,
    )
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

_HOMES = {
    "calls": ("RunRef", "ToolCall", "ToolResult"),
    "chain": ("MAX_STOP_REFUSALS", "Hook", "HookChain"),
    "decisions": ("HOOK_FAILED", "Decision", "Verdict", "allow", "ask", "deny", "halt", "merge"),
    "decorators": ("guard", "observer"),
    "errors": (
        "AuditError",
        "ConfigError",
        "DecurionError",
        "HookFailure",
        "PolicyError",
        "ToolError",
        "UsageError",
    ),
}
"""Which module holds which public name; all others are in `events`."""

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
    """Load a public name from its module, and keep it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = next((module for module, names in _HOMES.items() if name in names), "events")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value
