"""A reply out of a stream of events, or out of the JSON that a server sent instead.

Events stay the plain data they came as; the fragments of a block are joined once at the end, to what the SDK's own
accumulator makes of them (a test holds the two together). That one is not used for what it costs and does not take:
`docs/decisions/0010-stream-joining.md`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
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
    now: Callable[[], float]
    patience: float
    """Seconds without a word of the reply, however many pings come."""


Stream = AsyncStream[object]
"""The SDK's stream."""

Events = AsyncIterator[Iterable[object]]
"""The events that come together, each as plain data."""


async def receive(stream: Stream, events: Events, reader: Reader) -> Received:
    """Read one reply to its end. `events` are those of the stream, by the door's way of reading it.

    Raises:
        NotAnApi: it is a page.
        ErrorReply: it is an error, in spite of the status 200.
        Garbled: the reply is not whole.
        TimeoutError: nothing came but pings.
        Exception: whatever the SDK and its transport raise; `faults` knows them.
    """
    kind = stream.response.headers.get("content-type", "")
    if "json" in kind:
        return received(_no_error(orjson.loads(await stream.response.aread())), {}, reader.taken)
    if "html" in kind:
        await stream.close()
        raise NotAnApi(kind)
    try:
        reply = _Reply(reader)
        while not reply.is_whole and (together := await anext(events, None)) is not None:
            reply.take(together)
        with anyio.move_on_after(DRAIN):
            await _read_on(events)  # or the connection could not be used again
        await stream.close()
        return reply.received()
    except BaseException as error:
        if isinstance(error, ErrorReply):
            error.headers = stream.response.headers
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await stream.close()
            await _read_on(events)  # a generator ends only when it is read to its end
        raise


class _Reply:
    """A reply on its way."""

    def __init__(self, reader: Reader) -> None:
        self.is_whole = False
        self._reader = reader
        self._message: dict[str, Any] | None = None
        self._blocks = Blocks(reader.report)
        self._heard = reader.now()

    def take(self, together: Iterable[object]) -> None:
        """Take in the events that came together; what follows the end says nothing any more.

        Raises:
            TimeoutError: they say nothing, as all before them for too long.
        """
        now, said = self._reader.now(), False
        for given in together:
            said = self._take(object_of(given)) or said
            if self.is_whole:
                return
        if said:
            self._heard = now
        elif now - self._heard > self._reader.patience:
            raise TimeoutError("nothing came but pings")

    def _take(self, event: dict[str, Any]) -> bool:
        """Take in one event; whether it said anything."""
        kind = event.get("type")
        if kind == "message_start":
            self._message = object_of(event.get("message"))
            self._reader.begun()
        elif kind == "message_delta":
            self._message = _with_delta(self._message, event)
        elif kind == "message_stop" and self._message is not None:
            self.is_whole = True
        else:
            return self._blocks.take(_no_error(event))
        return True

    def received(self) -> Received:
        """Give the whole reply.

        Raises:
            Garbled: it is not whole.
        """
        if self._message is None or not self.is_whole:
            raise Garbled("the stream ended before the reply did")
        content, arguments = self._blocks.whole()
        # A server that has nothing to stream may put all of it into the message's start.
        message = {**self._message, "content": content or self._message.get("content") or []}
        return received(message, arguments, self._reader.taken)


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


async def framed_events(stream: Stream) -> Events:
    """Give the events that the SDK's own reader finds, errors raised as its errors."""
    async for event in stream:
        yield (event,)


async def _read_on(events: Events) -> None:
    """Read what is left, which nobody needs."""
    with suppress(Exception):
        async for _ in events:
            pass


class Blocks:
    """The blocks of one reply with their fragments, told to `report` as they come."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._newest: dict[int, _Pieces] = {}
        self._all: list[_Pieces] = []

    def take(self, event: dict[str, Any]) -> bool:
        """Take in a block's start or a fragment; whether it said anything.

        Other events (a ping, a block's end, what comes in future) say nothing, nor do empty fragments.
        """
        kind = event.get("type")
        if kind == "content_block_start":
            self._begin(_place(event), object_of(event.get("content_block")))
            return True
        if kind != "content_block_delta" or not (delta := object_of(event.get("delta"))):
            return False
        if (pieces := self._newest.get(_place(event))) is None:
            raise Garbled("a part came of a block that had not begun")
        pieces.add(delta)
        if (told := TOLD.get(delta.get("type", ""))) and (text := delta.get(told)):
            self._report(Progress(told, text))
        return any(value for name, value in delta.items() if name != "type")

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
