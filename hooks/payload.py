"""What hook programs that *we* start read: events in the words of the ecosystem, its tool calls in both spellings.

The format is Claude Code's (its hooks reference). `request` reads what a product writes that starts `decurion hook`.
"""

from __future__ import annotations

import posixpath

from .calls import ToolCall
from .errors import HookFailure
from .events import (
    Event,
    Notification,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStart,
    SubagentStop,
)
from .frozen import frozen
from .matchers import our_name, their_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PATHS = {"path": "file_path"}
_ALIASES: dict[str, dict[str, str]] = {
    "read_file": _PATHS,
    "write_file": _PATHS,
    "edit_file": _PATHS,
    "task": {"description": "prompt"},
}
"""Our arguments that the ecosystem spells differently; hooks are shown both spellings."""


@frozen
class Surroundings:
    """What a hook program is told of the place: absolute paths; `cwd` is the acting agent's own folder."""

    cwd: str
    project: str
    transcript_path: str = ""
    permission_mode: str = "default"


def payload(event: Event, place: Surroundings) -> dict[str, Any]:
    """Give what a hook program reads on standard input for an event."""
    ref = event.ref
    body: dict[str, Any] = {
        "session_id": ref.session_id,
        "transcript_path": place.transcript_path,
        "cwd": place.cwd,
        "permission_mode": place.permission_mode,
        "hook_event_name": type(event).__name__,
    }
    if ref.depth > 0:
        # Existing hooks take the presence of `agent_id` to mean "inside a subagent".
        body |= {"agent_id": ref.agent_id, "agent_type": ref.agent_type}
    body |= _details(event, place)
    body["decurion"] = {
        "agent_id": ref.agent_id,
        "agent_type": ref.agent_type,
        "parent_id": ref.parent_id,
        "parent_tool_use_id": ref.parent_call_id,
        "depth": ref.depth,
        "turn": ref.turn,
    }
    if isinstance(event, (PreToolUse, PostToolUse, PostToolUseFailure)):
        body["decurion"]["tool_name"] = event.call.name
    return body


def _details(event: Event, place: Surroundings) -> dict[str, Any]:
    if isinstance(event, (PreToolUse, PostToolUse, PostToolUseFailure)):
        return _tool_details(event, place)
    if isinstance(event, SessionStart):
        return {"source": event.source, "model": event.model}
    if isinstance(event, SubagentStart):
        return {"prompt": event.prompt, "description": event.description}
    if isinstance(event, (Stop, SubagentStop)):
        details = {"stop_hook_active": event.stop_hook_active, "last_assistant_message": event.summary}
        if isinstance(event, SubagentStop):
            details |= {"agent_transcript_path": event.transcript_path, "status": event.status}
        return details
    if isinstance(event, Notification):
        return {"message": event.message, "notification_type": event.kind}
    names = ("prompt", "trigger", "reason")
    return {name: getattr(event, name) for name in names if hasattr(event, name)}


def _tool_details(
    event: PreToolUse | PostToolUse | PostToolUseFailure, place: Surroundings
) -> dict[str, Any]:
    call = event.call
    details: dict[str, Any] = {
        "tool_name": their_name(call.name),
        "tool_input": tool_input(call, place.cwd),
        "tool_use_id": call.id,
    }
    if isinstance(event, PreToolUse):
        return details
    result = event.result
    content = result.content if isinstance(result.content, str) else [dict(block) for block in result.content]
    response: dict[str, Any] = {"content": content, "is_error": result.is_error, **(result.meta or {})}
    if our_name(call.name) == "bash":
        response |= {"stdout": result.text, "stderr": "", "interrupted": False}
    details |= {"tool_response": response, "duration_ms": event.duration_ms}
    if isinstance(event, PostToolUseFailure):
        details["error"] = result.text
    return details


def tool_input(call: ToolCall, cwd: str) -> dict[str, Any]:
    """Give a call's arguments in both spellings; the ecosystem's paths are absolute."""
    args = dict(call.args)
    for ours, theirs in _ALIASES.get(our_name(call.name), {}).items():
        if ours in args and theirs not in args:
            value = args[ours]
            is_path = theirs == "file_path" and isinstance(value, str)
            args[theirs] = posixpath.normpath(posixpath.join(cwd, value)) if is_path else value
    return args


def updated_args(call: ToolCall, cwd: str, updated: Mapping[str, Any]) -> dict[str, Any]:
    """Translate what a hook made of `tool_input` back into our arguments.

    Raises:
        HookFailure: the hook changed both spellings of one argument, to different values.
    """
    sent = tool_input(call, cwd)
    args = dict(updated)
    for ours, theirs in _ALIASES.get(our_name(call.name), {}).items():
        if theirs in call.args or theirs not in args:
            continue
        value = args.pop(theirs)
        if value == sent.get(theirs):
            args.setdefault(ours, call.args.get(ours))
        elif args.get(ours, sent.get(ours)) in (sent.get(ours), value):
            args[ours] = value
        else:
            raise HookFailure("invalid output", f"it changed {ours!r} and {theirs!r} to different values")
    return args
