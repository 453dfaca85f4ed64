"""A reply out of the SDK's event stream, or out of the JSON that a server sent instead.

The SDK reads the stream and makes errors of its error events. What it gives stays the plain data it came as, so that
blocks go back unchanged and new fields are no stumbling block; the fragments of a block are joined once at the end. The
SDK's accumulator would build nine typed objects for each fragment, parse arguments again with each, complete what is
broken and raise in the middle of the reply. Here they are parsed once, and what is no JSON object is named in
`Reply.malformed`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import anyio
import orjson
from anthropic import AsyncStream

from ..model import Block, Progress, Reply, Usage
from ..texts import clean_value

DRAIN = 0.5  # seconds for what may follow `message_stop`, so that the connection can be used again
UNFIT_FOR_ID = re.compile(r"[^a-zA-Z0-9_-]+")
UNFIT_FOR_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class NotAnApi(Exception):
    """Raised when a page came where a reply was due; the text is its content type."""


class Garbled(Exception):  # named for what the reply is
    """Raised when a reply is not whole: no `message_stop`, no stop reason, events out of order. Worth another try."""


@dataclass(frozen=True, slots=True)
class Received:
    """A reply, and what the API said of the prompt cache when it was asked."""

    reply: Reply
    cache_miss: Any = None


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
        Garbled: the reply is not whole.
        Exception: whatever the SDK and its transport raise; `faults` knows them.
    """
    kind = stream.response.headers.get("content-type", "")
    if "json" in kind:
        return received(orjson.loads(await stream.response.aread()), {}, reader.taken)
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
    while (event := cast("Any", await anext(stream, None))) is not None:
        if event["type"] == "message_start":
            message = {**event["message"]}
            reader.begun()
        elif event["type"] == "message_delta":
            message = _with_delta(message, event)
        elif event["type"] == "message_stop" and message is not None:
            with anyio.move_on_after(DRAIN):
                await _read_on(stream)  # or the connection could not be used again
            content, arguments = blocks.whole()
            return received({**message, "content": content}, arguments, reader.taken)
        else:
            blocks.take(event)
    raise Garbled("the stream ended before the reply did")


def _with_delta(message: dict[str, Any] | None, event: dict[str, Any]) -> dict[str, Any]:
    """Give the message with what is known at its end: the stop reason, and counts that are totals, not additions."""
    if message is None:
        raise Garbled("the end of the reply came before its beginning")
    told: dict[str, Any] = event.get("usage") or {}
    counts = {name: count for name, count in told.items() if count is not None}
    return {**message, **event["delta"], "usage": {**(message.get("usage") or {}), **counts}}


async def _read_on(stream: Events) -> None:
    """Read what is left, which nobody needs."""
    with suppress(Exception):
        while await anext(stream, None) is not None:
            pass


