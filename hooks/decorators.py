"""The two decorators that make a hook of a Python function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, overload

from .calls import ToolCall
from .chain import DEFAULT_TIMEOUT, Answer, Hook, check_hook
from .events import EVENT_NAMES, Event, PreToolUse
from .matchers import from_globs

__all__ = ("guard", "observer")

Guard = Callable[[ToolCall], Awaitable[Answer] | Answer]
Listener = Callable[[Any], Awaitable[Answer] | Answer]


@overload
def guard(
    *, tools: str = "*", agents: str = "*", timeout: float = DEFAULT_TIMEOUT, events: None = None
) -> Callable[[Guard], Hook]: ...
@overload
def guard(
    *, tools: str = "*", agents: str = "*", timeout: float = DEFAULT_TIMEOUT, events: str
) -> Callable[[Listener], Hook]: ...
def guard(
    *, tools: str = "*", agents: str = "*", timeout: float = DEFAULT_TIMEOUT, events: str | None = None
) -> Callable[[Any], Hook]:
    """Make a gate of a function (`async def` or plain) that gives a `Decision`, or None for no opinion.

    Without `events` it is asked before each matching tool call and takes the `ToolCall`; with `events`
    (`"SubagentStart, Stop"`) it takes the event. `tools` and `agents` are shell-style patterns (`"count_*|bash"`).

    Raises:
        ConfigError: when decorating, for an event that does not exist or cannot be refused.
    """
    return _decorator("gate", tools, agents, timeout, events)


def observer(
    *, events: str = "*", tools: str = "*", agents: str = "*", timeout: float = DEFAULT_TIMEOUT
) -> Callable[[Listener], Hook]:
    """Make an observer of a function that takes an event; what it decides blocks nothing, its `context` is told.

    Raises:
        ConfigError: when decorating, for an event that does not exist.
    """
    return _decorator("observer", tools, agents, timeout, ", ".join(EVENT_NAMES) if events == "*" else events)


def _decorator(
    kind: Literal["gate", "observer"], tools: str, agents: str, timeout: float, events: str | None
) -> Callable[[Any], Hook]:
    names = frozenset(name.strip() for name in (events or "PreToolUse").replace("|", ",").split(","))

    def decorate(function: Callable[[Any], Awaitable[Answer] | Answer]) -> Hook:
        def run(event: Event) -> Awaitable[Answer] | Answer:
            return function(event.call if events is None and isinstance(event, PreToolUse) else event)

        name = getattr(function, "__name__", repr(function))
        hook = Hook(name, names, run, from_globs(tools), kind, timeout, agents)
        check_hook(hook)
        return hook

    return decorate
