"""A whole message as plain data, from a stream or from JSON, made into a reply: whatever of it can be used, is.

Blocks stay what they came as, so that they go back unchanged and new fields are no stumbling block. Arguments are parsed
once, and what is no JSON object is named in `Reply.malformed`. Servers of every kind answer here, so a field may be
missing, null or of another type than the API's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

import orjson

from ..model import Block, Reply, Usage
from ..texts import clean_value

UNFIT_FOR_ID = re.compile(r"[^a-zA-Z0-9_-]+")
UNFIT_FOR_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class ErrorReply(Exception):  # named for what came
    """Raised when an error came where a reply was due; `body` is the API's error object."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.body = body
        self.headers: Mapping[str, str] = {}
        """Of the response that it came in."""


class Garbled(Exception):  # named for what the reply is
    """Raised when a reply is not whole: no `message_stop`, no stop reason, events out of order. Worth another try."""


@dataclass(frozen=True, slots=True)
class Received:
    """A reply, and what the API said of the prompt cache when it was asked."""

    reply: Reply
    cache_miss: Any = None


def object_of(value: Any) -> dict[str, Any]:
    """Give the object that was due; an empty one says nothing."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - JSON keys are text


def received(message: dict[str, Any], arguments: dict[int, str], taken: AbstractSet[str]) -> Received:
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
    for place, block in enumerate(map(object_of, cast("list[Any]", message["content"]))):
        text = arguments.get(place, "")
        if block.get("type") == "tool_use":
            content.append(_call(block, text, ids, malformed))
        elif _is_whole(block):
            content.append(_with_input(block, text))
    reply = Reply(
        id=str(message.get("id") or ""),
        model=str(message.get("model") or ""),
        content=tuple(content),
        stop_reason=str(stop_reason),
        usage=_usage(object_of(message.get("usage"))),
        malformed=malformed,
    )
    return Received(reply, object_of(message.get("diagnostics")).get("cache_miss_reason"))


def _is_whole(block: dict[str, Any]) -> bool:
    """Whether a block can go back: it says what it is, and a text has one."""
    return isinstance(block.get("type"), str) and (
        block["type"] != "text" or isinstance(block.get("text"), str)
    )


def _with_input(block: dict[str, Any], text: str) -> Block:
    """A block that is no call of ours with the input that came for it: a tool that the API runs itself."""
    value, problem = _arguments(text)
    return block if problem or not text.strip() else {**block, "input": value}


def _usage(told: dict[str, Any]) -> Usage:
    """What a reply cost. The totals leave out what the API spent on summing up a history."""
    iterations: Any = told.get("iterations")
    each = map(object_of, cast("list[Any]", iterations) if isinstance(iterations, list) else ())
    summing_up = [one for one in each if one.get("type") == "compaction"]
    return sum(map(_counts, summing_up), _counts(told))


def _counts(told: dict[str, Any]) -> Usage:
    return Usage(*[_count(told.get(name)) for name in Usage.__dataclass_fields__])


def _count(value: Any) -> int:
    """A number of tokens; what is none counts as nothing, or no budget would hold."""
    return max(0, int(value)) if isinstance(value, (int, float)) and isfinite(value) else 0


def _call(block: dict[str, Any], text: str, ids: set[str], malformed: dict[str, str]) -> Block:
    """One call with an id that is the API's kind and new, a name likewise, and arguments that are an object.

    Arguments come as fragments, in the block itself, or there as a text; none at all are an empty object.
    """
    name = UNFIT_FOR_NAME.sub("_", str(block.get("name") or "unnamed"))[:128]
    call_id = _fresh_id(str(block.get("id") or "call"), ids)
    ids.add(call_id)
    begun: Any = block.get("input")
    value: Any = begun or {}
    problem = ""
    if text.strip() or isinstance(begun, str):
        value, problem = _arguments(text if text.strip() else begun)
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
