"""The `hooks` object of a settings file or of an agent definition, read into command hooks.

A gate that cannot be set up must not silently be gone: whatever is not understood is a `ConfigError`, unless the
handler says `"onFailure": "allow"`, or stands on an event that cannot be refused, when a note is enough.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, cast

from .command import CommandHook
from .conditions import check_condition
from .errors import ConfigError
from .events import EVENT_NAMES, GATED
from .matchers import compiled
from .own import is_own

__all__ = ("read_hooks",)

_EVENTS_OF_OTHERS = {
    "Setup",
    "InstructionsLoaded",
    "UserPromptExpansion",
    "MessageDisplay",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolBatch",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "StopFailure",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "WorktreeCreate",
    "WorktreeRemove",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "PreModelSwitch",
    "PostModelSwitch",
}
"""Events of Claude Code that do not happen here."""

_TYPES_OF_OTHERS = frozenset({"http", "mcp_tool", "prompt", "agent"})
_TIMEOUTS = {"UserPromptSubmit": 30.0, "SessionEnd": 10.0}
_DEFAULT_TIMEOUT = 600.0
_LONGEST_TIMEOUT = 86_400.0
_SHELLS = {"sh", "bash"}

Read = tuple[tuple[CommandHook, ...], tuple[str, ...]]


def read_hooks(said: object, source: str, *, inside_agent: bool = False) -> Read:
    """Read a `hooks` object: event → list of `{matcher, hooks: [handler, …]}`.

    `source` is the file, for names and messages. `inside_agent` is for hooks of an agent definition, whose `Stop` is
    the agent's own end, `SubagentStop`. Gives the hooks, and notes on what does not apply here.

    Raises:
        ConfigError: a part is not understood; names file and place.
    """
    hooks: list[CommandHook] = []
    notes: list[str] = []
    for event, groups in _object(said, "hooks", source).items():
        if event in _EVENTS_OF_OTHERS:
            notes.append(f"{source}: hooks on {event} do not run, for decurion has no such event")
            continue
        if event not in EVENT_NAMES:
            close = get_close_matches(event, EVENT_NAMES, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(EVENT_NAMES)}"
            raise ConfigError(f"hooks: there is no event {event!r}; {hint}", source)
        name = "SubagentStop" if inside_agent and event == "Stop" else event
        for place, group in _groups(groups, f"hooks.{event}", source):
            _read_group(group, name, (place, source), hooks, notes)
    return tuple(dict.fromkeys(hooks)), tuple(notes)


def _groups(said: object, place: str, source: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{place}[{at}]", _object(group, f"{place}[{at}]", source))
        for at, group in enumerate(_list(said, place, source))
    ]


def _read_group(
    group: dict[str, Any], event: str, where: tuple[str, str], hooks: list[CommandHook], notes: list[str]
) -> None:
    place, source = where
    matcher = group.get("matcher") or ""
    if not isinstance(matcher, str):
        raise ConfigError(f"{place}: matcher must be a text", source)
    try:
        compiled(matcher)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", source) from None
    for at, handler in _groups(group.get("hooks"), f"{place}.hooks", source):
        problem = _unsupported(handler)
        if is_own(handler.get("command")):
            # Installed for other products; here its law and log are in force already, and would be asked twice.
            continue
        if not problem:
            hooks.append(_handler(handler, event, matcher, (at, source)))
        elif event in GATED and handler.get("onFailure") != "allow":
            raise ConfigError(
                f'{at}: {problem}, so this gate could never be asked; remove it, or add "onFailure": "allow"',
                source,
            )
        else:
            notes.append(f"{source}: {at} does not run: {problem}")


def _unsupported(handler: dict[str, Any]) -> str:
    kind = handler.get("type", "command")
    if kind in _TYPES_OF_OTHERS:
        return f"handlers of type {kind!r} are not supported"
    if kind != "command":
        return f"there is no handler type {kind!r}"
    shell = handler.get("shell", "sh")
    return "" if shell in _SHELLS else f"the shell {shell!r} is not supported"


def _handler(handler: dict[str, Any], event: str, matcher: str, where: tuple[str, str]) -> CommandHook:
    place, source = where
    on_failure = handler.get("onFailure", "block")
    if on_failure not in {"allow", "block"}:
        raise ConfigError(f'{place}: onFailure must be "block" or "allow"', source)
    condition = handler.get("if") or ""
    if not isinstance(condition, str):
        raise ConfigError(f"{place}: if must be a text", source)
    try:
        check_condition(condition)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", source) from None
    in_background = handler.get("async") is True or handler.get("asyncRewake") is True
    return CommandHook(
        event=event,
        matcher=matcher,
        command=_command(handler, place, source),
        source=source,
        timeout=_timeout(handler, event, place, source),
        advisory=on_failure == "allow",
        # A handler that asks to run in the background has no say, in Claude Code either.
        gate=event in GATED and not in_background,
        condition=condition,
        shell=str(handler.get("shell", "sh")),
    )


def _command(handler: dict[str, Any], place: str, source: str) -> str | tuple[str, ...]:
    command = handler.get("command")
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise ConfigError(f"{place}: command must be a text that is not empty", source)
    args = handler.get("args")
    if args is None:
        return command
    words = _list(args, f"{place}.args", source)
    if not all(isinstance(word, str) and "\0" not in word for word in words):
        raise ConfigError(f"{place}: args must be a list of texts", source)
    return (command, *cast("list[str]", words))


def _timeout(handler: dict[str, Any], event: str, place: str, source: str) -> float:
    timeout = handler.get("timeout", _TIMEOUTS.get(event, _DEFAULT_TIMEOUT))
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, (int, float))
        or not 0 < timeout <= _LONGEST_TIMEOUT
    ):
        raise ConfigError(
            f"{place}: timeout must be a number of seconds, more than 0 and at most a day", source
        )
    return float(timeout)


def _object(said: object, place: str, source: str) -> dict[str, Any]:
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise ConfigError(f"{place} must be an object", source)
    return cast("dict[str, Any]", said)


def _list(said: object, place: str, source: str) -> list[object]:
    if not isinstance(said, list):
        raise ConfigError(f"{place} must be a list", source)
    return cast("list[object]", said)
