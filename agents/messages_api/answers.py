"""What a script can answer: a reply, a refusal, or a reply that goes wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any

from .requests import Request

_ids = count(1)


class Fault(StrEnum):
    """How a reply goes wrong on the way."""

    RESET_BEFORE = "reset_before"
    """The connection is reset before a byte of the reply."""
    RESET_DURING = "reset_during"
    """The connection is reset in the middle of the stream."""
    CUT_CLEAN = "cut_clean"
    """The stream ends properly, but before `message_stop`."""
    CUT_EVENT = "cut_event"
    """The connection closes in the middle of an event."""
    STALL = "stall"
    """The stream stands still after some events, until the client goes away."""
    ERROR_EVENT = "error_event"
    """An `error` event (overloaded) comes in the middle of the stream."""
    BROKEN_EVENT = "broken_event"
    """The data of one event is not JSON."""
    NOT_STREAMED = "not_streamed"
    """The reply is JSON although the client asked for a stream."""
    PAGE = "page"
    """A page comes instead, as from a proxy that wants a login."""
    EMPTY = "empty"
    """The stream has no event at all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply. `usage` None is counted from the texts, by the simulated prompt cache."""

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str | None = "end_turn"
    usage: Mapping[str, Any] | None = None
    latency: float = 0.0
    """Seconds before the first byte."""
    fault: Fault | None = None
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Fragments to stream in place of the input of the call with that id, well-formed or not."""
    chunk: int = 0
    """Characters per text delta; 0 sends each text whole."""
    raw: Sequence[bytes] = ()
    """The stream as it is, in place of the events: for what other servers send."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the message (`id`, `model`, `diagnostics`, …)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error in the shape of the real API."""

    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    latency: float = 0.0
    body: bytes | None = None
    """Sent as it is in place of the error object, as a proxy would; its type is a page's unless `headers` says."""


def say(text: str, **fields: Any) -> Answer:
    """A reply of one text."""
    return Answer(({"type": "text", "text": text},), **fields)


def call(name: str, args: Mapping[str, Any] | None = None, *, id: str = "", text: str = "") -> Answer:  # noqa: A002 - the wire's name
    """A reply with one tool call, after a text if one is given."""
    return calls((name, args or {}), text=text, ids=(id,) if id else ())


def calls(*wanted: tuple[str, Mapping[str, Any]], text: str = "", ids: Sequence[str] = ()) -> Answer:
    """A reply with several tool calls."""
    head = ({"type": "text", "text": text},) if text else ()
    named = list(ids) or [f"toolu_{next(_ids):06d}" for _ in wanted]
    uses = tuple(
        {"type": "tool_use", "id": name_of_call, "name": name, "input": dict(args)}
        for name_of_call, (name, args) in zip(named, wanted, strict=True)
    )
    return Answer((*head, *uses), stop_reason="tool_use")


def rate_limited(retry_after: float | str | None = None) -> Refusal:
    """429, with or without `retry-after`."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Refusal(429, "rate_limit_error", "This request would exceed your rate limit.", headers)


def overloaded(status: int = 529) -> Refusal:
    """529, or another of the statuses of a server in trouble."""
    return Refusal(status, "overloaded_error" if status == 529 else "api_error", "Overloaded")


class Script:
    """Prepared replies per agent, chosen by the history alone, so a repeated request gets the same reply again.

    `parts` maps a piece of text of the agent's first message to its replies, one for each turn. A request that
    fits none, or comes after the last reply, gets `otherwise`.
    """

    def __init__(
        self, parts: Mapping[str, Sequence[Answer | Refusal]], otherwise: Answer | None = None
    ) -> None:
        self.parts = parts
        self.otherwise = otherwise or say("Nothing is prepared for this.")

    async def __call__(self, request: Request) -> Answer | Refusal:
        """Give the prepared reply."""
        for key, replies in self.parts.items():
            if key in request.task and request.turn < len(replies):
                return replies[request.turn]
        return self.otherwise
