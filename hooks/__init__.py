"""The ground layer: events, decisions, the hook chain, the law, the log. Knows nothing of agents."""

from __future__ import annotations

from .calls import RunRef, ToolCall, ToolResult
from .decisions import HOOK_FAILED, Decision, Verdict, allow, ask, deny, halt, merge
from .errors import AuditError, ConfigError, DecurionError, PolicyError, ToolError, UsageError
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

__all__ = (
    "EVENT_NAMES",
    "GATED",
    "HOOK_FAILED",
    "AuditError",
    "ConfigError",
    "Decision",
    "DecurionError",
    "Event",
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
    "halt",
    "merge",
    "replace",
)
