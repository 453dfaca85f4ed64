"""On-demand compaction as the real API offers it (a beta): a request with `compaction` is answered by a signed summary.

The block then comes back first of all, unchanged and alone of its kind, with the beta header, or is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from .answers import Answer
from .caching import blocks_of
from .requests import Request
from .rules import Invalid

BETA = "compact-2026-09-04"
KIND = "compaction"

Json = Mapping[str, Any]


def check(request: Request) -> None:
    """Check the parameter and the blocks of one request.

    Raises:
        Invalid: with the message of the real API.
    """
    body, allowed = request.body, BETA in request.headers.get("anthropic-beta", "")
    if KIND in body and not allowed:
        raise Invalid(f"compaction: requires anthropic-beta: {BETA}")
    if KIND in body and "context_management" in body:
        raise Invalid("compaction: cannot be combined with context_management")
    blocks = list(blocks_of({"messages": body["messages"]}))
    found = [block for block in blocks if block["type"] == KIND]
    if found and not allowed:
        raise Invalid(f"messages.0.content.0: Input tag '{KIND}' does not match any of the expected tags")
    if len(found) > 1:
        raise Invalid("messages: more than one `compaction` block with content. Send only the newest.")
    if found and blocks[0] is not found[0]:
        raise Invalid("messages: the `compaction` block must be the first block of the conversation")
    if found and found[0].get("signature") != _signature(found[0].get("content")):
        raise Invalid("messages.0.content.0: the `signature` of the `compaction` block does not verify")


def summed_up(request: Request, usage: Mapping[str, int]) -> Answer:
    """Give the reply to a request for a summary: the block alone, what it cost among the iterations."""
    text = f"{len(request.messages)} messages, of a task that began: {request.task[:200]}"
    block = {"type": KIND, "content": text, "signature": _signature(text)}
    return Answer((block,), KIND, {"iterations": [{"type": KIND, **usage}]})


def _signature(text: object) -> str:
    return blake2b(str(text).encode(), digest_size=8).hexdigest()
