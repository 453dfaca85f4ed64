"""A reply out of the SDK's events, or out of the JSON that a server sent instead.

The events are the SDK's types and its accumulator joins them. Only the arguments of calls are kept apart: the SDK
parses them again with each fragment, completes what is broken and raises in the middle of the reply. Here they are
joined whole, parsed once at the end, and what is no JSON object is named in `Reply.malformed`.
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
from anthropic.lib.streaming._messages import accumulate_event  # the SDK's own; no public name gives it alone
from anthropic.types import Message, RawMessageStreamEvent

from ..model import Block, Progress, Reply, Usage
from ..texts import clean_value

DRAIN = 0.5  # seconds for what may follow `message_stop`, so that the connection can be used again
UNFIT_FOR_ID = re.compile(r"[^a-zA-Z0-9_-]+")
UNFIT_FOR_NAME = re.compile(r"[^a-zA-Z0-9_-]")


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


async def receive(stream: AsyncStream[RawMessageStreamEvent], reader: Reader) -> Received:
    """Read one reply to its end.

    Raises:
        Garbled: the reply is not whole.
        Exception: whatever the SDK and its transport raise; `faults` knows them.
    """
    if "json" in stream.response.headers.get("content-type", ""):
        return received(orjson.loads(await stream.response.aread()), {}, reader.taken)
    try:
        return await _receive_events(stream, reader)
    except BaseException:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await stream.close()
            await _read_on(stream)  # the SDK's generator ends only when it is read to its end
        raise


async def _receive_events(stream: AsyncStream[RawMessageStreamEvent], reader: Reader) -> Received:
    message: Any = None
    arguments: dict[int, list[str]] = defaultdict(list)
    while (event := await anext(stream, None)) is not None:
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            arguments[event.index].append(event.delta.partial_json)
            continue
        message = accumulate_event(event=event, current_snapshot=message, json_bufs={})
        if event.type == "message_stop":
            with anyio.move_on_after(DRAIN):
                await _read_on(stream)  # or the connection could not be used again
            return received(cast("Message", message).to_dict(warnings=False), arguments, reader.taken)
        if event.type == "message_start":
            reader.begun()
        _tell(event, reader.report)
    raise Garbled("the stream ended before the reply did")


async def _read_on(stream: AsyncStream[RawMessageStreamEvent]) -> None:
    """Read what is left, which nobody needs."""
    with suppress(Exception):
        while await anext(stream, None) is not None:
            pass


def _tell(event: RawMessageStreamEvent, report: Callable[[Progress], None]) -> None:
    if event.type == "content_block_delta":
        if event.delta.type == "text_delta":
            report(Progress("text", event.delta.text))
        elif event.delta.type == "thinking_delta":
            report(Progress("thinking", event.delta.thinking))
    elif event.type == "content_block_start" and event.content_block.type == "tool_use":
        report(Progress("tool", event.content_block.name))


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
    usage: dict[str, Any] = message.get("usage") or {}
    reply = Reply(
        id=str(message.get("id", "")),
        model=str(message.get("model", "")),
        content=tuple(content),
        stop_reason=stop_reason,
        usage=Usage(**{name: usage.get(name) or 0 for name in Usage.__dataclass_fields__}),
        malformed=malformed,
    )
    diagnostics: dict[str, Any] = message.get("diagnostics") or {}
    return Received(reply, diagnostics.get("cache_miss_reason"))


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
