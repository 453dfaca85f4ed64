"""A reply out of the SDK's event stream, or out of the JSON that a server sent instead.

The SDK reads the stream and makes errors of its error events. What it gives stays the plain data it came as; the
fragments of a block are joined once at the end, to what the SDK's own accumulator makes of them (a test holds the two
together). That one is not used for what it costs and does not take: `docs/decisions/0010-stream-joining.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import orjson
from anthropic import AsyncStream

from ..model import Progress
from ..texts import clean
from .reply import ErrorReply, Garbled, Received, object_of, received

DRAIN = 0.5  # seconds for what may follow `message_stop`, so that the connection can be used again
END = object()
JOINED = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Fragments that follow each other, and the field that holds them; every other kind comes whole."""
REPLACED = frozenset({"signature_delta", "compaction_delta"})
TOLD: dict[str, Literal["text", "thinking"]] = {"text_delta": "text", "thinking_delta": "thinking"}


class NotAnApi(Exception):
    """Raised when a page came where a reply was due; the text is its content type."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How one reply is read: whom to tell of progress and of its beginning, and which call ids are taken."""

    report: Callable[[Progress], None]
    begun: Callable[[], None]
    taken: AbstractSet[str]


Events = AsyncStream[object]
"""The SDK's stream, giving each event as plain data."""


async def receive(stream: Events, reader: Reader) -> Received:
    """Read one reply to its end.

    Raises:
        NotAnApi: it is a page.
        ErrorReply: it is an error, in spite of the status 200.
        Garbled: the reply is not whole.
        Exception: whatever the SDK and its transport raise; `faults` knows them.
    """
    kind = stream.response.headers.get("content-type", "")
    if "json" in kind:
        return received(_no_error(orjson.loads(await stream.response.aread())), {}, reader.taken)
    if "html" in kind:
        await stream.close()
        raise NotAnApi(kind)
    try:
        return await _receive_events(stream, reader)
    except BaseException:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await stream.close()
            await _read_on(stream)  # the SDK's generator ends only when it is read to its end
        raise


async def _receive_events(stream: Events, reader: Reader) -> Received:
    message: dict[str, Any] | None = None
    blocks = Blocks(reader.report)
    while (given := await anext(stream, END)) is not END:
        event = object_of(given)
        kind = event.get("type")
        if kind == "message_start":
            message = object_of(event.get("message"))
            reader.begun()
        elif kind == "message_delta":
            message = _with_delta(message, event)
        elif kind == "message_stop" and message is not None:
            with anyio.move_on_after(DRAIN):
                await _read_on(stream)  # or the connection could not be used again
            content, arguments = blocks.whole()
            # A server that has nothing to stream may put all of it into the message's start.
            return received(
                {**message, "content": content or message.get("content") or []}, arguments, reader.taken
            )
        else:
            blocks.take(_no_error(event))
    raise Garbled("the stream ended before the reply did")


def _no_error(message: Any) -> dict[str, Any]:
    """Give what came, unless it is an error: the SDK knows one only by its status or by the name of its event."""
    fields = object_of(message)
    if fields.get("type") == "error" or ("error" in fields and "content" not in fields):
        raise ErrorReply(fields)
    return fields


def _with_delta(message: dict[str, Any] | None, event: dict[str, Any]) -> dict[str, Any]:
    """Give the message with what is known at its end: the stop reason, and counts that are totals, not additions."""
    if message is None:
        raise Garbled("the end of the reply came before its beginning")
    usage = {**object_of(message.get("usage")), **_said(event.get("usage"))}
    return {**message, **_said(event.get("delta")), "usage": usage}


def _said(value: Any) -> dict[str, Any]:
    return {name: said for name, said in object_of(value).items() if said is not None}


async def _read_on(stream: Events) -> None:
    """Read what is left, which nobody needs."""
    with suppress(Exception):
        while await anext(stream, END) is not END:
            pass


class Blocks:
    """The blocks of one reply with their fragments, told to `report` as they come."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._newest: dict[int, _Pieces] = {}
        self._all: list[_Pieces] = []

    def take(self, event: dict[str, Any]) -> None:
        """Take in a block's start or a fragment; other events (a ping, a block's end, what comes in future) say nothing."""
        kind = event.get("type")
        if kind == "content_block_start":
            self._begin(_place(event), object_of(event.get("content_block")))
        elif kind == "content_block_delta" and (delta := object_of(event.get("delta"))):
            if (pieces := self._newest.get(_place(event))) is None:
                raise Garbled("a part came of a block that had not begun")
            pieces.add(delta)
            if (told := TOLD.get(delta.get("type", ""))) and (text := delta.get(told)):
                self._report(Progress(told, text))

    def _begin(self, place: int, block: dict[str, Any]) -> None:
        """Begin a block: another one even where the place was given before, as some servers count from zero."""
        self._newest[place] = pieces = _Pieces(place, {**block})
        self._all.append(pieces)
        if block.get("type") == "tool_use":
            self._report(Progress("tool", str(block.get("name"))))

    def whole(self) -> tuple[list[dict[str, Any]], dict[int, str]]:
        """Give the blocks in order, their texts joined, and the texts of arguments by place in that order."""
        in_order = sorted(self._all, key=lambda pieces: pieces.place)
        arguments = {
            order: text for order, one in enumerate(in_order) if (text := one.joined("partial_json"))
        }
        return [one.whole() for one in in_order], arguments


def _place(event: dict[str, Any]) -> int:
    """The number of an event's block; where none is told, there is one block only."""
    place: Any = event.get("index")
    if type(place) is int:
        return place
    try:
        return int(place or 0)
    except (TypeError, ValueError):
        raise Garbled(f"a block has the number {str(place)[:20]}") from None


@dataclass(frozen=True, slots=True)
class _Pieces:
    """One block as it began, and its fragments by field."""

    place: int
    block: dict[str, Any]
    fragments: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, delta: dict[str, Any]) -> None:
        kind: Any = delta.get("type")
        if name := JOINED.get(kind):
            self.fragments.setdefault(name, []).append(delta.get(name) or "")
        elif kind == "citations_delta" and "citation" in delta:
            self.block["citations"] = [*(self.block.get("citations") or ()), delta["citation"]]
        elif kind in REPLACED:
            self.block.update({name: value for name, value in delta.items() if name != "type"})

    def joined(self, name: str) -> str:
        return "".join(self.fragments.get(name, ()))

    def whole(self) -> dict[str, Any]:
        for name in self.fragments.keys() & {"text", "thinking"}:
            self.block[name] = clean((self.block.get(name) or "") + self.joined(name))
        return self.block
