"""Content blocks as the API takes them: mended, encoded, and made of tool results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

import orjson

from decurion.hooks import ToolResult

from .model import Block, Message
from .texts import NO_MESSAGE, NO_OUTPUT, clean_value, is_blank

IMAGE_BYTES = 5_600  # of text: an image of full size takes about 1,600 tokens
SUMMARY = "<summary>\nWhat happened so far, in short; the messages themselves are gone.\n\n{text}\n</summary>"
NO_IMAGE = "(An image stood here. It was taken out, for the API does not take it.)"
COMPACTION = "compaction"
"""A summary that the API made and signed; first in a history, unchanged, or not at all."""
UNMARKABLE = frozenset({"thinking", "redacted_thinking"})
"""Blocks that may neither stand alone in a reply nor carry a cache mark."""


def result_block(result: ToolResult) -> Block:
    """A tool result as on the wire: never blank, the `is_error` flag only where it is set."""
    content: str | list[Any]
    content = result.content if isinstance(result.content, str) else [dict(block) for block in result.content]
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
    if result.is_error:
        block["is_error"] = True
    return mended_result(block)


def mended_result(block: Block) -> Block:
    """The same result without blank texts and half surrogates; a note where nothing is left."""
    content: Any = block.get("content", "")
    if isinstance(content, list):
        content = mended(cast("list[Block]", content))
    if not content or (isinstance(content, str) and is_blank(content)):
        content = NO_MESSAGE if block.get("is_error") else NO_OUTPUT
    return {**block, "content": clean_value(content)}


def mended(blocks: Iterable[Block]) -> list[Block]:
    """Drop what the API refuses: blank texts, and thinking that lacks its signature because it was cut."""
    return [block for block in blocks if not _refused(block)]


def _refused(block: Block) -> bool:
    if block["type"] == "text":
        return is_blank(block.get("text"))
    return block["type"] == "thinking" and not block.get("signature")


def without_thinking(message: Message) -> Message:
    """Give a message without its thinking; the same one where it has none."""
    content: Any = message["content"]
    if isinstance(content, str) or not any(block["type"] in UNMARKABLE for block in content):
        return message
    return {**message, "content": [block for block in content if block["type"] not in UNMARKABLE]}


def unbound(message: Message) -> Message:
    """Give a message without what the API binds to its surroundings: no thinking, and its summary as a plain text."""
    content: Any = without_thinking(message)["content"]
    if isinstance(content, str) or not any(block["type"] == COMPACTION for block in content):
        return without_thinking(message)
    return {**message, "content": [_plain(block) for block in content]}


def _plain(block: Block) -> Block:
    if block["type"] != COMPACTION:
        return block
    return {"type": "text", "text": SUMMARY.format(text=block.get("content") or "")}


def without_images(message: Message) -> Message:
    """Give a message with a note in place of each image, in results too; the same one where it has none."""
    content: Any = message["content"]
    if isinstance(content, str):
        return message
    blocks = [_without_image(block) for block in content]
    same = all(new is old for new, old in zip(blocks, content, strict=True))
    return message if same else {**message, "content": blocks}


def _without_image(block: Block) -> Block:
    if block["type"] == "image":
        return {"type": "text", "text": NO_IMAGE}
    parts: Any = block.get("content") if block["type"] == "tool_result" else None
    if not isinstance(parts, list):
        return block
    shown = [_without_image(part) for part in cast("list[Block]", parts)]
    same = all(new is old for new, old in zip(shown, cast("list[Block]", parts), strict=True))
    return block if same else {**block, "content": shown}


def image_surplus(block: Block) -> int:
    """Bytes of an image, alone or in a result, beyond those of a text that takes as many tokens."""
    if block["type"] == "image":
        return len(str(block.get("source", {}).get("data", ""))) - IMAGE_BYTES
    content: Any = block.get("content") if block["type"] == "tool_result" else None
    return (
        sum(image_surplus(part) for part in cast("list[Block]", content)) if isinstance(content, list) else 0
    )


def encode(blocks: list[Block]) -> tuple[list[Block], bytes]:
    """Encode blocks; where one does not encode, clean them and give the clean ones as well."""
    try:
        return blocks, b",".join(map(orjson.dumps, blocks))
    except TypeError:  # half a surrogate pair, or an integer beyond 64 bits
        blocks = [clean_value(block) for block in blocks]
        return blocks, b",".join(map(_encode_slowly, blocks))


def _encode_slowly(block: Block) -> bytes:
    try:
        return orjson.dumps(block)
    except TypeError:  # only the standard module writes long integers
        return json.dumps(block, separators=(",", ":"), ensure_ascii=False).encode()
