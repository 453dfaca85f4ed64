"""Messages made shorter, as pure functions: old results cleared, a summary in place of what came before, a digest.

The same input gives the same output. Nothing here knows a model or a window; `context` says when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .blocks import COMPACTION, SUMMARY
from .model import Block, Message

KEPT_RESULTS = 3  # newest user messages whose results are not cleared
CLEARED_FROM = 1_500  # bytes; smaller results cost little and are often what matters
DIGEST_CHARS = 6_000

CLEARED = "[This result was cleared to make room ({size:,} characters). Run the tool again if you need it.]"
STATE = "<state>\n{text}\n</state>"
GO_ON = "Go on with the task from here."
_OPENING, _CLOSING = SUMMARY.split("{text}")


def clear_results(messages: Sequence[Message]) -> list[Message]:
    """Replace old large tool results by a note of their size; the newest turns, and every call, stay."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    kept = set(users[-KEPT_RESULTS:])
    return [message if place in kept else _cleared(message) for place, message in enumerate(messages)]


def _cleared(message: Message) -> Message:
    if message["role"] == "assistant":
        return message
    return {**message, "content": [_cleared_block(block) for block in message["content"]]}


def _cleared_block(block: Block) -> Block:
    if block["type"] != "tool_result":
        return block
    size = len(str(block.get("content", "")))
    return block if size < CLEARED_FROM else {**block, "content": CLEARED.format(size=size)}


def compact(
    messages: Sequence[Message], summary: str | Block, keep: str = "", tail_bytes: int = 0
) -> list[Message]:
    """Put a summary in place of all but the task, the last request of the user and the newest turns.

    A summary that the API made, a block, comes first of all, as the API wants it.
    Cuts only before a reply, so no call is parted from its result.
    """
    start = _tail_start(messages, tail_bytes)
    said = [text for message in messages[:start] if message["role"] == "user" for text in _said(message)]
    task, last = said[0] if said else "", said[-1] if len(said) > 1 else ""
    texts = [STATE.format(text=keep) if keep.strip() else "", last or GO_ON]
    parts = [_text(text) for text in texts if text.strip()]
    said_first = [_text(task)] if task.strip() else []
    head = (
        [*said_first, _text(SUMMARY.format(text=summary)), *parts]
        if isinstance(summary, str)
        else [summary, *said_first, *parts]
    )
    return [{"role": "user", "content": head}, *messages[start:]]


def _tail_start(messages: Sequence[Message], tail_bytes: int) -> int:
    """Where the newest turns begin that fit in so many bytes; the end if not even one does."""
    start, size = len(messages), 0
    for place in range(len(messages) - 1, 0, -1):
        size += len(str(messages[place]["content"]))
        if size > tail_bytes:
            break
        if messages[place]["role"] == "assistant":
            start = place
    return start


def _said(message: Message) -> list[str]:
    """What a person said in a message: reminders, states and summaries of ours left out."""
    ours = ("<reminder>", "<summary>", "<state>", GO_ON)
    return [
        str(block["text"])
        for block in message["content"]
        if block["type"] == "text" and not str(block["text"]).startswith(ours)
    ]


def digest(messages: Sequence[Message]) -> str:
    """Put a history down without a model: the newest words of the agent and what it called, bounded."""
    blocks = [block for message in messages for block in message["content"]]
    before = "\n".join(filter(None, map(_summed_up, blocks)))[:DIGEST_CHARS]
    text = "\n".join(line for block in blocks for line in _digest_line(block))
    text = text if len(text) <= DIGEST_CHARS else f"[…]\n{text[-DIGEST_CHARS:]}"
    return f"{before}\n{text}" if before else text


def _summed_up(block: Block) -> str:
    """The text of an earlier summary."""
    if block["type"] == COMPACTION:
        return str(block.get("content") or "")
    text = str(block["text"]) if block["type"] == "text" else ""
    return text.removeprefix(_OPENING).removesuffix(_CLOSING) if text.startswith(_OPENING) else ""


def _digest_line(block: Block) -> list[str]:
    if block["type"] == "text" and not str(block["text"]).startswith("<"):
        return [_short(block["text"], 400)]
    if block["type"] == "tool_use":
        return [f"- called {block['name']}: {_short(block['input'], 160)}"]
    if block["type"] == "tool_result":
        return [f"  {'failed: ' if block.get('is_error') else ''}{_short(block.get('content', ''), 120)}"]
    return []


def _short(value: Any, limit: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
