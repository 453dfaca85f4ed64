"""A reply written as the real API writes it: one JSON object, or server-sent events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import orjson

from .answers import Answer

_ids = count(1)

Json = dict[str, Any]


def message_of(answer: Answer, model: str, usage: Mapping[str, Any]) -> Json:
    """The whole message, as it is answered without streaming."""
    return {
        "id": f"msg_{next(_ids):08d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_whole_block(answer, dict(block)) for block in answer.content],
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": dict(usage),
        **answer.extra,
    }


def events_of(answer: Answer, model: str, usage: Mapping[str, Any]) -> list[bytes]:
    """The same message as a list of server-sent events."""
    message: Json = {**message_of(answer, model, usage), "content": [], "stop_reason": None}
    message["usage"] = {**usage, "output_tokens": 1}
    events = [event("message_start", message=message), event("ping")]
    for index, block in enumerate(answer.content):
        events += _block_events(answer, index, block)
    delta = {"stop_reason": answer.stop_reason, "stop_sequence": None}
    events += [event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]})]
    return [*events, event("message_stop")]


def error_event(kind: str, message: str) -> bytes:
    """An `error` event as it may come at any time in a stream."""
    return event("error", error={"type": kind, "message": message})


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event."""
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), orjson.dumps({"type": kind, **fields}))


def _block_events(answer: Answer, index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    start, deltas = _start_and_deltas(answer, block)
    yield event("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def _start_and_deltas(answer: Answer, block: Mapping[str, Any]) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": part} for part in _parts(block["text"], answer.chunk)]
            return {**block, "text": ""}, deltas
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": part}
                for part in _parts(block["thinking"], answer.chunk)
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use":
            fragments = answer.arguments.get(block["id"])
            if fragments is None:
                fragments = _parts(orjson.dumps(block["input"]).decode(), answer.chunk)
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": part} for part in fragments
            ]
        case _:
            return dict(block), []


def _whole_block(answer: Answer, block: Json) -> Json:
    """A call whose arguments are prepared as text, in JSON: what they parse to, or the text itself."""
    fragments = answer.arguments.get(block.get("id", ""))
    if fragments is None:
        return block
    text = "".join(fragments)
    try:
        return {**block, "input": orjson.loads(text) if text else {}}
    except orjson.JSONDecodeError:
        return {**block, "input": text}


def _parts(text: str, size: int) -> list[str]:
    if size <= 0:
        return [text] if text else []
    return [text[start : start + size] for start in range(0, len(text), size)]