class Blocks:
    """The blocks of one reply with their fragments by place, told to `report` as they come."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._blocks: dict[int, dict[str, Any]] = {}
        self._texts: dict[tuple[int, str], list[str]] = defaultdict(list)
        self._arguments: dict[int, list[str]] = defaultdict(list)

    def take(self, event: dict[str, Any]) -> None:
        """Take in a block's start or a fragment; other events (a ping, a block's end, what comes in future) say nothing."""
        if event["type"] == "content_block_start":
            block = self._blocks[event["index"]] = dict(event["content_block"])
            if block.get("type") == "tool_use":
                self._report(Progress("tool", str(block.get("name"))))
        elif event["type"] == "content_block_delta":
            self._take_fragment(event["index"], event["delta"])

    def _take_fragment(self, place: int, delta: dict[str, Any]) -> None:
        match delta["type"]:
            case "text_delta":
                self._texts[place, "text"].append(delta["text"])
                self._report(Progress("text", delta["text"]))
            case "input_json_delta":
                self._arguments[place].append(delta["partial_json"])
            case "thinking_delta":
                self._texts[place, "thinking"].append(delta["thinking"])
                self._report(Progress("thinking", delta["thinking"]))
            case "signature_delta":
                self._blocks[place]["signature"] = delta["signature"]
            case "citations_delta":
                block = self._blocks[place]
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
            case _:
                return

    def whole(self) -> tuple[list[dict[str, Any]], dict[int, list[str]]]:
        """Give the blocks in order, their texts joined, and the fragments of arguments by place in that order."""
        for (place, field), pieces in self._texts.items():
            block = self._blocks[place]
            block[field] = (block.get(field) or "") + "".join(pieces)
        places = sorted(self._blocks)
        arguments = {
            order: self._arguments[place] for order, place in enumerate(places) if place in self._arguments
        }
        return [self._blocks[place] for place in places], arguments


def received(message: dict[str, Any], arguments: dict[int, list[str]], taken: AbstractSet[str]) -> Received:
    """Make a reply from a whole message as plain data, and the texts of arguments by the place of their block.

    Raises:
        Garbled: there is no stop reason, or no content.
    """
    stop_reason = message.get("stop_reason")
    if not stop_reason or not isinstance(message.get("content"), list):
        raise Garbled("the reply has no stop reason")
    malformed: dict[str, str] = {}
    content: list[Block] = []
    ids = set(taken)
    for place, block in enumerate(cast("list[dict[str, Any]]", message["content"])):
        if block.get("type") == "tool_use":
            content.append(_call(block, arguments.get(place), ids, malformed))
        elif isinstance(block.get("type"), str):
            content.append(block)
    reply = Reply(
        id=str(message.get("id", "")),
        model=str(message.get("model", "")),
        content=tuple(content),
        stop_reason=stop_reason,
        usage=_usage(message.get("usage") or {}),
        malformed=malformed,
    )
    diagnostics: dict[str, Any] = message.get("diagnostics") or {}
    return Received(reply, diagnostics.get("cache_miss_reason"))


def _usage(told: dict[str, Any]) -> Usage:
    """What a reply cost. The totals leave out what the API spent on summing up a history."""
    summing_up = [one for one in told.get("iterations") or () if one.get("type") == "compaction"]
    names = Usage.__dataclass_fields__
    return sum(
        (Usage(**{name: one.get(name) or 0 for name in names}) for one in (told, *summing_up)), Usage()
    )


def _call(
    block: dict[str, Any], fragments: list[str] | None, ids: set[str], malformed: dict[str, str]
) -> Block:
    """One call with an id that is the API's kind and new, a name likewise, and arguments that are an object."""
    name = UNFIT_FOR_NAME.sub("_", str(block.get("name") or "unnamed"))[:128]
    call_id = _fresh_id(str(block.get("id") or "call"), ids)
    ids.add(call_id)
    value, problem = _arguments("".join(fragments)) if fragments else (block.get("input", {}), "")
    if not problem and not isinstance(value, dict):
        problem = f"the arguments must be a JSON object, not {_json_type(value)}"
    if problem:
        malformed[call_id] = problem
        value = {}
    return {**block, "id": call_id, "name": name, "input": value}


def _arguments(text: str) -> tuple[Any, str]:
    """Parse the arguments of a call; the second value says what is wrong with them."""
    try:
        return (orjson.loads(text), "") if text.strip() else ({}, "")
    except orjson.JSONDecodeError as first:
        try:
            return clean_value(
                json.loads(text)
            ), ""  # half surrogates and long integers, which orjson refuses
        except (ValueError, RecursionError):
            return None, f"the arguments are not valid JSON ({first}); they began {text[:120]!r}"


def _json_type(value: object) -> str:
    names: dict[type, str] = {
        str: "a text",
        list: "a list",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "null")


def _fresh_id(wanted: str, taken: set[str]) -> str:
    """The id itself where it may be used; else one like it. Some servers count from zero in each reply."""
    wanted = UNFIT_FOR_ID.sub("_", wanted)[:128]
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}" in taken:
        number += 1
    return f"{wanted}_{number}"
