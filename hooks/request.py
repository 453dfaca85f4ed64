"""What a product asks `decurion hook`, in our terms: Claude Code's JSON, and the dialects close to it."""

from __future__ import annotations

import json

from .calls import RunRef, ToolCall
from .errors import HookFailure
from .frozen import frozen
from .matchers import ECOSYSTEM, our_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_EVENTS = {"BeforeTool": "PreToolUse", "AfterTool": "PostToolUse"}
"""Gemini's names; Codex, dcode and others use Claude Code's."""

_TOOLS = {
    "NotebookEdit": "edit_file",
    "replace": "edit_file",
    "run_shell_command": "bash",
    "shell": "bash",
    "local_shell": "bash",
    "exec_command": "bash",
    "execute": "bash",
}
"""Further names of tools that do what ours do."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMMANDS = ("command", "cmd", "script")
_PATHS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH = "*** Begin Patch"
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


@frozen
class Request:
    """One question.

    `event` is our name of it; `call` is what the log names. `judged` is what the law is asked about: the call itself,
    and, where a tool that is not known carries a command or a patch, what these would do.
    """

    event: str
    ref: RunRef
    cwd: str
    call: ToolCall | None = None
    judged: tuple[ToolCall, ...] = ()
    response: object = None
    duration_ms: float | None = None


def read_request(data: bytes) -> Request:
    """Read a product's JSON.

    Raises:
        HookFailure: it is not UTF-8, no JSON object, or lacks what every such request has.
    """
    said = _object(data)
    event = _text(said, "hook_event_name")
    event = _EVENTS.get(event, event)
    cwd = said.get("cwd")
    request = Request(event, _ref(said), cwd if isinstance(cwd, str) else "")
    if event not in {"PreToolUse", "PostToolUse", "PostToolUseFailure"}:
        return request
    name, args = _text(said, "tool_name"), said.get("tool_input")
    if not isinstance(args, dict):
        raise HookFailure("invalid input", "`tool_input` is not an object")
    identity = said.get("tool_use_id")
    call = _call(str(identity) if identity else "", name, args)  # pyright: ignore[reportUnknownArgumentType] - json
    duration = said.get("duration_ms")
    return Request(
        event,
        request.ref,
        request.cwd,
        call,
        (call, *_hidden(call)),
        said.get("tool_response", said.get("error")),
        float(duration) if isinstance(duration, (int, float)) else None,
    )


def _object(data: bytes) -> dict[str, Any]:
    try:
        said = json.loads(data.removeprefix(_BYTE_ORDER_MARK).decode())
    except UnicodeDecodeError as error:
        raise HookFailure(
            "invalid input", f"it is not UTF-8 ({error.reason} at byte {error.start})"
        ) from None
    except (ValueError, RecursionError) as error:
        what = "there is none" if not data.strip() else f"it is no JSON ({error})"
        raise HookFailure(
            "invalid input", f"standard input must be a hook event as JSON, but {what}"
        ) from None
    if not isinstance(said, dict):
        raise HookFailure("invalid input", "standard input is no JSON object")
    return said  # pyright: ignore[reportUnknownVariableType] - json gives string keys


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or not value:
        raise HookFailure("invalid input", f"`{key}` is missing or no text")
    return value


def _ref(said: Mapping[str, Any]) -> RunRef:
    """Say who asks; a product names agents only inside subagents."""
    session = said.get("session_id")
    agent, kind = said.get("agent_id"), said.get("agent_type")
    inside = isinstance(agent, str) and bool(agent)
    return RunRef(
        session_id=session if isinstance(session, str) and session else "unknown",
        agent_id=agent if isinstance(agent, str) and agent else "lead",
        agent_type=kind if isinstance(kind, str) and kind else ("subagent" if inside else "lead"),
        parent_id="lead" if inside else None,
        depth=1 if inside else 0,
    )


def _call(identity: str, name: str, args: dict[str, Any]) -> ToolCall:
    ours = _TOOLS.get(name, our_name(name))
    args = dict(args)
    if ours == "bash":
        args["command"] = _command(args)
    elif ours in {"read_file", "write_file", "edit_file"}:
        path = next((args[key] for key in _PATHS if key in args), None)
        if not isinstance(path, str) or not path:
            raise HookFailure("invalid input", f"the call of {name} names no file")
        args["path"] = path
    return ToolCall(identity, ours, args)


def _command(args: Mapping[str, Any]) -> str:
    command = next((args[key] for key in _COMMANDS if key in args), None)
    if isinstance(command, list):
        from shlex import join

        return join(str(word) for word in command)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - json
    if not isinstance(command, str):
        raise HookFailure("invalid input", "the call of a shell has no command")
    return command


def _hidden(call: ToolCall) -> tuple[ToolCall, ...]:
    """Find commands and patches in the call of a tool that is not known, so that the law sees them too."""
    found: list[ToolCall] = []
    if call.name not in ECOSYSTEM:
        commands = [key for key in _COMMANDS if isinstance(call.args.get(key), (str, list))]
        found += [ToolCall(call.id, "bash", {"command": _command({key: call.args[key]})}) for key in commands]
    if call.name not in ECOSYSTEM or call.name == "bash":
        for value in call.args.values():
            text = "\n".join(map(str, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
            if isinstance(text, str) and _PATCH in text:
                found += _patched(call.id, text)
    return tuple(found)


def _patched(identity: str, patch: str) -> list[ToolCall]:
    lines = [line.strip() for line in patch.splitlines()]
    names = [line.removeprefix(mark) for line in lines for mark in _PATCHED if line.startswith(mark)]
    return [ToolCall(identity, "write_file", {"path": name, "content": ""}) for name in names]
